"""Where, when and from what the figures come."""

import datetime
import json
import os
import pathlib
import re
import subprocess
from typing import Any

from .records import Record

ROOT = pathlib.Path(__file__).resolve().parents[2]


def describe(build: pathlib.Path) -> Record:
    """The facts of a run that starts now, for its record."""
    processor = lscpu()
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"),
        "compiler": compiler(build),
        "processor": processor.get("Model name", "unknown"),
        "cores": os.cpu_count(),
        "hypervisor": processor.get("Hypervisor vendor"),
        "caches": caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "huge_pages": huge_pages(),
        "load": os.getloadavg()[0],
    }


def output_of(*command: str) -> str:
    """What the command prints, or nothing if it cannot be run or fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, check=True, encoding="utf-8"
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit() -> str:
    name = output_of("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD").strip()
    # What this program writes is in docs/.
    changes = output_of("git", "-C", str(ROOT), "status", "--porcelain", "--", ".", ":!docs")
    return (name or "unknown") + (" with changes" if changes else "")


def compiler(build: pathlib.Path) -> str:
    cache = build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.exists() else ""
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", text, re.MULTILINE)
    # The name behind the link c++ says which compiler it is.
    version = output_of(os.path.realpath(path[1]), "--version").partition("\n")[0] if path else ""
    return version or "unknown"


def lscpu() -> dict[str, str]:
    """The lines of lscpu, `name: value`."""
    lines = output_of("lscpu").splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def caches() -> list[dict[str, Any]]:
    """The caches for data, with the size of one of each."""
    text = output_of("lscpu", "--caches=NAME,ONE-SIZE", "--bytes", "--json")
    found = json.loads(text)["caches"] if text else []
    return [
        {"name": each["name"], "bytes": int(each["one-size"])}
        for each in found
        if not each["name"].endswith("i")
    ]


def huge_pages() -> str:
    setting = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    chosen = re.search(r"\[(\w+)\]", setting.read_text(encoding="ascii") if setting.exists() else "")
    return chosen[1] if chosen else "unknown"
