#!/usr/bin/env python3
"""The mapper in mrcd, in a lab: a link dies without a word, EVs over it are denied for every process, and allowed when it heals."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

MRC, MRCD = os.environ["MRC"], os.environ["MRCD"]
SECONDS = 120  # generous: a wait that ends early proves nothing
FORBIDS = "this machine forbids"
FABRIC = "[topology]\nplanes = 2\ntiers = 2\nt0 = 2\nt1 = 2\nhosts_per_t0 = 1\n"
# h0's paths: the EV names plane and T1. The first of each plane goes over T1 number 0.
PROFILES = """
[format.13]
mode = "udp"
widths = [16]

[ev.1]
mode = "explicit"
format = 13
events = ["denied", "good"]
evs = [{ ev = "0xc000", port = 1 }, { ev = "0xc001", port = 1 }, { ev = "0xc002", port = 2 }, { ev = "0xc003", port = 2 }]
"""


class MapperInMrcd(unittest.TestCase):
    def setUp(self):
        self.name = f"mrcd-map-{os.getpid()}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mrcd_map."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "fabric.toml").write_text(FABRIC)
        (self.folder / "profiles.toml").write_text(PROFILES)
        up = self.lab("up", "-f", str(self.folder / "fabric.toml"))
        if up.returncode != 0 and FORBIDS in up.stderr:
            self.skipTest("NOT TESTED, no lab here: " + up.stderr)
        self.assertEqual(up.returncode, 0, up.stderr)
        self.addCleanup(self.lab, "down")
        self.start_mrcd()

    def lab(self, verb, *words):
        return subprocess.run([MRC, "lab", verb, "--name", self.name, *words], capture_output=True, text=True, timeout=SECONDS)

    def on_h0(self, *command, **more):
        return subprocess.Popen([MRC, "lab", "exec", "--name", self.name, "h0", "--", *command], text=True,
                                stdin=subprocess.DEVNULL, env={**os.environ, "MRC_SOCKET": str(self.folder / "sock")}, **more)

    def start_mrcd(self):
        self.mrcd = self.on_h0(MRCD, "--foreground", "--state", str(self.folder / "state"), "--map",
                               str(self.folder / "fabric.toml"), "--host", "h0", stderr=subprocess.PIPE)
        self.addCleanup(self.stop_mrcd)
        self.hear("serving at")

    def stop_mrcd(self):
        self.mrcd.terminate()
        self.mrcd.wait()
        self.mrcd.stderr.close()

    def hear(self, words):
        """mrcd says it; a test that waits in vain is ended from outside."""
        said = ""
        for line in self.mrcd.stderr:
            if words in line:
                return
            said += line
        self.fail(f"mrcd ended before it said {words!r}: {said}")

    def ctl(self, *words):
        process = self.on_h0(MRC, "ctl", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said, complaint = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 0, complaint)
        return said

    def denied(self):
        return {ev["ev"] for ev in json.loads(self.ctl("evs", "list", "1", "--json")) if ev["state"] == "denied"}

    def until_denied(self, wanted):
        """What is denied changes with the finding, or within a second of a new profile: watch the events."""
        events = self.on_h0(MRC, "ctl", "events", "--watch", "--json", stdout=subprocess.PIPE)
        try:
            while self.denied() != wanted:
                self.assertTrue(events.stdout.readline())
        finally:
            events.terminate()
            events.wait()
            events.stdout.close()

    def test_a_dead_link(self):  # MRC-NODE-010
        self.ctl("profiles", "create", str(self.folder / "profiles.toml"))
        self.ctl("evs", "deny", "1", "0xc002")  # an operator's word
        self.assertEqual(self.denied(), {"0xc002"})
        self.assertEqual(self.lab("fail", "p0.t0.0-p0.t1.1", "--silent").returncode, 0)
        self.hear("found p0.t0.0-p0.t1.1 dead")
        self.until_denied({"0xc001", "0xc002"})
        # A mrcd that dies forgets what its mapper found, and finds it again; the operator's word it keeps.
        self.assertEqual(self.lab("heal").returncode, 0)
        self.mrcd.kill()
        self.mrcd.wait()
        self.mrcd.stderr.close()
        self.start_mrcd()
        self.assertEqual(self.denied(), {"0xc002"})
        self.assertEqual(self.lab("fail", "p0.t0.0-p0.t1.0", "--silent").returncode, 0)
        self.hear("found p0.t0.0-p0.t1.0 dead")
        self.until_denied({"0xc000", "0xc002"})
        self.assertEqual(self.lab("heal").returncode, 0)
        self.hear("cleared p0.t0.0-p0.t1.0")
        self.until_denied({"0xc002"})

    def test_another_hosts_name_is_refused(self):
        """Or all its links would seem dead, and good EVs be denied."""
        fabric = str(self.folder / "fabric.toml")
        for command in ([MRC, "map", "-f", fabric, "--seconds", "1"],
                        [MRCD, "--foreground", "--no-endpoint", "--no-state", "--socket", str(self.folder / "other"), "--map", fabric]):
            process = self.on_h0(*command, "--host", "h1", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            said, complaint = process.communicate(timeout=SECONDS)
            self.assertEqual(process.returncode, 1, said)
            self.assertIn("this node has the addresses of h0, not of h1: say --host h0", complaint)


if __name__ == "__main__":
    unittest.main()
