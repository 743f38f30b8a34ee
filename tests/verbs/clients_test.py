#!/usr/bin/env python3
"""Debian's ibverbs-utils and perftest, unchanged, on the soft device over loopback."""
import os
import re
import signal
import socket
import subprocess
import time
import unittest

MRC = os.environ["MRC"]
SECONDS = 120  # generous: a wait that ends early proves nothing


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def mrc_exec(*command, udp_port, how=()):
    return [MRC, "exec", *how, "-d", "lo", "--udp-port", str(udp_port), "--", *command]


def listens(port):
    """A server waits on this TCP port. Read from the kernel: connecting would be taken for the client."""
    wanted = f":{port:04X}"
    with open("/proc/net/tcp") as table:
        return any(line.split()[1].endswith(wanted) and line.split()[3] == "0A" for line in table.readlines()[1:])


class Utilities(unittest.TestCase):
    def run_on_device(self, *command, how=()):
        done = subprocess.run(mrc_exec(*command, udp_port=free_port(socket.SOCK_DGRAM), how=how),
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_device_is_listed_by_path_and_by_preload(self):
        for how in ((), ("--preload",)):
            self.assertIn("mrc0", self.run_on_device("ibv_devices", how=how))

    def test_devinfo_shows_ports_and_gids(self):
        text = self.run_on_device("ibv_devinfo", "-v", "-d", "mrc0")
        self.assertIn("PORT_ACTIVE", text)
        self.assertRegex(text, r"link_layer:\s+Ethernet")
        self.assertRegex(text, r"GID\[\s+3\]:\s+::ffff:127\.0\.0\.1, RoCE v2")


def loopback_bytes():
    with open("/proc/net/dev") as table:
        return next(int(line.split()[1]) for line in table if line.strip().startswith("lo:"))


class Perftest(unittest.TestCase):
    """Server and client of one tool; both must end well, and the client must have printed a row of figures."""

    def start(self, tool, *options):
        self.udp, self.tcp = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM)
        self.command = [tool, "-F", "-d", "mrc0", "-p", str(self.tcp), *options]
        server = subprocess.Popen(mrc_exec(*self.command, udp_port=self.udp), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        while not listens(self.tcp):
            self.assertIsNone(server.poll(), "the server ended before it listened")
            try:
                server.wait(0.02)
            except subprocess.TimeoutExpired:
                pass
        return server

    def run_pair(self, tool, *options):
        server = self.start(tool, *options)
        client = subprocess.run(mrc_exec(*self.command, "127.0.0.1", udp_port=self.udp), capture_output=True,
                                text=True, timeout=SECONDS)
        said, _ = server.communicate(timeout=SECONDS)
        self.assertEqual((client.returncode, server.returncode), (0, 0), client.stdout + client.stderr + said)
        return [line.split() for line in client.stdout.splitlines() if re.match(r"^ \d+ +\d+ ", line)]

    def test_bandwidth(self):
        rows = self.run_pair("ib_write_bw", "-s", "65536", "-n", "50")
        self.assertEqual(rows[0][:2], ["65536", "50"])
        self.assertGreater(float(rows[0][3]), 0)

    def test_eight_mebibytes(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-s", str(8 << 20), "-n", "5")), 1)

    def test_every_size(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-a", "-n", "5")), 23)

    def test_several_queue_pairs(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-q", "4", "-s", "16384", "-n", "20")), 1)

    def test_both_directions(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-b", "-s", "16384", "-n", "20")), 1)

    def test_inline(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-I", "64", "-s", "64", "-n", "50")), 1)

    def test_unsignalled(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-Q", "16", "-s", "4096", "-n", "64")), 1)

    def test_latency(self):
        rows = self.run_pair("ib_write_lat", "-s", "8", "-n", "30")
        self.assertEqual(rows[0][:2], ["8", "30"])

    def test_small_path_mtu(self):
        self.assertEqual(len(self.run_pair("ib_write_bw", "-m", "256", "-s", "16384", "-n", "20")), 1)

    def test_a_dead_server_ends_the_client(self):
        server = self.start("ib_write_bw", "-s", "65536", "-D", "60")
        client = subprocess.Popen(mrc_exec(*self.command, "127.0.0.1", udp_port=self.udp), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        # perftest says nothing between its header and its result: the traffic itself tells that it has begun.
        before, end = loopback_bytes(), time.monotonic() + SECONDS
        while loopback_bytes() < before + (8 << 20) and client.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        server.send_signal(signal.SIGKILL)
        said, _ = client.communicate(timeout=SECONDS)
        self.assertNotEqual(client.returncode, 0, said)

    def test_what_mrc_has_not_is_refused_when_it_is_posted(self):
        """SEND, READ and atomics: the tool says so and ends; its server would wait, and is ours to kill."""
        for tool in ("ib_send_bw", "ib_read_bw", "ib_atomic_bw"):
            with self.subTest(tool):
                self.start(tool, "-n", "5")
                client = subprocess.run(mrc_exec(*self.command, "127.0.0.1", udp_port=self.udp), capture_output=True,
                                        text=True, timeout=SECONDS)
                self.assertNotEqual(client.returncode, 0)
                self.assertIn("Couldn't post send", client.stdout + client.stderr)

    def test_other_transports_are_refused_when_they_are_made(self):
        for tool, option, said in (("ib_write_bw", ("-c", "UC"), "create QP"),
                                   ("ib_send_bw", ("-c", "UD"), "create QP"),
                                   ("ib_send_bw", ("--use-srq",), "create SRQ")):
            with self.subTest(option):
                server = self.start(tool, *option)
                client = subprocess.run(mrc_exec(*self.command, "127.0.0.1", udp_port=self.udp), capture_output=True,
                                        text=True, timeout=SECONDS)
                text, _ = server.communicate(timeout=SECONDS)
                self.assertNotEqual((client.returncode, server.returncode), (0, 0))
                self.assertIn(said, client.stdout + client.stderr + text)


if __name__ == "__main__":
    unittest.main()
