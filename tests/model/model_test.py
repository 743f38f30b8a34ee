#!/usr/bin/python3
"""Lets spin walk every interleaving of completion.pml, and demands that it finds each planted mistake."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MODEL = pathlib.Path(__file__).resolve().parent / "completion.pml"
BROKEN = ("ORDER", "DUPLICATE", "WINDOW", "SILENCE", "WIMM")


def search(**defines):
    """(errors, states, output) of an exhaustive search."""
    flags = [f"-D{name}={value}" for name, value in defines.items()]
    with tempfile.TemporaryDirectory() as work:
        run = lambda *command: subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        made = run("spin", *flags, "-a", str(MODEL))
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        compiled = run("gcc", "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c")
        if compiled.returncode != 0:
            raise AssertionError(compiled.stderr)
        out = run("./pan", "-m10000", "-w22").stdout
    if "out of memory" in out or "max search depth too small" in out:
        raise AssertionError("the search is not complete\n" + out)
    return int(re.search(r"errors: (\d+)", out)[1]), int(re.search(r"(\d+) states, stored", out)[1]), out


class Model(unittest.TestCase):
    def setUp(self):
        if shutil.which("spin") is None:
            self.fail("spin is not installed: apt-get install spin, or ./setup, which reads scripts/packages")

    def holds(self, **defines):
        errors, states, out = search(**defines)
        self.assertEqual(errors, 0, out)
        self.assertGreater(states, 1000)
        if 0 not in defines.values():
            dead = re.findall(r"completion.pml:\d+, state \d+, (?!\"-end-\").*", out)
            self.assertEqual(dead, [], "part of the model is never reached")
        print(f"{defines}: {states} states, no error")

    def test_a_loss_and_a_copy(self):
        self.holds(LOSSES=1, DUPS=1, SPURIOUS=0)

    def test_a_loss_and_a_needless_repair(self):
        self.holds(LOSSES=1, DUPS=0, SPURIOUS=1)

    def test_two_losses(self):
        self.holds(LOSSES=2, DUPS=0, SPURIOUS=0)

    def test_all_at_once(self):
        if not os.environ.get("MRC_LONG"):
            self.skipTest("millions of states; ./test --long")
        self.holds(LOSSES=1, DUPS=1, SPURIOUS=1)
        self.holds(LOSSES=2, DUPS=1, SPURIOUS=1)

    def test_each_planted_mistake_is_found(self):
        for mistake in BROKEN:
            errors, _, out = search(LOSSES=1, DUPS=1, SPURIOUS=1, **{f"BROKEN_{mistake}": 1})
            self.assertEqual(errors, 1, f"{mistake}: not found\n{out}")
            print(mistake + ":", re.search(r"pan:1: (.*)", out)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
