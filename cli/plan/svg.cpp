// The picture of a plan as SVG, with a background of its own.
#include <fmt/format.h>

#include <string_view>

#include "plan/picture.hpp"

namespace probably::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 520;
constexpr double kLeft = 92;
constexpr double kRight = kWidth - 28;
constexpr double kTop = 64;
constexpr double kBottom = kHeight - 64;

struct Look {
  std::string_view color;
  std::string_view dashes;
};

// Colours that also those tell apart who see fewer of them.
Look look_of(Stroke stroke) {
  switch (stroke) {
    case Stroke::dotted:
      return {"#6b7280", "2 5"};
    case Stroke::dashed:
      return {"#0072b2", "9 5"};
    case Stroke::dash_dotted:
      return {"#a0522d", "10 4 2 4"};
    case Stroke::solid:
      break;
  }
  return {"#00795a", "none"};
}

double x_of(const Picture& picture, double bytes) {
  return kLeft + bytes / picture.most_bytes * (kRight - kLeft);
}
double y_of(const Picture& picture, double log_rate) {
  return kTop + log_rate / picture.least_log_rate * (kBottom - kTop);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}
std::string text(double x, double y, std::string_view style, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, words);
}

std::string grid(const Picture& picture) {
  constexpr std::string_view kGrid = "stroke=\"#e5e7eb\"";
  constexpr std::string_view kAxis = "stroke=\"#374151\" stroke-width=\"1.5\"";
  std::string out;
  for (const Tick& tick : rate_ticks(picture, 10)) {
    const double y = y_of(picture, tick.place);
    out += line(kLeft, y, kRight, y, kGrid);
    out += text(kLeft - 10, y + 4, "text-anchor=\"end\"", tick.label);
  }
  for (const Tick& tick : memory_ticks(picture, 9)) {
    const double x = x_of(picture, tick.place);
    out += line(x, kTop, x, kBottom, kGrid);
    out += text(x, kBottom + 22, "text-anchor=\"middle\"", tick.label);
  }
  out += line(kLeft, kTop, kLeft, kBottom, kAxis);
  out += line(kLeft, kBottom, kRight, kBottom, kAxis);
  out +=
      text((kLeft + kRight) / 2, kBottom + 48, "text-anchor=\"middle\" fill=\"#4b5563\"", "memory");
  out += text(kLeft, kTop - 12, "text-anchor=\"end\" fill=\"#4b5563\"", "rate");
  return out;
}

std::string curve_path(const Picture& picture, const Curve& curve) {
  const Look look = look_of(curve.stroke);
  std::string path;
  for (const PicturePoint& point : curve.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x_of(picture, point.bytes),
                        y_of(picture, point.log_rate));
  }
  return fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-dasharray=\"{}\"/>\n", path, look.color,
                     look.dashes);
}

// In the corner that curves never reach, since they fall.
std::string names_of_curves(const Picture& picture) {
  constexpr double kStep = 22;
  constexpr double kSampleLeft = kRight - 160;
  std::string out = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"164\" height=\"{:.1f}\" rx=\"4\" "
      "fill=\"#ffffff\" stroke=\"#e5e7eb\"/>\n",
      kSampleLeft - 12, kTop + 10, kStep * static_cast<double>(picture.curves.size()) + 10);
  double y = kTop + 26;
  for (const Curve& curve : picture.curves) {
    const Look look = look_of(curve.stroke);
    out += line(kSampleLeft, y, kSampleLeft + 36, y,
                fmt::format("stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"",
                            look.color, look.dashes));
    out += text(kSampleLeft + 46, y + 4, fmt::format("fill=\"{}\"", look.color), curve.name);
    y += kStep;
  }
  return out;
}

std::string chosen_point(const Picture& picture) {
  constexpr std::string_view kGuide = "stroke=\"#b91c1c\" stroke-dasharray=\"3 4\"";
  const double x = x_of(picture, picture.chosen.bytes);
  const double y = y_of(picture, picture.chosen.log_rate);
  std::string out = line(kLeft, y, x, y, kGuide);
  out += line(x, y, x, kBottom, kGuide);
  out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"#b91c1c\"/>\n", x, y);
  return out + text(x + 12, y - 10, "fill=\"#b91c1c\" font-weight=\"bold\"",
                    fmt::format("{}: {}", picture.chosen_kind, picture.chosen_label));
}

}  // namespace

std::string as_svg(const Picture& picture) {
  std::string curves;
  for (const Curve& curve : picture.curves) curves += curve_path(picture, curve);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\" "
      "fill=\"#111827\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" rx=\"8\" fill=\"#ffffff\"/>\n{3}{4}"
      "<clipPath id=\"plot\"><rect x=\"{5}\" y=\"{6}\" width=\"{7}\" height=\"{8}\"/></clipPath>\n"
      "<g clip-path=\"url(#plot)\" fill=\"none\" stroke-width=\"2.5\" stroke-linejoin=\"round\">\n"
      "{9}</g>\n{10}{11}</svg>\n",
      kWidth, kHeight, picture.title,
      text(kLeft - 64, 30, "font-size=\"16\" font-weight=\"bold\"", picture.title), grid(picture),
      kLeft, kTop, kRight - kLeft, kBottom - kTop, curves, names_of_curves(picture),
      chosen_point(picture));
}

}  // namespace probably::cli
