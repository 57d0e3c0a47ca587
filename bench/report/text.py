"""Numbers and sizes as text, and the pieces of a page."""

import math
import textwrap
from collections.abc import Sequence

NOTHING = "-"
NOT_MEASURED = "Not measured."


def digits(number: float | None) -> str:
    """Three significant digits: 0.0123, 1.23, 12.3, 123, 12,300."""
    if number is None:
        return NOTHING
    rounded = float(f"{number:.3g}")
    exponent = math.floor(math.log10(abs(rounded))) if rounded else 0
    return f"{rounded:,.{max(0, 2 - exponent)}f}"


def percent(share: float) -> str:
    return f"{digits(100 * share)} %"


def rate(value: float) -> str:
    """A rate that was chosen, and not measured: 0.1 %."""
    return f"{100 * value:.10f}".rstrip("0").rstrip(".") + " %"


def count(number: int) -> str:
    """1000000 is 1 M."""
    for unit, name in ((1_000_000, " M"), (1_000, " k")):
        if number >= unit and number % unit == 0:
            return f"{number // unit:,}{name}"
    return f"{number:,}"


def size(size_bytes: int) -> str:
    """Sizes that are round in KiB, MiB or GiB in that unit; others in decimal ones."""
    for shift, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if 0 < size_bytes >> shift < 1024 and size_bytes % (1 << shift) == 0:
            return f"{size_bytes >> shift} {name}"
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit:
            return f"{digits(size_bytes / unit)} {name}"
    return f"{size_bytes} B"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """A table in Markdown, aligned to be read as it stands. The first `texts` columns hold text."""
    widths = [max(3, *map(len, column)) for column in zip(header, *rows)]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        ]
        return f"| {' | '.join(aligned)} |"

    rule = ["-" * width if i < texts else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def spaced(name: str) -> str:
    """An operation's name as words."""
    return name.replace("_", " ")


def paragraph(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 120, break_long_words=False, break_on_hyphens=False)


def image(plots: set[str], name: str, description: str) -> list[str]:
    return [f"![{description}](benchmarks/{name}.svg)"] if name in plots else []


def folded(summary: str, content: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"
