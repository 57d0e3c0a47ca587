#!/usr/bin/env python3
"""Checks that misuse is rejected by the compiler, and for the reason that we mean.

    check.py --source FILE -- COMPILER [FLAG...]

FILE holds a correct program and, between #if defined(FAIL_n) and #endif, one misuse per n. For each
there is a line

    // FAIL_n: a regular expression

that the compiler's messages must match. FILE must compile when no FAIL_n is defined, and must not when
any one of them is. A case without its line, or a line without its case, is an error.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys


def compile_source(command, source, case=None):
    defines = [f"-D{case}"] if case else []
    # Templates are instantiated, but no code is generated.
    return subprocess.run(
        [*command, "-fsyntax-only", *defines, str(source)],
        env={**os.environ, "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    source = arguments.source
    text = source.read_text(encoding="utf-8")

    expected = dict(re.findall(r"^\s*// (FAIL_\w+): (.+?)\s*$", text, re.MULTILINE))
    guarded = set(re.findall(r"^\s*#\s*(?:el)?if\b.*\bdefined\((FAIL_\w+)\)", text, re.MULTILINE))
    problems = []
    if not expected:
        problems.append("has no line `// FAIL_n: regular expression`")
    for case in sorted(guarded ^ set(expected)):
        problems.append(f"{case} needs both `// {case}: ...` and `#if defined({case})`")

    correct = compile_source(arguments.command, source)
    if correct.returncode != 0:
        problems.append(f"must compile when no FAIL_n is defined:\n{correct.stdout}")
        guarded.clear()
    for case in sorted(guarded & set(expected)):
        misuse = compile_source(arguments.command, source, case)
        if misuse.returncode == 0:
            problems.append(f"{case} compiles, and must not")
        elif not re.search(expected[case], misuse.stdout):
            problems.append(f"{case} fails without `{expected[case]}` in:\n{misuse.stdout}")
        else:
            print(f"{source.name}: {case} is rejected")

    for problem in problems:
        print(f"{source}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
