"""A lab in which two hosts write to each other, with mrcd on both, for the length of a test class."""
import os
import subprocess
import unittest

from server_for_test import MRC

SECONDS = 60  # generous: a wait that ends early proves nothing


class LiveCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = f"live{os.getpid()}"
        up = subprocess.run([MRC, "lab", "up", "--name", cls.lab, "--planes", "2", "--hosts-per-t0", "1", "--rate", "100M", "--mrcd"],
                            capture_output=True, text=True, timeout=120)
        if up.returncode == 77:
            raise unittest.SkipTest(up.stderr)
        if up.returncode != 0:
            raise RuntimeError(up.stderr)
        cls.addClassCleanup(subprocess.run, [MRC, "lab", "down", "--name", cls.lab], capture_output=True, timeout=120)
        # At a rate: ends that poll without rest would take both cores from everybody who looks at them.
        traffic = ("--size", "16K", "--depth", "4", "--seconds", "600", "--rate", "40M")
        listener = cls.start("h1", MRC, "perf", "--listen", "fd4d:5243:0:1::1", *traffic)
        cls.start("h0", MRC, "perf", "--connect", "fd4d:5243:0:1::1", *traffic)
        assert listener.poll() is None

    @classmethod
    def on(cls, host, *words):
        return [MRC, "lab", "exec", "--name", cls.lab, host, "--", *map(str, words)]

    @classmethod
    def start(cls, host, *words, **more):
        more.setdefault("stdout", subprocess.DEVNULL)
        process = subprocess.Popen(cls.on(host, *words), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **more)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        return process

    def lab_does(self, *words):
        done = subprocess.run([MRC, "lab", words[0], "--name", self.lab, *words[1:]], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
