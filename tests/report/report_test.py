"""The arithmetic of bench/report: from records to figures and to bars that are held or not."""

import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from report import bars, text  # noqa: E402
from report.records import Records, Writer, read  # noqa: E402

RUN = {"subject": "run", "quick": False, "sizes": [[1_000_000, 7], [100_000_000, 3]]}


def time(name: str, operation: str, keys: int, ns: float, build: str = "avx2") -> dict:
    return {
        "subject": "time",
        "name": name,
        "build": build,
        "keys": keys,
        "operation": operation,
        "ns": ns,
    }


def floor(keys: int, ns: float) -> dict:
    return {
        "subject": "floor",
        "build": "avx2",
        "keys": keys,
        "bytes": 126,
        "threads": 1,
        "what": "random_line",
        "ns": ns,
    }


def held(records: list[dict], what: str) -> str:
    """What the bar with this description says."""
    found = [bar for bar in bars.all_bars(Records([RUN, *records])) if bar.what == what]
    assert len(found) == 1, f"{len(found)} bars are called {what}"
    return found[0].held


class RecordsTest(unittest.TestCase):
    def test_rounds_of_one_identity_are_one_figure(self):
        records = Records([RUN] + [time("blocked", "absent", 1, ns) for ns in (5.0, 3.0, 4.5)])
        figure = records.one("time", name="blocked")
        self.assertEqual(figure.best(), 3.0)
        self.assertEqual(figure.median(), 4.5)

    def test_more_is_better_where_operations_are_counted(self):
        rounds = [{"subject": "threads", "threads": 2, "mops": mops} for mops in (1.0, 9.0, 3.0)]
        self.assertEqual(Records([RUN, *rounds]).best("threads", "mops"), 9.0)

    def test_other_identities_stay_apart(self):
        records = Records([RUN, time("blocked", "absent", 1, 3.0), time("blocked", "absent", 2, 4.0)])
        self.assertEqual(records.best("time", keys=2), 4.0)
        with self.assertRaises(ValueError):
            records.one("time", name="blocked")

    def test_what_is_written_can_be_read(self):
        file = io.StringIO()
        Writer(file).write(time("std::unordered_set", "absent", 1, 2.5))
        path = pathlib.Path(self.id() + ".jsonl")
        path.write_text(file.getvalue(), encoding="utf-8")
        self.addCleanup(path.unlink)
        self.assertEqual(list(read(path)), [time("std::unordered_set", "absent", 1, 2.5)])


class BarsTest(unittest.TestCase):
    BULK = "bulk build, one thread, 100 M: `blocked`"
    LOOKUP = "absent lookups, 1 M: bits-and-blooms"

    def test_a_limit_from_above_is_held_up_to_its_factor(self):
        line = floor(100_000_000, 10.0)
        self.assertEqual(held([line, time("blocked", "rebuild", 100_000_000, 7.0)], self.BULK), "yes")
        self.assertEqual(held([line, time("blocked", "rebuild", 100_000_000, 7.1)], self.BULK), "no")

    def test_the_best_round_counts(self):
        rounds = [time("blocked", "rebuild", 100_000_000, ns) for ns in (9.0, 6.9, 8.0)]
        self.assertEqual(held([floor(100_000_000, 10.0), *rounds], self.BULK), "yes")

    def test_a_limit_from_below_is_held_from_its_factor_on(self):
        ours = time("blocked", "absent", 1_000_000, 4.0)
        for theirs, expected in ((31.0, "no"), (32.0, "yes")):
            peer = time("bits-and-blooms", "absent", 1_000_000, theirs, build="baseline")
            self.assertEqual(held([ours, peer], self.LOOKUP), expected)

    def test_what_was_not_measured_is_not_held(self):
        self.assertEqual(held([], self.BULK), "not measured")
        self.assertEqual(held([floor(100_000_000, 10.0)], self.BULK), "not measured")

    def test_another_size_does_not_count(self):
        records = [floor(100_000_000, 10.0), time("blocked", "rebuild", 1_000_000, 1.0)]
        self.assertEqual(held(records, self.BULK), "not measured")


    def test_a_reason_is_given_once_and_only_for_what_is_missed(self):
        missed = bars.Bar("a", bars.Ratio(3, 1, "ns"), bars.AtMost(2, "b"), "because")
        held_one = bars.Bar("c", bars.Ratio(1, 1, "ns"), bars.AtMost(2, "b"), "not told")
        self.assertEqual(bars.reasons([missed, missed, held_one]), "- because")
        self.assertEqual(bars.reasons([held_one]), "")


class TextTest(unittest.TestCase):
    def test_three_digits(self):
        self.assertEqual(text.digits(0.012345), "0.0123")
        self.assertEqual(text.digits(9.999), "10.0")
        self.assertEqual(text.digits(12_345), "12,300")
        self.assertEqual(text.digits(None), text.NOTHING)

    def test_counts(self):
        self.assertEqual(text.count(100_000_000), "100 M")
        self.assertEqual(text.count(1_234), "1,234")


if __name__ == "__main__":
    unittest.main()
