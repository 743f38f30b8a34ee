"""Two network namespaces joined by a veth: the same wire for every peer. Nothing outside them is touched, and they go with us."""
import os
import signal
import subprocess
import time

LEFT, RIGHT = "10.77.0.1", "10.77.0.2"
LEFT6, RIGHT6 = "fd77::1", "fd77::2"
# Most peers spin while they wait. One that outlives a benchmark which was killed takes a core for good, and whatever is measured or tested afterwards suffers.
_DIES_WITH_US = ["setpriv", "--pdeathsig", "KILL"]


class Side:
    """One namespace, held by a process that sleeps in it. Its /sys is its own: some peers look for their interface there."""

    def __init__(self):
        self.holder = subprocess.Popen(
            _DIES_WITH_US + ["unshare", "-n", "-m", "sh", "-c", "mount -t sysfs sysfs /sys && ip link set lo up && echo ready && exec sleep infinity"],
            stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline().strip() != "ready":
            raise RuntimeError("can't make a network namespace: run as root, or under `unshare -Urnm`")

    def command(self, argv):
        return _DIES_WITH_US + ["nsenter", "-t", str(self.holder.pid), "-n", "-m", "--"] + argv

    def run(self, argv, timeout=60, env=None):
        return subprocess.run(self.command(argv), capture_output=True, text=True, timeout=timeout, env=_with(env))

    def start(self, argv, env=None):
        """Runs in the background; end it with stop(). In our session: the kernel shares the CPU between sessions, and both ends of a
        measurement must have the same weight."""
        return subprocess.Popen(self.command(argv), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_with(env),
                                process_group=0)

    def close(self):
        self.holder.kill()
        self.holder.wait()


def _with(env):
    return {**os.environ, **(env or {})}


def stop(process):
    """Ends a process that start() gave, and what it started, and returns what it said."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.communicate()[0]


class Pair:
    def __init__(self, mtu=9000):
        self.left, self.right = Side(), Side()
        self._must(self.left, "ip", "link", "add", "l0", "index", "77", "mtu", str(mtu), "type", "veth",
                   "peer", "name", "r0", "mtu", str(mtu), "netns", str(self.right.holder.pid))
        for side, name, v4, v6 in ((self.left, "l0", LEFT, LEFT6), (self.right, "r0", RIGHT, RIGHT6)):
            self._must(side, "ip", "addr", "add", v4 + "/24", "dev", name)
            self._must(side, "ip", "addr", "add", v6 + "/64", "dev", name, "nodad")
            self._must(side, "ip", "link", "set", name, "up")
        self._await_ping()

    @staticmethod
    def _must(side, *argv):
        done = side.run(list(argv))
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")

    def _await_ping(self):
        """A fresh interface drops packets for a moment."""
        for peer in (RIGHT, RIGHT6):
            probe = ["python3", "-c", _PROBE, peer]
            for _ in range(50):
                if self.left.run(probe).returncode == 0:
                    break
                time.sleep(0.1)

    def close(self):
        self.left.close()
        self.right.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# Nobody listens at port 9: being refused means that the packet got there and back.
_PROBE = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.2); s.connect((sys.argv[1], 9)); s.send(b'?')
try: s.recv(1)
except ConnectionRefusedError: sys.exit(0)
except OSError: pass
sys.exit(1)
"""
