#!/usr/bin/python3
"""MRC-WIRE-040, MRC-WIRE-041, MRC-WIRE-042, MRC-WIRE-043, MRC-WIRE-044: our iCRC against scapy's.

IPv4: scapy takes our packet apart (IP, UDP, BTH) and computes the iCRC itself (BTH.compute_icrc).
IPv6: scapy's RoCE layer stops at IPv4. Here scapy builds the masked headers from its own fields, and the masking and
the CRC (zlib) are this script's, by the same recipe that scapy uses for IPv4. UDP checksums are scapy's as well.

Usage: icrc_scapy_test.py ICRC_PACKETS [COUNT]
"""
import logging
import subprocess
import sys
import zlib

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.packet import Raw  # noqa: E402


def packets(program, count, seed, version):
    out = subprocess.run([program, str(count), str(seed), str(version)], check=True, capture_output=True, text=True)
    return [bytes.fromhex(line) for line in out.stdout.split()]


def scapy_icrc_v4(packet):
    dissected = IP(packet)
    bth = dissected[BTH]
    assert bytes(dissected) == packet, "scapy does not give our packet back"
    return bth.compute_icrc(None)


def scapy_icrc_v6(packet):
    dissected = IPv6(packet)
    udp = dissected[UDP]
    bth = bytearray(packet[48:60])
    bth[4] = 0xFF
    masked = IPv6(src=dissected.src, dst=dissected.dst, plen=dissected.plen, nh=dissected.nh,
                  tc=0xFF, fl=0xFFFFF, hlim=0xFF)
    masked /= UDP(sport=udp.sport, dport=udp.dport, len=udp.len, chksum=0xFFFF) / Raw(bytes(bth) + packet[60:-4])
    return zlib.crc32(b"\xff" * 8 + bytes(masked)).to_bytes(4, "little")


def scapy_udp_checksum_v6(packet):
    dissected = IPv6(packet)
    expected = dissected[UDP].chksum
    rebuilt = IPv6(src=dissected.src, dst=dissected.dst, nh=17)
    rebuilt /= UDP(sport=dissected[UDP].sport, dport=dissected[UDP].dport) / Raw(packet[48:])
    return IPv6(bytes(rebuilt))[UDP].chksum, expected


def check(packets_, icrc):
    bad = [p for p in packets_ if icrc(p) != p[-4:]]
    if bad:
        sys.exit(f"{len(bad)} of {len(packets_)} differ, the first: {bad[0].hex()} scapy says {icrc(bad[0]).hex()}")


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    v4 = packets(program, count, 51, 4)
    v6 = packets(program, count, 52, 6)
    check(v4, scapy_icrc_v4)
    check(v6, scapy_icrc_v6)
    for packet in v6:
        scapy, ours = scapy_udp_checksum_v6(packet)
        if scapy != ours:
            sys.exit(f"UDP checksum {ours:04x}, scapy says {scapy:04x}: {packet.hex()}")
    # The comparison itself must be able to fail.
    flipped = v4[0][:-5] + bytes([v4[0][-5] ^ 1]) + v4[0][-4:]
    if scapy_icrc_v4(flipped) == flipped[-4:]:
        sys.exit("a changed byte went unnoticed")
    print(f"{count} IPv4 and {count} IPv6 packets: every iCRC as scapy computes it")


if __name__ == "__main__":
    main()
