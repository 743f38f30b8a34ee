"""`mrc dump` and the Wireshark dissector over the stored captures and the golden packets: they say the same."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).parent
ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
MRC = pathlib.Path(os.environ["MRC_BIN_DIR"]) / "mrc"
sys.path.insert(0, str(ROOT / "tests/wireshark"))

import pcap_files  # noqa: E402
import tshark  # noqa: E402

SAME = ("ethernet.pcap", "vlan.pcap", "cooked_v1.pcap", "cooked_v2.pcap", "pair.pcapng")


def dump(*args, stdin=None):
    done = subprocess.run([MRC, "dump", *args], capture_output=True, text=True, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dump_json(path, *args):
    return [json.loads(line) for line in dump(path, "--json", *args).splitlines()]


class Texts(unittest.TestCase):
    maxDiff = None

    def test_each_packet_is_told_as_before(self):
        self.assertEqual(dump(HERE / "pair.pcap"), (HERE / "pair.txt").read_text())

    def test_the_story_is_told_as_before(self):
        self.assertEqual(dump(HERE / "pair.pcap", "--follow", "0x101"), (HERE / "pair.story.txt").read_text())

    def test_the_story_has_everything_in_it(self):
        story = (HERE / "pair.story.txt").read_text()
        for part in ("NACK trimmed", "after its NACK", "repaired without a NACK", "is to skip a turn", "Transport ack"):
            self.assertIn(part, story)

    def test_the_link_type_makes_no_difference(self):
        for name in SAME:
            with self.subTest(name):
                self.assertEqual(dump(HERE / name), (HERE / "pair.txt").read_text())

    def test_a_pipe_is_as_good_as_a_file(self):
        with open(HERE / "pair.pcap", "rb") as capture:
            self.assertEqual(dump("-", stdin=capture), (HERE / "pair.txt").read_text())

    def test_a_cut_capture_still_names_every_packet(self):
        whole, cut = dump_json(HERE / "pair.pcap"), dump_json(HERE / "cut.pcap")
        self.assertEqual([p["bth"]["psn"] for p in whole], [p["bth"]["psn"] for p in cut])
        self.assertEqual({p["verdict"] for p in cut}, {"ok"})


class Verdicts(unittest.TestCase):
    def test_dump_gives_each_golden_packet_its_verdict(self):
        """With the settings that a reader can choose; others are the codec's own test."""
        vectors = []
        for path in sorted((ROOT / "tests/vectors").glob("*.toml")):
            vectors += [v for v in tomllib.loads(path.read_text())["vector"]
                        if v["level"] == "l3" and "settings" not in v and v["bytes"].strip()]
        frames = [(i, bytes.fromhex(v["bytes"].replace("\n", ""))) for i, v in enumerate(vectors)]
        # What is not IPv4 or IPv6 cannot be raw IP: the link layer says so first, in the same word.
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "vectors.pcap"
            path.write_bytes(pcap_files.pcap(pcap_files.RAW_IP, frames))
            shown = dump_json(path, "--all")
        self.assertGreater(len(shown), 150)
        for vector, packet in zip(vectors, shown, strict=True):
            self.assertEqual(packet["verdict"], vector["verdict"], vector["name"])


class Agreement(unittest.TestCase):
    def test_wireshark_and_dump_read_the_same_fields(self):
        names = tshark.field_names()
        packets = pcap_files.read_pcap(HERE / "pair.pcap")
        seen = tshark.dissect([frame for _, frame in packets], tshark.RAW_IP, names)
        compared = 0
        for ours, theirs in zip(dump_json(HERE / "pair.pcap"), seen, strict=True):
            self.assertEqual(tshark.number(theirs["mrc.ev"]), ours["ev"])
            for header, fields in ours.items():
                for name, value in fields.items() if isinstance(fields, dict) else ():
                    want = int(value, 0) if isinstance(value, str) else int(value)
                    self.assertEqual(tshark.number(theirs[f"mrc.{header}.{name}"]), want, f"{header}.{name}")
                    compared += 1
        self.assertGreater(compared, 500)


if __name__ == "__main__":
    unittest.main()
