"""One packet for each way of being wrong, with the verdict that it must get."""
from cases import ack, bth, nack, probe, request, response, sack, write
from reference import Net, ethernet, transport
from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
from scapy.packet import Raw


def bad(name, verdict, about, bytes_, level="l3", **more):
    return {"name": f"{verdict}/{name}", "about": about, "level": level, "verdict": verdict, "bytes": bytes(bytes_), **more}


def patched(bytes_, at, *values):
    out = bytearray(bytes_)
    out[at:at + len(values)] = bytes(values)
    return bytes(out)


def v4_patched(bytes_, at, *values):
    """Changes an IPv4 header and repairs its checksum."""
    out = IP(patched(bytes_, at, *values))
    del out.chksum
    return bytes(out)


def ip_level():
    w4, w6 = Net("ipv4").wrap(transport(write("write_only"), b"1234")), Net("ipv6").wrap(transport(write("write_only"), b"1234"))
    yield bad("empty", "too_short", "no bytes at all", b"")
    yield bad("ipv4", "too_short", "ends in the IPv4 header", w4[:19])
    yield bad("ipv6", "too_short", "ends in the IPv6 header", w6[:39])
    yield bad("ethernet", "too_short", "ends in the Ethernet header", ethernet(w6)[:13], level="l2")
    yield bad("five", "bad_ip_version", "IP version 5", patched(w4, 0, 0x55))
    yield bad("arp", "bad_ip_version", "an ARP frame", patched(ethernet(w6), 12, 0x08, 0x06), level="l2")
    yield bad("ethertype_lies", "bad_ip_version", "EtherType IPv4, IPv6 inside", patched(ethernet(w6), 12, 0x08, 0x00), level="l2")
    yield bad("options", "bad_ip_header", "IPv4 options", v4_patched(w4, 0, 0x46))
    yield bad("checksum", "bad_ip_header", "IPv4 header checksum", patched(w4, 10, w4[10] ^ 0xFF))
    yield bad("total_length", "bad_ip_header", "IPv4 total length below 20", v4_patched(w4, 2, 0, 19))
    mapped = Net("ipv6")
    mapped.source = "::ffff:10.0.0.1"
    yield bad("mapped", "bad_ip_header", "an IPv4-mapped address in an IPv6 header", mapped.wrap(transport(ack(), b"")))
    yield bad("first", "ip_fragment", "the first of two IPv4 fragments", bytes(fragment(IP(v4_patched(w4, 6, 0, 0)), 24)[0]))
    yield bad("second", "ip_fragment", "the second of two IPv4 fragments", bytes(fragment(IP(v4_patched(w4, 6, 0, 0)), 24)[1]))
    ip6 = IPv6(w6)
    v6_fragment = IPv6(src=ip6.src, dst=ip6.dst, tc=ip6.tc) / IPv6ExtHdrFragment(m=1, nh=17) / Raw(w6[40:64])
    yield bad("ipv6", "ip_fragment", "an IPv6 fragment header", bytes(v6_fragment))
    yield bad("tcp", "not_udp", "TCP over IPv4", v4_patched(w4, 9, 6))
    yield bad("icmpv6", "not_udp", "ICMPv6", patched(w6, 6, 58))
    triple = IPv6(src="fd00::1", dst="fd00::2", nh=41) / IPv6(Net("srv6").wrap(transport(ack(), b"")))
    yield bad("three_headers", "not_udp", "IPv6 in IPv6 in IPv6", bytes(triple))
    yield bad("port", "not_mrc_port", "UDP destination port 4792", Net("ipv6", port=4792).wrap(transport(ack(), b"")))
    yield bad("ip_longer", "length_mismatch", "fewer bytes than IP announces", w6[:-1])
    yield bad("ip_shorter", "length_mismatch", "IP announces less than UDP", patched(w6, 5, w6[5] - 4))
    yield bad("udp_shorter", "length_mismatch", "UDP announces less than IP", patched(w6, 45, w6[45] - 4))
    yield bad("udp_longer", "length_mismatch", "UDP announces more than IP", patched(w6, 45, w6[45] + 4))
    yield bad("ipv4", "bad_udp_checksum", "a checksum over IPv4, and a wrong one", Net("ipv4").wrap(transport(ack(), b""), 0x1234))
    yield bad("ipv6", "bad_udp_checksum", "a wrong checksum over IPv6", patched(w6, 46, w6[46] ^ 1))
    yield bad("none", "bad_udp_checksum", "none over IPv6, where the setting demands one",
              Net("ipv6").wrap(transport(ack(), b""), 0), settings={"accept_zero_udp6_checksum": False})


def segment_routing():
    packet = Net("srv6_srh").wrap(transport(sack(), b""))
    for name, about, at, value in (("type", "routing type 3", 42, 3), ("length", "longer than the packet", 41, 0xFE),
                                   ("no_room", "too short for its segment", 41, 1), ("last_entry", "counts a second segment", 44, 1),
                                   ("segments_left", "more segments left than listed", 43, 2), ("udp", "UDP right behind it", 40, 17)):
        yield bad(name, "bad_srh", about, patched(packet, at, value))
    yield bad("in_srh", "too_short", "ends in the SRH", patched(packet[:46], 5, 6))
    yield bad("inner", "bad_ip_version", "IPv4 inside the SRH", patched(packet, 64, 0x45))


def with_crc(headers, payload=b"", net=None):
    return (net or Net("ipv6")).wrap(transport(headers, payload))


def changed(headers, at, **fields):
    out = list(headers)
    out[at] = (out[at][0], {**out[at][1], **fields})
    return out


def transport_level():
    w = write("write_only")
    yield bad("udp", "too_short", "ends in the UDP header", patched(with_crc(w)[:44], 5, 4))
    yield bad("no_bth", "too_short", "a UDP payload of 12 bytes: no room for BTH and iCRC", bytes(12), level="datagram")
    one = with_crc(w, b"1234")
    for at, what in ((48, "opcode"), (55, "destination QP"), (59, "PSN"), (60, "METH"), (68, "RETH"), (84, "payload")):
        yield bad(what.replace(" ", "_"), "bad_icrc", f"one bit of the {what} flipped", patched(one, at, one[at] ^ 1),
                  settings={"check_udp_checksum": False})
    yield bad("stored", "bad_icrc", "the iCRC in the other byte order", one[:-4] + one[:-5:-1],
              settings={"check_udp_checksum": False})
    for opcode in (0x00, 0x0A, 0x81, 0xC5, 0xCC, 0xD0, 0xDA, 0xDB, 0xDF, 0xFF):
        yield bad(f"{opcode:02x}", "unknown_opcode", f"opcode 0x{opcode:02x}", with_crc(changed(w, 0, opcode=opcode), b"1234"))
    yield bad("one", "bad_tver", "transport version 1", with_crc(changed(w, 0, tver=1), b"1234"))
    first = write("write_first")
    yield bad("first", "bad_pad", "padding in a packet that does not end its message", with_crc(first, b"123"))
    yield bad("counts", "bad_pad", "more padding than bytes", with_crc(changed(w, 0, padcnt=3), b""))
    yield bad("control", "bad_pad", "a pad count in a SACK", with_crc(changed(sack(), 0, padcnt=1)))
    for size, (name, headers) in enumerate((("meth", w[:1]), ("tseth", w[:2]), ("reth", w[:3]), ("immdt", write("write_only_imm")[:4]),
                                            ("aeth", ack()[:1]), ("seth", sack()[:2]), ("neth", nack()[:1]), ("peth", probe()[:1]),
                                            ("erth", request()[:1]), ("eeth", response()[:1]))):
        yield bad(name, "too_short", f"ends before {name.upper()} is complete", with_crc(headers))
    for name, headers in (("ack", ack()), ("sack", sack()), ("nack", nack()), ("probe", probe()), ("request", request()),
                          ("response", response())):
        yield bad(name, "length_mismatch", "four bytes too many", with_crc(headers, b"more"))
    cut = Net("ipv6", traffic_class="trimmed").wrap(transport(w, bytes(100)))
    yield bad("bth", "trimmed_too_short", "trimmed inside BTH", cut[:59])
    yield bad("sack", "trimmed_too_short", "a SACK that was cut", Net("ipv6", traffic_class="trimmed").wrap(transport(sack(), b""))[:80])


def fields():
    w = write("write_only")
    for name, headers in (
            ("tseth_tsr", changed(w, 2, tsr=1)), ("tseth_ftype", changed(w, 2, ftype=2)),
            ("peth_tsr", changed(probe(), 1, tsr=1)), ("peth_ftype", changed(probe(), 1, ftype=0)),
            ("erth_ftype", changed(request(), 1, ftype=0)), ("erth_op", changed(request(), 1, op=2)),
            ("eeth_op", changed(response(), 1, op=3)), ("seth_type", changed(sack(), 1, type=1)),
            ("seth_next", changed(sack(), 1, next=1)), ("seth_mark", changed(sack(), 1, m=3)),
            ("seth_cc_type", changed(sack(), 1, cc_type=1)), ("sack_psn", changed(sack(), 0, psn=1)),
            ("nack_psn", changed(nack(), 0, psn=1)), ("neth_reason", changed(nack(), 1, reason=3)),
            ("aeth_rnr", ack(0x21)), ("aeth_sequence", ack(0x60)), ("aeth_invalid", ack(0x64)),
            ("request_qp", changed(request(), 0, destqp=3)), ("response_qp", changed(response(), 0, destqp=3))):
        yield bad(name, "bad_field", name.replace("_", " "), with_crc(headers))


def everything():
    yield from ip_level()
    yield from segment_routing()
    yield from transport_level()
    yield from fields()
