// The picture of a plan as lines of text: curves of Braille dots, two by four to a column.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "plan/picture.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kRows = 15;
constexpr std::size_t kMargin = 11;  // the labels of rates, and the axis
constexpr std::size_t kLeastWidth = 40;
constexpr std::size_t kMostWidth = 140;
constexpr int kDotsAcross = 2;
constexpr int kDotsDown = 4;
constexpr double kFarBelow = 1000;  // heights of the picture
constexpr std::size_t kNoCurve = static_cast<std::size_t>(-1);

struct Cell {
  unsigned dots = 0;  // as Unicode counts them
  std::size_t curve = kNoCurve;
  std::string text;  // instead of dots
  bool is_bold = false;

  [[nodiscard]] bool is_blank() const noexcept { return dots == 0 && text.empty(); }
};

bool is_drawn(Stroke stroke, int dot) {
  switch (stroke) {
    case Stroke::dotted:
      return dot % 4 == 0;
    case Stroke::dashed:
      return dot % 8 < 5;
    case Stroke::dash_dotted:
      return dot % 9 < 4 || dot % 9 == 6;
    case Stroke::solid:
      break;
  }
  return true;
}

std::string in_color(const Paint& paint, Stroke stroke, std::string_view text) {
  switch (stroke) {
    case Stroke::dotted:
      return paint.dim(text);
    case Stroke::dashed:
      return paint.cyan(text);
    case Stroke::dash_dotted:
      return paint.yellow(text);
    case Stroke::solid:
      break;
  }
  return paint.green(text);
}

std::string braille(unsigned dots) {
  const unsigned code = 0x2800 + dots;
  return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

class Canvas {
 public:
  Canvas(const Picture& picture, std::size_t columns)
      : picture_(picture), columns_(columns), cells_(kRows * columns) {
    for (std::size_t i = 0; i < picture.curves.size(); ++i) draw_curve(i);
    draw_chosen();
    // Those on the right first: they have the least choice.
    for (std::size_t i = picture.curves.size(); i-- > 0;) label_curve(i);
  }

  [[nodiscard]] std::string row(std::size_t row, const Paint& paint) const {
    std::string line;
    std::size_t column = 0;
    while (column < columns_) {
      const Cell& first = cells_[row * columns_ + column];
      std::string run;
      for (; column < columns_; ++column) {
        const Cell& cell = cells_[row * columns_ + column];
        if (cell.curve != first.curve || cell.is_bold != first.is_bold) break;
        run += cell.is_blank() ? " " : cell.text.empty() ? braille(cell.dots) : cell.text;
      }
      line += painted(first, run, paint);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }
  [[nodiscard]] std::size_t row_of(double log_rate) const {
    return static_cast<std::size_t>(y_dot(log_rate) / kDotsDown);
  }
  [[nodiscard]] std::size_t column_of(double bytes) const {
    return static_cast<std::size_t>(x_dot(bytes) / kDotsAcross);
  }

 private:
  [[nodiscard]] int x_dot(double bytes) const {
    const auto last = static_cast<double>(columns_ * kDotsAcross - 1);
    return static_cast<int>(std::lround(bytes / picture_.most_bytes * last));
  }
  // Also of rates below the picture.
  [[nodiscard]] int y_dot(double log_rate) const {
    const auto last = static_cast<double>(kRows * kDotsDown - 1);
    const double share = log_rate / picture_.least_log_rate;
    return static_cast<int>(std::lround(std::min(share, kFarBelow) * last));
  }
  [[nodiscard]] std::string painted(const Cell& style, const std::string& text,
                                    const Paint& paint) const {
    if (style.is_bold) return paint.bold(text);
    if (style.curve == kNoCurve) return text;
    return in_color(paint, picture_.curves[style.curve].stroke, text);
  }
  Cell& cell(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }

  void draw_dot(int x, int y, std::size_t curve) {
    constexpr unsigned kBits[kDotsDown][kDotsAcross] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const auto row = static_cast<std::size_t>(y / kDotsDown);
    if (y < 0 || row >= kRows) return;
    Cell& target = cell(row, static_cast<std::size_t>(x / kDotsAcross));
    target.dots |= kBits[y % kDotsDown][x % kDotsAcross];
    target.curve = curve;
  }

  void draw_curve(std::size_t index) {
    const Curve& curve = picture_.curves[index];
    int dot = 0;
    for (std::size_t i = 0; i + 1 < curve.points.size(); ++i) {
      const PicturePoint& from = curve.points[i];
      const PicturePoint& to = curve.points[i + 1];
      const int left = x_dot(from.bytes);
      const int top = y_dot(from.log_rate);
      const int wide = x_dot(to.bytes) - left;
      const int high = y_dot(to.log_rate) - top;
      // The dot at the end is the next piece's first.
      const int steps = std::max(std::abs(wide), std::abs(high));
      for (int step = 0;
           step < steps && top + high * step / steps < static_cast<int>(kRows) * kDotsDown;
           ++step, ++dot) {
        if (is_drawn(curve.stroke, dot)) {
          draw_dot(left + wide * step / steps, top + high * step / steps, index);
        }
      }
    }
  }

  [[nodiscard]] bool is_free(std::size_t row, std::size_t from, std::size_t to) const {
    if (row >= kRows || to > columns_ || from >= to) return false;
    for (std::size_t column = from; column < to; ++column) {
      if (!cells_[row * columns_ + column].is_blank()) return false;
    }
    return true;
  }
  // Only where nothing else is. The text is ASCII.
  bool place_text(std::size_t row, std::size_t column, std::string_view text, const Cell& style) {
    const std::size_t from = column == 0 ? 0 : column - 1;
    const std::size_t to = std::min(column + text.size() + 1, columns_);
    if (column + text.size() > columns_ || !is_free(row, from, to)) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      cell(row, column + i) = style;
      cell(row, column + i).text = text[i];
    }
    return true;
  }

  void draw_chosen() {
    const std::size_t row = row_of(picture_.chosen.log_rate);
    const std::size_t column = column_of(picture_.chosen.bytes);
    Cell bold;
    bold.is_bold = true;
    cell(row, column) = bold;
    cell(row, column).text = "●";
    const std::string label = fmt::format("{}: {}", picture_.chosen_kind, picture_.chosen_label);
    if (!place_near(row, column, label, bold)) place_near(row, column, picture_.chosen_label, bold);
  }
  // Curves fall to the right, so there is room above, on the right, and below, on the left.
  bool place_near(std::size_t row, std::size_t column, const std::string& label,
                  const Cell& style) {
    constexpr std::size_t kNear = 3;
    for (std::size_t up = 0; up <= std::min(row, kNear); ++up) {
      for (std::size_t gap = 2; gap <= 2 + kNear; ++gap) {
        if (place_text(row - up, column + gap, label, style)) return true;
      }
    }
    for (std::size_t down = 1; down <= kNear && column >= label.size() + 2; ++down) {
      if (place_text(row + down, column - label.size() - 2, label, style)) return true;
    }
    return false;
  }

  void label_curve(std::size_t index) {
    const std::string& name = picture_.curves[index].name;
    Cell style;
    style.curve = index;
    const bool is_last = index + 1 == picture_.curves.size();
    for (const bool on_the_right : {is_last, !is_last}) {
      for (std::size_t i = 0; i < kRows; ++i) {
        // From the lower middle, where curves are apart, up and down in turns.
        const std::size_t row =
            (kRows * 2 / 3 + (i % 2 == 0 ? i / 2 : kRows - (i + 1) / 2)) % kRows;
        const auto at = edge_of_curve(index, row, on_the_right);
        if (!at) continue;
        if (!on_the_right && *at < name.size() + 2) continue;
        if (place_text(row, on_the_right ? *at + 2 : *at - name.size() - 1, name, style)) return;
      }
    }
  }
  [[nodiscard]] std::optional<std::size_t> edge_of_curve(std::size_t curve, std::size_t row,
                                                         bool on_the_right) const {
    std::optional<std::size_t> edge;
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cell& here = cells_[row * columns_ + column];
      if (here.curve == curve && here.dots != 0 && (on_the_right || !edge)) edge = column;
    }
    return edge;
  }

  const Picture& picture_;
  std::size_t columns_;
  std::vector<Cell> cells_;
};

// The axis, and below it its labels, each under its tick.
std::string memory_axis(const Picture& picture, const Canvas& canvas, std::size_t columns) {
  std::vector<std::string_view> axis(columns, "─");
  std::string labels(kMargin + columns, ' ');
  std::size_t free_from = 0;
  for (const Tick& tick : memory_ticks(picture, columns / 11)) {
    const std::size_t column = canvas.column_of(tick.place);
    axis[column] = "┬";
    const std::size_t middle = kMargin + column;
    const std::size_t start =
        std::min(middle - tick.label.size() / 2, labels.size() - tick.label.size());
    if (start < free_from) continue;
    labels.replace(start, tick.label.size(), tick.label);
    free_from = start + tick.label.size() + 1;
  }
  std::string lines = fmt::format("{:>{}}", "└", kMargin);
  for (const std::string_view piece : axis) lines += piece;
  return fmt::format("{}\n{}\n", lines, labels.substr(0, labels.find_last_not_of(' ') + 1));
}

}  // namespace

std::string as_lines(const Picture& picture, const Paint& paint, std::size_t width) {
  const std::size_t columns = std::clamp(width, kLeastWidth, kMostWidth) - kMargin - 1;
  const Canvas canvas(picture, columns);
  std::vector<std::string> labels(kRows);
  for (const Tick& tick : rate_ticks(picture, 7)) labels[canvas.row_of(tick.place)] = tick.label;
  std::string lines = fmt::format("{}\n", paint.bold(picture.title));
  for (std::size_t row = 0; row < kRows; ++row) {
    lines += fmt::format("{:>{}} {}{}\n", labels[row], kMargin - 2, labels[row].empty() ? "│" : "┤",
                         canvas.row(row, paint));
  }
  return lines + memory_axis(picture, canvas, columns);
}

}  // namespace probably::cli
