"""What goes wrong: what is said, and the exit code."""

import os
import subprocess

from support import DATA, PROGRAM, CliTest, main


class TroubleTest(CliTest):
    def test_files_that_cannot_be_read(self):
        self.file("there", b"a\n")
        (self.directory / "directory").mkdir()
        for path, why in (("missing", "No such file"), ("directory", "Is a directory")):
            # Before anything is done.
            self.expect(self.run_program("dedup", "there", path), 2, b"", f"'{path}': {why}")
            self.expect(self.run_program("check", path, "there"), 2, b"", path)
        if os.geteuid() != 0:
            self.file("secret", b"a\n").chmod(0)
            self.expect(self.run_program("dedup", "secret"), 2, b"", "Permission denied")

    def test_a_file_is_not_read_and_written_at_once(self):
        path = self.file("both", b"a\nb\n")
        for redirection in (">>", "1<>"):
            done = subprocess.run(
                ["sh", "-c", f'exec "$0" dedup both {redirection} both', PROGRAM],
                cwd=self.directory,
                stderr=subprocess.PIPE,
                timeout=20,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"both input and output", done.stderr)
            self.assertEqual(path.read_bytes(), b"a\nb\n")

    def test_read_errors(self):
        # Reading one's own memory at address 0 fails with EIO.
        self.expect(self.run_program("dedup", "/proc/self/mem"), 2, b"", "Input/output error")

    def test_files_that_are_no_filters(self):
        self.file("text", b"hello\n")
        self.file("empty", b"")
        for name in ("text", "empty"):
            self.expect(self.run_program("check", name, stdin=b"a\n"), 2, b"", "holds no filter")
        self.expect(self.run_program("check", DATA / "interop/duckdb_bloom.parquet", stdin=b""), 2, b"", "--column")

    def test_numbers(self):
        for option, value in (
            ("--keys", "0"),
            ("--keys", "-1"),
            ("--keys", "many"),
            ("--keys", "1e30"),
            ("--keys", "99999999999999999999"),
            ("--fpr", "0"),
            ("--fpr", "1"),
            ("--fpr", "1.5"),
            ("--fpr", "nan"),
            ("--fpr", "1 in 0"),
            ("--memory", "64 apples"),
            ("--memory", "10EiB"),
            ("--fpr", "0,5%"),
            ("--fpr", "1,5%"),
            ("--keys", "1,5M"),
            ("--keys", "0,500"),
            ("--keys", "10,00"),
            ("--keys", "1,0000"),
            ("--threads", "0"),
            ("--kind", "cuckoo"),
            ("--key", "x"),
            ("--delimiter", "ab"),
        ):
            with self.subTest(option=option, value=value):
                result = self.expect(self.run_program("dedup", f"{option}={value}", stdin=b"a\n"), 2, b"")
                self.assertTrue(result.err.startswith("probably: "), result.err)
        self.expect(self.run_program("dedup", "--keys", "1e15", stdin=b"a\n"), 2, b"", "memory")

    def test_separators_of_thousands(self):
        for text in ("10,000", "10_000", "10k", "1e4", "10 thousand"):
            plan = self.expect(self.run_program("plan", "--json", "--keys", text), 0)
            self.assertIn(b'"design_keys": 10000,', plan.out)
        self.expect(self.run_program("plan", "--json", "--keys", "1,234,567", "--fpr", "1 in 10,000"), 0)

    def test_what_a_terminal_would_obey_is_made_visible(self):
        result = self.run_program("dedup", "evil\x1b]0;pwned\x07")
        self.expect(result, 2, b"", "evil\\x1b]0;pwned\\x07")
        self.assertNotIn("\x1b", result.err)

    def test_words_that_nobody_knows(self):
        self.expect(self.run_program("dedpu"), 2, b"", "Did you mean dedup?")
        self.expect(self.run_program("dedup", "--stat", "x"), 2, b"", "Did you mean --state?")
        self.expect(self.run_program("info"), 2, b"", "See probably info --help.")

    def test_help(self):
        self.expect(self.run_program("--version"), 0)
        everything = self.expect(self.run_program("--help"), 0).out.decode()
        for command in ("dedup", "build", "add", "check", "info", "verify", "merge", "diff", "convert"):
            self.assertIn(command, everything)
            text = self.expect(self.run_program(command, "--help"), 0).out.decode()
            self.assertIn(f"probably {command} ", text, "an example")


if __name__ == "__main__":
    main()
