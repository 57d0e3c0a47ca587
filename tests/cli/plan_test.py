"""probably plan: its numbers against arithmetic done here, and its commands by running them.

    plan_test.py PROGRAM DATA_DIRECTORY
"""

import json
import math
import shlex
import sys
import unittest
import xml.etree.ElementTree

from support import CliTest

LN2_SQUARED = math.log(2) ** 2
KINDS = 10


def textbook_bits(keys, fpr):
    return math.ceil(-keys * math.log(fpr) / LN2_SQUARED)


def textbook_fpr(bits, hashes, keys):
    return (1 - math.exp(-hashes * keys / bits)) ** hashes


class PlanTest(CliTest):
    def plan(self, *arguments):
        return json.loads(self.expect(self.run_program("plan", "--json", *arguments)).out)

    def text(self, *arguments):
        return self.expect(self.run_program("plan", *arguments)).out.decode()

    def kinds(self, plan):
        return {kind["kind"]: kind for kind in plan["kinds"]}

    def refuses(self, arguments, *sentences):
        for form in ([], ["--json"]):
            result = self.expect(self.run_program("plan", *form, *arguments), 2, b"")
            for sentence in sentences:
                self.assertIn(sentence, result.err)
            self.assertNotIn("should not happen", result.err)
            self.assertNotIn("nan", result.err)


class SolutionTest(PlanTest):
    def test_memory_of_keys_and_rate(self):
        for keys, fpr in [(1_000, 0.01), (10_000_000, 0.001), (1_000_000_000, 1e-6)]:
            plan = self.plan("--keys", keys, "--fpr", fpr)
            with self.subTest(keys=keys, fpr=fpr):
                self.assertEqual(plan["design_keys"], keys)
                self.assertEqual(plan["textbook"]["bits"], textbook_bits(keys, fpr))
                bound = math.log2(1 / fpr)
                self.assertAlmostEqual(plan["solution"]["lower_bound_bits_per_key"], bound)
                bloom = self.kinds(plan)["bloom"]
                self.assertAlmostEqual(bloom["bits_per_key"] * math.log(2) / bound, 1, delta=0.02)
                self.assertAlmostEqual(
                    bloom["times_lower_bound"], bloom["bytes"] * 8 / keys / bound, places=6
                )

    def test_rate_of_keys_and_memory(self):
        plan = self.plan("--keys", "10M", "--memory", "16MiB")
        bits = 16 * 2**20 * 8
        best = min(textbook_fpr(bits, hashes, 10**7) for hashes in range(1, 30))
        self.assertAlmostEqual(plan["textbook"]["fpr"] / best, 1, delta=1e-4)
        self.assertAlmostEqual(self.kinds(plan)["bloom"]["fpr"] / best, 1, delta=1e-3)
        self.assertEqual(plan["solution"]["kind"], "blocked")
        self.assertEqual(plan["solution"]["bytes"], 16 * 2**20)
        self.assertGreater(plan["solution"]["fpr"], best)

    def test_keys_of_memory_and_rate(self):
        plan = self.plan("--memory", "1GiB", "--fpr", "1 in 10,000")
        expected = 2**33 * LN2_SQUARED / math.log(10_000)
        self.assertAlmostEqual(plan["textbook"]["keys"], expected, delta=2)
        self.assertAlmostEqual(self.kinds(plan)["bloom"]["keys"] / expected, 1, delta=1e-3)
        self.assertIsNone(plan["design_keys"])

    def test_a_budget_that_suffices(self):
        limited = self.plan("--keys", "10M", "--fpr", "0.1%", "--memory", "64MiB")
        self.assertEqual(limited["solution"], self.plan("--keys", "10M")["solution"])

    def test_a_budget_that_only_another_kind_keeps(self):
        arguments = ["--keys", "10M", "--fpr", "0.1%", "--memory", "18MiB"]
        plan = self.plan(*arguments)
        self.assertEqual(plan["solution"]["kind"], "bloom")
        self.assertIn("needs", self.kinds(plan)["blocked"]["refusal"])
        self.assertIn("bloom, because blocked needs 18.7 MiB", self.text(*arguments))
        self.refuses([*arguments, "--kind", "blocked"], "more than the 18.0 MiB granted")

    def test_a_budget_that_does_not_suffice(self):
        known = {"--keys": "10M", "--fpr": "0.1%", "--memory": "16MiB"}
        for kind in ("bloom", "blocked", "go_bloom", "redis_chain"):
            arguments = [word for pair in known.items() for word in pair] + ["--kind", kind]
            result = self.expect(self.run_program("plan", *arguments), 2)
            advice = result.err.strip().rstrip(".").split("would do: ")[1].split(", ")
            self.assertEqual(len(advice), 3)
            for option, value in map(str.split, advice):
                changed = [word for pair in {**known, option: value}.items() for word in pair]
                with self.subTest(kind=kind, advice=option + value):
                    self.plan(*changed, "--kind", kind)

    def test_the_rate_of_who_says_none(self):
        plan = self.plan("--keys", "1M")
        self.assertEqual(plan["solution"], self.plan("--keys", "1M", "--fpr", "0.1%")["solution"])
        self.assertEqual(self.plan("--memory", "1MiB")["solution"]["fpr"], 0.001)

    def test_cache_misses(self):
        kinds = self.kinds(self.plan("--keys", "10M", "--fpr", "0.1%"))
        for kind in ("blocked", "split_block", "scalable"):
            self.assertEqual(kinds[kind]["misses_if_absent"], 1)
            self.assertEqual(kinds[kind]["misses_if_present"], 1)
        bits = kinds["bloom"]["bytes"] * 8
        fill = 1 - math.exp(-10 * 10**7 / bits)
        probes = sum(fill**i for i in range(10))
        self.assertAlmostEqual(kinds["bloom"]["misses_if_absent"], probes, places=3)
        self.assertAlmostEqual(kinds["bloom"]["misses_if_present"], 10, places=3)
        one_line = self.kinds(self.plan("--keys", 20))["bloom"]
        self.assertEqual((one_line["bytes"], one_line["misses_if_present"]), (64, 1))


class GrowthTest(PlanTest):
    def test_design_keys(self):
        plan = self.plan("--keys", "10M", "--growth", "40%", "--for", "3y", "--headroom", "20%")
        self.assertEqual(plan["design_keys"], math.ceil(10**7 * 1.4**3 * 1.2))
        self.assertEqual(
            [step["keys"] for step in plan["forecast"]],
            [10_000_000, 14_000_000, 19_600_000, 27_440_000],
        )
        rates = [step["fpr"] for step in plan["forecast"]]
        self.assertEqual(rates, sorted(rates))
        self.assertLess(rates[-1], 0.001)

    def test_headroom_alone(self):
        plan = self.plan("--keys", "1M", "--headroom", "50%")
        self.assertEqual(plan["design_keys"], 1_500_000)
        text = self.text("--keys", "1M", "--headroom", "50%")
        self.assertIn("1,000,000 keys today, 50 % headroom", text)

    def test_a_year_is_the_default(self):
        plan = self.plan("--keys", "1M", "--growth", "30%", "--memory", "2MiB")
        self.assertEqual(plan["design_keys"], 1_300_000)

    def test_any_time(self):
        for time in ("0s", "1h", "10d", "5w", "7 months", "18 months", "99y"):
            plan = self.plan("--keys", 1000, "--growth", "10%", "--for", time)
            with self.subTest(time=time):
                self.assertLessEqual(len(plan["forecast"]), 8)
                self.assertEqual(plan["forecast"][-1]["keys"], plan["design_keys"])

    def test_errors(self):
        self.refuses(["--memory", "1MiB", "--growth", "10%"], "--growth", "add --keys")
        self.refuses(["--memory", "1MiB", "--headroom", "10%"], "--headroom", "add --keys")
        self.refuses(["--keys", "1M", "--for", "2y"], "add --growth")
        self.refuses(["--keys", "1M", "--growth", "1e9%"], "--growth goes up to")
        self.refuses(["--keys", "1M", "--growth", "1%", "--for", "101y"], "--for goes up to")
        self.refuses(["--keys", "1M", "--headroom", "1e300"], "--headroom goes up to")
        self.refuses(["--keys", "1T", "--growth", "100%", "--for", "50y"], "fewer years")


class CommandTest(PlanTest):
    def test_commands_make_what_was_planned(self):
        for known in (
            ["--keys", "123,457", "--fpr", "0.37%"],
            ["--keys", "100k", "--memory", "150 kB"],
            ["--memory", "123,456", "--fpr", "1 in 777"],
            ["--keys", "10k", "--fpr", "1e-8"],
            ["--keys", "1000", "--fpr", "50%"],
        ):
            plan = self.plan(*known)
            kinds = plan["kinds"]
            self.assertEqual(len(kinds), KINDS)
            self.assertIn(plan["command"], [kind["command"] for kind in kinds])
            for kind in kinds:
                with self.subTest(known=known, kind=kind["kind"]):
                    self.assertLessEqual(kind["keys"], 10**15)
                    arguments = shlex.split(kind["command"].replace("FILE", "made"))
                    self.expect(self.run_program(*arguments[1:], stdin=b"a\n"))
                    info = json.loads(self.run_program("info", "--json", "made").out)
                    self.assertEqual(info["bytes"], kind["bytes"])
                    self.assertEqual(info["kind"], kind["kind"])

    def test_all_kinds_stay_within_the_memory(self):
        for known in (["--keys", "1M"], ["--fpr", "1%"]):
            for memory in (3_000_019, 1_000_000):
                plan = self.plan(*known, "--memory", memory)
                for kind in plan["kinds"]:
                    with self.subTest(known=known, kind=kind["kind"]):
                        self.assertLessEqual(kind["bytes"], memory)
                        self.assertGreater(kind["bytes"], memory * 0.99)


class FormTest(PlanTest):
    def test_text(self):
        text = self.text("--keys", "10M", "--fpr", "0.1%")
        self.assertIn("10,000,000 keys at a rate of 0.1 % (1 in 1,000) take 18.7 MiB", text)
        self.assertIn("probably build --keys 10M --fpr 0.1% --kind blocked -o FILE", text)
        self.assertNotIn("\x1b", text)
        for name in ("lower bound", "bloom", "●", "split_block", "redis_chain", "cache misses"):
            self.assertIn(name, text)

    def test_lines_fit_into_80_columns(self):
        for arguments in (
            ["--keys", "10M"],
            ["--memory", "1GiB"],
            ["--memory", "1TiB", "--fpr", "10%"],
            ["--keys", "2", "--memory", "1MB"],
            ["--keys", "1M", "--growth", "40%", "--for", "18 months", "--headroom", "20%"],
            ["--keys", "10M", "--fpr", "1e-6", "--kind", "split_block"],
        ):
            for line in self.text(*arguments).splitlines()[1:]:
                self.assertLessEqual(len(line), 80, line)

    def test_svg(self):
        for arguments in (["--keys", "10M"], ["--keys", "1"], ["--keys", "1", "--memory", "1GiB"]):
            self.text(*arguments, "--kind", "split_block", "--svg", "plan.svg")
            root = xml.etree.ElementTree.parse(self.directory / "plan.svg").getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            words = " ".join(root.itertext())
            for name in ("lower bound", "bloom", "blocked", "split_block", "memory", "1 in 1"):
                self.assertIn(name, words)
            self.assertNotIn("nan", (self.directory / "plan.svg").read_text())

    def test_svg_that_cannot_be_written(self):
        self.refuses(["--keys", "1M", "--svg", "none/plan.svg"], "none/plan.svg")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_extremes_have_finite_numbers(self):
        for arguments in (
            ["--keys", "1"],
            ["--keys", "1", "--fpr", "1e-12"],
            ["--keys", "1", "--memory", "144115188075855872"],
            ["--keys", "1e15"],
            ["--keys", "1e15", "--memory", "144115188075855872"],
            ["--memory", "144115188075855872", "--fpr", "50%"],
            ["--memory", "64", "--fpr", "1e-12"],
            ["--memory", "8", "--keys", "1"],
        ):
            with self.subTest(arguments=arguments):
                plan = self.plan(*arguments)
                self.assertNotIn("null", json.dumps(plan["kinds"]))
                self.assertNotIn("nan", self.text(*arguments))


class RefusalTest(PlanTest):
    def test_too_little_is_known(self):
        self.refuses([], "Say what you know")
        self.refuses(["--fpr", "1%"], "add --keys or --memory")

    def test_values_out_of_range(self):
        self.refuses(["--keys", "0"], "--keys 0", "from 1 to")
        self.refuses(["--keys", "1e16"], "from 1 to 1,000,000,000,000,000")
        self.refuses(["--keys", "5", "--fpr", "60%"], "--fpr 60%", "to 50 %")
        self.refuses(["--keys", "5", "--fpr", "1e-13"], "--fpr 1e-13")
        self.refuses(["--memory", "0"], "from 1 byte")
        self.refuses(["--memory", "1e18"], "128.0 PiB")
        self.refuses(["--keys", "1M", "--kind", "cuckoo"], "there are:")

    def test_out_of_reach(self):
        self.refuses(["--keys", "10M", "--memory", "1KiB"], "needs 1.7 MiB even at 50 %")
        self.refuses(["--memory", "1", "--fpr", "1e-12"], "for a single key")
        self.refuses(["--keys", "1e15", "--fpr", "1e-12"], "cannot keep this rate")
        self.refuses(
            ["--keys", "1T", "--kind", "split_block"], "cannot keep this rate", "bloom blocked"
        )
        self.refuses(["--keys", "1k", "--fpr", "1e-10", "--kind", "scalable"], "cannot keep")
        self.refuses(
            ["--keys", "1M", "--memory", "1TiB", "--kind", "split_block"],
            "cannot use so much memory",
        )

    def test_least_memory_that_is_named_does(self):
        result = self.run_program("plan", "--keys", "1", "--memory", "1")
        self.assertIn("needs 8 bytes", result.err)
        self.plan("--keys", "1", "--memory", "8")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
