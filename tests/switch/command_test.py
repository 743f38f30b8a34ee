"""`mrc switch` as a process, in a network namespace of its own: it starts, forwards, obeys, counts and stops."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import unittest

MRC = str(pathlib.Path(os.environ["MRC_BIN_DIR"]) / "mrc")
FABRIC = ["--planes", "1", "--tiers", "1", "--t0", "1", "--hosts-per-t0", "2"]
NODE = "p0.t0.0"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


def packet(destination):
    """An Ethernet frame with an IPv6 packet of 60 bytes to `destination`, no upper layer."""
    source = socket.inet_pton(socket.AF_INET6, "fd4d:5243::1")
    target = socket.inet_pton(socket.AF_INET6, destination)
    ipv6 = bytes([0x60, 0, 0, 0, 0, 60, 59, 64]) + source + target + bytes(60)
    return b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x86\xdd" + ipv6


class SwitchCommand(unittest.TestCase):
    def setUp(self):
        for i in (0, 1):
            for step in (["link", "add", "name", f"d{i}", "type", "veth", "peer", "name", f"x{i}"],
                         ["link", "set", "dev", f"d{i}", "up"], ["link", "set", "dev", f"x{i}", "up"]):
                done = run("ip", *step)
                self.assertEqual(done.returncode, 0, done.stderr)
            pathlib.Path(f"/proc/sys/net/ipv6/conf/x{i}/disable_ipv6").write_text("1")
        self.process = subprocess.Popen([MRC, "switch", "run", *FABRIC, "--node", NODE, "--json"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.assertIn("forwards on 2 ports", self.process.stdout.readline())

    def tearDown(self):
        self.process.kill()
        self.process.communicate()
        for i in (0, 1):
            run("ip", "link", "delete", "dev", f"d{i}")

    def tell(self, *words):
        return run(MRC, "switch", "tell", "--node", NODE, *words)

    def test_forwards_obeys_and_counts(self):
        taps = []
        for i in (0, 1):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            tap.bind((f"x{i}", 0x86DD))
            tap.settimeout(10)
            taps.append(tap)
            self.addCleanup(tap.close)
        taps[0].send(packet("fcbb:bb00:4000:e001::"))
        frame = taps[1].recv(2000)
        while frame[20] == 58:  # it asks for its neighbour
            frame = taps[1].recv(2000)
        self.assertEqual(frame[38:54], socket.inet_pton(socket.AF_INET6, "fcbb:bb00:e001::"))
        self.assertEqual(frame[21], 63)

        self.assertEqual(self.tell("state", "d1", "black_hole").stdout, "ok\n")
        taps[0].send(packet("fcbb:bb00:4000:e001::"))
        taps[0].send(packet("fcbb:bb00:4000:e000::"))  # comes back, after the one before it is dealt with
        while taps[0].recv(2000)[38:54] != socket.inet_pton(socket.AF_INET6, "fcbb:bb00:e000::"):
            pass
        stats = json.loads(self.tell("stats").stdout)
        self.assertEqual(stats["ports"][1]["state"], "black_hole")
        self.assertEqual(stats["ports"][1]["losses"], 1)
        self.assertEqual(stats["ports"][1]["packets"], 2)
        self.assertEqual(stats["fates"]["passed"], 3)

        wrong = self.tell("state", "d9", "down")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("no port d9", wrong.stderr)

        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=10)
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(json.loads(out)["sent"], 2)

    def test_refuses_what_it_can_not_do(self):
        for options, sentence in (
            (["--node", "p9.t0.0"], "no switch p9.t0.0"),
            (["--node", "h0"], "no switch h0"),
            (["--node", NODE], "running already"),
            (["--node", NODE, "--prefix", "none-"], "none-d0"),
            (["--node", NODE, "--trim-bytes", "20"], "138 to 320"),
        ):
            with self.subTest(options):
                done = run(MRC, "switch", "run", *FABRIC, *options)
                self.assertEqual(done.returncode, 1)
                self.assertIn(sentence, done.stderr)
        gone = run(MRC, "switch", "tell", "--node", "p0.t1.7", "stats")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("no switch listens", gone.stderr)


if __name__ == "__main__":
    if os.environ.get("MRC_IN_NAMESPACE") is None:
        unshare = shutil.which("unshare")
        if unshare is None or run(unshare, "-Urn", "true").returncode != 0:
            print("skipped: this machine forbids user and network namespaces")
            sys.exit(0)
        os.environ["MRC_IN_NAMESPACE"] = "1"
        os.execv(unshare, [unshare, "-Urn", sys.executable, *sys.argv])
    unittest.main()
