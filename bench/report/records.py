"""Records are what the programs print: one flat JSON object a line.

A record holds measured numbers; all the rest of it says of what, and is its identity. Records of one
identity are the rounds of one figure.
"""

import json
import pathlib
import statistics
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

Record = dict[str, Any]

MEASURED = frozenset(
    "ns ms mops fairness rate bits_per_key lower_bound p50 p99 p999 max resident".split()
)
PLANNED_KEYS = 1_000_000  # of the sizes that are computed, and not measured: subject "bits"
HIGHER_IS_BETTER = frozenset(("mops", "fairness"))


class Figure:
    """The rounds of one identity."""

    def __init__(self, identity: Record) -> None:
        self.identity = identity
        self._rounds: dict[str, list[float]] = {}

    def add(self, record: Record) -> None:
        for field in MEASURED & record.keys():
            self._rounds.setdefault(field, []).append(record[field])

    def __getitem__(self, field: str) -> Any:
        return self.identity[field]

    def matches(self, wanted: Record) -> bool:
        return all(self.identity.get(field) == value for field, value in wanted.items())

    def best(self, field: str = "ns") -> float:
        return max(self._rounds[field]) if field in HIGHER_IS_BETTER else min(self._rounds[field])

    def median(self, field: str = "ns") -> float:
        return statistics.median(self._rounds[field])


class Records:
    """All figures of a run, in the order in which they first appeared."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.run: Record = {}  # where, when and from what, see machine.py
        self.failures: list[Record] = []
        self._figures: dict[tuple[tuple[str, Any], ...], Figure] = {}
        for record in records:
            if record["subject"] == "run":
                self.run = record
            elif record["subject"] == "failure":
                self.failures.append(record)
            else:
                self._add(record)

    def _add(self, record: Record) -> None:
        identity = {field: value for field, value in record.items() if field not in MEASURED}
        key = tuple(sorted(identity.items()))
        self._figures.setdefault(key, Figure(identity)).add(record)

    @property
    def sizes(self) -> list[int]:
        """The numbers of keys to measure the contenders with, whether that was done or not."""
        return [keys for keys, _ in self.run["sizes"]]

    def find(self, subject: str, **identity: Any) -> list[Figure]:
        wanted = {"subject": subject, **identity}
        return [figure for figure in self._figures.values() if figure.matches(wanted)]

    def one(self, subject: str, **identity: Any) -> Figure | None:
        """The only figure with this identity, if there is one. Who finds two asked for too little."""
        found = self.find(subject, **identity)
        if len(found) > 1:
            raise ValueError(f"{subject} {identity} may be any of {[each.identity for each in found]}")
        return found[0] if found else None

    def best(self, subject: str, field: str = "ns", **identity: Any) -> float | None:
        figure = self.one(subject, **identity)
        return figure.best(field) if figure else None

    def values_of(self, field: str, subject: str, **identity: Any) -> list[Any]:
        """What stands in `field` of the figures found, each once, in order of appearance."""
        return list(dict.fromkeys(figure[field] for figure in self.find(subject, **identity)))


def read(path: pathlib.Path) -> Iterator[Record]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


class Writer:
    """Writes every record at once, so that nothing is lost if the run ends early."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, record: Record) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._file.flush()
