"""probably demo: as lines of text, and on the screen of a terminal.

    demo_test.py PROGRAM DATA_DIRECTORY
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from support import PROGRAM, CliTest

BITS = 15
PLACES = 3


def pictures(text):
    """Of each picture: the lit bits, and the places that are marked, in their order."""
    found = []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not re.fullmatch(r" +[.#]( {3}[.#]){14}", line):
            continue
        lit = {bit for bit in range(BITS) if line[2 + 4 * bit] == "#"}
        marks = {}
        for bit in range(BITS):
            for digit in re.findall(r"\d", lines[i + 1][4 * bit + 1 : 4 * bit + 4]):
                marks[int(digit)] = bit
        found.append((lit, [marks[number] for number in sorted(marks)]))
    return found


class LinesTest(CliTest):
    def demo(self, text):
        result = self.expect(self.run_program("demo", stdin=text))
        self.assertEqual(result.err, "")
        self.assertNotIn(b"\x1b", result.out)
        return result.out.decode()

    def test_bits_are_those_of_the_places(self):
        words = [b"cat", b"dog", b"fish", b"bird", b"horse"]
        lit = set()
        found = pictures(self.demo(b"\n".join(words)))
        self.assertEqual(len(found), len(words))
        for picture, marks in found:
            self.assertEqual(len(marks), PLACES)
            lit |= set(marks)
            self.assertEqual(picture, lit)

    def test_same_bits_as_the_engine(self):
        # XXH3 of these words, and the walk of layout/classic.hpp, computed independently.
        for word, digest in [(b"cat", 0x7A04C18F8180A99B), (b"a", 0x865F0CD7BB781794)]:
            expected = []
            state = digest
            for _ in range(PLACES):
                expected.append(state * BITS >> 64)
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            text = self.demo(word)
            self.assertIn(f"{digest:016x}", text)
            self.assertEqual(pictures(text)[0][1], expected)

    def test_answers(self):
        added = set()
        lit = set()
        seen = set()
        for number in range(60):
            word = f"w{number % 20}"
            lines = [f"+{one}" for one in sorted(added)] + [f"?{word}"]
            text = self.demo("\n".join(lines).encode())
            places = set(pictures(text)[-1][1])
            if not places <= lit:
                expected = f'"{word}" is definitely not in the set'
            elif word in added:
                expected = "It is, you added it"
            else:
                expected = "this time that is wrong, nobody added it"
            self.assertIn(expected, " ".join(text.split()))
            seen.add(expected.split('"')[-1])
            if number % 4 == 0:
                added.add(word)
                lit |= places
        self.assertEqual(len(seen), 3)

    def test_rate(self):
        text = self.demo(b"cat\ndog\nfish")
        lit = len(pictures(text)[-1][0])
        self.assertIn(f"3 words, {lit} of 15 bits lit", text)
        self.assertIn(f"({lit}/15)^3 = {(lit / 15) ** 3 * 100:.3g} %", text)

    def test_no_new_bit(self):
        text = self.demo(b"cat\ndog\nfish\nbird\n+clear\ncat\n")
        self.assertIn('"clear" is in, but no new bit was lit: "cat" and "bird" had lit', text)
        self.assertIn('"cat" was in already', text)

    def test_all_bits(self):
        text = self.demo(b"".join(b"%d\n" % number for number in range(50)) + b"?anything\n")
        self.assertIn("all bits are lit", text)
        self.assertIn("this time that is wrong", text)
        self.assertIn("(15/15)^3 = 100 %", text)

    def test_commands(self):
        text = self.demo(b"cat\nclear\n?cat\n-cat\nundo\n?\nquit\ndog\n")
        self.assertIn("All bits are dark again", text)
        self.assertIn('"cat" is definitely not', text)
        self.assertEqual(text.count("cannot forget"), 2)
        self.assertIn("Which word?", text)
        self.assertNotIn("dog", text)

    def test_forgetting_names_who_shares_a_bit(self):
        text = " ".join(self.demo(b"cat\ndog\n-cat\n").split())
        self.assertIn('Bit 7 of "cat" is also one of "dog"', text)

    def test_blanks_around_words_do_not_count(self):
        self.assertEqual(self.demo(b"cat\n"), self.demo(b"  cat\t\r\n\n"))

    def test_any_bytes(self):
        text = self.demo(b"a\x1b[31mb\n\xff\xc3\n\x00\n" + "日本語 é\n".encode())
        for shown in [r'"a\x1b[31mb"', r'"\xff\xc3"', r'"\x00"', '"日本語 é"']:
            self.assertIn(shown, text)
        self.assertIn("4 words", text)
        self.demo(bytes(range(256)))

    def test_long_words(self):
        text = self.demo(b"x" * 1000 + b"\n" + b"y" * 1001 + b"\n" + b"z" * 1_000_000 + b"\nend")
        self.assertEqual(text.count("too long"), 2)
        self.assertIn("xxx…", text)
        self.assertNotIn("y" * 20, text)
        self.assertIn("2 words", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_empty_input(self):
        self.assertEqual(pictures(self.demo(b"")), [])

    def test_standard_input_that_cannot_be_read(self):
        directory = os.open(self.directory, os.O_RDONLY)
        self.addCleanup(os.close, directory)
        done = subprocess.run([PROGRAM, "demo"], stdin=directory, capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"Cannot read standard input", done.stderr)


class Terminal:
    """The program on a terminal of its own, then what the shell is told to do."""

    def __init__(self, columns=80, rows=24, then="", **environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.pop("NO_COLOR", None)
            os.environ.update({"TERM": "xterm", **environment})
            if then:
                os.execv("/bin/sh", ["sh", "-c", f'"$0" demo; {then}', str(PROGRAM)])
            os.execv(PROGRAM, [str(PROGRAM), "demo"])
        self.text = ""
        self.resize(columns, rows)

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self):
        """Some output, or nothing if the program is gone."""
        if not select.select([self.terminal], [], [], 30)[0]:
            raise TimeoutError(self.text[-2000:])
        try:
            some = os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:
            some = ""
        self.text += some
        return some

    def wait_for(self, text):
        """What came until then is used up."""
        while text not in self.text:
            if not self.read():
                raise EOFError(self.text[-2000:])
        before, _, self.text = self.text.partition(text)
        return before + text

    def exit_code(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def close(self):
        os.close(self.terminal)


class ScreenTest(CliTest):
    def start(self, *size, **environment):
        terminal = Terminal(*size, **environment)
        self.addCleanup(terminal.close)
        return terminal

    def test_add_and_test(self):
        terminal = self.start()
        terminal.wait_for("\x1b[?1049h")
        terminal.wait_for("0 words")
        terminal.type("cat\r")
        terminal.wait_for('"cat" is in. It lit bits 4 and 7.')
        terminal.wait_for("In the set: cat")
        terminal.type("?cat\r")
        terminal.wait_for("It is, you added it.")
        terminal.type("?cow\r")
        terminal.wait_for("definitely not in the set")
        terminal.type("quit\r")
        self.assertEqual(terminal.exit_code(), 0)

    def test_shows_the_places_while_typing(self):
        terminal = self.start()
        terminal.wait_for("0 words")
        terminal.type("ca")
        terminal.wait_for('"ca" hashes to')
        terminal.type("t")
        terminal.wait_for("leads to bits 7, 7 and 4")
        terminal.wait_for("Enter adds it.")
        terminal.wait_for("0 words")

    def test_every_way_out_leaves_the_terminal_clean(self):
        for keys, code in [("quit\r", 0), ("exit\n", 0), ("\x04", 0), ("\x03", 130), (None, 143)]:
            with self.subTest(keys=keys):
                terminal = self.start()
                before = terminal.modes()
                self.assertTrue(before & termios.ICANON)
                terminal.type("cat\r")
                terminal.wait_for("1 word,")
                self.assertFalse(terminal.modes() & (termios.ICANON | termios.ECHO))
                if keys is None:
                    os.kill(terminal.process, signal.SIGTERM)
                else:
                    terminal.type(keys)
                terminal.wait_for("\x1b[?1049l")
                terminal.wait_for("1 word, 2 of 15 bits lit (13.3 %)")
                modes = terminal.modes()
                self.assertEqual(terminal.exit_code(), code)
                self.assertEqual(modes, before)

    def test_editing(self):
        terminal = self.start()
        terminal.wait_for("0 words")
        # Arrows do nothing, a character of several bytes goes as a whole, Ctrl-W and Ctrl-U erase.
        terminal.type("no such\x15one two\x17\x7f\x7f\x7f\x7fc\x1b[A\x1bOCatö\x7f\x1a\r")
        terminal.wait_for("In the set: cat")

    def test_new_size(self):
        terminal = self.start(80, 24)
        terminal.wait_for(" 0   1   2   3")
        terminal.wait_for("0 words")
        terminal.resize(40, 24)
        terminal.wait_for(" 0 1 2 3")

    def test_small_terminals_keep_bits_and_prompt(self):
        for size in [(40, 24), (80, 10), (20, 6), (1, 1)]:
            with self.subTest(size=size):
                terminal = self.start(*size)
                time.sleep(0.3)  # until the size is seen
                terminal.type("cat\r")
                terminal.type("x")
                screen = terminal.wait_for("> x" if size != (1, 1) else "x\x1b[K")
                self.assertLessEqual(screen.rpartition("\x1b[H")[2].count("\n"), size[1] - 1)
                terminal.type("\x03")
                self.assertEqual(terminal.exit_code(), 130)

    def test_no_color(self):
        terminal = self.start(NO_COLOR="1")
        terminal.type("cat\r")
        text = terminal.wait_for("1 word,")
        self.assertIn("███", text)
        self.assertIsNone(re.search(r"\x1b\[\d+m", text))
        terminal = self.start()
        terminal.type("cat\r")
        self.assertIsNotNone(re.search(r"\x1b\[33m███", terminal.wait_for("1 word,")))

    def test_dumb_terminal(self):
        terminal = self.start(TERM="dumb")
        terminal.wait_for("> ")
        terminal.type("cat\n")
        text = terminal.wait_for("1 word,")
        self.assertNotIn("\x1b", text)
        self.assertEqual(len(pictures(text.replace("\r", ""))), 1)
        terminal.type("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        terminal = self.start(TERM="dumb")
        terminal.wait_for("> ")
        terminal.type("\x03")
        self.assertEqual(terminal.exit_code(), 130)

    def test_what_is_typed_after_quit_is_not_eaten(self):
        terminal = self.start(then='read line; echo "the shell got $line"')
        terminal.wait_for("0 words")
        terminal.type("quit\rwords\r")
        terminal.wait_for("the shell got words")
        self.assertEqual(terminal.exit_code(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
