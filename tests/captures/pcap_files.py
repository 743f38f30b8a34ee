"""Reading pcap, and writing pcap and pcapng, with nothing but struct: files that libpcap did not make."""
import struct

ETHERNET, RAW_IP, COOKED_V1, COOKED_V2 = 1, 101, 113, 276
ADDRESSES = bytes.fromhex("020000000002020000000001")
IPV6 = b"\x86\xdd"


def read_pcap(path):
    """(time in ns, bytes) of each record of a little-endian nanosecond pcap."""
    data = path.read_bytes()
    magic, *_ = struct.unpack_from("<IHHiIII", data)
    assert magic == 0xA1B23C4D, f"{path} has magic {magic:#x}"
    records, at = [], 24
    while at < len(data):
        seconds, ns, kept, _ = struct.unpack_from("<IIII", data, at)
        records.append((seconds * 10**9 + ns, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return records


def pcap(link, records, keep=None):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link)
    for time, frame in records:
        kept = frame[:keep]
        out += struct.pack("<IIII", time // 10**9, time % 10**9, len(kept), len(frame)) + kept
    return out


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(link, records):
    """Section header, one interface with nanosecond times (option if_tsresol = 9), enhanced packets."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", link, 0, 262144) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0))
    for time, frame in records:
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        out += block(6, head + frame)
    return out


def in_ethernet(packet):
    return ADDRESSES + IPV6 + packet


def in_vlan(packet):
    return ADDRESSES + b"\x81\x00\x00\x05" + IPV6 + packet


def in_cooked_v1(packet):
    return struct.pack(">HHH8s", 0, 1, 6, bytes(8)) + IPV6 + packet


def in_cooked_v2(packet):
    return IPV6 + struct.pack(">HIHBB8s", 0, 2, 1, 0, 6, bytes(8)) + packet
