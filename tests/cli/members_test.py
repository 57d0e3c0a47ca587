"""Filters that are built, extended, asked, merged and compared."""

import json
import subprocess
import time

from support import DATA, PROGRAM, CliTest, main


class MembersTest(CliTest):
    def test_build_and_check(self):
        known = self.build("known", b"a\nb\nc\n", "--keys", "1000", "--fpr", "1e-6")
        self.expect(self.run_program("check", known, stdin=b"a\nx\nc\n"), 0, b"a\nc\n", "2 of 3 records")
        self.expect(self.run_program("check", "-v", known, stdin=b"a\nx\nc\n"), 0, b"x\n")
        self.expect(self.run_program("check", "-c", known, stdin=b"a\nx\nc\n"), 0, b"2\n")
        self.expect(self.run_program("check", known, stdin=b"x\n"), 1, b"")
        self.expect(self.run_program("check", known, stdin=b""), 1, b"")
        self.expect(self.run_program("check", "-q", known, stdin=b"x\na\n"), 0, b"", "")
        self.expect(self.run_program("check", "-q", known, stdin=b"x\n"), 1, b"", "")

    def test_add(self):
        known = self.build("known", b"a\n", "--keys", "1000", "--fpr", "1e-6")
        self.expect(self.run_program("add", known, stdin=b"b\na\n"), 0, b"", "1 first seen, 1 probably repeated")
        self.expect(self.run_program("check", "-c", known, stdin=b"a\nb\nc\n"), 0, b"2\n")

    def test_memory_decides_the_size(self):
        self.build("small", b"a\n", "--memory", "64KiB")
        self.build("exact", b"a\n", "--memory", "64KiB", "--keys", "10k")
        for name in ("small", "exact"):
            self.assertEqual(json.loads(self.run_program("info", "--json", name).out)["bytes"], 65536)
        self.expect(self.run_program("build", "-o", "no", "-m", "1KiB", "-n", "10k", "-p", "1%"), 2, b"", "bytes")

    def test_seeds_decide_what_merges(self):
        one = self.build("one", b"a\n", "--keys", "100", "--seed", "7")
        same = self.build("same", b"b\n", "--keys", "100", "--seed", "7")
        other = self.build("other", b"b\n", "--keys", "100", "--seed", "8")
        self.expect(self.run_program("merge", "-o", "both", one, same))
        self.expect(self.run_program("check", "-c", "both", stdin=b"a\nb\n"), 0, b"2\n")
        self.expect(self.run_program("merge", "-o", "both", one, other), 2, b"", "cannot be merged")

    def test_kinds(self):
        keys = b"".join(b"%d\n" % i for i in range(1_000))
        for kind in ("bloom", "blocked", "split_block", "scalable", "go_bloom", "guava_64", "dcso", "redis_chain"):
            with self.subTest(kind=kind):
                known = self.build("known", keys, "--keys", "1000", "--kind", kind)
                self.expect(self.run_program("check", "-c", known, stdin=keys), 0, b"1000\n")
                self.assertEqual(json.loads(self.run_program("info", "--json", known).out)["kind"], kind)
        self.expect(self.run_program("build", "-o", "no", "--kind", "bloom"), 2, b"", "does not grow")

    def test_progress_if_one_insists(self):
        with subprocess.Popen(
            [PROGRAM, "build", "--progress", "-o", self.directory / "slow"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for _ in range(3):
                process.stdin.write(b"some line\n")
                process.stdin.flush()
                time.sleep(0.3)
            process.stdin.close()
            self.assertRegex(process.stderr.read(), rb"\d records, \d+ bytes, \d+ bytes/s")

    def test_foreign_files(self):
        keys = b"".join(b"key-%06d\n" % i for i in range(1_000))
        for name in (
            "go_bitsandblooms_v3_n1000_p01.bin",
            "go_bitsandblooms_v3_n1000_p01.json",
            "guava31_mitz64_utf8_n1000_p01.bin",
            "dcso_n1000_p01.bloom",
            "parquet_sbbf_k.header_and_bitset.bin",
        ):
            with self.subTest(name=name):
                source = DATA / "interop" / name
                self.expect(self.run_program("check", "-c", source, stdin=keys), 0, b"1000\n")
                copy = self.file("copy", source.read_bytes())
                self.expect(self.run_program("add", "-q", copy, stdin=b""))
                self.assertEqual(copy.read_bytes(), source.read_bytes(), "nothing new, nothing changed")
                self.expect(self.run_program("add", "-q", copy, stdin=b"one more\n"))
                self.expect(self.run_program("check", "-c", copy, stdin=b"one more\n"), 0, b"1\n")
                self.expect(self.run_program("convert", source, "snapshot"))
                self.expect(self.run_program("check", "-c", "snapshot", stdin=keys), 0, b"1000\n")

    def test_secrets(self):
        self.file("secret", b"0123456789abcdef")
        self.file("other", b"00112233445566778899aabbccddeeff\n")
        self.file("none", b"short")
        known = self.build("known", b"a\n", "--keys", "10", "--secret", "secret")
        self.expect(self.run_program("check", "--secret", "secret", known, stdin=b"a\n"), 0, b"a\n")
        self.expect(self.run_program("check", known, stdin=b"a\n"), 2, err="give the secret")
        self.expect(self.run_program("check", "--secret", "other", known, stdin=b"a\n"), 2, err="another secret")
        self.expect(self.run_program("check", "--secret", "none", known, stdin=b"a\n"), 2, err="32 hexadecimal")
        stored = self.build("stored", b"a\n", "--keys", "10", "--secret", "secret", "--store-secret")
        self.expect(self.run_program("add", "-q", stored, stdin=b"b\n"))
        self.expect(self.run_program("check", stored, stdin=b"b\n"), 0, b"b\n")

    def test_merge_and_diff(self):
        one = self.build("one", b"a\nb\n", "--keys", "1000", "--fpr", "1e-6")
        two = self.build("two", b"b\nc\n", "--keys", "1000", "--fpr", "1e-6")
        other = self.build("other", b"c\n", "--keys", "2000")
        self.expect(self.run_program("merge", "-o", "all", one, two))
        self.expect(self.run_program("check", "-c", "all", stdin=b"a\nb\nc\nd\n"), 0, b"3\n")
        self.expect(self.run_program("merge", "-o", "all", one, other), 2, err="cannot be merged")
        self.expect(self.run_program("diff", one, one), 0, b"The filters are equal, bit for bit.\n")
        result = self.expect(self.run_program("diff", one, two), 1)
        self.assertIn(b"only in the first    about 1\n", result.out)
        self.expect(self.run_program("diff", one, other), 2, err="cannot be compared")


if __name__ == "__main__":
    main()
