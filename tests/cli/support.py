"""What the tests of the program share. Each file of tests is run as

    python3 dedup_test.py PROGRAM DATA_DIRECTORY
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
DATA = pathlib.Path(sys.argv[2]).resolve()

Result = collections.namedtuple("Result", "code out err")


class CliTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.directory = pathlib.Path(self.temporary.name)

    def run_program(self, *arguments, stdin=b"", **options):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            input=stdin,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            cwd=self.directory,
            timeout=120,
            check=False,
            **options,
        )
        return Result(done.returncode, done.stdout, done.stderr.decode())

    def start(self, *arguments, **options):
        """A run that goes on beside the test."""
        process = subprocess.Popen(
            [PROGRAM, *map(str, arguments)],
            stdin=options.pop("stdin", subprocess.PIPE),
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self.directory,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def expect(self, result, code=0, out=None, err=None):
        self.assertEqual(result.code, code, result.err)
        if out is not None:
            self.assertTrue(result.out == out, (result.out[:200], out[:200]))
        if err == "":
            self.assertEqual(result.err, "")
        elif err is not None:
            self.assertIn(err, result.err)
        return result

    def file(self, name, content):
        path = self.directory / name
        path.write_bytes(content)
        return path

    def build(self, name, keys, *arguments):
        path = self.directory / name
        self.expect(self.run_program("build", "-q", "-o", path, *arguments, stdin=keys))
        return path


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)
