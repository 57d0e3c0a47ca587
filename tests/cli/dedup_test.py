"""probably dedup: each record the first time that it is seen."""

import gzip
import os
import pathlib
import random
import subprocess
import time
import unittest

from support import PROGRAM, CliTest, main


def first_seen(lines):
    return b"".join(line + b"\n" for line in dict.fromkeys(lines))


class DedupTest(CliTest):
    def test_passes_each_line_once(self):
        result = self.run_program("dedup", stdin=b"a\nb\na\nc\nb\n")
        self.expect(result, 0, b"a\nb\nc\n", "5 records")
        self.assertIn("3 first seen, 2 probably repeated", result.err)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.run_program("dedup", "-q", stdin=b"a\n").err, "")

    def test_repeated_and_count(self):
        text = b"a\nb\na\nc\nb\nb\n"
        self.expect(self.run_program("dedup", "--repeated", stdin=text), 0, b"a\nb\nb\n")
        self.expect(self.run_program("dedup", "--count", stdin=text), 0, b"3\n")
        self.expect(self.run_program("dedup", "--count", "--repeated", stdin=text), 0, b"3\n")

    def test_any_bytes(self):
        for text, out in [
            (b"", b""),
            (b"\n", b"\n"),
            (b"\n\n", b"\n"),
            (b"no end", b"no end\n"),
            (b"a\nno end", b"a\nno end\n"),
            (b"a\r\na\n", b"a\r\na\n"),
            (b"a\0b\na\0b\na\n", b"a\0b\na\n"),
            (bytes(range(256)) * 2, None),
        ]:
            with self.subTest(text=text):
                expected = out if out is not None else first_seen(text.split(b"\n"))
                self.expect(self.run_program("dedup", stdin=text), 0, expected)

    def test_zero_ends(self):
        self.expect(self.run_program("dedup", "-z", stdin=b"a\nb\0c\0a\nb\0c"), 0, b"a\nb\0c\0")

    def test_long_lines(self):
        for size in (65_535, 65_536, 131_071, 131_072, 131_073, 262_144, 3_000_000):
            line = b"x" * size
            text = b"\n".join([line, b"y", line, line + b"z", b"y"])
            with self.subTest(size=size):
                expected = b"\n".join([line, b"y", line + b"z"]) + b"\n"
                self.expect(self.run_program("dedup", stdin=text), 0, expected)

    def test_a_line_of_100_megabytes(self):
        line = b"x" * 100_000_000
        self.expect(self.run_program("dedup", "-q", stdin=line + b"\n" + line), 0, line + b"\n")

    def test_output_does_not_depend_on_threads(self):
        source = random.Random(1)
        lines = [b"%d" % source.randrange(200_000) for _ in range(400_000)]
        text = b"\n".join(lines)
        for arguments in ([], ["--keys", "50k", "--fpr", "10%"]):
            results = [
                self.expect(self.run_program("dedup", *arguments, "--threads", n, stdin=text)).out
                for n in (1, 2, 5)
            ]
            self.assertTrue(results[0] == results[1] == results[2])
            # Few of the lines are lost, and none comes twice.
            passed = results[0].splitlines()
            self.assertEqual(len(passed), len(set(passed)))
            exact = len(set(lines))
            self.assertLessEqual(len(passed), exact)
            if not arguments:
                self.assertGreaterEqual(len(passed), exact * 0.998)

    def test_files_in_their_order(self):
        self.file("one", b"a\nb")
        self.file("two", b"b\nc\n")
        with gzip.open(self.directory / "three.gz", "wb") as packed:
            packed.write(b"c\nd\n")
        self.expect(self.run_program("dedup", "one", "two", "three.gz"), 0, b"a\nb\nc\nd\n")
        self.expect(self.run_program("dedup", "two", "-", stdin=b"a\nb\n"), 0, b"b\nc\na\n")

    def test_zstd(self):
        packed = subprocess.run(["zstd", "-q"], input=b"a\nb\na\n", stdout=subprocess.PIPE, check=True)
        self.file("packed", packed.stdout)
        self.expect(self.run_program("dedup", "packed"), 0, b"a\nb\n")
        self.file("half", packed.stdout[:-3])
        self.expect(self.run_program("dedup", "half"), 2, err="ends too early")

    def test_keys_of_records(self):
        self.expect(
            self.run_program("dedup", "--key", 2, stdin=b"1\tx\n2\ty\n3\tx\nshort\n"),
            0,
            b"1\tx\n2\ty\nshort\n",
            "1 without the key",
        )
        self.expect(
            self.run_program("dedup", "--key", 1, "-d", ";", stdin=b"a;1\na;2\nb;1\n"), 0, b"a;1\nb;1\n"
        )
        csv = b'id,name\n1,"Smith, ""J""\nJr"\n2,"Smith, ""J""\nJr"\n3,Smith\n'
        self.expect(
            self.run_program("dedup", "--csv", "--key", 2, stdin=csv),
            0,
            b'id,name\n1,"Smith, ""J""\nJr"\n3,Smith\n',
        )
        # A quote inside of a field is a byte like any other.
        inches = b'1,foo\n1,5" disk\n2,6" disk\n3,bar\n3,"a\nb"\n'
        self.expect(
            self.run_program("dedup", "--csv", "--key", 1, stdin=inches), 0, b'1,foo\n2,6" disk\n3,bar\n'
        )
        lines = (
            b'{"user":{"id":7},"n":1}\n{"n":2,"user":{"id": 7}}\n{"user":{"id":"caf\\u00e9"}}\n'
            + '{"user":{"id":"café"}}\n'.encode()
            + b"not json\n"
        )
        self.expect(
            self.run_program("dedup", "--key", "/user/id", stdin=lines),
            0,
            b'{"user":{"id":7},"n":1}\n{"user":{"id":"caf\\u00e9"}}\nnot json\n',
        )

    def test_counts_are_those_of_what_is_printed(self):
        text = b"a\tx\nb\nc\n"
        printed = self.run_program("dedup", "-q", "--key", 2, stdin=text).out
        counted = self.run_program("dedup", "-q", "--count", "--key", 2, stdin=text).out
        self.assertEqual(int(counted), printed.count(b"\n"))

    def test_state_continues(self):
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"a\nb\n"), 0, b"a\nb\n")
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"b\nc\n"), 0, b"c\n")
        # Every day's command can be the same.
        result = self.run_program("dedup", "--state", "seen", "--keys", "1M", stdin=b"c\nd\n")
        self.expect(result, 0, b"d\n")
        result = self.run_program("dedup", "--state", "seen", "--kind", "bloom", stdin=b"e\n")
        self.expect(result, 2, b"", "of kind scalable")

    def test_a_damaged_state_is_refused(self):
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"a\n"))
        state = bytearray((self.directory / "seen").read_bytes())
        state[5000] ^= 1
        (self.directory / "seen").write_bytes(state)
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"b\n"), 2, b"", "checksum")
        self.assertEqual((self.directory / "seen").read_bytes(), state)

    def test_a_full_disk_is_an_error_and_leaves_the_state(self):
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"a\n"))
        before = (self.directory / "seen").read_bytes()
        with open("/dev/full", "wb") as full:
            result = self.run_program("dedup", "--state", "seen", stdin=b"b\n", stdout=full)
        self.expect(result, 2, err="Cannot write to standard output: No space left on device.")
        self.assertEqual((self.directory / "seen").read_bytes(), before)

    def test_a_closed_output_is_an_error(self):
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" dedup >&-', str(PROGRAM)],
            input=b"a\n",
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"Cannot write to standard output", done.stderr)

    def test_a_reader_that_leaves_ends_it_quietly(self):
        text = self.file("many", b"".join(b"%d\n" % i for i in range(300_000)))
        done = subprocess.run(
            ["bash", "-c", '"$0" dedup "$1" | head -n 1; echo ${PIPESTATUS[0]}', PROGRAM, text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.stdout, b"0\n141\n")
        self.assertEqual(done.stderr, b"")

    def test_lines_come_out_at_once(self):
        with subprocess.Popen(
            [PROGRAM, "dedup", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ) as process:
            for line in (b"a\n", b"b\n"):
                process.stdin.write(line)
                self.assertEqual(process.stdout.read(2), line)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=10), 0)

    def test_killed_at_any_moment_the_state_is_whole(self):
        self.expect(self.run_program("dedup", "--state", "seen", stdin=b"old\n"))
        text = self.file("many", b"".join(b"%d\n" % i for i in range(200_000)))
        for moment in range(20):
            with subprocess.Popen(
                [PROGRAM, "dedup", "-q", "--state", "seen", text], stdout=subprocess.DEVNULL, cwd=self.directory
            ) as process:
                time.sleep(0.004 * moment)
                process.kill()
            self.expect(self.run_program("verify", "-q", "seen"))
            self.expect(self.run_program("check", "-q", "seen", stdin=b"old\n"), 0)

    def test_a_full_filter_is_said(self):
        text = b"".join(b"%d\n" % i for i in range(3_000))
        result = self.run_program("dedup", "--keys", "1000", stdin=text)
        self.expect(result, 0)
        self.assertEqual(result.err.count("The filter is full"), 1)
        self.expect(self.run_program("dedup", "--keys", "1000", "--strict", stdin=text), 2, err="is full")

    @unittest.skipIf(os.environ.get("PROBABLY_SANITIZE"), "sanitizers take more")
    def test_memory_is_that_of_the_plan(self):
        with subprocess.Popen(
            [PROGRAM, "dedup", "-q", "--repeated", "--keys", "1M"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            for first in range(0, 1_000_000, 10_000):
                process.stdin.write(b"".join(b"%019d\n" % i for i in range(first, first + 10_000)))
            # The program has read everything when it answers this, and is still there to be asked.
            process.stdin.write(b"the end\nthe end\n")
            process.stdin.flush()
            while process.stdout.readline() != b"the end\n":
                pass
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            process.stdin.close()
        peak_kib = int(status.split("VmHWM:")[1].split()[0])
        self.assertLess(peak_kib, 16 * 1024)


if __name__ == "__main__":
    main()
