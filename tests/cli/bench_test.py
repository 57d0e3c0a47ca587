"""probably bench: what it prints, never how fast anything is.

    bench_test.py PROGRAM DATA_DIRECTORY
"""

import json
import os
import pty
import signal
import subprocess
import sys
import unittest

from support import PROGRAM, CliTest

OPERATIONS = [
    "random_read",
    "dependent_read",
    "insert",
    "insert_batch",
    "insert_alone",
    "insert_bulk",
    "absent",
    "absent_batch",
    "present",
    "present_batch",
]


class BenchTest(CliTest):
    def bench(self, *arguments):
        result = self.expect(self.run_program("bench", "--keys", "20k", *arguments))
        self.assertEqual(result.err, "")
        return result.out.decode()

    def test_json(self):
        report = json.loads(self.bench("--json", "--fpr", "2%"))
        self.assertEqual(report["keys"], 20_000)
        self.assertEqual(report["promised_fpr"], 0.02)
        self.assertGreaterEqual(report["rounds"], 2)
        self.assertFalse(report["interrupted"])
        self.assertEqual(report["cores"], os.cpu_count())
        names = [kind["kind"] for kind in report["kinds"]]
        self.assertEqual(names, ["blocked", "split_block", "bloom", "scalable"])
        for kind in report["kinds"]:
            self.assertEqual(list(kind["ns"]), OPERATIONS)
            for operation, ns in kind["ns"].items():
                if operation == "insert_bulk" and kind["kind"] in ("bloom", "scalable"):
                    self.assertIsNone(ns)
                else:
                    self.assertGreater(ns, 0)
            self.assertAlmostEqual(kind["bits_per_key"], 8 * kind["bytes"] / 20_000, places=3)
            # Wrong as promised: neither a filter that is empty nor one that is too full.
            self.assertLess(kind["measured_fpr"], 0.02 * 1.15)
            self.assertGreater(kind["measured_fpr"], 0.002)
            self.assertGreater(kind["measured_fpr_error"], 0)

    def test_table(self):
        lines = self.bench().splitlines()
        heads = [i for i, line in enumerate(lines) if "split_block" in line]
        self.assertEqual(lines[heads[0]].split(), ["blocked", "split_block", "bloom", "scalable"])
        width = len(lines[heads[0]])
        rows = [line for line in lines[heads[0] :] if line.startswith(("memory", "insert", "contains"))]
        self.assertEqual(len(rows), 1 + 3 * len(OPERATIONS))
        for row in rows:
            self.assertEqual(len(row), width, row)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("20,000 integer keys", "\n".join(lines))

    def test_figures_agree(self):
        lines = self.bench("--kind", "blocked").splitlines()
        rows = [line.rsplit(None, 1) for line in lines if line.startswith("contains, absent, batch")]
        floors = [line.rsplit(None, 1) for line in lines if line.startswith("memory, independent")]
        ns, million, ratio = (float(row[1]) for row in rows)
        floor = float(floors[0][1])
        self.assertAlmostEqual(ns * million / 1000, 1, delta=0.02)
        self.assertAlmostEqual(ns / floor / ratio, 1, delta=0.02)
        self.assertEqual(float(floors[2][1]), 1)

    def test_kinds_by_name(self):
        for kind in ("bloom", "guava_32", "redis_chain"):
            with self.subTest(kind=kind):
                report = json.loads(self.bench("--json", "--kind", kind))
                self.assertEqual([one["kind"] for one in report["kinds"]], [kind])
                self.assertIsNone(report["kinds"][0]["ns"]["insert_bulk"])

    def test_target(self):
        environment = {**os.environ, "PROBABLY_TARGET": "baseline"}
        result = self.run_program(
            "bench", "--keys", "1k", "--kind", "blocked", "--json", env=environment
        )
        self.assertEqual(json.loads(self.expect(result).out)["target"], "baseline")

    def test_bad_numbers(self):
        for arguments, sentence in [
            (["--keys", "0"], "--keys takes 1,000 or more"),
            (["--keys", "999"], "--keys takes 1,000 or more"),
            (["--keys", "100G"], "of memory, and"),
            (["--keys", "1e16"], "keys is 10000000000000000"),
            (["--fpr", "0.7"], "fpr is 0.7"),
            (["--kind", "scalable", "--fpr", "1e-11"], "fpr is 1e-11"),
        ]:
            with self.subTest(arguments=arguments):
                result = self.run_program("bench", *arguments)
                self.expect(result, 2, b"", sentence)
                self.assertEqual(result.err.count("\n"), 1)

    def test_leaves_out_what_cannot_be_made(self):
        result = self.run_program("bench", "--keys", "1k", "--fpr", "1e-11", "--json")
        self.expect(result, err="scalable is left out: fpr is 1e-11")
        self.assertNotIn("scalable", [one["kind"] for one in json.loads(result.out)["kinds"]])

    def interrupted(self, *arguments):
        """Interrupts it as soon as it tells, on a terminal, that it is in a round."""
        terminal, other_end = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, "bench", *arguments], stdout=subprocess.PIPE, stderr=other_end
        )
        os.close(other_end)
        told = ""
        while "round 1" not in told:
            told += os.read(terminal, 4096).decode()
        process.send_signal(signal.SIGINT)
        out = process.stdout.read().decode()
        process.stdout.close()
        code = process.wait()
        told += os.read(terminal, 65536).decode()
        os.close(terminal)
        return code, out, told

    def test_interrupt(self):
        code, out, told = self.interrupted("--keys", "10M", "--json")
        self.assertEqual(code, 130)
        report = json.loads(out)
        self.assertTrue(report["interrupted"])
        self.assertEqual(report["rounds"], 0)
        self.assertEqual(len(report["kinds"]), 4)
        self.assertIsNone(report["kinds"][3]["ns"]["present_batch"])
        # The line of progress is gone.
        self.assertIn("\r\x1b[Kprobably: Interrupted", told)

    def test_interrupted_table(self):
        code, out, _ = self.interrupted("--keys", "10M")
        self.assertEqual(code, 130)
        rows = [line for line in out.splitlines() if line.startswith("contains, present, batch")]
        self.assertEqual([row.split()[-1] for row in rows], ["-"] * 3)

    def test_no_progress_in_a_pipe(self):
        self.assertNotIn("round 1", self.run_program("bench", "--keys", "1k", "--kind", "bloom").err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
