"""A node for tests: mrcd in a folder of its own, a controller's command line, and applications that write."""
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import unittest

MRC, MRCD, APPLICATION = (os.environ[name] for name in ("MRC", "MRCD", "APPLICATION"))
SECONDS = 60  # generous: a wait that ends early proves nothing
NET_ADMIN = 12

PROFILES = """
[format.13]
mode = "udp"
widths = [16]

[ev.1]
mode = "explicit"
format = 13
events = ["assumed_bad", "denied", "good"]
evs = [{ ev = "0xee48", port = 1 }, { ev = "0xee49", port = 1 }, { ev = "0xee4a", port = 1 }]

[cc.3]
algorithm = "uet-1.0-nscc"
max_cwnd = 300000
"""


def has_net_admin():
    for line in open("/proc/self/status"):
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> NET_ADMIN & 1)
    return False


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@unittest.skipUnless(has_net_admin(), "needs CAP_NET_ADMIN")
class NodeCase(unittest.TestCase):
    mrcd_options = ()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mrcd_test."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {**os.environ, "MRC_SOCKET": str(self.folder / "mrcd.sock"), "MRC_DEVICES": "lo",
                            "MRC_UDP_PORT": str(free_udp_port())}
        self.start_mrcd()

    def start_mrcd(self):
        self.mrcd = subprocess.Popen([MRCD, "--foreground", *self.mrcd_options], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.mrcd.stderr.close)
        self.addCleanup(self.mrcd.wait)
        self.addCleanup(self.mrcd.kill)
        self.assertIn("serving at", self.mrcd.stderr.readline())

    def ctl(self, *arguments, wrong=False, prefix=(), **environment):
        done = subprocess.run([*prefix, MRC, "ctl", *arguments], env={**self.environment, **environment},
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode != 0, wrong, done.stdout + done.stderr)
        return done.stderr if wrong else done.stdout

    def json(self, *arguments, **environment):
        return json.loads(self.ctl(*arguments, "--json", **environment))

    def create_profiles(self, text=PROFILES):
        path = self.folder / "profiles.toml"
        path.write_text(text)
        self.ctl("profiles", "create", str(path))

    def start_application(self, ev_profile=0, cc_profile=0, *more, **environment):
        application = subprocess.Popen([APPLICATION, str(ev_profile), str(cc_profile), *more], env={**self.environment, **environment},
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (application.stdin, application.stdout):
            self.addCleanup(end.close)
        self.addCleanup(application.wait)
        self.addCleanup(application.kill)
        self.assertEqual(application.stdout.readline(), "ready\n")
        return application

    def more_writes(self, application):
        """Some more writes go through, from the application's own mouth."""
        application.stdin.write("more\n")
        application.stdin.flush()
        return int(application.stdout.readline())

    def readable(self, process):
        """It says something, or the fifth of a second is over."""
        return bool(select.select([process.stdout], [], [], 0.2)[0])

    def end(self, application):
        said, _ = application.communicate(timeout=SECONDS)
        self.assertEqual((said, application.returncode), ("ok\n", 0))
