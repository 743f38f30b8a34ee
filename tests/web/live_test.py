"""Live sources: the queue pairs of a lab's programs, a node as its mrcd tells, `mrc top` beside a running program, and a recording of a lab."""
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from live_case import SECONDS, LiveCase
from server_for_test import MRC, Server
from server_test import live_frames


def writes(frame):
    """Queue pairs of a frame that send, with everything that there is to see of one."""
    return [q for q in frame["qps"] if q["rate"] > 0 and q["rtt_ns"] > 0 and q["window"] > 0 and len(q.get("evs", "")) > 0]


class OfALab(LiveCase):
    def test_queue_pairs_and_their_paths(self):
        with Server("--lab", self.lab) as server:
            frame = next(f for f in itertools.islice(live_frames(server.url), 300) if writes(f))
        qp = writes(frame)[0]
        self.assertEqual((qp["host"], qp["peer"]), (0, 1))
        ways = list(zip(*[iter(qp["ways"])] * 3))
        self.assertEqual(len(ways), len(qp["evs"]))
        self.assertEqual({(plane, uplink) for plane, uplink, _ in ways}, {(0, 0), (0, 1), (1, 0), (1, 1)})


class OfANode(LiveCase):
    def frames(self, *words):
        """Frames of `mrc web --node` on h0, as they are recorded."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pipe = pathlib.Path(folder.name) / "frames"
        os.mkfifo(pipe)
        self.start("h0", MRC, "web", "--node", "--record", pipe, *words)
        lines = open(pipe)
        self.addCleanup(lines.close)
        return json.loads(lines.readline()), (json.loads(line) for line in lines)

    def test_ports_are_planes_and_peers_have_places(self):
        fabric, frames = self.frames()
        self.assertEqual(fabric["source"], "node")
        self.assertEqual(fabric["plane_names"], ["mrc0 port 1 (p0)", "mrc0 port 2 (p1)"])
        frame = next(f for f in frames if writes(f) and all(rate > 0 for rate in f["planes"]))
        self.assertEqual(frame["names"], [[0, "this node"], [1, "fd4d:5243:0:1::1"]])
        self.assertEqual(writes(frame)[0]["peer"], 1)
        self.assertEqual(set(writes(frame)[0]["ways"][::3]), {0, 1})

    def test_a_port_that_fails_is_in_the_next_frames(self):
        _, frames = self.frames()
        next(f for f in frames if writes(f))
        self.lab_does("fail", "h0.p1")
        self.addCleanup(self.lab_does, "heal")
        seen = [next(frames) for _ in range(8)]
        self.assertTrue(any(f["faults"] for f in seen), "not seen in 8 frames")
        self.assertIn("h0-p1.t0.0 (p1): down", [e["what"] for f in seen for e in f["events"]])

    def test_it_stands_in_its_fabric(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("[topology]\nplanes = 2\nt0 = 2\nt1 = 2\nhosts_per_t0 = 1\n")
            file.flush()
            fabric, frames = self.frames("--fabric", file.name)
            self.assertEqual((fabric["hosts"], fabric["tiers"]), (2, 2))
            qp = writes(next(f for f in frames if writes(f)))[0]
            self.assertEqual((qp["host"], qp["peer"]), (0, 1))


class InATerminal(LiveCase):
    def top(self, *words):
        return subprocess.run(self.on("h0", MRC, "top", *words), capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)

    def test_one_picture_has_rates(self):
        done = self.top("--once")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = next(line for line in done.stdout.splitlines() if line.startswith("mrc ") and "> fd4d:5243:0:1::1" in line)
        self.assertGreater(float(row.split("fd4d:5243:0:1::1")[1].split()[0]), 0)
        self.assertIn("mrc0 port 2", done.stdout)

    def test_one_picture_of_a_lab_has_queue_pairs_and_rates(self):
        for _ in range(5):  # on a busy machine the hosts may not have answered twice yet
            done = subprocess.run([MRC, "top", "--lab", self.lab, "--once", "--json"], capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stderr)
            if writes(json.loads(done.stdout)):
                break
        else:
            self.fail(done.stdout[:300])

    def test_it_waits_for_a_lab_that_has_nothing_new(self):
        words = [MRC, "top", "--lab", self.lab, "--json", "--every", "0.1"]  # a lab has a frame every half second
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as top:
            self.addCleanup(top.kill)
            numbers = [json.loads(top.stdout.readline() or "{}").get("n") for _ in range(4)]
            self.assertEqual(len(set(numbers)), 4, numbers)
            top.terminate()
            self.assertEqual(top.wait(SECONDS), 0)

    def test_a_failed_port_is_down_in_the_next_picture(self):
        top = self.start("h0", MRC, "top", "--every", "0.2", stdout=subprocess.PIPE, text=True)
        self.addCleanup(top.stdout.close)
        self.assertTrue(any("mrc0 port 2" in line for line in top.stdout))
        self.lab_does("fail", "h0.p1")
        self.addCleanup(self.lab_does, "heal")
        pictures = 0
        for line in top.stdout:
            pictures += line.startswith("node ")
            if "DOWN" in line and "mrc0 port 2" in line:
                break
            self.assertLess(pictures, 6)
        self.assertTrue(any("port 2: link down" in line for line in top.stdout))


class OfALabRun(unittest.TestCase):
    def test_is_recorded_with_its_queue_pairs(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "run.jsonl"
            done = subprocess.run([MRC, "lab", "run", "--seconds", "0.5", "--rate", "100M", "--record", record, "--json"], capture_output=True, text=True, timeout=240)
            if done.returncode == 77:
                self.skipTest(done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            fabric, *frames = map(json.loads, record.read_text().splitlines())
            self.assertEqual(fabric["source"], "lab")
            self.assertTrue(any(writes(f) for f in frames), "no queue pair was seen")
            self.assertTrue(any(f["faults"] for f in frames), "nothing was seen to break")
            shown = subprocess.run([MRC, "top", record, "--once"], capture_output=True, text=True, timeout=60)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            with Server(record, "--json") as server:
                self.assertEqual(json.loads(server.url)["source"], "recording")


if __name__ == "__main__":
    unittest.main()
