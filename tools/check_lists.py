#!/usr/bin/env python3
"""Checks that no file is forgotten.

No source is globbed, so one that no list names would silently not be built, installed or tested. Every
source and every public header must be named in a CMakeLists.txt at or above its folder.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lists_above(path):
    """The CMakeLists.txt files that may name `path`, with the folder that their names start from."""
    for folder in [path.parent, *path.parent.parents]:
        lists = folder / "CMakeLists.txt"
        if lists.exists():
            yield folder, lists.read_text(encoding="utf-8")
        if folder == ROOT:
            return


def is_named(path):
    for folder, text in lists_above(path):
        name = path.relative_to(folder).as_posix()
        if re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w/.])", text):
            return True
    return False


def main():
    forgotten = []
    for top in ("src", "include", "cli", "tests", "bench", "examples"):
        for path in sorted((ROOT / top).rglob("*")):
            is_source = path.suffix == ".cpp" or path.parent.name == "cli" and path.name.endswith("_test.py")
            is_public_header = path.suffix == ".hpp" and top == "include"
            if (is_source or is_public_header) and not is_named(path):
                forgotten.append(path.relative_to(ROOT))
    for name in forgotten:
        print(f"no CMakeLists.txt names {name}", file=sys.stderr)
    return 1 if forgotten else 0


if __name__ == "__main__":
    sys.exit(main())
