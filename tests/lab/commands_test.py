#!/usr/bin/env python3
"""`mrc lab` as a person uses it: a fabric by name, programs on its hosts, faults, captures; and a machine that forbids it."""
import ctypes
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

MRC = str(pathlib.Path(os.environ["MRC_BIN_DIR"]) / "mrc")
NAME = f"commands-{os.getpid()}"
SECONDS = 120  # generous: a wait that ends early proves nothing
FORBIDS = "this machine forbids"


def lab(verb, *words, **more):
    return subprocess.run([MRC, "lab", verb, "--name", NAME, *words], capture_output=True, text=True, timeout=SECONDS, **more)


def on(host, *command):
    return subprocess.Popen([MRC, "lab", "exec", "--name", NAME, host, "--", *command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class WithLab(unittest.TestCase):
    switches = "kernel"

    def setUp(self):
        global NAME
        NAME = f"commands-{os.getpid()}-{self._testMethodName[-24:]}"  # the lab before may still be leaving
        done = lab("up", "--planes", "4", "--t0", "2", "--t1", "2", "--hosts-per-t0", "1", "--switch", self.switches)
        if done.returncode != 0 and FORBIDS in done.stderr:
            self.skipTest("NOT TESTED, no lab here: " + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(lab, "down")
        self.address = self.status()["host_addresses"][1]["addresses"][0]

    def status(self):
        return json.loads(lab("status", "--json").stdout)

    def ok(self, *words):
        done = lab(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def wait_for_listener(self, host, port):
        """A server listens on this TCP port of the host."""
        end, wanted = time.monotonic() + SECONDS, f":{port:04X}"
        while time.monotonic() < end:
            table = on(host, "cat", "/proc/net/tcp6", "/proc/net/tcp").communicate(timeout=SECONDS)[0]
            if any(w in line.split()[1] and line.split()[3] == "0A" for line in table.splitlines() if ":" in line
                   for w in [wanted]):
                return
        self.fail("no listener")


class Commands(WithLab):
    def test_rate_is_shown_obeyed_and_healed(self):
        self.ok("rate", "h0-p0.t0.0", "100M")
        faults = self.status()["faults"]
        self.assertEqual({f["bits_per_second"] for f in faults}, {100_000_000})
        self.assertEqual({f["node"] for f in faults}, {"h0", "p0.t0.0"})
        shaped = on("h0", "tc", "-json", "qdisc", "show", "dev", "p0").communicate(timeout=SECONDS)[0]
        self.assertIn("tbf", shaped)
        self.assertEqual(next(q for q in json.loads(shaped) if q["kind"] == "tbf")["options"]["rate"], 12_500_000)
        self.ok("heal")
        self.assertEqual(self.status()["faults"], [])

    def collective(self, *more, status=0):
        """What both ranks say of a collective between the two hosts, over all planes; both end with `status`."""
        peers = ",".join(h["addresses"][0] for h in self.status()["host_addresses"])
        ranks = [on(f"h{i}", MRC, "collective", "--peers", peers, "--rank", str(i), "--device", "p0,p1,p2,p3",
                    "--kinds", "ring", "--sizes", "64K", "--seconds", "0.1", *more) for i in range(2)]
        said = [rank.communicate(timeout=SECONDS)[0] for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [status, status], said)
        return "".join(said)

    def test_a_collective_names_the_plane_that_carries_nothing(self):
        self.assertNotIn("not every plane", self.collective("--all-planes"))
        self.ok("fail", "h0.p1")
        said = self.collective()
        self.assertRegex(said, "rank 0 reaches not every plane of rank 1 .*p0 up.*; p1 down, .*; p2 up")
        self.assertRegex(said, "ring_all_reduce +65536 .* 0\n")
        said = self.collective("--all-planes", "--json", status=1)
        lame = [json.loads(line) for line in said.splitlines() if '"lame_peer"' in line]
        self.assertEqual({(one["rank"], one["lame_peer"]) for one in lame}, {(0, 1), (1, 0)})
        self.assertRegex(lame[0]["planes"], "p1 (up|down), 0 of")

    def test_who_waits_in_vain_says_that_every_plane_is_dead(self):
        peers = ",".join(h["addresses"][0] for h in self.status()["host_addresses"])
        ranks = [on(f"h{i}", MRC, "collective", "--peers", peers, "--rank", str(i), "--device", "p0,p1,p2,p3", "--kinds", "ring",
                    "--sizes", "64K", "--seconds", "3600", "--wait", "20") for i in range(2)]
        self.assertIn("2 ranks", ranks[0].stdout.readline())
        for plane in range(4):
            self.ok("fail", "--silent", f"h0-p{plane}.t0.0")
        for rank in ranks:
            said = rank.communicate(timeout=SECONDS)[0]
            self.assertEqual(rank.returncode, 1, said)
            self.assertIn("planes: " + "; ".join(f"p{plane} up, 0 of 32 EVs good" for plane in range(4)), said)

    def test_pcap_shows_encapsulated_packets(self):
        with tempfile.TemporaryDirectory() as folder:
            file = folder + "/t1.pcap"
            capture = subprocess.Popen([MRC, "lab", "pcap", "--name", NAME, "p0.t1.0", "d0", "-w", file, "--packets", "20",
                                        "--seconds", "60"], stderr=subprocess.PIPE, text=True)
            server = on("h1", MRC, "perf", "--listen", self.address)
            self.wait_for_listener("h1", 18515)
            end = time.monotonic() + SECONDS
            while capture.poll() is None and time.monotonic() < end:
                client = on("h0", MRC, "perf", "--connect", self.address, "--seconds", "0.3", "--size", "64K")
                client.communicate(timeout=SECONDS)
            server.kill()
            server.communicate()
            self.assertEqual(capture.wait(timeout=SECONDS), 0)
            shown = subprocess.run([MRC, "dump", file], capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertRegex(shown.stdout, r"WRITE|SACK|write|sack", shown.stdout[:500])
            self.assertIn(" 0 of them not well formed", shown.stderr)  # trains and unfinished checksums are no fault

    def test_a_capture_that_is_interrupted_is_whole(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "h0.pcap"
                capture = subprocess.Popen([MRC, "lab", "pcap", "--name", NAME, "h0", "-w", file, "--seconds", str(SECONDS)],
                                           stderr=subprocess.PIPE, text=True)
                end = time.monotonic() + SECONDS
                while time.monotonic() < end and not (file.exists() and file.stat().st_size > 0):  # a buffer is full
                    subprocess.run([MRC, "map", "--lab", NAME, "--seconds", "0.1"], capture_output=True, timeout=SECONDS)
                capture.send_signal(sent)
                said = capture.communicate(timeout=SECONDS)[1]
                self.assertEqual(capture.returncode, 0, said)
                kept = int(re.fullmatch(r"(\d+) packets? in .*h0.pcap\n", said)[1])
                shown = subprocess.run([MRC, "dump", "--all", file], capture_output=True, text=True, timeout=SECONDS)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                self.assertEqual(len(shown.stdout.splitlines()), kept)
                self.assertGreater(kept, 0)

    def test_nonsense_is_refused_in_a_sentence(self):
        for words in (["fail", "p9"], ["rate", "h0-p0.t0.0", "fast"], ["drop", "p0", "2"]):
            done = lab(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(done.stderr.strip(), words)


class Perftest(WithLab):
    """Debian's ib_write_bw, unchanged, over the fabric while it fails."""

    def shell(self, host, script):
        process = on(host, "sh", "-e", "-c", script)
        said = process.communicate(timeout=SECONDS)[0]
        self.assertEqual(process.returncode, 0, said)

    def add_management_network(self):
        """perftest's two sides meet over IPv4, which the fabric has none of."""
        holder = on("h1", "sh", "-c", "echo $$ && exec sleep 600")
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        self.shell("h0", f"ip link add m0 type veth peer name m1 netns {int(holder.stdout.readline())} && "
                         "ip address add 192.0.2.1/24 dev m0 && ip link set m0 up")
        self.shell("h1", "ip address add 192.0.2.2/24 dev m1 && ip link set m1 up")

    def test_bandwidth_while_the_fabric_breaks(self):
        self.add_management_network()
        command = [MRC, "exec", "--", "ib_write_bw", "-s", "65536", "-n", "4000", "-x", "3", "-F", "-p", "18600"]
        server = on("h1", *command)
        self.wait_for_listener("h1", 18600)
        client = on("h0", *command, "192.0.2.2")
        for words in (["fail", "p1.t0.0-p1.t1.0", "--silent"],
                      ["flap", "p2.t0.0-p2.t1.1", "--times", "5", "--down", "40ms", "--up", "60ms"],
                      ["fail", "p3.t1.0"], ["fail", "h0.p2"], ["heal"]):
            self.ok(*words)
            time.sleep(0.2)  # the fault's own duration
        said = client.communicate(timeout=SECONDS)[0]
        if client.returncode != 0:
            server.kill()
        served = server.communicate(timeout=SECONDS)[0]
        self.assertEqual((client.returncode, server.returncode), (0, 0), said + served)
        row = re.search(r"^ *65536 +(\d+) +[\d.]+ +([\d.]+)", said, re.M)
        self.assertTrue(row, said)
        self.assertEqual(int(row[1]), 4000)


def forbid_namespaces():
    """In a child: the seccomp filter of a container, which refuses unshare()."""
    libc = ctypes.CDLL(None, use_errno=True)
    unshare = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
    allow, refuse = 0x7FFF0000, 0x00050000 | 1  # EPERM
    program = b"".join(struct.pack("HBBI", *i) for i in
                       [(0x20, 0, 0, 0), (0x15, 0, 1, unshare), (0x06, 0, 0, refuse), (0x06, 0, 0, allow)])
    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("at", ctypes.c_char_p)]
    filter_ = Program(4, program)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(filter_), 0, 0) != 0:
        os._exit(99)


class Forbidden(unittest.TestCase):
    def test_up_says_what_to_do(self):
        done = lab("up", preexec_fn=forbid_namespaces)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(FORBIDS, done.stderr)
        self.assertIn("user.max_user_namespaces", done.stderr)


    def test_run_leaves_the_story_to_the_simulator(self):
        done = subprocess.run([MRC, "lab", "run"], capture_output=True, text=True, timeout=SECONDS, preexec_fn=forbid_namespaces)
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn(FORBIDS, done.stderr)
        scenario = pathlib.Path(os.environ["MRC_SOURCE_DIR"]) / "share/scenarios/lab_story.toml"
        told = subprocess.run([MRC, "sim", str(scenario), "--quiet"], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        for phase in ("everything works", "swallows everything", "flaps", "T1 switch dies", "NIC port dies", "all healed"):
            self.assertRegex(told.stdout, f"phase .*{phase}")


if __name__ == "__main__":
    unittest.main()
