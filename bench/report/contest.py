"""The sections of the page that set the contenders side by side, at one number of keys."""

import math
from collections.abc import Callable, Sequence

from . import text
from .plots import absent_name
from .records import Figure, Records

KINDS = ("bloom", "blocked", "split_block", "scalable")
OPERATIONS = (
    "insert",
    "insert_batch",
    "build",
    "absent",
    "present",
    "mixed",
    "absent_batch",
    "present_batch",
    "mixed_batch",
)
EXTRA_OPERATIONS = (
    "rebuild",
    "rebuild_2_threads",
    "absent_batch",
    "absent_batch_2_threads",
    "absent_strings_batch",
)
FLOORS = {
    "random_line": "a random line, prefetched",
    "dependent": "a random line, whose place depends on the line before",
    "sequential": "the next line",
}


def contest(records: Records, plots: set[str], keys: int) -> list[str]:
    title = f"## {keys:,} keys at 1 %"
    sizes = sorted(records.find("size", keys=keys), key=rank)
    if not sizes:
        return [title, text.NOT_MEASURED]
    return [
        title,
        *text.image(plots, absent_name(keys), f"Time of an absent lookup, {text.count(keys)} keys"),
        text.paragraph(
            "Grey bars are filters of others, dark ones exact sets.",
            "Waste is what a filter holds above log2(1/rate), the bits per key that no filter can do",
            "without, at the rate that was measured. Exact sets have no rate.",
        ),
        contest_table(records, sizes, Figure.best),
        text.folded("The same with medians", contest_table(records, sizes, Figure.median)),
        *floor(records, keys),
        *extras(records, keys),
    ]


def rank(figure: Figure) -> tuple[int, str]:
    """Our kinds first; what is not ours keeps its order."""
    if figure["name"] in KINDS:
        return KINDS.index(figure["name"]), figure["build"]
    return len(KINDS), ""


def contest_table(
    records: Records, sizes: Sequence[Figure], summarise: Callable[[Figure], float]
) -> str:
    header = ["name", "built for", "bits per key", "waste", "rate", *map(text.spaced, OPERATIONS)]
    rows = []
    for size in sizes:
        bits, rate = size.best("bits_per_key"), size.best("rate")
        is_exact = rate == 0
        rows.append(
            [
                size["name"],
                size["build"],
                text.digits(bits),
                text.NOTHING if is_exact else f"{100 * (bits / math.log2(1 / rate) - 1):.0f} %",
                text.NOTHING if is_exact else text.percent(rate),
                *times(records, size, OPERATIONS, summarise),
            ]
        )
    return text.table(header, rows, texts=2)


def times(
    records: Records, size: Figure, operations: Sequence[str], summarise: Callable[[Figure], float]
) -> list[str]:
    """The cells of one contender."""
    figures = [
        records.one("time", name=size["name"], build=size["build"], keys=size["keys"], operation=each)
        for each in operations
    ]
    return [text.digits(summarise(each)) if each else text.NOTHING for each in figures]


def floor(records: Records, keys: int) -> list[str]:
    """What nobody can do without."""

    def row(what: str, threads: int, figure: Figure) -> list[str]:
        times = map(text.digits, (figure.best(), figure.median()))
        return [what, figure["build"], str(threads), *times]

    rows = [
        row(f"{FLOORS[each['what']]}, of {text.size(each['bytes'])}", each["threads"], each)
        for each in records.find("floor", keys=keys)
    ]
    rows += [
        row("hash only: the loop over the keys, without a filter", 1, each)
        for each in records.find("time", name="hash only", keys=keys)
    ]
    if not rows:
        return []
    return [
        text.paragraph(
            "The floor: what one cache line of 64 bytes costs in the same run, in as much memory as a",
            "filter has, and what the loop costs without one. Two threads: per line of both together.",
        ),
        text.table(["what", "built for", "threads", "best", "median"], rows, texts=2),
    ]


def extras(records: Records, keys: int) -> list[str]:
    """What has no counterpart among the peers."""
    strings = records.values_of("name", "time", keys=keys, operation="absent_strings_batch")
    sizes = [each for each in records.find("size", keys=keys) if each["name"] in strings]
    if not sizes:
        return []
    rows = [
        [each["name"], each["build"], *times(records, each, EXTRA_OPERATIONS, Figure.best)]
        for each in sorted(sizes, key=rank)
    ]
    return [
        "Two threads at work, per key of both together, and strings of 16 bytes:",
        text.table(["name", "built for", *map(text.spaced, EXTRA_OPERATIONS)], rows, texts=2),
    ]
