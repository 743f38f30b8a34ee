"""A second MRC encoder, written from the layout tables alone and sharing nothing with src/wire.

It is slow and plain on purpose: headers are bit positions in one big number, IP and UDP are scapy's, the iCRC over
IPv4 is scapy's too. The vectors are made with it, so that two implementations must agree on every byte.
"""
import logging
import zlib

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting  # noqa: E402
from scapy.layers.l2 import Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

# header: size in bytes, {field: (first bit counted from the top of byte 0, width)}
LAYOUTS = {
    "bth": (12, {"opcode": (0, 8), "se": (8, 1), "m": (9, 1), "padcnt": (10, 2), "tver": (12, 4), "pkey": (16, 16),
                 "reserved": (32, 8), "destqp": (40, 24), "a": (64, 1), "r": (65, 1), "rtx": (66, 1), "ts": (67, 1),
                 "reserved8": (68, 4), "psn": (72, 24)}),
    "meth": (4, {"rqmsn": (0, 16), "msn": (16, 16)}),
    "tseth": (4, {"timestamp": (0, 16), "tsr": (16, 1), "ftype": (28, 4)}),
    "reth": (16, {"va": (0, 64), "rkey": (64, 32), "dmalen": (96, 32)}),
    "immdt": (4, {"data": (0, 32)}),
    "aeth": (4, {"syndrome": (0, 8), "msn": (8, 24)}),
    "seth": (28, {"type": (0, 4), "next": (4, 5), "m": (9, 2), "pr": (14, 1), "ack_psn_offset": (16, 16),
                  "entropy": (32, 32), "spdcid": (64, 16), "dpdcid": (80, 16), "reserved": (96, 8),
                  "cack_psn": (104, 24), "cc_type": (128, 4), "cc_fl": (132, 4), "mpr": (136, 8),
                  "sack_offset": (144, 16), "bitmap": (160, 64)}),
    "ccstate": (8, {"timestamp": (0, 16), "ooo_count": (17, 15), "restore_cwnd": (32, 1), "rcv_cwnd_pen": (33, 7),
                    "rcvd_bytes": (40, 24)}),
    "neth": (20, {"type": (0, 16), "reason": (16, 8), "vendor": (24, 8), "entropy": (32, 32), "spdcid": (64, 16),
                  "dpdcid": (80, 16), "nack_psn": (104, 24), "cc_type": (128, 4), "timestamp": (144, 16)}),
    "peth": (16, {"type": (0, 16), "vendor": (24, 8), "probe_id": (32, 16), "spdcid": (64, 16), "dpdcid": (80, 16),
                  "timestamp": (96, 16), "tsr": (112, 1), "ftype": (124, 4)}),
    "erth": (16, {"op": (14, 2), "vendor": (24, 8), "port_status_mask": (32, 32), "timestamp": (96, 16),
                  "tsr": (112, 1), "ftype": (124, 4)}),
    "eeth": (36, {"op": (12, 2), "op_low": (14, 2), "timestamp": (224, 16)}),
}
# What a sender writes where the vectors do not say otherwise.
CONSTANTS = {"tseth": {"ftype": 1}, "peth": {"ftype": 1}, "erth": {"ftype": 1}, "neth": {"cc_type": 2}}

CLASSES = {"no_trim": 10, "trimmable": 18, "trimmable_retx": 26, "control": 46, "trimmed": 34, "trimmed_lasthop": 36}
ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}


def header(name, fields):
    size, layout = LAYOUTS[name]
    number = 0
    for field, value in {**CONSTANTS.get(name, {}), **fields}.items():
        first, width = layout[field]
        number |= (value & ((1 << width) - 1)) << (size * 8 - first - width)
    return number.to_bytes(size, "big")


def transport(headers, payload):
    """BTH to padding. `headers` is a list of (name, fields); the pad count is filled in unless given."""
    pad = -len(payload) % 4
    first, *rest = headers
    bth = header("bth", {"padcnt": pad, **first[1]})
    return bth + b"".join(header(n, f) for n, f in rest) + payload + bytes(pad)


def icrc(ip_packet):
    """`ip_packet`: scapy's IP or IPv6 over UDP over the transport bytes without iCRC."""
    udp = ip_packet[UDP]
    body = bytes(udp.payload)
    if isinstance(ip_packet, IP):
        ours = IP(src=ip_packet.src, dst=ip_packet.dst, id=ip_packet.id, flags=ip_packet.flags)
        ours /= UDP(sport=udp.sport, dport=4791) / BTH(body[:12] + body[12:] + bytes(4))
        ours[UDP].dport = udp.dport  # scapy knows RoCE by its port; MRC's is a setting
        return ours[BTH].compute_icrc(None)
    masked = bytearray(body)
    masked[4] = 0xFF
    length = len(body) + 12
    head = IPv6(src=ip_packet.src, dst=ip_packet.dst, plen=length, nh=17, tc=0xFF, fl=0xFFFFF, hlim=0xFF)
    head /= UDP(sport=udp.sport, dport=udp.dport, len=length, chksum=0xFFFF) / Raw(bytes(masked))
    return zlib.crc32(b"\xff" * 8 + bytes(head)).to_bytes(4, "little")


class Net:
    """Everything around the UDP payload."""

    def __init__(self, encapsulation, ev=None, traffic_class="trimmable", ecn="ect0", port=4791, swap=False, **more):
        self.encapsulation = encapsulation
        self.v4 = encapsulation == "ipv4" or more.get("v4", False)
        self.source, self.destination = ("10.0.0.1", "10.0.0.2") if self.v4 else ("fd00:1::1", "fd00:1::2")
        self.carrier = "5f00:0:101:201:102:3::" if encapsulation.startswith("srv6") else None
        self.next_carrier = "5f00:0:7:8::" if encapsulation == "srv6_srh" else None
        self.ev = ev if ev is not None else (0x5678 if self.v4 else 0x12345678)
        self.traffic_class, self.ecn, self.port = traffic_class, ecn, port
        high, low = self.ev >> 16, self.ev & 0xFFFF
        self.source_port, self.flow_label = (high, low) if swap and not self.v4 else (low, high)
        self.tos = more.get("dscp", CLASSES[traffic_class]) << 2 | ECN[ecn]

    def ip(self):
        if self.v4:
            return IP(src=self.source, dst=self.destination, id=0, flags="DF", ttl=64, tos=self.tos)
        return IPv6(src=self.source, dst=self.destination, fl=self.flow_label, tc=self.tos, hlim=64)

    def outer(self):
        if not self.carrier:
            return None
        ip = IPv6(src=self.source, dst=self.carrier, fl=self.flow_label, tc=self.tos, hlim=64)
        if not self.next_carrier:
            ip.nh = 41
            return ip
        ip.nh = 43
        return ip / IPv6ExtHdrSegmentRouting(nh=41, len=2, segleft=1, lastentry=0, addresses=[self.next_carrier])

    def wrap(self, body, udp_checksum=None):
        """Transport bytes without iCRC -> the packet at this encapsulation's level."""
        udp = UDP(sport=self.source_port, dport=self.port)
        whole = body + icrc(self.ip() / udp / Raw(body))
        if self.encapsulation == "datagram":
            return whole
        inner = self.ip() / udp / Raw(whole)
        if self.v4:
            inner[UDP].chksum = 0
        if udp_checksum is not None:
            inner[UDP].chksum = udp_checksum
        outer = self.outer()
        return bytes(inner) if outer is None else bytes(outer / inner)


def ethernet(l3, vlan=None):
    frame = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    if vlan is not None:
        frame /= Dot1Q(vlan=vlan)
    version = l3[0] >> 4
    frame.lastlayer().type = 0x0800 if version == 4 else 0x86DD
    return bytes(frame / Raw(l3))
