"""What the tests of this folder share: programs that are driven by lines, keys, and the exchange itself.

A side of an exchange, ours or theirs, is an object with

    plan(keys, fpr), create(bits, hashes)   an empty filter; both return its size
    read(file), write()                     the whole file, as bytes
    add(keys)                               returns whether each was new, or None if the software does not tell
    ask(keys)                               returns whether each may be there
    merge(file)                             takes over the keys of a file
"""

import argparse
import atexit
import collections
import itertools
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent

# Of every test in one run.
counts = collections.Counter()


def hex_or_number(key):
    return f"#{key}" if isinstance(key, int) else key.hex() or "-"


class Program:
    """A side that is a program with the protocol of neighbour.cpp. `spell` makes a word of a key."""

    def __init__(self, *command, spell=hex_or_number):
        self.spell = spell
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.close)

    def close(self):
        self.process.communicate()

    def run(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer or answer.startswith("error"):
            raise AssertionError(f"{words[0]} of {self.process.args} failed: {answer or 'it ended'}")
        return answer.strip()

    def plan(self, keys, fpr):
        return self.run("plan", keys, fpr)

    def create(self, *size):
        return self.run("create", *size)

    def read(self, file):
        return self.run("read", hex_or_number(file))

    def write(self):
        return from_hex(self.run("write"))

    def add(self, keys):
        return self.run("add", *map(self.spell, keys))

    def ask(self, keys):
        return self.run("ask", *map(self.spell, keys))

    def merge(self, file):
        return self.run("merge", hex_or_number(file))


def from_hex(text):
    return b"" if text == "-" else bytes.fromhex(text)


# --- Keys -----------------------------------------------------------------------------------------------


def odd_keys():
    """Every length around the blocks of the hashes, and bytes that programs like to stumble over."""
    lengths = [bytes((7 * i + 3) % 256 for i in range(length)) for length in range(70)]
    return [*lengths, b"\0", b"\0\0", b"a\0b", b"\xff" * 16, b"x" * 1000, "Grüße, 键 und 🔑".encode()]


def random_keys(seed, count):
    source = random.Random(seed)
    return [source.randbytes(source.randrange(1, 41)) for _ in range(count)]


def random_plans(seed, count):
    """Keys and rates, both from the whole of what we plan for and files of moderate size."""
    source = random.Random(seed)
    for _ in range(count):
        yield round(10 ** source.uniform(0, 4)), 10 ** source.uniform(-12, -0.31)
    for keys in (1, 2, 3, 7, 10, 64, 100, 1000):
        for fpr in (0.5, 0.25, 0.125, 0.1, 0.03, 0.01, 0.001, 1e-6, 1e-12):
            yield keys, fpr


# --- The exchange ---------------------------------------------------------------------------------------


class ExchangeTest(unittest.TestCase):
    # What two files have in common that say the same.
    content = staticmethod(lambda file: file)

    # assertEqual() would look for the shortest difference of two long texts, which takes minutes.

    def expect_equal_answers(self, ours, theirs, keys):
        counts["answers compared"] += len(keys)
        self.assertEqual((len(ours), len(theirs)), (len(keys), len(keys)))
        wrong = [i for i in range(len(keys)) if ours[i] != theirs[i]]
        if wrong:
            first = wrong[0]
            self.fail(
                f"{len(wrong)} of {len(keys)} answers differ, first for {keys[first]}: "
                f"{ours[first]}, should be {theirs[first]}"
            )

    def expect_equal_files(self, ours, theirs):
        counts["files compared"] += 1
        if ours != theirs:
            same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs))
            self.fail(
                f"two files of {len(ours)} and {len(theirs)} bytes differ from byte {len(list(same))} on"
            )

    def expect_same_answers(self, ours, theirs, keys):
        self.expect_equal_answers(ours.ask(keys), theirs.ask(keys), keys)

    def expect_same_files(self, ours, theirs):
        self.expect_equal_files(self.content(ours.write()), self.content(theirs.write()))

    def expect_all_found(self, side, keys):
        self.expect_equal_answers(side.ask(keys), "1" * len(keys), keys)

    def exchange(self, ours, theirs, begin, keys, more, others):
        """Both directions. `begin` makes a side empty; the three lists are keys."""
        everything = [*keys, *more, *others]
        begin(theirs)
        begin(ours)
        self.expect_same_files(ours, theirs)
        self.expect_same_answers(ours, theirs, everything)

        # They write, we read and go on.
        theirs.add(keys)
        file = theirs.write()
        ours.read(file)
        self.expect_same_files(ours, theirs)
        self.expect_all_found(ours, keys)
        self.expect_same_answers(ours, theirs, everything)
        our_news, their_news = ours.add(more), theirs.add(more)
        if their_news is not None:
            self.expect_equal_answers(our_news, their_news, more)
        self.expect_same_files(ours, theirs)
        self.expect_same_answers(ours, theirs, everything)

        # We write, they read and go on.
        begin(ours)
        ours.add(more)
        theirs.read(ours.write())
        self.expect_same_files(ours, theirs)
        self.expect_all_found(theirs, more)
        self.expect_same_answers(ours, theirs, everything)
        ours.add(keys[:10])
        theirs.add(keys[:10])
        self.expect_same_files(ours, theirs)

        ours.merge(file)
        theirs.merge(file)
        self.expect_same_files(ours, theirs)
        self.expect_all_found(theirs, [*keys, *more])
        self.expect_same_answers(ours, theirs, everything)
        counts["exchanges"] += 1

    def expect_same_plans(self, ours, theirs, plans):
        for keys, fpr in plans:
            counts["plans compared"] += 1
            self.assertEqual(ours.plan(keys, fpr), theirs.plan(keys, fpr), f"{keys} keys at {fpr}")


# --- The program ----------------------------------------------------------------------------------------


def need(path, package):
    """A program or file of the other software; without it the test fails, and says how to get it."""
    if path is None or not pathlib.Path(path).exists():
        sys.exit(f"This test needs the Debian package {package}; ./dev setup installs it.")
    return path


def need_program(name, package):
    return need(shutil.which(name), package)


def build(command, *, complaint=None, **environment):
    """Runs a command that prepares the test; the test fails with it, with these words or the command itself."""
    done = subprocess.run(
        [str(part) for part in command],
        env=environment or None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        complaint = complaint or f"{' '.join(map(str, command))}\nfailed"
        sys.exit(f"{complaint}:\n{done.stdout}")


def arguments():
    parser = argparse.ArgumentParser(description="Compares our library with the software itself.")
    parser.add_argument("driver", type=pathlib.Path, help="the program neighbour")
    parser.add_argument("work", type=pathlib.Path, help="a directory for what is built and written")
    parsed = parser.parse_args()
    parsed.driver, parsed.work = parsed.driver.resolve(), parsed.work.resolve()
    parsed.work.mkdir(parents=True, exist_ok=True)
    return parsed


def main():
    try:
        unittest.main(argv=sys.argv[:1], verbosity=2)
    finally:
        print(", ".join(f"{count} {what}" for what, count in counts.items()))
