"""Help, the manual page, completions, and what is said to whoever mistypes.

    help_test.py PROGRAM DATA_DIRECTORY
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import unittest

from support import CliTest

FILES = "a_file"


def has(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class HelpOfAll(CliTest):
    def text(self, *arguments):
        return self.expect(self.run_program(*arguments), 0).out.decode()

    def commands(self):
        """As the help of the program lists them: indented, with lower-case names."""
        return re.findall(r"^  ([a-z]+) +[A-Z]", self.text("--help"), re.MULTILINE)

    def options(self, command):
        """Names with their dashes, from the first column of the help of a command."""
        lines = re.findall(r"^ {2,6}(-.*?)(?:  |$)", self.text("help", command), re.MULTILINE)
        return [name for line in lines for name in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line)]


class HelpTest(HelpOfAll):
    def test_lists_all_commands(self):
        commands = self.commands()
        self.assertLessEqual({"dedup", "check", "plan", "completion", "manual", "help"}, set(commands))
        self.assertEqual(len(commands), len(set(commands)))

    def test_every_command_has_usage_and_an_example(self):
        for command in self.commands():
            with self.subTest(command=command):
                text = self.text(command, "--help")
                self.assertRegex(text, rf"(?m)^Usage: probably {command}( [\[A-Z].*)?$")
                self.assertRegex(text, rf"(?ms)^Examples:\n.*^  (.* \| )?probably {command}\b")
                self.assertIn("--help", self.options(command))

    def test_all_ways_to_ask_are_equal(self):
        everything = self.text("--help")
        for arguments in ([], ["-h"], ["help"]):
            self.assertEqual(self.text(*arguments), everything)
        for command in self.commands():
            for arguments in ([command, "-h"], ["--help", command], ["help", command]):
                self.assertEqual(self.text(*arguments), self.text(command, "--help"))

    def test_layout(self):
        for command in ["", *self.commands()]:
            text = self.text(*command.split(), "--help")
            before, _, examples = text.partition("\nExamples:\n")
            with self.subTest(command=command):
                self.assertLessEqual(max(map(len, before.splitlines())), 80)
                self.assertLessEqual(max(map(len, examples.splitlines())), 100)
                self.assertNotIn("\n\n\n", text)
                self.assertNotRegex(text, r"[ \t]\n")
                self.assertNotIn("\x1b", text)
                self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"))

    def test_headings_are_bold_on_a_terminal_only(self):
        for environment, bold in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            main, terminal = pty.openpty()
            self.run_program("help", stdout=terminal, env={"TERM": "xterm", **environment})
            os.close(terminal)
            self.assertEqual(b"\x1b[1mUsage:\x1b[0m" in os.read(main, 65536), bold)
            os.close(main)

    def test_says_what_values_and_options_go_together(self):
        text = " ".join(self.text("help", "info").split())
        self.assertIn("(not with --metrics)", text)
        self.assertIn("(required)", self.text("help", "build"))
        self.assertIn("The shell: bash, zsh, fish", self.text("help", "completion"))


class MistypedTest(CliTest):
    def test_sentences(self):
        for line, sentence in (
            ("dedpu", "There is no command 'dedpu'. Did you mean dedup? See probably --help."),
            ("help chek", "There is no command 'chek'. Did you mean check? See probably --help."),
            ("dedup --threds 3", "There is no option --threds. Did you mean --threads? See probably dedup --help."),
            ("dedup -zX", "There is no option -X."),
            ("dedup -k -x --qiet", "There is no option --qiet. Did you mean --quiet?"),
            ("--versoin", "There is no option --versoin. Did you mean --version? See probably --help."),
            ("check", "FILTER is missing. See probably check --help."),
            ("convert -- -x", "TO is missing. See probably convert --help."),
            ("build x", "--output FILE is missing. See probably build --help."),
            ("dedup --keys", "--keys needs a value (COUNT). See probably dedup --help."),
            ("dedup -qn", "--keys needs a value (COUNT). See probably dedup --help."),
            ("dedup -n 3 -n 4", "--keys may be given only once. See probably dedup --help."),
            ("dedup --csv=no", "--csv takes no value. See probably dedup --help."),
            ("info --json --metrics x", "--json and --metrics exclude each other. See probably info --help."),
            ("convert a b c", "'c' is one argument too many. See probably convert --help."),
            ("dedup --kind=round", "'round' is no kind of filter; there are: bloom blocked "),
            ("convert --to=round a b", "'round' is no format; there are: probably go "),
            ("completion csh", "'csh' is no shell that can be helped; there are: bash zsh fish."),
        ):
            with self.subTest(line=line):
                self.expect(self.run_program(*line.split()), 2, b"", f"probably: {sentence}")


class ManualTest(HelpOfAll):
    def test_knows_all_commands_and_options(self):
        page = self.text("manual").replace("\\-", "-")
        for command in self.commands():
            part = re.search(rf"^\.SS {command}\n(.*?)^\.S[SH] ", page, re.MULTILINE | re.DOTALL)[1]
            for option in self.options(command):
                self.assertIn(f"\\fB{option}\\fR", part, command)

    def test_has_the_usual_sections(self):
        sections = re.findall(r"^\.SH (.*)$", self.text("manual"), re.MULTILINE)
        self.assertEqual(sections[:3], ["NAME", "SYNOPSIS", "DESCRIPTION"])
        self.assertLess({"COMMANDS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"}, set(sections))

    def test_is_ascii(self):
        self.assertTrue(self.text("manual").isascii())

    @has("groff")
    def test_groff_has_nothing_to_say(self):
        page = self.file("probably.1", self.text("manual").encode())
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        shown = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout.decode())
        # As they are typed: with ASCII quotes, dashes and backslashes.
        self.assertIn(r"printf 'cat\ndog\n?cow\n' | probably demo", shown)
        self.assertIn("~/.local/share/", shown)

    @has("mandoc")
    def test_mandoc_misses_only_the_date(self):
        page = self.file("probably.1", self.text("manual").encode())
        done = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True, check=False)
        self.assertEqual([line for line in done.stdout.splitlines() if "missing date" not in line], [])


class CompletionTest:
    """For each shell: complete() returns the words that may follow a line, or FILES."""

    def script(self):
        return self.file(self.name, self.text("completion", self.shell).encode())

    def folder_with_a_file(self):
        folder = self.directory / "there"
        folder.mkdir(exist_ok=True)
        (folder / FILES).touch()
        return folder

    def expect_words(self, line, *words):
        self.assertEqual(sorted(self.complete(line)), sorted(words), line)

    def test_commands(self):
        self.expect_words("probably ", *self.commands())
        self.expect_words("probably de", "dedup", "demo")

    def test_long_options_of_every_command(self):
        for command in self.commands():
            names = [name for name in self.options(command) if name.startswith("--")]
            self.expect_words(f"probably {command} --", *names)

    def test_values(self):
        kinds = re.search(r"there are: (.*)\.", self.run_program("dedup", "--kind=?").err)[1].split()
        formats = re.search(r"there are: (.*)\.", self.run_program("convert", "--to=?").err)[1].split()
        self.expect_words("probably dedup --kind ", *kinds)
        self.expect_words("probably plan --kind bl", "bloom", "blocked")
        self.expect_words("probably convert --to ", *formats)
        self.expect_words("probably completion ", "bash", "zsh", "fish")
        self.expect_words("probably help di", "diff")

    def test_files(self):
        for line in ("dedup ", "dedup -q ", "dedup --state ", "check a ", "convert a ", "plan --svg "):
            self.expect_words(f"probably {line}", FILES)

    def test_nothing_where_nothing_is_known(self):
        for line in ("dedup --keys ", "dedup -n ", "check -k ", "convert --column ", "plan --for "):
            self.expect_words(f"probably {line}")

    def test_files_may_be_called_like_commands(self):
        self.expect_words("probably check verify --in", "--invert")


@has("bash")
class BashTest(CompletionTest, HelpOfAll):
    shell, name = "bash", "probably"

    def complete(self, line):
        # Without compopt's word against it, bash completes files where the function has no answer.
        words = " ".join(f"'{word}'" for word in re.split(r" +|(=)", line) if word is not None)
        script = f"""
            source {self.script()}
            compopt() {{ wants_no_files=yes; }}
            COMP_WORDS=({words})
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _probably
            printf '%s\\n' "${{COMPREPLY[@]}}" "${{wants_no_files:-{FILES}}}"
        """
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return [word for word in done.stdout.split() if word != "yes"]

    def test_values_after_equals_signs_and_short_options(self):
        self.expect_words("probably dedup --kind=bl", "bloom", "blocked")
        self.assertIn("blocked", self.complete("probably dedup --kind="))
        self.assertIn("-n", self.complete("probably dedup -"))

    def test_is_registered(self):
        script = f"source {self.script()}; complete -p probably"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        self.assertIn("-F _probably probably", done.stdout)


@has("fish")
class FishTest(CompletionTest, HelpOfAll):
    shell, name = "fish", "probably.fish"

    def answers(self, line):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self.script()}; complete -C '{line}'"],
            capture_output=True,
            text=True,
            check=True,
            cwd=self.folder_with_a_file(),
            env={**os.environ, "HOME": str(self.directory)},
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def complete(self, line):
        return [answer.split("\t")[0] for answer in self.answers(line)]

    def test_descriptions(self):
        self.assertIn("--quiet\tSay nothing but errors", self.answers("probably dedup --q"))
        self.assertIn("info\tTell what a filter is, and how full", self.answers("probably in"))


@has("zsh")
class ZshTest(CompletionTest, HelpOfAll):
    shell, name = "zsh", "_probably"

    def setUp(self):
        super().setUp()
        self.script()
        self.terminal, terminal = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        subprocess.run(["stty", "cols", "500", "rows", "500"], stdin=terminal, check=True)
        zsh = subprocess.Popen(
            ["zsh", "-f", "-i"],
            **dict.fromkeys(("stdin", "stdout", "stderr"), terminal),
            cwd=self.folder_with_a_file(),
            env={**os.environ, "HOME": str(self.directory), "TERM": "dumb"},
            start_new_session=True,
        )
        os.close(terminal)
        self.addCleanup(zsh.wait)
        self.addCleanup(zsh.kill)
        self.type(
            f"fpath=({self.directory} $fpath); autoload -Uz compinit; compinit -u -D; "
            "bindkey '^I' list-choices; unsetopt prompt_sp; PROMPT='rea''dy>'\n",
            "ready>",
        )

    def type(self, text, end):
        """What the terminal shows until it matches that."""
        os.write(self.terminal, text.encode())
        shown = ""
        while not re.search(end, shown):
            self.assertTrue(select.select([self.terminal], [], [], 30)[0], shown)
            shown += os.read(self.terminal, 65536).decode()
        return shown

    def answers(self, line):
        # Ctrl-U gives up the line, after what was listed below it.
        shown = self.type(f"{line}\t\x15print do''ne\n", r"done\s+ready>")
        listed = re.split(r"ready>|.*do''ne|done", "\n".join(shown.splitlines()[1:]))[0]
        return [answer.strip() for answer in listed.splitlines()]

    def complete(self, line):
        self.type("zstyle ':completion:*' verbose no; print do''ne\n", r"done\s+ready>")
        return " ".join(self.answers(line)).split()

    def test_descriptions(self):
        self.assertIn("--quiet  -- Say nothing but errors", self.answers("probably dedup --q"))
        self.assertIn("info  -- Tell what a filter is, and how full", self.answers("probably in"))

    def test_excluded_options_are_not_offered(self):
        self.expect_words("probably info --json --m")
        self.expect_words("probably info --m", "--metrics")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
