"""The plots, as SVG with text as text. The same records give the same bytes."""

import itertools
import math
import pathlib
from collections.abc import Callable, Iterable

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from . import text
from .records import PLANNED_KEYS, Figure, Records

# The colours of Okabe and Ito, which most people can tell apart.
COLOURS = {"blocked": "#0072b2", "split_block": "#d55e00", "bloom": "#009e73", "scalable": "#cc79a7"}
PEER, EXACT_SET, REFERENCE = "#a6adb4", "#5f666d", "#333333"
WIDTH = 8.6  # inches; a forge shows so much without shrinking
NS_TICKS = [step * 10**power for power in range(-1, 5) for step in (1, 2, 5)]
BYTE_TICKS = [1 << shift for shift in range(12, 40, 6)]

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "probably",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "lines.linewidth": 1.6,
        "legend.frameon": False,
    }
)


def draw_all(records: Records, folder: pathlib.Path) -> set[str]:
    """Replaces the plots in the folder, and says which there are: what was not measured has none."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    drawings = {
        "bits_per_key": bits_per_key(records),
        "curve_lookups": curve(records, ("absent", "present", "absent_batch")),
        "curve_insertions": curve(records, ("insert", "insert_batch")),
        "threads": threads(records),
        **{absent_name(keys): absent(records, keys) for keys in records.sizes},
    }
    drawn = {name: drawing for name, drawing in drawings.items() if drawing}
    for name, drawing in drawn.items():
        # No metadata: they would change with the day and with the version of matplotlib.
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        drawing.savefig(folder / f"{name}.svg", metadata=metadata)
    return set(drawn)


def absent_name(keys: int) -> str:
    return f"absent_{keys}"


def bits_per_key(records: Records) -> Drawing | None:
    names = records.values_of("name", "bits", keys=PLANNED_KEYS)
    if not names:
        return None
    drawing = Drawing(figsize=(WIDTH, 3.6), layout="constrained")
    axes = drawing.subplots()
    for name in names:
        figures = sorted_by("fpr", records.find("bits", keys=PLANNED_KEYS, name=name))
        label, style = ("textbook's formula", "--") if name == "classic" else (name, ".-")
        axes.plot(
            [each["fpr"] for each in figures],
            [each.best("bits_per_key") for each in figures],
            style,
            color=COLOURS.get(name, REFERENCE),
            label=label,
            zorder=3 if name == "classic" else 2,
        )
    shown = records.find("bits", keys=PLANNED_KEYS)
    bounds = {each["fpr"]: each.best("lower_bound") for each in shown}
    rates = sorted(bounds)
    axes.plot(rates, [bounds[each] for each in rates], ":", color=REFERENCE, label="lower bound")
    axes.set_xscale("log")
    set_ticks(axes.xaxis, rates, text.rate)
    axes.tick_params(axis="x", rotation=30)
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rate")
    axes.set_ylabel("bits per key")
    axes.legend()
    return drawing


def absent(records: Records, keys: int) -> Drawing | None:
    """Single lookups of absent keys by all contenders, the fastest on top."""
    figures = [
        each
        for each in records.find("time", keys=keys, operation="absent")
        if records.one("size", name=each["name"], build=each["build"], keys=keys)
    ]
    if not figures:
        return None
    figures.sort(key=Figure.best, reverse=True)
    times = [each.best() for each in figures]
    places = range(len(figures))
    drawing = Drawing(figsize=(WIDTH, 0.9 + 0.22 * len(figures)), layout="constrained")
    axes = drawing.subplots()
    bars = axes.barh(places, times, color=[bar_colour(records, each) for each in figures])
    axes.bar_label(bars, [text.digits(each) for each in times], padding=3)
    axes.set_yticks(places, [f"{each['name']}, {each['build']}" for each in figures])
    axes.set_ylim(-0.6, len(figures) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.set_xscale("log")
    axes.set_xlim(0.5 * min(times), 1.5 * max(times))
    set_ticks(axes.xaxis, NS_TICKS)
    axes.set_xlabel(f"ns per lookup of an absent key, {text.count(keys)} keys, logarithmic scale")
    return drawing


def bar_colour(records: Records, figure: Figure) -> str:
    size = records.one("size", name=figure["name"], build=figure["build"], keys=figure["keys"])
    return COLOURS.get(figure["name"], EXACT_SET if size.best("rate") == 0 else PEER)


def curve(records: Records, operations: Iterable[str]) -> Drawing | None:
    """Times over the size of the filter, beside those of bare memory of that size."""
    shown = [each for each in operations if records.find("curve", operation=each)]
    if not shown:
        return None
    drawing = Drawing(figsize=(WIDTH, 3.6), layout="constrained")
    panels = drawing.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, operation in zip(panels, shown):
        mark_caches(axes, records)
        for name in (each for each in COLOURS if records.find("curve", name=each)):
            curve_line(axes, records, name, operation, label=name, color=COLOURS[name])
        for way, style in (("absent", "--"), ("dependent", ":")):
            label = "random line, " + ("prefetched" if way == "absent" else way)
            curve_line(axes, records, "random line", way, label=label, color=REFERENCE, linestyle=style)
        axes.set_title(text.spaced(operation))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        set_ticks(axes.xaxis, BYTE_TICKS, lambda value: text.size(int(value)))
        axes.set_xlabel("size of the filter")
    set_ticks(panels[0].yaxis, NS_TICKS)
    panels[0].set_ylabel("ns per key")
    legend_above(drawing, columns=6)
    return drawing


def curve_line(axes: Axes, records: Records, name: str, operation: str, **style: str) -> None:
    figures = sorted_by("bytes", records.find("curve", name=name, operation=operation))
    axes.plot([each["bytes"] for each in figures], [each.best() for each in figures], **style)


def mark_caches(axes: Axes, records: Records) -> None:
    for cache in records.run["caches"]:
        axes.axvline(cache["bytes"], color="#bbbbbb", linewidth=0.8)
        axes.annotate(
            cache["name"],
            (cache["bytes"], 1),
            xycoords=("data", "axes fraction"),
            xytext=(-2, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            size=7,
            color="#777777",
        )


def threads(records: Records) -> Drawing | None:
    """Throughput over threads, for each operation; sizes of filters differ in the style of the line."""
    operations = records.values_of("operation", "threads")
    if not operations:
        return None
    drawing = Drawing(figsize=(WIDTH, 3.2), layout="constrained")
    panels = drawing.subplots(1, len(operations), squeeze=False)[0]
    sizes = sorted(records.values_of("bytes", "threads"), reverse=True)
    styles = dict(zip(sizes, itertools.cycle(("-", "--", ":"))))
    for axes, operation in zip(panels, operations):
        for name, size_bytes in itertools.product(records.values_of("name", "threads"), sizes):
            found = records.find("threads", name=name, operation=operation, bytes=size_bytes)
            if not found:
                continue
            figures = sorted_by("threads", found)
            axes.plot(
                [each["threads"] for each in figures],
                [each.best("mops") for each in figures],
                styles[size_bytes],
                marker=".",
                color=COLOURS.get(name, REFERENCE),
                label=f"{name}, {text.size(size_bytes)}",
            )
        axes.set_title(operation)
        counts = records.values_of("threads", "threads", operation=operation)
        axes.set_xscale("log", base=2)
        set_ticks(axes.xaxis, counts)
        axes.set_xlabel("threads")
        axes.set_ylim(0, 1.1 * axes.dataLim.y1)
    panels[0].set_ylabel("million operations a second")
    legend_above(drawing, columns=4)
    return drawing


def sorted_by(field: str, figures: Iterable[Figure]) -> list[Figure]:
    return sorted(figures, key=lambda each: each[field])


def set_ticks(
    axis: Axis, places: Iterable[float], label: Callable[[float], str] = "{:g}".format
) -> None:
    """These ticks and no others, also on a logarithmic axis."""
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def legend_above(drawing: Drawing, columns: int) -> None:
    """One legend for all panels."""
    lines = {}
    for axes in drawing.axes:
        handles, labels = axes.get_legend_handles_labels()
        lines.update(zip(labels, handles))
    rows = math.ceil(len(lines) / columns)
    height = (0.1 + 0.2 * rows) / drawing.get_figheight()
    drawing.get_layout_engine().set(rect=(0, 0, 1, 1 - height))
    drawing.legend(lines.values(), lines.keys(), loc="upper center", ncols=columns, columnspacing=1.2)
