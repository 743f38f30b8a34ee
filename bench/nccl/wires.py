"""Planes of bare cables between network namespaces: veth pairs for two hosts, a bridge per plane for more. No switches, no SRv6,
no command but the kernel's rtnetlink, so that a transport is measured and not the lab. Same interface as ranks.Lab."""
import ctypes
import os
import signal
import socket
import struct

CLONE_NEWNET = 0x40000000
RTM_NEWLINK, RTM_SETLINK, RTM_NEWADDR, RTM_NEWQDISC = 16, 19, 20, 36
IFLA_IFNAME, IFLA_MTU, IFLA_MASTER, IFLA_LINKINFO, IFLA_NET_NS_PID = 3, 4, 10, 18, 19
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFA_F_NODAD = 2  # an address of a new cable needs no second of doubt
MTU = 9000
libc = ctypes.CDLL(None, use_errno=True)


def attribute(kind, payload):
    if isinstance(payload, str):
        payload = payload.encode() + b"\0"
    elif isinstance(payload, int):
        payload = struct.pack("=I", payload)
    length = 4 + len(payload)
    return struct.pack("=HH", length, kind) + payload + bytes(-length % 4)


def link_header(index=0, flags=0, change=0):
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


class Kernel:
    """rtnetlink of the network namespace in which it is made."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.bind((0, 0))

    def ask(self, kind, body, flags=0x600):  # create, exclusively
        header = struct.pack("=IHHII", 16 + len(body), kind, 0x5 | flags, 1, 0)
        self.socket.send(header + body)
        error = struct.unpack_from("=i", self.socket.recv(65536), 16)[0]
        if error:
            raise OSError(-error, os.strerror(-error))

    def add_veth(self, name, peer, peer_pid):
        far = link_header() + attribute(IFLA_IFNAME, peer) + attribute(IFLA_MTU, MTU) + attribute(IFLA_NET_NS_PID, peer_pid)
        info = attribute(IFLA_INFO_KIND, "veth") + attribute(IFLA_INFO_DATA, attribute(VETH_INFO_PEER, far))
        self.ask(RTM_NEWLINK, link_header() + attribute(IFLA_IFNAME, name) + attribute(IFLA_MTU, MTU) + attribute(IFLA_LINKINFO, info))

    def add_bridge(self, name):
        info = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, "bridge"))
        self.ask(RTM_NEWLINK, link_header() + attribute(IFLA_IFNAME, name) + attribute(IFLA_MTU, MTU) + info)

    def enslave(self, name, bridge):
        self.ask(RTM_NEWLINK, link_header(socket.if_nametoindex(name)) + attribute(IFLA_MASTER, socket.if_nametoindex(bridge)), 0)

    def set_up(self, name, up=True):
        self.ask(RTM_NEWLINK, link_header(socket.if_nametoindex(name), int(up), 1), 0)

    def add_address(self, name, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed, bits = socket.inet_pton(family, address), 64 if family == socket.AF_INET6 else 24
        self.ask(RTM_NEWADDR, struct.pack("=BBBBI", family, bits, IFA_F_NODAD, 0, socket.if_nametoindex(name))
                 + attribute(2, packed) + attribute(1, packed))

    def set_rate(self, name, bits_per_second):
        """A token bucket that holds a millisecond, and a queue of four."""
        rate, burst = bits_per_second // 8, max(bits_per_second // 8 // 1000, 4 * 65536)
        clock = int(open("/proc/net/psched").read().split()[2], 16) / 1e6  # ticks per us, as the kernel has it
        ticks = int(burst * 1e6 / rate * clock / 1000) if clock > 1000 else int(burst * 1e6 / rate * 15.625)
        spec = struct.pack("=BBHhHI", 0, 1, 0, -1, 0, min(rate, 0xFFFFFFFF))
        options = attribute(1, spec + bytes(12) + struct.pack("=III", 5 * burst, ticks, 0)) + attribute(6, burst)
        if rate > 0xFFFFFFFF:  # bytes per second; what `spec` has room for ends at 34 Gb/s
            options += attribute(4, struct.pack("=Q", rate))
        header = struct.pack("=BxHiIII", socket.AF_UNSPEC, 0, socket.if_nametoindex(name), 0x10000, 0xFFFFFFFF, 0)
        self.ask(RTM_NEWQDISC, header + attribute(1, "tbf") + attribute(2, options))


def holder():
    """A process that only holds a new network namespace."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        libc.prctl(1, signal.SIGKILL)
        os.write(told, b"!" if libc.unshare(CLONE_NEWNET) == 0 else b"?")
        signal.pause()
        os._exit(0)
    os.close(told)
    if os.read(ready, 1) != b"!":
        raise PermissionError("network namespaces need root")
    os.close(ready)
    return pid


def inside(pid, act):
    """Runs act(kernel) in the namespace of `pid`; we come back."""
    home, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        act(Kernel())
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(home)
        os.close(there)


class Wires:
    def __init__(self, hosts, planes, rate=None, v4=False):
        self.hosts, self.planes, self.rate, self.v4, self.pids = hosts, planes, rate, v4, []
        self.family = "AF_INET" if v4 else "AF_INET6"

    def __enter__(self):
        self.pids = [holder() for _ in range(self.hosts + 1)]  # the last one is for bridges
        if self.hosts == 2:
            inside(self.pids[0], self.connect_two)
        else:
            self.connect_many()
        for host in range(self.hosts):
            inside(self.pids[host], lambda kernel: self.configure(kernel, host))
        return self

    def connect_two(self, kernel):
        for plane in range(self.planes):
            kernel.add_veth(f"p{plane}", f"p{plane}", self.pids[1])

    def connect_many(self):
        def wire(kernel):
            for plane in range(self.planes):
                kernel.add_bridge(f"b{plane}")
                kernel.set_up(f"b{plane}")
                for host in range(self.hosts):
                    kernel.add_veth(f"h{host}p{plane}", f"p{plane}", self.pids[host])
                    kernel.enslave(f"h{host}p{plane}", f"b{plane}")
                    kernel.set_up(f"h{host}p{plane}")
        inside(self.pids[-1], wire)

    def configure(self, kernel, host):
        kernel.set_up("lo")
        for plane in range(self.planes):
            kernel.add_address(f"p{plane}", f"10.{plane}.0.{host + 1}" if self.v4 else f"fd00:{plane:x}::{host + 1:x}")
            kernel.set_up(f"p{plane}")
            if self.rate:
                kernel.set_rate(f"p{plane}", self.rate)

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def interfaces(self):
        return [f"p{plane}" for plane in range(self.planes)]

    def namespace(self, host):
        return f"/proc/{self.pids[host]}/ns/net"
