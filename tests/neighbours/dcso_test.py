"""DCSO's `bloom` command: plain and compressed files, their counts and their user data."""

import gzip
import struct
import subprocess

import exchange

ARGUMENTS = exchange.arguments()
BLOOM = exchange.need_program("bloom", "golang-github-dcso-bloom-cli")

PLANS = [(1, 0.01), (4, 0.1), (10, 1e-12), (50, 0.5), (1000, 0.01), (1000, 0.5), (3000, 0.001)]
# Rates that we do not plan for, up to 64 hashes.
STRANGE_PLANS = [(100, 0.9), (100, 1e-19)]


def as_line(key):
    """The command takes lines, and Go drops a carriage return at the end of one."""
    return key.replace(b"\n", b".").replace(b"\r", b".")


def decompressed(file):
    """The first byte of a file that is not compressed is 1."""
    return gzip.decompress(file) if file.startswith(b"\x1f\x8b") else file


def keys(seed, count):
    return [as_line(key) for key in exchange.random_keys(seed, count)]


class Bloom:
    """The command as a side of an exchange; its filter is a file."""

    def __init__(self, path, *options):
        self.path = path
        self.options = options

    def run(self, command, *arguments, lines=()):
        return subprocess.run(
            [BLOOM, *self.options, command, *map(str, arguments), self.path],
            input=b"".join(line + b"\n" for line in lines),
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def plan(self, count, fpr):
        self.run("create", "-n", count, "-p", fpr)
        hashes, bits = struct.unpack_from("<24xQQ", decompressed(self.write()))
        return f"{bits} {hashes}"

    def read(self, file):
        self.path.write_bytes(file)

    def write(self):
        return self.path.read_bytes()

    def add(self, lines):
        self.run("insert", lines=lines)

    def ask(self, lines):
        found = set(self.run("check", lines=lines).split(b"\n")[:-1])
        return "".join("1" if line in found else "0" for line in lines)

    def merge(self, file):
        other = self.path.with_suffix(".other")
        other.write_bytes(file)
        # The result goes into the first of the two.
        subprocess.run([BLOOM, *self.options, "join", self.path, other], check=True)


class DcsoTest(exchange.ExchangeTest):
    # Two compressors may make different files of the same bytes.
    content = staticmethod(decompressed)

    def check(self, ours, theirs):
        odd = [as_line(key) for key in exchange.odd_keys()]
        others = keys(1, 10_000)
        for count, fpr in PLANS:
            with self.subTest(keys=count, fpr=fpr):
                self.exchange(
                    ours,
                    theirs,
                    lambda side: side.plan(count, fpr),
                    odd + keys(count, count),
                    keys(count + 1, count // 4),
                    others,
                )
        for count, fpr in STRANGE_PLANS:
            theirs.plan(count, fpr)
            empty = theirs.write()
            with self.subTest(keys=count, fpr=fpr):
                self.exchange(
                    ours,
                    theirs,
                    lambda side: side.read(empty),
                    keys(count, count),
                    keys(count + 1, count // 4),
                    others,
                )

    def test_plain_files(self):
        ours = exchange.Program(ARGUMENTS.driver, "dcso")
        self.check(ours, Bloom(ARGUMENTS.work / "plain.bloom"))

    def test_compressed_files(self):
        ours = exchange.Program(ARGUMENTS.driver, "dcso_gzip")
        self.check(ours, Bloom(ARGUMENTS.work / "compressed.bloom.gz", "--gzip"))

    def test_user_data(self):
        ours = exchange.Program(ARGUMENTS.driver, "dcso")
        theirs = Bloom(ARGUMENTS.work / "data.bloom")
        theirs.plan(4, 0.1)
        theirs.add([b"foo", b"bar"])
        theirs.run("set-data", lines=[b"a note", "ä\0".encode()])
        ours.read(theirs.write())
        self.assertEqual(exchange.from_hex(ours.run("data")), "a note\nä\0\n".encode())
        self.expect_same_files(ours, theirs)

        for data in (b"", bytes(range(256)) * 300):
            ours.run("data", exchange.hex_or_number(data))
            theirs.read(ours.write())
            self.assertEqual(theirs.run("get-data"), data)
            # Data stay when keys come.
            ours.add([b"baz"])
            theirs.add([b"baz"])
            self.expect_same_files(ours, theirs)

    def test_plans(self):
        ours = exchange.Program(ARGUMENTS.driver, "dcso")
        theirs = Bloom(ARGUMENTS.work / "plan.bloom")
        self.expect_same_plans(ours, theirs, exchange.random_plans(3, 300))


if __name__ == "__main__":
    exchange.main()
