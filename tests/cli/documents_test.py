"""The terminal examples of the documents: what stands there is what happens.

    documents_test.py PROGRAM DATA_DIRECTORY            compares
    documents_test.py PROGRAM DATA_DIRECTORY update     writes what really happens into the documents

In a block ```console each line that begins with `$ ` is a command, and what follows is what it prints, on
either stream, and `[exit code N]` if that is not 0. The blocks of a document share a directory. Times and dates
are not compared. An example that shows figures of this very machine is marked ```console figures: it is run,
but only its exit code is compared.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "cli.md"]
BLOCK = re.compile(r"^```console( figures)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = [
    (re.compile(r"\bin \d+(\.\d+)? (ms|s)\b"), "in SECONDS"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "DATE"),
    (re.compile(r'"saved": \d+'), '"saved": DATE'),
]


def run(command, directory):
    with tempfile.TemporaryDirectory() as path:
        os.symlink(PROGRAM, pathlib.Path(path) / "probably")
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
    text = done.stdout.decode()
    return text if done.returncode == 0 else f"{text}[exit code {done.returncode}]\n"


def replay(text, directory):
    """A block as it should stand there."""
    commands = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    return "".join(f"$ {command}\n{run(command, directory)}" for command in commands)


def without_varying(text):
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def exit_codes(text):
    return re.findall(r"^\[exit code \d+\]$", text, re.MULTILINE)


class DocumentsTest(unittest.TestCase):
    maxDiff = None

    def test_examples(self):
        for document in DOCUMENTS:
            blocks = BLOCK.findall(document.read_text(encoding="utf-8"))
            self.assertTrue(blocks, document)
            with tempfile.TemporaryDirectory() as directory:
                for figures, text in blocks:
                    with self.subTest(document=document.name, block=text.splitlines()[0]):
                        now = replay(text, directory)
                        if figures:
                            self.assertEqual(exit_codes(now), exit_codes(text))
                        else:
                            self.assertEqual(without_varying(now), without_varying(text))


def update():
    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory() as directory:
            text = BLOCK.sub(
                lambda match: f"```console{match[1] or ''}\n{replay(match[2], directory)}```",
                document.read_text(encoding="utf-8"),
            )
        document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[3:] == ["update"]:
        update()
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
