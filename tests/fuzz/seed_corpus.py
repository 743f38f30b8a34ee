#!/usr/bin/python3
"""Writes the first inputs of each fuzz target from the golden packets. `fuzz --merge` then adds and keeps what matters.

Usage: seed_corpus.py [DIRECTORY]
"""
import hashlib
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).parent


def vectors():
    for path in sorted((HERE / "../vectors").glob("*.toml")):
        for vector in tomllib.loads(path.read_text())["vector"]:
            yield vector["name"], vector["level"], bytes.fromhex(vector["bytes"].replace("\n", ""))


def inputs():
    for name, level, data in vectors():
        if name == "sack/mark_always_skip":
            yield "canary", data  # one bit away from the planted mistake
        if level == "l2":
            yield "l2", data
        elif level == "l3":
            yield "l3", data
            yield "l2", bytes(12) + (b"\x08\x00" if data[:1] == b"E" else b"\x86\xdd") + data
            yield "trim", b"\x00\x80\x01" + data
        else:
            yield "datagram", b"\x01\x4a\x56\x78\x12\x34" + data
    for opcode in range(12):
        for encapsulation in range(4):
            yield "value", bytes([opcode, encapsulation]) + bytes(8) + b"\x00\x20"
            yield "mutation", bytes([opcode, encapsulation]) + bytes(8) + b"\x00\x31\x40" + b"\x00\x01\x88"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus"
    for target, data in inputs():
        (root / target).mkdir(parents=True, exist_ok=True)
        (root / target / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
