#!/usr/bin/env python3
"""Code blocks of the documents, as programs that the tests compile and run.

    extract_code.py extract --out DIRECTORY DOCUMENT...   writes the programs and DIRECTORY/blocks.cmake
    extract_code.py compare --expected FILE -- PROGRAM    runs PROGRAM and compares what it prints
    extract_code.py script --out DIRECTORY FILE           runs an extracted shell script in a new DIRECTORY

The word after the language decides what becomes of a fenced block:

    ```cpp                a program if it contains `int main(`: compiled and run. When the next fenced
                          block is ```text or ```output, the program must print exactly that, where
                          `...` or the character of the same look stands for anything on its line.
                          Without `int main(`: statements, compiled inside a function.
    ```cpp declarations   compiled at namespace scope.
    ```cpp continued      statements that use names of the statements before them on the page.
    ```LANGUAGE file=NAME also given to the page's scripts as a file of that name.
    ```sh run             run by bash -eu in a new directory that holds the page's files so far;
                          the installed package is found there by CMake and pkg-config.

Other languages, and ```sh alone, are for reading only.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(.*?)\s*$")
# What statements and declarations may use without saying so; a program includes what it needs.
PRELUDE = """\
#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "probably/probably.hpp"
"""


class DocumentError(Exception):
    pass


class Block:
    def __init__(self, document, line, words, text):
        self.document = document
        self.line = line  # of the block's first line of text, counted from 1
        self.language = words[0] if words else ""
        self.tags = [word for word in words[1:] if "=" not in word]
        self.settings = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        self.text = text

    def fail(self, message):
        raise DocumentError(f"{self.document}:{self.line}: {message}")


def read_blocks(document):
    blocks = []
    fence = None
    lines = document.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        match = FENCE.match(line)
        if fence is None:
            if match:
                fence = (match[1], match[2], match[3].split(), number + 1, [])
        elif match and match[2].startswith(fence[1]) and not match[3]:
            indent, _, words, first, body = fence
            text = "".join(re.sub(f"^{indent}", "", part) + "\n" for part in body)
            blocks.append(Block(document, first, words, text))
            fence = None
        else:
            fence[4].append(line)
    if fence is not None:
        raise DocumentError(f"{document}:{fence[3] - 1}: the code block never ends")
    return blocks


def line_directive(block):
    return f"#line {block.line} {json.dumps(str(block.document))}\n"


def split_includes(block):
    """The block's #include lines, and its text with those lines left empty."""
    includes = [line for line in block.text.splitlines() if line.startswith("#include")]
    rest = re.sub(r"^#include.*$", "", block.text, flags=re.MULTILINE)
    return "".join(line + "\n" for line in includes), rest


def statements(blocks):
    """A source that compiles the blocks, one after the other, inside one function."""
    parts = [split_includes(block) for block in blocks]
    source = PRELUDE + "".join(includes for includes, _ in parts)
    source += "\n[[maybe_unused]] static int statements() {\n"
    for block, (_, rest) in zip(blocks, parts):
        source += line_directive(block) + rest
    return source + "return 0;\n}\n"


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def extract(documents, out):
    """Writes each block to a file of its own and says in blocks.cmake what to do with it."""
    root = pathlib.Path(os.path.commonpath([document.parent.resolve() for document in documents]))
    cmake = []
    written = set()

    def write(name, text):
        write_if_changed(out / name, text)
        written.add(out / name)
        return json.dumps(str(out / name))

    for document in documents:
        page = document.resolve().relative_to(root).with_suffix("").as_posix()
        blocks = read_blocks(document)
        previous = []  # the statements that `continued` refers to
        files = {}
        for index, block in enumerate(blocks):
            name = f"{page}/line_{block.line}"
            is_program = block.language == "cpp" and "int main(" in block.text
            for tag in block.tags:
                if (block.language, tag) not in (
                    ("cpp", "declarations"),
                    ("cpp", "continued"),
                    ("sh", "run"),
                ):
                    block.fail(f"the tag `{tag}` has no meaning for `{block.language}`")
            if "file" in block.settings:
                files[block.settings["file"]] = block.text

            if is_program:
                source = write(f"{name}.cpp", line_directive(block) + block.text)
                following = blocks[index + 1] if index + 1 < len(blocks) else None
                expected = ""
                if following is not None and following.language in ("text", "output"):
                    expected = " EXPECTED " + write(f"{name}.expected", following.text)
                cmake.append(f"probably_doc_program({name} {source}{expected})")
            elif block.language == "cpp" and "declarations" in block.tags:
                includes, rest = split_includes(block)
                text = PRELUDE + includes + line_directive(block) + rest
                cmake.append(f"probably_doc_source({write(f'{name}.cpp', text)})")
            elif block.language == "cpp":
                if "continued" in block.tags and not previous:
                    block.fail("continues nothing: no statements come before it on the page")
                previous = [*(previous if "continued" in block.tags else []), block]
                cmake.append(f"probably_doc_source({write(f'{name}.cpp', statements(previous))})")
            elif block.language == "sh" and "run" in block.tags:
                script = json.dumps({"files": files, "script": block.text}, indent=1)
                cmake.append(f"probably_doc_script({name} {write(f'{name}.json', script)})")

    for stale in {path for path in out.rglob("*") if path.is_file()} - written:
        if stale.suffix in (".cpp", ".expected", ".json"):
            stale.unlink()
    write_if_changed(out / "blocks.cmake", "".join(line + "\n" for line in cmake))


def matches(expected, actual):
    pattern = ".*".join(re.escape(part) for part in re.split(r"\.\.\.|…", expected.rstrip()))
    return re.fullmatch(pattern, actual.rstrip()) is not None


def compare(expected_file, command):
    program = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if program.returncode != 0:
        print(program.stdout)
        print(f"the program ended with {program.returncode}", file=sys.stderr)
        return 1
    if expected_file is None:
        return 0
    expected = expected_file.read_text(encoding="utf-8").rstrip("\n").split("\n")
    actual = program.stdout.rstrip("\n").split("\n")
    if len(expected) == len(actual) and all(map(matches, expected, actual)):
        return 0
    print("the document says:", *expected, "the program prints:", *actual, sep="\n  ", file=sys.stderr)
    return 1


def run_script(recipe_file, directory):
    recipe = json.loads(recipe_file.read_text(encoding="utf-8"))
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name, text in recipe["files"].items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = ["bash", "-euo", "pipefail", "-c", recipe["script"]]
    return subprocess.run(command, cwd=directory, check=False).returncode


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    action = actions.add_parser("extract")
    action.add_argument("--out", type=pathlib.Path, required=True)
    action.add_argument("documents", type=pathlib.Path, nargs="+")
    action = actions.add_parser("compare")
    action.add_argument("--expected", type=pathlib.Path)
    action.add_argument("command", nargs="+")
    action = actions.add_parser("script")
    action.add_argument("--out", type=pathlib.Path, required=True)
    action.add_argument("recipe", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        if arguments.action == "extract":
            extract(arguments.documents, arguments.out)
            return 0
        if arguments.action == "compare":
            return compare(arguments.expected, arguments.command)
        return run_script(arguments.recipe, arguments.out)
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
