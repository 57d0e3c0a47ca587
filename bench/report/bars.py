"""The bars: what the library promises of its speed and size, as ratios within one run.

Times are the best of their rounds, in nanoseconds per key. Ours are those of the AVX2 build unless said
otherwise. The floor is one random cache line of the same amount of memory, prefetched.
"""

from dataclasses import dataclass
from typing import ClassVar

from . import text
from .records import PLANNED_KEYS, Records

FAST_KINDS = ("blocked", "split_block")

SINGLE_LOOKUPS = (
    "Single lookups in a large filter: a call has about 35 instructions for an integer, the hash and the "
    "loop included, and Zen 3 holds 256 in flight, so misses of seven calls overlap, where a batch asks "
    "for 32 lines ahead. Digests, which are hashed already, take 25 instructions and two thirds of the "
    "time."
)
BULK_BUILD = (
    "Bulk build: of the time of `blocked`, `perf` sees 44 % in the filling of parts that are in the "
    "cache, 35 % in the distribution of digests to bins, 15 % in hashing and 6 % in fetching parts: "
    "instructions, and no longer memory."
)
BASELINE = (
    "Without -m flags: SSE2 multiplies two lanes of 32 bits at a time and has no shift by lane, so the "
    "pattern of a key takes about twice the instructions."
)
BESIDE_WRITER = (
    "Lookups beside a writer: the row below it is the control. What a writer of another filter costs is "
    "the machine's doing. The rest was not profiled; lines that come from the writer's cache would be a guess."
)


@dataclass(frozen=True)
class Ratio:
    over: float
    under: float
    unit: str

    @property
    def value(self) -> float:
        return self.over / self.under

    def __str__(self) -> str:
        value, over, under = map(text.digits, (self.value, self.over, self.under))
        return f"{value} ({over} / {under} {self.unit})"


@dataclass(frozen=True)
class Limit:
    factor: float
    of: str

    words: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.words} {self.factor:g} × {self.of}"


class AtMost(Limit):
    words = "at most"

    def is_held(self, value: float) -> bool:
        return value <= self.factor


class AtLeast(Limit):
    words = "at least"

    def is_held(self, value: float) -> bool:
        return value >= self.factor


@dataclass(frozen=True)
class Bar:
    what: str
    ratio: Ratio | None  # None: not measured
    limit: AtMost | AtLeast | None  # None: shown for comparison only
    reason: str = ""  # if it is missed, as the profile shows

    @property
    def held(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.limit is None:
            return text.NOTHING
        return "yes" if self.limit.is_held(self.ratio.value) else "no"


def table(bars: list[Bar]) -> str:
    rows = [
        [bar.what, str(bar.limit or "for comparison"), str(bar.ratio or text.NOTHING), bar.held]
        for bar in bars
    ]
    return text.table(["what", "bar", "measured", "held"], rows, texts=4)


def reasons(bars: list[Bar]) -> str:
    """Why bars are missed, as a list; empty if there is nothing to say."""
    missed = [bar for bar in bars if bar.held == "no" and bar.reason]
    return "\n".join(dict.fromkeys(f"- {bar.reason}" for bar in missed))


def all_bars(records: Records) -> list[Bar]:
    small, large = records.sizes[0], records.sizes[-1]
    return [
        *large_filters(records, large),
        *small_filters(records, small),
        *threads(records),
        *beside_writer(records),
        *(bar for keys in records.sizes for bar in peers(records, keys)),
        *memory(records),
    ]


def large_filters(records: Records, keys: int) -> list[Bar]:
    """Filters that no cache holds, beside what the memory costs."""
    where = text.count(keys)

    def rows(
        what: str, operation: str, factor: float, threads: int = 1, reason: str = ""
    ) -> list[Bar]:
        line = floor(records, keys, threads)
        return [
            Bar(
                f"{what}, {where}: `{kind}`",
                ratio(time(records, kind, operation, keys), line),
                AtMost(factor, "the floor"),
                reason,
            )
            for kind in FAST_KINDS
        ]

    return [
        *rows("batch lookup of absent integers, one thread", "absent_batch", 1.2),
        *rows("batch lookup of absent integers, two threads", "absent_batch_2_threads", 1.2, threads=2),
        *rows("batch lookup of absent strings of 16 bytes", "absent_strings_batch", 1.6),
        *rows("single lookup of absent integers", "absent", 2.2, reason=SINGLE_LOOKUPS),
        *rows("bulk build, one thread", "rebuild", 0.7, reason=BULK_BUILD),
    ]


def small_filters(records: Records, keys: int) -> list[Bar]:
    """Filters that a cache holds."""
    where = text.count(keys)
    single = f"single lookup of absent integers, {where}"
    absent = {kind: time(records, kind, "absent", keys) for kind in FAST_KINDS}
    bits = {
        kind: records.best("size", "bits_per_key", name=kind, build="avx2", keys=keys)
        for kind in FAST_KINDS
    }
    unordered_set = peer_time(records, "std::unordered_set", "absent", keys)
    return [
        Bar(
            f"{single}: `split_block`",
            ratio(absent["split_block"], unordered_set),
            AtMost(0.1, "`std::unordered_set`"),
        ),
        Bar(
            f"{single}: `blocked`",
            ratio(absent["blocked"], absent["split_block"]),
            AtMost(1.35, "`split_block`"),
        ),
        Bar(
            f"memory, {where}: `blocked`",
            ratio(bits["blocked"], bits["split_block"], "bits per key"),
            AtMost(0.96, "`split_block`"),
        ),
        *(
            Bar(
                f"{single}, built without -m flags: `{kind}`",
                ratio(time(records, kind, "absent", keys, build="baseline"), absent[kind]),
                AtMost(2, "the AVX2 build"),
                BASELINE,
            )
            for kind in FAST_KINDS
        ),
        *(
            Bar(
                f"batch lookup of absent integers, {where}: `{kind}`",
                ratio(time(records, kind, "absent_batch", keys), absent[kind]),
                AtMost(0.8, "single lookups"),
            )
            for kind in FAST_KINDS
        ),
    ]


def threads(records: Records) -> list[Bar]:
    size_bytes = max(records.values_of("bytes", "threads", operation="mix"), default=None)
    names = records.values_of("name", "threads", operation="mix", bytes=size_bytes) or ["blocked"]

    def mix(name: str, count: int) -> float | None:
        return records.best(
            "threads", "mops", name=name, operation="mix", bytes=size_bytes, threads=count
        )

    return [
        Bar(
            f"insertions and lookups, half and half, two threads: `{name}`",
            ratio(mix(name, 2), mix(name, 1), "million a second"),
            AtLeast(1.8, "the throughput of one"),
        )
        for name in names
    ]


def beside_writer(records: Records) -> list[Bar]:
    bars = []
    for figure in records.find("writer", beside="same"):
        same = figure.best()
        name, size_bytes = figure["name"], figure["bytes"]
        nobody, other = (
            records.best("writer", name=name, bytes=size_bytes, beside=beside)
            for beside in ("nobody", "other")
        )
        what = f"lookups beside a writing thread, {text.size(size_bytes)}: `{name}`"
        bars.append(Bar(what, ratio(same, nobody), AtMost(1.1, "lookups alone"), BESIDE_WRITER))
        bars.append(Bar(f"{what}, against a writer of another filter", ratio(same, other), None))
    return bars or [Bar("lookups beside a writing thread", None, AtMost(1.1, "lookups alone"))]


def peers(records: Records, keys: int) -> list[Bar]:
    """Peers' times over those of `blocked`."""
    where = text.count(keys)

    def against(peer: str, theirs: str, ours: str) -> Ratio | None:
        return ratio(peer_time(records, peer, theirs, keys), time(records, "blocked", ours, keys))

    def absent(peer: str, factor: float) -> Bar:
        return Bar(
            f"absent lookups, {where}: {peer}",
            against(peer, "absent", "absent"),
            AtLeast(factor, "the time of `blocked`"),
            SINGLE_LOOKUPS if keys == records.sizes[-1] else "",
        )

    go = "bits-and-blooms"
    singly, at_once = against(go, "insert", "insert"), against(go, "insert", "build")
    measured = [each for each in (singly, at_once) if each]
    better = max(measured, key=lambda each: each.value, default=None)
    return [
        absent(go, 8),
        Bar(f"insertions, {where}: {go} against single calls", singly, None),
        Bar(f"insertions, {where}: {go} against a bulk build", at_once, None),
        Bar(
            f"insertions, {where}: {go}, the better of these two",
            better,
            AtLeast(10, "the time of `blocked`"),
        ),
        *(absent(peer, 5) for peer in ("libbloom", "LevelDB", "Guava")),
    ]


def memory(records: Records) -> list[Bar]:
    def bits(name: str, fpr: float) -> float | None:
        return records.best("bits", "bits_per_key", name=name, keys=PLANNED_KEYS, fpr=fpr)

    return [
        Bar(
            f"memory at {text.rate(fpr)}, {text.count(PLANNED_KEYS)}: `blocked`",
            ratio(bits("blocked", fpr), bits("classic", fpr), "bits per key"),
            AtMost(factor, "the textbook's formula"),
        )
        for fpr, factor in ((0.01, 1.07), (0.001, 1.11))
    ]


def ratio(over: float | None, under: float | None, unit: str = "ns") -> Ratio | None:
    return None if over is None or under is None else Ratio(over, under, unit)


def time(
    records: Records, kind: str, operation: str, keys: int, build: str = "avx2"
) -> float | None:
    return records.best("time", name=kind, operation=operation, keys=keys, build=build)


def peer_time(records: Records, name: str, operation: str, keys: int) -> float | None:
    """A peer has one build only."""
    return records.best("time", name=name, operation=operation, keys=keys)


def floor(records: Records, keys: int, threads: int) -> float | None:
    return records.best("floor", what="random_line", keys=keys, threads=threads, build="avx2")
