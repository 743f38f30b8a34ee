"""The dissector against the golden packets: every field that a vector names, its EV, and each refusal."""
import tomllib
import unittest

import tshark
from tshark import ROOT

HEADERS = ("bth", "meth", "tseth", "reth", "immdt", "aeth", "seth", "ccstate", "neth", "peth", "erth", "eeth")
# Wireshark itself judges what lies below MRC; the rest must show as an expert of the same name.
BELOW_MRC = {"bad_ip_version", "bad_ip_header", "ip_fragment", "not_udp", "not_mrc_port", "bad_srh", "bad_udp_checksum"}
EXPERTS = {"too_short", "trimmed_too_short", "unknown_opcode", "bad_tver", "bad_pad", "bad_field", "bad_icrc",
           "length_mismatch"}
GOOD = {"ok", "trimmed_ok"}
# IP and UDP disagree about where the packet ends: Wireshark reports that, or never gets as far as MRC.
BY_WIRESHARK = {"too_short/empty", "too_short/ipv4", "too_short/ipv6", "too_short/ethernet", "too_short/in_srh",
                "too_short/udp", "length_mismatch/ip_longer", "length_mismatch/ip_shorter",
                "length_mismatch/udp_shorter", "length_mismatch/udp_longer"}
# Opcodes of other transports on the same port go to Wireshark's RoCE dissector.
NOT_MRC = {"unknown_opcode/00", "unknown_opcode/0a", "unknown_opcode/81", "unknown_opcode/ff"}


def preferences(settings):
    """The dissector's preferences for a vector's deviating settings."""
    made = []
    for name, value in settings.items():
        if name == "udp_port":
            made.append(f"mrc.port:{value}")
        elif name == "ev_halves":
            made.append(f"mrc.ev_port_high:{str(value == 'port_high').upper()}")
        elif name == "bth_flags":
            made.append(f"mrc.flags_swapped:{str(value == 'swapped').upper()}")
        elif name == "endpoint_response_op_shift":
            made.append(f"mrc.eeth_op_low:{str(value == 0).upper()}")
        elif name in ("dscp_trimmed", "dscp_trimmed_lasthop"):
            made.append(f"mrc.{name}:{value}")
        # Others say what a receiver checks or a sender writes: nothing that a reader shows differently.
    return tuple(made)


def load_vectors():
    found = []
    for path in sorted((ROOT / "tests/vectors").glob("*.toml")):
        for vector in tomllib.loads(path.read_text())["vector"]:
            if vector["level"] == "datagram":
                continue  # the same bytes as inside the frames
            vector["raw"] = bytes.fromhex(vector["bytes"].replace("\n", ""))
            found.append(vector)
    return found


def expected_fields(vector):
    for header in HEADERS:
        for name, value in vector.get(header, {}).items():
            yield f"mrc.{header}.{name}", int(value, 0) if isinstance(value, str) else int(value)


class Vectors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = tshark.field_names()
        cls.vectors = load_vectors()
        groups = {}
        for vector in cls.vectors:
            key = (vector["level"], preferences(vector.get("settings", {})))
            groups.setdefault(key, []).append(vector)
        for (level, wanted), vectors in groups.items():
            link = tshark.ETHERNET if level == "l2" else tshark.RAW_IP
            shown = tshark.dissect([v["raw"] for v in vectors], link, cls.names, wanted)
            for vector, fields in zip(vectors, shown, strict=True):
                vector["shown"] = fields

    def each(self, verdicts, check):
        chosen = [v for v in self.vectors if v["verdict"] in verdicts]
        self.assertTrue(chosen)
        for vector in chosen:
            with self.subTest(vector["name"]):
                check(vector, vector["shown"])

    def test_every_field_of_a_good_packet_is_shown(self):
        def check(vector, shown):
            for name, value in expected_fields(vector):
                self.assertIn(name, shown)
                if name != "mrc.aeth.syndrome" or vector["name"] != "aeth/credits":  # told as it is, not as it counts
                    self.assertEqual(tshark.number(shown[name]), value, name)
        self.each(GOOD, check)

    def test_no_header_is_invented(self):
        def check(vector, shown):
            seen = {name.split(".")[1] for name in shown if name.count(".") == 2}
            self.assertLessEqual(seen & set(HEADERS), vector.keys())
        self.each(GOOD, check)

    def test_the_path_of_a_good_packet_is_shown(self):
        self.each(GOOD, lambda vector, shown: self.assertEqual(tshark.number(shown["mrc.ev"]), vector["net"]["ev"]))

    def test_a_good_packet_is_not_complained_about(self):
        def check(vector, shown):
            self.assertEqual({e for e in EXPERTS if f"mrc.{e}" in shown}, set())
            self.assertEqual(tshark.number(shown["mrc.icrc.good"]), 1)
        self.each({"ok"}, check)

    def test_payloads_are_shown(self):
        self.each({"ok"}, lambda vector, shown: self.assertEqual(
            shown.get("mrc.payload", "").replace(":", ""), vector.get("payload", "")))

    def test_trimmed_packets_are_known_by_class(self):
        def check(vector, shown):
            self.assertEqual(tshark.number(shown["mrc.trimmed"]), 1)
            self.assertEqual(tshark.number(shown["mrc.trimmed_lasthop"]), vector["net"]["class"] == "trimmed_lasthop")
            self.assertEqual({e for e in EXPERTS if f"mrc.{e}" in shown}, set())
        self.each({"trimmed_ok"}, check)

    def test_each_refusal_has_its_expert(self):
        def check(vector, shown):
            if vector["name"] not in BY_WIRESHARK | NOT_MRC:
                self.assertIn(f"mrc.{vector['verdict']}", shown)
        self.each(EXPERTS, check)

    def test_other_transports_are_left_to_wireshark(self):
        def check(vector, shown):
            if vector["name"] in NOT_MRC:
                self.assertEqual(shown, {})
        self.each({"unknown_opcode"}, check)

    def test_every_verdict_is_expected(self):
        self.assertLessEqual({v["verdict"] for v in self.vectors}, BELOW_MRC | EXPERTS | GOOD)

    def test_every_field_of_the_vectors_is_a_filter_name(self):
        wanted = {name for v in self.vectors for name, _ in expected_fields(v)}
        self.assertLessEqual(wanted, set(self.names))


class SourcePorts(unittest.TestCase):
    """The EV is the source port: whatever it is, the packet is MRC's, and other protocols keep their ports."""

    def test_a_well_known_source_port_is_still_an_ev(self):
        raw = next(v["raw"] for v in load_vectors() if v["name"] == "write_only/ipv4")  # no UDP checksum over IPv4
        ports = [1, 7, 53, 67, 123, 161, 500, 1900, 4789, 4790, 4791, 5353, 65535]
        frames = [raw[:20] + port.to_bytes(2, "big") + raw[22:] for port in ports]
        dns = raw[:22] + (53).to_bytes(2, "big") + raw[24:28] + bytes(len(raw) - 28)
        shown = tshark.dissect([*frames, dns], tshark.RAW_IP, ["mrc.ev", "dns.id", "udp.srcport"])
        self.assertEqual([tshark.number(fields.get("mrc.ev", "0")) for fields in shown[:-1]], ports)
        self.assertNotIn("mrc.ev", shown[-1])
        self.assertIn("dns.id", shown[-1])


class IcrcLimit(unittest.TestCase):
    def test_long_packets_are_checked_on_demand(self):
        raw = next(v["raw"] for v in load_vectors() if v["name"] == "write_only/ipv4")
        for limit, checked in ((0, False), (65535, True)):
            shown = tshark.dissect([raw], tshark.RAW_IP, ["mrc.icrc", "mrc.icrc.good"], [f"mrc.icrc_limit:{limit}"])
            self.assertEqual(("mrc.icrc" in shown[0], "mrc.icrc.good" in shown[0]), (True, checked))


class Damage(unittest.TestCase):
    def test_a_packet_cut_anywhere_by_the_capture_is_read_as_far_as_it_goes(self):
        raw = next(v["raw"] for v in load_vectors() if v["name"] == "write_only_imm/ipv4")
        frames = [(raw[:n], len(raw)) for n in range(28, len(raw) + 1)]
        shown = tshark.dissect(frames, tshark.RAW_IP, ["mrc.bth.psn", "mrc.reth.va", "mrc.too_short", "mrc.bad_icrc"])
        for (kept, _), fields in zip(frames, shown):
            self.assertEqual("mrc.bth.psn" in fields, len(kept) >= 28 + 12)
            self.assertNotIn("mrc.too_short", fields)
            self.assertNotIn("mrc.bad_icrc", fields)


if __name__ == "__main__":
    unittest.main()
