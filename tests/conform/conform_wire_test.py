"""`mrc conform run` against `mrc conform device`: two processes, real sockets on loopback."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

MRC = os.path.join(os.environ["MRC_BIN_DIR"], "mrc")
NET = f"127.{78 + os.getpid() // 250 % 100}.{os.getpid() % 250}"  # all of 127/8 is this host: an address of our own
DEVICE, TESTER = f"{NET}.2", f"{NET}.1"
# On a busy machine an answer may be late. What fails is asked again, alone; a device that is wrong fails every time.
PATIENCE = ["--answer-ms", "2000", "--quiet-ms", "40"]
ATTEMPTS = 4
ON_TWO_PLANES = {"planes_share", "plane_left", "plane_returns"}


class Device:
    """The hand on our own device."""

    def __enter__(self):
        self.process = subprocess.Popen([MRC, "conform", "device", "--listen", DEVICE, "--tcp-port", "0"],
                                        stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().split()[-1]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def run(port, folder, *more):
    done = subprocess.run([MRC, "conform", "run", "--agent", DEVICE, "--tcp-port", port, "--local", TESTER, "--json",
                           "--captures", os.path.join(folder, "captures"), *more], capture_output=True, text=True, timeout=500)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


# Between two hosts of a lab: IPv6 with flow labels, through switches that are kernels with SRv6. On both planes, or on one.
IN_A_LAB = """
mrc lab up --planes PLANES --t0 2 --t1 2 --hosts-per-t0 1 > /dev/null || exit 77
tester=$(mrc lab status --json | grep -o 'fd4d:5243:[01]*:*:1"' | tr -d '"' | paste -sd,)
device=$(mrc lab status --json | grep -o 'fd4d:5243:[01]:1::1"' | tr -d '"' | paste -sd,)
coproc mrc lab exec h1 -- mrc conform device --listen ${device%%,*} --device DEVICES --once
read -r -u ${COPROC[0]} ready
mrc lab exec h0 -- mrc conform run --agent ${device%%,*} --address $device --local $tester --json --answer-ms 2000 --quiet-ms 40
mrc lab down > /dev/null
"""
WAY = ["unshare", "--net", "--map-root-user", "--kill-child", "--fork"]


class ConformOnTheWire(unittest.TestCase):
    def test_our_own_device_conforms(self):
        with Device() as device, tempfile.TemporaryDirectory() as folder:
            _, report, error = run(device.port, folder, *PATIENCE)
            self.assertIsNotNone(report, error)
            outcomes = {c["name"]: c["outcome"] for c in report["checks"]}
            controlled = {n for n in outcomes if n == "denied_ev" or n.startswith("congestion_")}
            self.assertEqual({n for n, o in outcomes.items() if o == "skip"}, ON_TWO_PLANES | (set() if os.geteuid() == 0 else controlled))
            for name in [n for n, o in outcomes.items() if o == "fail"]:
                attempts = (run(device.port, folder, *PATIENCE, "--check", name) for _ in range(ATTEMPTS))
                self.assertTrue(any(status == 0 for status, _, _ in attempts), [c for c in report["checks"] if c["name"] == name])

    def conforms_in_a_lab(self, planes, devices):
        """Each check passes in one of the attempts; returns those that were skipped."""
        env = {**os.environ, "PATH": f"{os.environ['MRC_BIN_DIR']}:{os.environ['PATH']}"}
        script = IN_A_LAB.replace("PLANES", str(planes)).replace("DEVICES", devices)
        with tempfile.TemporaryDirectory() as folder:
            passed, left = set(), {"all"}
            for _ in range(ATTEMPTS):
                done = subprocess.run([*WAY, "bash", "-c", script], env=env, cwd=folder, capture_output=True, text=True, timeout=300)
                if not done.stdout:
                    self.skipTest(f"no lab here: {done.stderr[-200:]}")
                checks = json.loads(done.stdout)["checks"]
                passed |= {c["name"] for c in checks if c["outcome"] == "pass"}
                left = {c["name"]: c["why"] for c in checks if c["outcome"] == "fail" and c["name"] not in passed}
                if not left:
                    break
            self.assertEqual(left, {})
            self.assertGreater(len(passed), 60)
            return {c["name"] for c in checks if c["outcome"] == "skip"}

    def test_our_own_device_conforms_in_a_lab(self):
        self.assertLessEqual(ON_TWO_PLANES, self.conforms_in_a_lab(1, "p0"))

    def test_our_own_device_conforms_on_two_planes(self):
        self.assertEqual(self.conforms_in_a_lab(2, "p0,p1") & ON_TWO_PLANES, set())

    def test_a_failure_leaves_packets_and_a_report(self):
        # A threshold that our device does not have: the check must fail, and show why.
        with Device() as device, tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "report.md")
            status, report, _ = run(device.port, folder, "--check", "sack_by_bytes", "--sack-bytes", "1024", "--report", page)
            self.assertEqual(status, 1)
            [check] = report["checks"]
            self.assertEqual(check["outcome"], "fail")
            dumped = subprocess.run([MRC, "dump", check["capture"]], capture_output=True, text=True)
            self.assertEqual(dumped.returncode, 0)
            self.assertIn("write_first", dumped.stdout)
            text = pathlib.Path(page).read_text()
            self.assertIn("MRC-RSP-005", text)
            self.assertIn("(captures/sack_by_bytes.pcap)", text)

    def test_nobody_there(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([MRC, "conform", "run", "--local", TESTER], capture_output=True, text=True, cwd=folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--agent", done.stderr)

    def test_a_device_known_by_numbers(self):
        with Device() as device, tempfile.TemporaryDirectory() as folder:
            import socket
            with socket.create_connection((DEVICE, int(device.port))) as hand:
                hand.sendall(f"connect address={TESTER} qpn=4660 psn=100 mtu=256 mpr=8 max_wimm=32 timeout=20 linear=2 "
                             f"exponential=2 receives=4 controlled=0\n".encode())
                words = dict(w.split("=") for w in hand.makefile().readline().split()[1:])
                done = subprocess.run([MRC, "conform", "run", "--local", TESTER, "--address", DEVICE, "--qpn", words["qpn"], "--psn",
                                       "100", "--rkey", words["rkey"], "--va", words["va"], "--check", "sack_bitmap", "--check",
                                       "sack_psn", "--json", "--answer-ms", "2000"], capture_output=True, text=True, cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                self.assertEqual([c["outcome"] for c in json.loads(done.stdout)["checks"]], ["pass", "skip"])
                hand.sendall(b"nonsense\nmemory 0 99999999\npost 1:2:3:4\n")
                lines = hand.makefile()
                for _ in range(3):
                    self.assertTrue(lines.readline().startswith("error "))


if __name__ == "__main__":
    unittest.main()
