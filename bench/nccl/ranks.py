"""Ranks of one job on the hosts of a lab: each process in its own network namespace, all on one machine and one GPU.

Everything that needs no torch is here: the lab (through the command `mrc`), entering a host, starting and reaping ranks.
"""
import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLONE_NEWNET = 0x40000000


PLUGIN = "lib/openmrc/libnccl-net-openmrc.so"
UNITS = {"K": 10, "M": 20, "G": 30}
RATES = {"M": 1e6, "G": 1e9}


def find_kit(root=ROOT):
    """The folder with bin/mrc and lib/openmrc: a kit, or a build; the newer of both."""
    found = [folder for folder in (root / "build-kit", root / "build") if (folder / "bin/mrc").exists() and (folder / PLUGIN).exists()]
    if not found:
        sys.exit(f"no bin/mrc with {PLUGIN} in build-kit or build: build OpenMRC, or run scripts/kit")
    return max(found, key=lambda folder: (folder / PLUGIN).stat().st_mtime)


def find_torch():
    if importlib.util.find_spec("torch") is None:
        sys.exit(f"no PyTorch for {sys.executable}: run this with a Python that has torch with NCCL, on a machine with a GPU")


def size(text):
    """8, 64K, 1M, 1G: bytes."""
    digits, shift = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 0)
    if not digits.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no size such as 8, 64K or 1G")
    return int(digits) << shift


def sizes(text):
    return [size(word) for word in text.split(",")]


def rate(text):
    """5G, 500M: as given, because `mrc lab` reads it too."""
    if bits_per_second(text) is None:
        raise argparse.ArgumentTypeError(f"'{text}' is no rate such as 5G or 500M")
    return text


def bits_per_second(text):
    try:
        return int(float(text[:-1]) * RATES[text[-1:]])
    except (KeyError, ValueError):
        return None


def words(*known):
    """A list of these, separated by commas."""
    def read(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(known)}")
        return text.split(",")
    return read


class Lab:
    """A fabric of `planes` planes with one host per T0 switch; gone with the `with` block."""
    family = "AF_INET6"

    def __init__(self, kit, hosts, planes, t1=1, rate=None, name=None):
        self.mrc, self.hosts, self.planes = str(kit / "bin/mrc"), hosts, planes
        self.name = name or f"nccl{os.getpid()}"
        self.shape = ["--planes", str(planes), "--t0", str(hosts), "--t1", str(t1), "--hosts-per-t0", "1"]
        self.rate, self.keepers = rate, []

    def command(self, verb, *words):
        done = subprocess.run([self.mrc, "lab", verb, "--name", self.name, *words], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"mrc lab {verb} {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def __enter__(self):
        self.command("up", *self.shape)
        for host in range(self.hosts) if self.rate else ():
            for plane in range(self.planes):
                self.command("rate", f"h{host}-p{plane}.t0.{host}", self.rate)
        return self

    def __exit__(self, *_):
        self.command("down")
        for keeper in self.keepers:
            keeper.wait(timeout=10)

    def interfaces(self):
        return [f"p{plane}" for plane in range(self.planes)]

    def namespace(self, host):
        """A path that leads to the host's network namespace, for setns(2): that of a process that sleeps there."""
        before = pids()
        self.keepers.append(subprocess.Popen([self.mrc, "lab", "exec", "--name", self.name, f"h{host}", "--", "sleep", "100000"]))
        inode = self.command("exec", f"h{host}", "--", "readlink", "/proc/thread-self/ns/net").strip()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            for pid in pids() - before:
                try:
                    if os.readlink(f"/proc/{pid}/ns/net") == inode and pathlib.Path(f"/proc/{pid}/comm").read_text() == "sleep\n":
                        return f"/proc/{pid}/ns/net"
                except OSError:
                    pass  # it has gone
            time.sleep(0.01)
        raise RuntimeError(f"no process found in the namespace of h{host}")


def pids():
    return {name for name in os.listdir("/proc") if name.isdigit()}


def enter_namespace(path):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(path, os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns {path}: run as root")
    os.close(fd)


def rank_environment(kit, lab, rank, ranks, store, extra):
    """What a rank needs: its own host for NCCL, no way past the network, both transports on the same interfaces."""
    interfaces = lab.interfaces()
    return {
        **os.environ,
        "RANK": str(rank), "WORLD_SIZE": str(ranks), "OPENMRC_STORE": store, "OPENMRC_NAMESPACE": lab.namespace(rank),
        "NCCL_HOSTID": f"openmrc-{rank}", "NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_CUMEM_HOST_ENABLE": "0",
        "NCCL_SOCKET_IFNAME": "=" + ",".join(interfaces), "NCCL_SOCKET_FAMILY": lab.family,
        "NCCL_NET_PLUGIN": str(kit / PLUGIN), "NCCL_IB_DISABLE": "1",
        "NCCL_OPENMRC_DEVICES": ",".join(interfaces), "NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1",
        **extra,
    }


def start_ranks(script, arguments, kit, lab, ranks, extra, pipe_first=False):
    """One process per rank, running `script --worker`. Rank 0's output can be read line by line."""
    store = tempfile.mktemp(prefix="openmrc-store-")
    started = []
    for rank in range(ranks):
        out = subprocess.PIPE if pipe_first and rank == 0 else None
        started.append(subprocess.Popen([sys.executable, script, "--worker", *arguments], stdout=out, text=True,
                                        env=rank_environment(kit, lab, rank, ranks, store, extra)))
    return started


def mps_runs(folder=None):
    folder = folder or os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
    return os.path.exists(os.path.join(folder, "control"))


def check_mps(folder=None):
    """Whether processes use the GPU at the same time. Without MPS they take turns of milliseconds, which is said aloud."""
    runs = mps_runs(folder)
    if not runs:
        print("no MPS: the ranks take turns of milliseconds on the GPU, and small sizes say nothing of the network; "
              "`nvidia-cuda-mps-control -d` starts it", file=sys.stderr)
    return runs


def reap(started, seconds):
    """Waits for all; kills what is left after `seconds`. True when all ended well."""
    deadline = time.monotonic() + seconds
    for process in started:
        try:
            process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            break
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
    return all(process.returncode == 0 for process in started)


def add_tuning(parser):
    """Options that both scripts have, and the environment that they stand for."""
    parser.add_argument("--channels", type=int, default=0, help="NCCL channels, both transports; 0: NCCL chooses")
    parser.add_argument("--threads", type=int, default=0, help="NCCL_OPENMRC_THREADS; 0: the plugin's choice")
    parser.add_argument("--qps", type=int, default=1, help="queue pairs per OpenMRC connection")
    parser.add_argument("--socket-threads", type=int, default=0, help="NCCL_SOCKET_NTHREADS; 0: NCCL's choice")
    parser.add_argument("--socket-per-thread", type=int, default=0, help="NCCL_NSOCKS_PERTHREAD; 0: NCCL's choice")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any further variable")


def tuning_environment(options, lab):
    extra = {"NCCL_OPENMRC_DEVICES": ",".join(lab.interfaces()), "NCCL_OPENMRC_THREADS": str(options.threads),
             "NCCL_OPENMRC_QPS": str(options.qps)}
    if options.channels:
        extra["NCCL_MIN_NCHANNELS"] = extra["NCCL_MAX_NCHANNELS"] = str(options.channels)
    if options.socket_threads:
        extra["NCCL_SOCKET_NTHREADS"] = str(options.socket_threads)
    if options.socket_per_thread:
        extra["NCCL_NSOCKS_PERTHREAD"] = str(options.socket_per_thread)
    extra.update(word.split("=", 1) for word in options.set)
    return extra


def write_json(path, value):
    text = json.dumps(value, indent=1)
    pathlib.Path(path).write_text(text + "\n") if path else print(text)
