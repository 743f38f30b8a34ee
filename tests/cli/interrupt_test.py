"""Ctrl-C and SIGTERM: a simulation that is stopped half-way writes what it has, whole, and ends as the signal says."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BIN = os.environ["MRC_BIN_DIR"]
LONG = """[topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 4
[[job]]
kind = "permutation"
bytes = "1MB"
iterations = 1000000
"""


class Interrupted(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.here = pathlib.Path(kept.name)

    def start(self, text, *more):
        (self.here / "long.toml").write_text(text)
        started = subprocess.Popen([f"{BIN}/mrc", "sim", "long.toml", *more], cwd=self.here, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(started.kill)
        return started

    def test_writes_what_it_has(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            run = self.start(LONG, "--progress", "--json", "--flows", "f.csv", "--report", "r.html")
            run.stderr.readline()  # it runs
            run.send_signal(sent)
            out, err = run.communicate(timeout=120)
            self.assertEqual(run.returncode, -sent, err)
            self.assertIn("interrupted: these are the results so far", err)
            result = json.loads(out)
            self.assertGreater(result["payload_bytes"], 0)
            self.assertFalse(result["passed"])
            self.assertTrue((self.here / "r.html").read_text().rstrip().endswith("</html>"))
            self.assertEqual(sorted(p.name for p in self.here.iterdir()), ["f.csv", "long.toml", "r.html"])

    def test_a_sweep_keeps_the_points_that_ended(self):
        grid = LONG + '[sweep]\n"job.0.iterations" = [1, 1000000, 1000001]\n'
        run = self.start(grid, "--progress", "--processes", "2", "--table", "t.csv")
        self.assertIn("1 of 3 points", run.stderr.readline())
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, -signal.SIGTERM, err)
        self.assertIn("1 of 3 points ended", err)
        self.assertIn("iterations 1000001:  interrupted", out)
        self.assertEqual(len((self.here / "t.csv").read_text().splitlines()), 4)

    def interrupted_measurement(self, after, more):
        run = subprocess.Popen([f"{BIN}/mrc", "perf", "--local", "--tcp-port", "18818", "--seconds", "3600", "--json", *more],
                               env={**os.environ, "MRC_UDP_PORT": "14818"}, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(run.kill)
        time.sleep(after)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT, err)
        return out, err

    def test_a_measurement_says_what_it_has(self):
        for more in ([], ["--latency", "--size", "8"], ["--verify"], ["--rate", "20M"]):
            for after in (0.7, 4, 20):  # until it has met the other end, and measures
                out, err = self.interrupted_measurement(after, more)
                if out:
                    break
            self.assertIn("interrupted; the figures are of", err)
            self.assertGreater(json.loads(out)["mops"], 0, more)

    def test_who_waits_for_the_other_end_says_so_and_ends_at_once(self):
        for role, words in (("--connect", "waiting up to 86400 s"), ("--listen", "listening at")):
            run = subprocess.Popen([f"{BIN}/mrc", "perf", role, "127.0.0.1", "--tcp-port", "18817", "--wait", "86400"],
                                   env={**os.environ, "MRC_UDP_PORT": "14817"}, text=True, stderr=subprocess.PIPE)
            self.addCleanup(run.kill)
            self.assertIn(words, run.stderr.readline())
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)
            self.assertEqual(run.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
