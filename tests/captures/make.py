"""Writes the captures of this folder with `mrc pair`, and the texts with `mrc dump`. See README.md."""
import os
import pathlib
import subprocess
import sys
import tempfile

from pcap_files import (COOKED_V1, COOKED_V2, ETHERNET, RAW_IP, in_cooked_v1, in_cooked_v2, in_ethernet, in_vlan, pcap,
                        pcapng, read_pcap)

HERE = pathlib.Path(__file__).parent
MRC = pathlib.Path(os.environ.get("MRC_BIN_DIR", HERE.parents[1] / "build/bin")) / "mrc"
RUN = ["--writes", "24", "--size", "300", "--ports", "2", "--evs", "8", "--loss", "0.05", "--trim", "0.1",
       "--mark", "0.1", "--seed", "3"]


def wrapped(records, wrap):
    return [(time, wrap(packet)) for time, packet in records]


def make_captures():
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "pair.pcap"
        subprocess.run([MRC, "pair", *RUN, "--capture", made], check=True)
        records = read_pcap(made)
    files = {
        "pair.pcap": pcap(RAW_IP, records),
        "ethernet.pcap": pcap(ETHERNET, wrapped(records, in_ethernet)),
        "vlan.pcap": pcap(ETHERNET, wrapped(records, in_vlan)),
        "cooked_v1.pcap": pcap(COOKED_V1, wrapped(records, in_cooked_v1)),
        "cooked_v2.pcap": pcap(COOKED_V2, wrapped(records, in_cooked_v2)),
        "pair.pcapng": pcapng(ETHERNET, wrapped(records, in_ethernet)),
        "cut.pcap": pcap(RAW_IP, records, keep=100),
    }
    for name, content in files.items():
        (HERE / name).write_bytes(content)


def dump(*args):
    return subprocess.run([MRC, "dump", *args], check=True, capture_output=True, text=True).stdout


def make_texts():
    (HERE / "pair.txt").write_text(dump(HERE / "pair.pcap"))
    (HERE / "pair.story.txt").write_text(dump(HERE / "pair.pcap", "--follow", "0x101"))


if __name__ == "__main__":
    if "--texts" not in sys.argv:
        make_captures()
    make_texts()
