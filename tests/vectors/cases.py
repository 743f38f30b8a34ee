"""The packets of the vectors: well-formed ones first, then one for each way of being wrong."""
from reference import Net, ethernet, transport

OPCODES = {"write_first": 0xC6, "write_middle": 0xC7, "write_last": 0xC8, "write_last_imm": 0xC9, "write_only": 0xCA,
           "write_only_imm": 0xCB, "transport_ack": 0xD1, "endpoint_request": 0xD8, "endpoint_response": 0xD9,
           "sack": 0xDC, "nack": 0xDD, "probe": 0xDE}
LEVELS = ["datagram", "ipv4", "ipv6", "srv6", "srv6_srh"]


def bth(op, **more):
    return ("bth", {"opcode": OPCODES[op], "pkey": 0xFFFF, "destqp": 0x000123, "psn": 0x00ABCD, **more})


def write(op, ts=1, rtx=0, se=0, a=0, **more):
    headers = [bth(op, se=se, a=a, rtx=rtx, ts=ts, **more), ("meth", {"rqmsn": 7, "msn": 9})]
    if ts:
        headers.append(("tseth", {"timestamp": 0xBEEF}))
    headers.append(("reth", {"va": 0x7F12_3456_789A_B000, "rkey": 0x1F2E3D4C, "dmalen": 1_000_003}))
    if op.endswith("imm"):
        headers.append(("immdt", {"data": 0xCAFED00D}))
    return headers


def sack(m=0, pr=0, ack_psn_offset=5, sack_offset=1, bitmap=0x8000_0000_0000_0005, **more):
    seth = {"m": m, "pr": pr, "ack_psn_offset": ack_psn_offset, "entropy": 0x12345678, "spdcid": 0x0123,
            "dpdcid": 0x4567, "cack_psn": 0x00ABCD, "mpr": 8, "sack_offset": sack_offset, "bitmap": bitmap}
    state = {"timestamp": 0x1234, "ooo_count": 3, "restore_cwnd": 0, "rcv_cwnd_pen": 0, "rcvd_bytes": 0x010203}
    return [bth("sack"), ("seth", seth), ("ccstate", {**state, **more})]


def nack(reason=0x01):
    return [bth("nack"), ("neth", {"reason": reason, "vendor": 0, "entropy": 0x12345678, "spdcid": 0x0123,
                                   "dpdcid": 0x4567, "nack_psn": 0x00ABCD, "timestamp": 0x1234})]


def ack(syndrome=0x1F):
    return [bth("transport_ack"), ("aeth", {"syndrome": syndrome, "msn": 10})]


def probe():
    return [bth("probe", psn=0), ("peth", {"vendor": 0, "probe_id": 0x0042, "spdcid": 0x0123, "dpdcid": 0x4567,
                                           "timestamp": 0xBEEF})]


def request(op=1, mask=0x1FE):
    return [bth("endpoint_request", destqp=2, psn=0x1234),
            ("erth", {"op": op, "vendor": 0, "port_status_mask": mask, "timestamp": 0xBEEF})]


def response(op=1, field="op"):
    return [bth("endpoint_response", destqp=2, psn=0x1234), ("eeth", {field: op, "timestamp": 0xBEEF})]


def sample(op):
    """A typical packet of an opcode: headers, payload, class."""
    if op.startswith("write"):
        size = 13 if "last" in op or "only" in op else 16
        return write(op), bytes(range(0x41, 0x41 + size)), "trimmable"
    make = {"sack": sack, "nack": nack, "transport_ack": ack, "probe": probe, "endpoint_request": request,
            "endpoint_response": response}[op]
    return make(), b"", "trimmable" if op == "probe" else "control"


def good(name, about, headers, payload=b"", net=None, **more):
    net = net or Net("ipv6")
    bytes_ = net.wrap(transport(headers, payload))
    return {"name": name, "about": about, "level": "datagram" if net.encapsulation == "datagram" else "l3",
            "verdict": "ok", "net": net, "headers": headers, "payload": payload, "bytes": bytes_, **more}


def every_opcode():
    for op in OPCODES:
        headers, payload, traffic_class = sample(op)
        for level in LEVELS:
            net = Net(level, traffic_class=traffic_class)
            yield good(f"{op}/{level}", f"{op.replace('_', ' ')} over {level}", headers, payload, net)


def variants():
    for size in (0, 1, 2, 3, 4, 256):
        yield good(f"payload/{size}", f"{size} bytes of payload, {-size % 4} of padding", write("write_only", ts=0),
                   bytes(i & 0xFF for i in range(size)))
    for flag in ("se", "a", "rtx", "ts"):
        yield good(f"flag/{flag}", f"only {flag} set", write("write_only", **{"ts": 0, flag: 1}), b"flag")
    yield good("ev/zero", "an EV of 0: source port 0, flow label 0", write("write_only"), b"EV", Net("ipv6", ev=0))
    yield good("ev/ones", "an EV of all ones", write("write_only"), b"EV", Net("ipv6", ev=0xFFFFFFFF))
    for m, name in enumerate(("none", "skip_once", "always_skip")):
        yield good(f"sack/mark_{name}", f"m = {m}", sack(m=m), net=Net("ipv6", traffic_class="control"))
    yield good("sack/probe_reply", "pr set: ack_psn_offset is the probe's id", sack(pr=1, ack_psn_offset=0x0042))
    yield good("sack/negative_offsets", "both offsets are signed", sack(ack_psn_offset=-2, sack_offset=-64, bitmap=1))
    yield good("sack/full_fields", "every field of CC_STATE at its limit",
               sack(restore_cwnd=1, rcv_cwnd_pen=127, rcvd_bytes=0xFFFFFF, ooo_count=0x7FFF))
    for reason, name in ((1, "trimmed"), (2, "trimmed_lasthop"), (6, "no_bitmap"), (7, "no_pkt_buffer"),
                         (10, "no_resource"), (11, "psn_oor_window"), (25, "unexp_event")):
        yield good(f"nack/{name}", f"reason 0x{reason:02x}", nack(reason), net=Net("ipv6", traffic_class="control"))
    for syndrome in (0x61, 0x62, 0x63):
        yield good(f"nak/{syndrome:02x}", "a message that was not executed", ack(syndrome))
    yield good("endpoint/port_status", "ports 1 and 3 are up", request(op=0, mask=0b1010))
    yield good("endpoint/port_status_answer", "the answer to a port status update", response(op=0))
    for ecn in ("not_ect", "ect1", "ce"):
        yield good(f"ecn/{ecn}", f"ECN field {ecn}", write("write_only"), b"ECN!", Net("ipv6", ecn=ecn))
    for traffic_class in ("no_trim", "trimmable_retx", "control"):
        yield good(f"class/{traffic_class}", f"DSCP of {traffic_class}", write("write_only"), b"DSCP",
                   Net("ipv4", traffic_class=traffic_class))


def tolerated():
    """Accepted, though our own emitter writes it differently: these are read one way only."""
    one_way = {"emit": False}
    headers = write("write_only")
    yield good("reserved/bth", "reserved bits of BTH set",
               [("bth", {**headers[0][1], "reserved": 0xFF, "r": 1, "reserved8": 0xF})] + headers[1:], b"1234", **one_way)
    yield good("migration/set", "M set: it is ignored", [("bth", {**headers[0][1], "m": 1})] + headers[1:], b"1234",
               **one_way)
    yield good("aeth/credits", "an ACK with a credit count that MRC does not use", ack(0x03), expect={"aeth": {"syndrome": 0x1F}},
               **one_way)
    body = transport(write("write_only"), b"none")
    v6 = Net("ipv6")
    yield {**good("udp6/no_checksum", "no UDP checksum over IPv6, as RoCE hardware sends", headers, b"none", v6, **one_way),
           "bytes": v6.wrap(body, udp_checksum=0)}
    bleached = Net("ipv6", traffic_class="no_trim", dscp=0)
    yield good("class/bleached", "a DSCP that no class has counts as no_trim", headers, b"1234", bleached, **one_way)
    marked = Net("srv6")
    packet = bytearray(marked.wrap(body))
    packet[1] |= 0x30  # traffic class bits of the outer header: CE
    marked.ecn = "ce"
    yield {**good("srv6/outer_ce", "CE on the outer header counts for the packet", headers, b"none", marked, **one_way),
           "bytes": bytes(packet)}
    plain = Net("ipv6")
    for name, frame in (("ethernet/plain", ethernet(plain.wrap(body))),
                        ("ethernet/vlan", ethernet(plain.wrap(body), vlan=5)),
                        ("ethernet/padded", ethernet(plain.wrap(body)) + bytes(9))):
        yield {**good(name, "an Ethernet frame", headers, b"none", plain, **one_way), "level": "l2", "bytes": frame}


def settings():
    """The other readings of the specification, each one setting away."""
    w = write("write_only", se=1)
    yield good("udp_port", "UDP port 4971", w, b"port", Net("ipv6", port=4971), settings={"udp_port": 4971})
    swapped = [("bth", {**w[0][1], "se": 0, "m": 1})] + w[1:]
    yield good("bth_flags", "M before SE in BTH", swapped, b"flag", settings={"bth_flags": "swapped"},
               expect={"bth": {"se": 1}})
    yield good("ev_halves", "EV[31:16] in the source port", w, b"half", Net("ipv6", swap=True),
               settings={"ev_halves": "port_high"})
    yield good("ev_halves_ipv4", "over IPv4 the setting changes nothing", w, b"half", Net("ipv4"),
               settings={"ev_halves": "port_high"})
    n = nack()
    yield good("nack_cc_type", "cc_type 5 in a NACK", [n[0], ("neth", {**n[1][1], "cc_type": 5})],
               settings={"nack_cc_type": 5})
    yield good("endpoint_response_op_shift", "the operation of a response in bits 1:0", response(field="op_low"),
               settings={"endpoint_response_op_shift": 0}, expect={"eeth": {"op": 1}})
    yield good("dscp", "another deployment's DSCP for trimmable packets", w, b"dscp", Net("ipv6", dscp=4),
               settings={"dscp_trimmable": 4})


def trimmed():
    headers, payload = write("write_only_imm"), bytes(range(200))
    sizes = {"bth": 12, "meth": 16, "tseth": 20, "reth": 36, "everything": 40}
    kept = {"bth": 1, "meth": 2, "tseth": 3, "reth": 4, "everything": 5}
    before = {"ipv4": 28, "ipv6": 48, "srv6": 88, "srv6_srh": 112}
    for level in LEVELS[1:]:
        for traffic_class in ("trimmed", "trimmed_lasthop"):
            net = Net(level, traffic_class=traffic_class)
            whole = net.wrap(transport(headers, payload))
            yield {**good(f"{traffic_class}/{level}", "cut to all headers and some payload", headers, b"", net),
                   "bytes": whole[:before[level] + 60], "verdict": "trimmed_ok", "emit": False}
    for reached, size in sizes.items():
        net = Net("srv6", traffic_class="trimmed")
        whole = net.wrap(transport(headers, payload))
        yield {**good(f"reach/{reached}", f"the last whole header is {reached}", headers[:kept[reached]], b"", net),
               "bytes": whole[:88 + size], "verdict": "trimmed_ok", "emit": False}
    net = Net("ipv6", traffic_class="trimmed")
    small = net.wrap(transport(probe(), b""))
    yield {**good("whole/probe", "a packet below the trim size keeps all its bytes", probe(), b"", net),
           "bytes": small, "verdict": "trimmed_ok", "emit": False}
    outer = bytearray(Net("srv6").wrap(transport(headers, payload))[:150])
    outer[0:2] = (0x6000 | (34 << 2 | 2) << 4).to_bytes(2, "big")
    yield {**good("outer_class", "the switch rewrote only the outer header", headers, b"", Net("srv6", traffic_class="trimmed")),
           "bytes": bytes(outer), "verdict": "trimmed_ok", "emit": False}


