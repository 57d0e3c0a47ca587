"""probably dedup --exact-check: exactly what awk '!seen[$0]++' gives."""

import gzip
import random
import subprocess

from support import CliTest, main


def awk(text):
    return subprocess.run(
        ["awk", "!seen[$0]++"], input=text, stdout=subprocess.PIPE, env={"LC_ALL": "C"}, check=True
    ).stdout


class ExactTest(CliTest):
    # So small that most of what is new is suspected wrongly.
    TINY = ("--keys", "100", "--fpr", "50%")

    def test_equals_awk_on_random_inputs(self):
        source = random.Random(2)
        for round_number in range(40):
            alphabet = source.choice([b"ab", b"abc\n", b"\n", bytes(range(1, 256))])
            text = bytes(source.choices(alphabet, k=source.choice([0, 1, 10, 1_000, 100_000])))
            if source.random() < 0.5:
                text = b"\n".join(b"%d" % source.randrange(5_000) for _ in range(20_000))
            path = self.file("input", text)
            arguments = source.choice([(), self.TINY, ("--threads", "1"), (*self.TINY, "--threads", "3")])
            with self.subTest(round=round_number, arguments=arguments, size=len(text)):
                result = self.run_program("dedup", "--exact-check", *arguments, path)
                self.expect(result, 0, awk(text))

    def test_tells_what_was_suspected_wrongly(self):
        path = self.file("input", b"".join(b"%d\n" % i for i in range(10_000)) * 2)
        result = self.expect(self.run_program("dedup", "--exact-check", *self.TINY, path), 0)
        self.assertIn("10,000 first seen, 10,000 repeated. ", result.err)
        suspected = int(result.err.split("repeated. ")[1].split()[0].replace(",", ""))
        self.assertGreater(suspected, 5_000)

    def test_repeated_and_count(self):
        path = self.file("input", b"a\nb\na\na\n" + b"".join(b"%d\n" % i for i in range(1_000)))
        run = lambda *arguments: self.run_program("dedup", "--exact-check", *self.TINY, *arguments, path)
        self.expect(run("--repeated"), 0, b"a\na\n")
        self.expect(run("--count"), 0, b"1002\n")
        self.expect(run("--count", "--repeated"), 0, b"2\n")

    def test_several_files_and_missing_ends(self):
        names = ["one", "empty", "two", "one"]
        self.file("one", b"a\nb")
        self.file("empty", b"")
        self.file("two", b"b\nab\n\n")
        self.expect(self.run_program("dedup", "--exact-check", *self.TINY, *names), 0, b"a\nb\nab\n\n")

    def test_keys(self):
        rows = [(b"%d" % i, b"k%d" % (i * i % 997)) for i in range(3_000)]
        first = {}
        for number, key in rows:
            first.setdefault(key, number)
        for arguments, row in (
            (["--key", "2"], b"%s\t%s\n"),
            (["--key", "2", "--csv"], b'%s,"%s"\n'),
            (["--key", "/k"], b'{"n":%s,"k":"%s"}\n'),
        ):
            path = self.file("rows", b"".join(row % each for each in rows) + b"no key\n")
            expected = b"".join(row % (number, key) for key, number in first.items()) + b"no key\n"
            result = self.run_program("dedup", "--exact-check", *self.TINY, *arguments, path)
            self.expect(result, 0, expected)

    def test_long_lines(self):
        long = b"x" * 3_000_000
        path = self.file("long", b"\n".join([long, long + b"y", long, b"z" * 300_000]))
        expected = b"\n".join([long, long + b"y", b"z" * 300_000]) + b"\n"
        self.expect(self.run_program("dedup", "--exact-check", *self.TINY, path), 0, expected)

    def test_needs_files_that_can_be_read_twice(self):
        self.file("there", b"a\n")
        with gzip.open(self.directory / "packed", "wb") as packed:
            packed.write(b"a\n")
        for arguments in ([], ["-"], ["packed"], ["/dev/null"], ["there", "--state", "state"]):
            self.expect(self.run_program("dedup", "--exact-check", *arguments), 2, b"", "--exact-check")
        self.expect(self.run_program("dedup", "--exact-check", "missing"), 2, b"", "'missing': No such file")


if __name__ == "__main__":
    main()
