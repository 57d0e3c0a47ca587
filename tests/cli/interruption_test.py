"""What happens when a run is interrupted, when its files change, and when two runs meet."""

import gzip
import os
import random
import signal
import subprocess
import threading
import time

from support import PROGRAM, CliTest, main


class InterruptionTest(CliTest):
    def test_half_a_record_is_none(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            process = self.start("dedup", "--state", "seen")
            process.stdin.write(b"alpha\nbeta\ngam")
            self.assertEqual(process.stdout.read(6), b"alpha\n")
            time.sleep(0.2)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=10), code)
            self.assertEqual(process.stdout.read(), b"beta\n")
            self.assertIn(b"interrupted after 2 records", process.stderr.read())
            again = self.run_program("dedup", "--state", "seen", stdin=b"beta\ngam\ngamma\n")
            self.expect(again, 0, b"gam\ngamma\n")
            (self.directory / "seen").unlink()

    def test_files_end_at_a_whole_record(self):
        lines = [b"%032d" % i for i in range(2_000_000)]
        path = self.file("many", b"\n".join(lines))
        for pause in (0.003, 0.01, 0.03):
            process = self.start("dedup", "--keys", "2M", "--threads", "1", path)
            output = []
            reader = threading.Thread(target=lambda p=process, o=output: o.append(p.stdout.read()))
            reader.start()
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=10)
            reader.join()
            self.assertEqual(len(output[0]) % 33, 0, output[0][-40:])

    def test_build_saves_nothing_and_add_saves(self):
        process = self.start("build", "-o", "new")
        process.stdin.write(b"a\n")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=10), 130)
        self.assertIn(b"Nothing was saved", process.stderr.read())
        self.assertFalse((self.directory / "new").exists())
        known = self.build("known", b"a\n", "--keys", "100", "--fpr", "1e-6")
        process = self.start("add", known)
        process.stdin.write(b"b\nhal")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=10), 130)
        self.expect(self.run_program("check", known, stdin=b"a\nb\nhal\n"), 0, b"a\nb\n")

    def test_a_failure_ends_a_run_that_waits_for_input(self):
        with open("/dev/full", "wb") as full:
            process = self.start("dedup", "--threads", "2", stdout=full)
            process.stdin.write(b"a\n")
            self.assertEqual(process.wait(timeout=10), 2)
        process = self.start("dedup", "--strict", "--keys", "10", "--threads", "2")
        process.stdin.write(b"".join(b"%d\n" % i for i in range(1_000)))
        self.assertEqual(process.wait(timeout=10), 2)
        known = self.build("known", b"a\n", "--keys", "10")
        process = self.start("check", "-q", "--threads", "2", known)
        process.stdin.write(b"a\n")
        self.assertEqual(process.wait(timeout=10), 0)

    def test_named_pipes_are_opened_once(self):
        os.mkfifo(self.directory / "pipe")
        for _ in range(20):
            with subprocess.Popen(["sh", "-c", "seq 5 > pipe"], cwd=self.directory) as writer:
                self.expect(self.run_program("dedup", "-q", "pipe"), 0, b"1\n2\n3\n4\n5\n")
                self.assertEqual(writer.wait(timeout=10), 0)

    def test_waiting_for_a_named_pipe_can_be_interrupted(self):
        os.mkfifo(self.directory / "pipe")
        process = self.start("dedup", "pipe")
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=10), 143)


class SharingTest(CliTest):
    def test_two_runs_do_not_share_a_filter(self):
        known = self.build("known", b"a\n", "--keys", "100", "--fpr", "1e-6")
        first = self.start("add", "-q", known)
        first.stdin.write(b"b\n")
        time.sleep(0.2)
        self.expect(self.run_program("add", known, stdin=b"c\n"), 2, b"", "in use by another run")
        self.expect(self.run_program("dedup", "--state", known, stdin=b"c\n"), 2, b"", "in use by another run")
        # Others may look at it.
        self.expect(self.run_program("check", "-c", known, stdin=b"a\nb\n"), 0, b"1\n")
        first.stdin.close()
        self.assertEqual(first.wait(timeout=10), 0)
        self.expect(self.run_program("add", "-q", known, stdin=b"c\n"))
        self.expect(self.run_program("check", "-c", known, stdin=b"a\nb\nc\n"), 0, b"3\n")

    def test_a_state_that_appeared_meanwhile_stays(self):
        first = self.start("dedup", "--state", "seen")
        first.stdin.write(b"a\n")
        self.assertEqual(first.stdout.read(2), b"a\n")
        self.expect(self.run_program("dedup", "-q", "--state", "seen", stdin=b"b\n"), 0, b"b\n")
        first.stdin.close()
        self.assertEqual(first.wait(timeout=10), 2)
        self.assertIn(b"written by another program", first.stderr.read())
        self.expect(self.run_program("dedup", "-q", "--state", "seen", stdin=b"b\n"), 0, b"")


class DamageTest(CliTest):
    def test_lines_before_the_damage_come_out(self):
        source = random.Random(3)
        lines = [b"%030x" % source.getrandbits(120) for _ in range(50_000)]
        packed = gzip.compress(b"\n".join(lines) + b"\n")
        self.file("half.gz", packed[: len(packed) // 2])
        whole = subprocess.run(
            ["sh", "-c", "zcat half.gz 2>/dev/null"], cwd=self.directory, stdout=subprocess.PIPE, check=False
        ).stdout
        for threads in ("1", "2"):
            result = self.run_program("dedup", "--state", "seen", "--threads", threads, "half.gz")
            self.expect(result, 2, None, "ends too early")
            self.assertTrue(whole.startswith(result.out))
            self.assertGreater(len(result.out), len(whole) - 300_000)
            self.assertTrue(result.out.endswith(b"\n"))
            self.assertFalse((self.directory / "seen").exists())

    def test_padding_behind_gzip(self):
        self.file("padded", gzip.compress(b"a\nb\n") + bytes(1000))
        self.expect(self.run_program("dedup", "padded"), 0, b"a\nb\n")
        self.file("two", gzip.compress(b"a\n") + gzip.compress(b"b\n") + bytes(7))
        self.expect(self.run_program("dedup", "two"), 0, b"a\nb\n")

    def test_compression_that_is_not_read_is_named(self):
        for tool in ("xz", "bzip2"):
            packed = subprocess.run([tool, "-c"], input=b"a\n", stdout=subprocess.PIPE, check=True).stdout
            self.file("packed", packed)
            self.expect(self.run_program("dedup", "packed"), 2, b"", f"{tool} -dc")
        # And nothing else is taken for it.
        self.file("text", b"BZh9 is no mark\n")
        self.expect(self.run_program("dedup", "text"), 0, b"BZh9 is no mark\n")

    def test_exact_check_of_files_that_change(self):
        path = self.file("many", b"".join(b"%d\n" % i for i in range(2_000_000)))
        process = subprocess.Popen(
            [PROGRAM, "dedup", "-q", "--exact-check", "--threads", "1", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # It has begun to print, and waits for somebody to read.
        process.stdout.read(10)
        os.truncate(path, 1_000_000)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"cut off while it was read", err)

    def test_exact_check_of_files_that_only_say_that_they_are_empty(self):
        self.expect(self.run_program("dedup", "--exact-check", "/proc/cpuinfo"), 2, b"", "no regular file")


if __name__ == "__main__":
    main()
