"""Runs the programs, never two at work at once, and writes down what they print."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .records import Record, Writer

LIMIT_SECONDS = 15 * 60  # for a start, a round, or the whole run of a program without rounds
GUAVA = pathlib.Path("/usr/share/java/guava.jar")


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    sizes: tuple[tuple[int, int], ...]  # number of keys, and of rounds, of the contenders
    arguments: tuple[str, ...]  # of the other programs


FULL = Plan(sizes=((1_000_000, 15), (100_000_000, 9)), arguments=())
QUICK = Plan(sizes=((100_000, 2),), arguments=("quick",))


@dataclass(frozen=True)
class Program:
    command: tuple[str, ...]
    file: pathlib.Path  # what the build makes; its name is the program's
    most_keys: int | None = None

    @property
    def is_built(self) -> bool:
        return self.file.exists() and shutil.which(self.command[0]) is not None


def executable(path: pathlib.Path, most_keys: int | None = None) -> Program:
    return Program((str(path),), path, most_keys)


def contenders(bench: pathlib.Path) -> list[Program]:
    """The programs that keep the protocol of contender.hpp."""
    peers = bench / "peers"
    with_avx2 = bench / "suite_kinds_avx2"
    java = ("java", "-Xmx4g", "-cp", f"{GUAVA}{os.pathsep}{peers}", "GuavaPeer")
    return [
        executable(bench / "suite_kinds", most_keys=1_000_000 if with_avx2.exists() else None),
        executable(with_avx2),
        executable(peers / "peer_libbloom"),
        executable(peers / "peer_leveldb"),
        executable(peers / "peer_rocksdb", most_keys=1_000_000),
        executable(peers / "peer_sets", most_keys=1_000_000),
        executable(peers / "peer_go"),
        Program(java, peers / "GuavaPeer.class"),
    ]


def suites(bench: pathlib.Path, plan: Plan) -> list[Program]:
    """The programs that measure on their own."""
    measuring = [bench / f"suite_{name}_avx2" for name in ("curve", "threads", "latency", "snapshots")]
    return [
        executable(bench / "suite_sizes"),
        *(Program((str(path), *plan.arguments), path) for path in measuring),
    ]


class Failed(Exception):
    """The program did not do what it should."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.said = said  # the end of its standard error, or the line that should not be


class Process:
    """A program at work, or waiting for a line of input, until close()."""

    def __init__(self, program: Program, *arguments: str) -> None:
        self.name = program.file.stem
        self._timed_out = False
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*program.command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            errors="replace",
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._errors.close()

    def start(self) -> Iterator[Record]:
        return self._until_done()

    def round(self) -> Iterator[Record]:
        # Whether the program still lives is for _until_done() to find out.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        yield from self._until_done()

    def finish(self) -> Iterator[Record]:
        """All that is still to come; the program gets no more input."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        with self._limited():
            yield from self._records()
            status = self._process.wait()
        if status != 0:
            raise self._failed()

    def _until_done(self) -> Iterator[Record]:
        with self._limited():
            for record in self._records():
                if record["subject"] == "done":
                    return
                yield record
            self._process.wait()
        raise self._failed()

    def _records(self) -> Iterator[Record]:
        for line in self._process.stdout:
            try:
                record = json.loads(line)
                record["subject"]
            except (ValueError, KeyError, TypeError):
                raise Failed("printed what is no record", line.strip()[:300]) from None
            yield record

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        timer = threading.Timer(LIMIT_SECONDS, self._time_out)
        timer.daemon = True  # it must not keep an interrupted run from ending
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _time_out(self) -> None:
        self._timed_out = True
        self._process.kill()

    def _failed(self) -> Failed:
        """How the program, which has ended, failed."""
        status = self._process.returncode
        if self._timed_out:
            how = f"killed after {LIMIT_SECONDS} s"
        elif status < 0:
            how = f"ended by {signal.Signals(-status).name}"
        else:
            how = f"ended with status {status}"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").split()
        return Failed(how, " ".join(words)[-300:])


class Session:
    """One run of everything."""

    def __init__(self, bench: pathlib.Path, plan: Plan, writer: Writer) -> None:
        self._bench = bench
        self._plan = plan
        self._writer = writer
        self._started = time.monotonic()

    def measure(self) -> None:
        rivals = self._built(contenders(self._bench))
        for keys, rounds in self._plan.sizes:
            takers = [each for each in rivals if each.most_keys is None or keys <= each.most_keys]
            self._contest(takers, keys, rounds)
        for program in self._built(suites(self._bench, self._plan)):
            with contextlib.closing(Process(program)) as process:
                self._step(process, process.finish(), "run")

    def _built(self, programs: Iterable[Program]) -> list[Program]:
        built = []
        for program in programs:
            if program.is_built:
                built.append(program)
            else:
                self._fail(program.file.stem, "not measured: not built")
        return built

    def _contest(self, programs: Iterable[Program], keys: int, rounds: int) -> None:
        """Starts all, and lets them go in turn."""
        where = f"{keys:,} keys, "
        with contextlib.ExitStack() as stack:
            running = []
            for program in programs:
                process = Process(program, str(keys))
                stack.callback(process.close)
                if self._step(process, process.start(), where + "start"):
                    running.append(process)
            for number in range(1, rounds + 1):
                what = f"{where}round {number} of {rounds}"
                running = [each for each in running if self._step(each, each.round(), what)]
            for process in running:
                self._step(process, process.finish(), where + "end")

    def _step(self, process: Process, records: Iterable[Record], what: str) -> bool:
        """Waits for the records of a step. A program that fails is ended; the others go on."""
        seconds = time.monotonic() - self._started
        print(f"[{seconds:5.0f} s] {process.name}: {what}", file=sys.stderr, flush=True)
        try:
            for record in records:
                self._writer.write(record)
        except Failed as failure:
            process.close()
            self._fail(process.name, f"{what}: {failure}", failure.said)
            return False
        return True

    def _fail(self, program: str, why: str, said: str = "") -> None:
        print(f"{program}: {why}", said, file=sys.stderr, flush=True)
        self._writer.write({"subject": "failure", "program": program, "why": why, "said": said})
