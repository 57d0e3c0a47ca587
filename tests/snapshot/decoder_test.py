#!/usr/bin/env python3
"""Runs tools/decode_snapshot.py, which is written from docs/format.md alone, on every golden file: it must
verify the file and find the keys in it, and the document's hex dump must be that of the example."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECODER = ROOT / "tools" / "decode_snapshot.py"
GOLDEN = sorted((ROOT / "tests" / "data" / "snapshots").glob("*.probably"))
SECRET = bytes(range(0xA0, 0xB0)).hex()
# Of each file, the first hundred keys, which all but these have.
KEYS = [f"key-{i}" for i in range(100)]
OTHERS = {"example.probably": ["hello"], "sparse_empty.probably": []}


def decode(path: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DECODER, path, *arguments], capture_output=True, text=True, check=False
    )


class Decoder(unittest.TestCase):
    def ask(self, path: pathlib.Path, keys: list[str], *arguments: str) -> list[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".keys") as file:
            file.write("".join(f"{key}\n" for key in keys))
            file.flush()
            if path.name.startswith("keyed"):
                arguments += ("--secret", SECRET)
            result = decode(path, "--keys", file.name, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line for line in result.stdout.splitlines() if line.startswith(("yes ", "no "))]

    def test_there_are_golden_files(self) -> None:
        self.assertGreater(len(GOLDEN), 10)

    def test_keys_are_found(self) -> None:
        for path in GOLDEN:
            with self.subTest(path.name):
                keys = OTHERS.get(path.name, KEYS)
                self.assertEqual(self.ask(path, keys), [f"yes {key}" for key in keys])
                if path.name not in OTHERS:
                    self.assertEqual(self.ask(path, ["-42"], "--integers"), ["yes -42"])

    def test_most_absent_keys_are_not(self) -> None:
        for path in GOLDEN:
            with self.subTest(path.name):
                answers = self.ask(path, [f"absent-{i}" for i in range(100)])
                self.assertLess(sum(answer.startswith("yes") for answer in answers), 20)

    def test_damage_is_refused(self) -> None:
        for path in GOLDEN:
            original = path.read_bytes()
            for at in (0, 9, 100, 4090, 4099, len(original) - 1):
                with self.subTest(path.name, at=at), tempfile.NamedTemporaryFile() as file:
                    damaged = bytearray(original)
                    damaged[at] ^= 1
                    file.write(damaged)
                    file.flush()
                    self.assertEqual(decode(pathlib.Path(file.name)).returncode, 1)

    def test_the_dump_in_the_document_is_true(self) -> None:
        result = decode(ROOT / "tests" / "data" / "snapshots" / "example.probably", "--hexdump")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = (ROOT / "docs" / "format.md").read_text()
        self.assertIn(f"```text\n{result.stdout}```\n", document)


if __name__ == "__main__":
    unittest.main()
