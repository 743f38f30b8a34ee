"""`mrc top` in a pseudo-terminal: what it draws, what keys do, and what it writes without a terminal."""
import json
import os
import pathlib
import pty
import re
import select
import struct
import fcntl
import subprocess
import tempfile
import termios
import time
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
MRC = str(pathlib.Path(os.environ["MRC_BIN_DIR"]) / "mrc")
SCENARIO = ROOT / "share/scenarios/watch.toml"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program on a terminal of 120 columns and 40 rows; screen() is what stands there now."""

    def __init__(self, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(MRC, [MRC, "top", *map(str, words)])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.text = ""

    def read(self, seconds):
        end = time.monotonic() + seconds
        while select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.text += data.decode(errors="replace")
        return True

    def screen(self):
        last = self.text.rsplit("\x1b[H", 1)[-1]
        return [ESCAPE.sub("", line).rstrip() for line in last.split("\r\n")]

    def until(self, wanted, seconds=60):
        """Waits until the screen pleases `wanted`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            screen = self.screen()
            if wanted(screen):
                return screen
        raise AssertionError("this never came:\n" + "\n".join(self.screen()))

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        self.type("q")
        while self.read(1):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def rows(screen):
    """Names of the queue pairs, in order."""
    return [m.group(1) for line in screen if (m := re.match(r"(h\d+ > h\d+)\s+[\d.]+", line))]


class OnATerminal(unittest.TestCase):
    def setUp(self):
        self.top = Terminal(SCENARIO, "--every", "0.2")
        self.top.until(lambda s: len(rows(s)) > 5)

    def test_shows_planes_queue_pairs_and_the_grid(self):
        screen = self.top.until(lambda s: any("plane 3" in line for line in s) and any(line.startswith("EVs of h") for line in s))
        self.assertIn("sixteen hosts", screen[0])
        self.assertTrue(any("\u25a0\u25a0\u25a0\u25a0" in line for line in screen))
        self.assertLessEqual(len(screen), 40)
        self.assertEqual(self.top.close(), 0)
        self.assertTrue(self.top.text.rstrip().endswith("\x1b[?1049l"), "the terminal is given back")

    def test_sorts_filters_and_freezes(self):
        self.top.type("/h0 \r")
        screen = self.top.until(lambda s: rows(s) and all(name.startswith("h0 >") for name in rows(s)))
        self.assertIn("[h0 ]", screen[-1])
        self.top.type("\x1b")
        self.top.until(lambda s: len(rows(s)) > 5)
        self.top.type("s")
        self.top.until(lambda s: any("by RTT" in line for line in s))
        self.top.type("r")
        self.top.until(lambda s: any("by RTT reversed" in line for line in s))
        self.top.type("f")
        still = self.top.until(lambda s: "FROZEN" in s[0])
        self.top.read(1)
        self.assertEqual(self.top.screen()[1], still[1], "time stands")
        self.top.type("f")
        self.top.until(lambda s: "FROZEN" not in s[0] and s[1] != still[1])
        self.assertEqual(self.top.close(), 0)


class WithoutATerminal(unittest.TestCase):
    def run_top(self, *words):
        return subprocess.run([MRC, "top", *map(str, words)], capture_output=True, text=True, timeout=120, env={**os.environ, "MRC_SOCKET": "/nonexistent/mrcd.sock"})

    def test_a_recording_as_text_and_json(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "r.jsonl"
            subprocess.run([MRC, "sim", ROOT / "share/scenarios/permutation.toml", "--quiet", "--record", record], check=True, capture_output=True, timeout=120)
            done = self.run_top("--trace", record, "--every", "0.1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("p1.t1.2", done.stdout)  # the switch that dies in it
            self.assertNotIn("\x1b", done.stdout)
            frame = json.loads(self.run_top("--trace", record, "--once", "--json").stdout)
            self.assertEqual(len(frame["planes"]), 4)
            self.assertGreater(frame["span"], 0, "at the start there is nothing to see")
            self.assertTrue(any(q["rate"] > 0 for q in frame["qps"]))

    def test_one_picture_of_a_simulation_has_rates(self):
        for _ in range(5):  # a busy machine may need longer to begin
            done = subprocess.run([MRC, "top", SCENARIO, "--once", "--json"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            if any(q["rate"] > 0 for q in json.loads(done.stdout)["qps"]):
                return
        self.fail(done.stdout[:300])

    def test_says_what_is_missing(self):
        for words, wanted in [((), "mrcd"), (("--trace", "/nonexistent"), "nonexistent"), (("--lab", "no-such-lab"), "no-such-lab"), (("nowhere.toml",), "nowhere.toml")]:
            done = self.run_top(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(wanted, done.stderr)


if __name__ == "__main__":
    unittest.main()
