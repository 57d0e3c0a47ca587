"""Whole filters: what they are, whether they are sound, and other formats."""

import gzip
import json
import pathlib
import re
import subprocess
import sys

from support import DATA, CliTest, main


class InfoTest(CliTest):
    def test_text(self):
        known = self.build("known", b"".join(b"%d\n" % i for i in range(500)), "--keys", "1000", "--fpr", "1%")
        text = self.expect(self.run_program("info", known), 0).out.decode()
        for part in ("kind         blocked", "hash         xxh3", "keys         about 5", "1 % (1 in 100) up to 1,0"):
            self.assertIn(part, text)
        self.assertNotIn("\x1b", text)

    def test_json(self):
        known = self.build("known", b"".join(b"%d\n" % i for i in range(500)), "--keys", "1000", "--fpr", "1%")
        grows = self.build("grows", b"a\n", "--fpr", "2%")
        result = self.expect(self.run_program("info", "--json", known, grows), 0)
        first, second = map(json.loads, result.out.splitlines())
        self.assertEqual(first["kind"], "blocked")
        self.assertEqual(first["promised_fpr"], 0.01)
        self.assertAlmostEqual(first["keys"], 500, delta=5 * first["keys_error"] + 5)
        self.assertGreaterEqual(first["capacity"], 1000)
        self.assertLess(first["fpr"], 0.01)
        self.assertEqual((second["kind"], second["promised_fpr"], second["capacity"]), ("scalable", 0.02, None))

    def test_metrics(self):
        strange = self.build('a "strange"\nname', b"a\n", "--keys", "10")
        text = self.expect(self.run_program("info", "--metrics", strange), 0).out.decode()
        self.assertIn('{filter="' + str(self.directory) + '/a \\"strange\\"\\nname"} ', text)
        self.assertTrue(text.endswith("# EOF\n"))
        names = re.findall(r"# TYPE (\w+) gauge", text)
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("probably_capacity_keys", names)

    def test_the_promise_stays_with_the_filter(self):
        known = self.build("known", b"a\n", "--keys", "100", "--fpr", "5%")
        self.expect(self.run_program("add", "-q", known, stdin=b"b\n"))
        self.assertEqual(json.loads(self.run_program("info", "--json", known).out)["promised_fpr"], 0.05)
        self.expect(self.run_program("merge", "-o", "both", known, known))
        self.assertEqual(json.loads(self.run_program("info", "--json", "both").out)["promised_fpr"], 0.05)
        # And is what --strict goes by.
        text = b"".join(b"%d\n" % i for i in range(90))
        self.expect(self.run_program("add", "--strict", known, stdin=text), 0)
        text = b"".join(b"%d\n" % i for i in range(1000))
        self.expect(self.run_program("add", "--strict", known, stdin=text), 2, err="is full")


class FileTest(CliTest):
    def test_verify(self):
        known = self.build("known", b"a\n", "--keys", "1000")
        guava = DATA / "interop" / "guava31_mitz64_utf8_n1000_p01.bin"
        whole = known.read_bytes()
        self.expect(self.run_program("verify", known), 0, f"{known}: whole\n".encode())
        self.expect(self.run_program("verify", "-q", guava), 0, b"", "")
        for place in (9, 100, 5000, len(whole) - 1):
            damaged = bytearray(whole)
            damaged[place] ^= 4
            self.file("damaged", damaged)
            self.expect(self.run_program("verify", "damaged"), 2, b"", "'damaged'")
        self.file("half", whole[: len(whole) // 2])
        # All are looked at.
        result = self.run_program("verify", "half", known, "damaged", "missing")
        self.expect(result, 2, f"{known}: whole\n".encode())
        self.assertEqual(result.err.count("probably: "), 3)

    def test_convert_to_other_formats_and_back(self):
        go = DATA / "interop" / "go_bitsandblooms_v3_n1000_p01.bin"
        keys = b"".join(b"key-%06d\n" % i for i in range(1_000))
        self.expect(self.run_program("convert", go, "ours"))
        self.expect(self.run_program("convert", "--to", "go", "ours", "theirs"))
        self.assertEqual((self.directory / "theirs").read_bytes(), go.read_bytes())
        self.expect(self.run_program("convert", "--to", "go-json", "ours", "json.gz"))
        self.assertEqual(gzip.open(self.directory / "json.gz").read(1), b"{")
        self.expect(self.run_program("check", "-c", "json.gz", stdin=keys), 0, b"1000\n")
        self.expect(self.run_program("convert", "--sparse", go, "sparse"))
        self.expect(self.run_program("check", "-c", "sparse", stdin=keys), 0, b"1000\n")
        self.expect(self.run_program("convert", "--to", "guava", "ours", "no"), 2, b"", "cannot be written")
        self.expect(self.run_program("convert", "--to", "gauva", "ours", "no"), 2, b"", "there are")
        self.assertFalse((self.directory / "no").exists())

    def test_compressed_filters_can_be_read(self):
        known = self.build("known", b"a\nb\n", "--keys", "1000", "--fpr", "1e-6")
        with gzip.open(self.directory / "known.gz", "wb") as packed:
            packed.write(known.read_bytes())
        subprocess.run(["zstd", "-q", known, "-o", self.directory / "known.zst"], check=True)
        self.expect(self.run_program("convert", "known.gz", "again"))
        self.assertEqual((self.directory / "again").read_bytes()[20:], known.read_bytes()[20:])
        for name in ("known.gz", "known.zst"):
            self.expect(self.run_program("check", "-c", name, stdin=b"a\nb\nc\n"), 0, b"2\n")
            self.expect(self.run_program("verify", name), 0, f"{name}: whole\n".encode())
            self.expect(self.run_program("add", name, stdin=b"c\n"), 2, b"", "unpack it first")

    def test_sparse_snapshots_stay_sparse(self):
        known = self.build("known", b"a\n", "--keys", "1M", "--sparse")
        self.expect(self.run_program("add", "-q", known, stdin=b"b\n"))
        self.assertLess(known.stat().st_size, 10_000)

    def test_files_with_secrets_are_for_nobody_else(self):
        self.file("secret", b"0123456789abcdef")
        stored = self.build("stored", b"a\n", "--keys", "10", "--secret", "secret", "--store-secret")
        self.assertEqual(stored.stat().st_mode & 0o777, 0o600)
        result = self.run_program("build", "--store-secret", "--keys", "10", "-o", "none", stdin=b"a\n")
        self.expect(result, 2, b"", "needs --secret")
        # Its file, compressed, still has it.
        with gzip.open(self.directory / "stored.gz", "wb") as packed:
            packed.write(stored.read_bytes())
        self.expect(self.run_program("convert", "stored.gz", "unpacked"))
        self.expect(self.run_program("check", "-c", "unpacked", stdin=b"a\n"), 0, b"1\n")

    def test_our_filters_as_parquets(self):
        self.build("ours", b"a\n", "--keys", "100", "--kind", "split_block")
        self.expect(self.run_program("convert", "--to", "parquet", "ours", "theirs"), 2, b"", "--hash xxh64")
        self.build("ours", b"a\n", "--keys", "100", "--kind", "split_block", "--hash", "xxh64")
        self.expect(self.run_program("convert", "--to", "parquet", "ours", "theirs"))
        self.expect(self.run_program("check", "-c", "theirs", stdin=b"a\n"), 0, b"1\n")

    def test_the_independent_decoder_agrees(self):
        known = self.build("known", b"a\n", "--keys", "1000", "--fpr", "2%")
        decoder = pathlib.Path(__file__).resolve().parents[2] / "tools" / "decode_snapshot.py"
        text = subprocess.run([sys.executable, decoder, known], stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(b"promised rate: 0.02\n", text)

    def test_parquet(self):
        file = DATA / "interop" / "duckdb_bloom.parquet"
        result = self.expect(self.run_program("convert", file, "out"), 2, b"", "--column")
        column = result.err.split("here '")[1].split("'")[0]
        self.expect(self.run_program("convert", "--column", column, file, "out"))
        self.expect(self.run_program("info", "out"), 0)
        self.expect(self.run_program("convert", "--column", "nobody", file, "out"), 2, b"", column)

    def test_places_where_nothing_can_be_written(self):
        keys = self.file("keys", b"a\n")
        (self.directory / "directory").mkdir()
        for output, why in (("missing/out", "No such file"), ("directory", "directory"), (keys, "one of the inputs")):
            # Before the input is read.
            self.expect(self.run_program("build", "-o", output, keys), 2, b"", why)
        self.expect(self.run_program("dedup", "--state", "missing/state", keys), 2, b"", "No such file")
        self.assertEqual(keys.read_bytes(), b"a\n")


if __name__ == "__main__":
    main()
