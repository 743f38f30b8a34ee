#!/usr/bin/python3
"""Writes the vectors (*.toml beside this file) with the reference encoder, or compares them with it.

Usage: make_vectors.py [--check]
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases  # noqa: E402
import malformations  # noqa: E402

FILES = {
    "opcodes.toml": ("Each opcode in each encapsulation.", cases.every_opcode),
    "variants.toml": ("Every flag, mark, reason, syndrome, operation and class.", cases.variants),
    "tolerated.toml": ("Accepted on receipt, though a sender following the specification writes it differently.", cases.tolerated),
    "settings.toml": ("The other readings of the specification, each one setting away.", cases.settings),
    "trimmed.toml": ("What switches leave of a packet that they trim.", cases.trimmed),
    "malformed.toml": ("Packets that must be refused, each with its verdict.", malformations.everything),
}
SHOWN = {"bth": ["opcode", "pkey", "destqp", "psn"],
         "bth_write": ["opcode", "pkey", "destqp", "psn", "se", "a", "rtx", "ts"]}
HIDDEN = {"tsr", "ftype", "type", "next", "cc_type", "cc_fl", "reserved", "op_low", "padcnt", "tver"}
HEX = {"ev": 8, "opcode": 2, "pkey": 4, "destqp": 6, "va": 16, "rkey": 8, "data": 8, "entropy": 8, "spdcid": 4, "dpdcid": 4,
       "bitmap": 16, "reason": 2, "vendor": 2, "syndrome": 2, "port_status_mask": 8}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value(name, v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, str):
        return quoted(v)
    if name not in HEX:
        return str(v)
    text = f"0x{v:0{HEX[name]}x}"
    return text if v < 1 << 63 else quoted(text)  # TOML's integers end at 2^63 - 1


def hex_lines(bytes_):
    lines = [bytes_[i:i + 48].hex() for i in range(0, len(bytes_), 48)]
    return '"""\n' + "".join(line + "\n" for line in lines) + '"""'


def table(name, entries):
    return [f"[vector.{name}]"] + [f"{k} = {value(k, v)}" for k, v in entries.items()]


def net_table(case):
    net = case["net"]
    out = {"encapsulation": net.encapsulation, "source": net.source, "destination": net.destination}
    if net.carrier:
        out["carrier"] = net.carrier
    if net.next_carrier:
        out["next_carrier"] = net.next_carrier
    out.update({"ev": net.ev, "class": net.traffic_class, "ecn": net.ecn})
    if net.encapsulation == "datagram":
        out.update({"source_port": net.source_port, "flow_label": net.flow_label, "traffic_class": net.tos,
                    "destination_port": net.port})
    return table("net", out)


def header_tables(case):
    is_write = case["headers"][0][1]["opcode"] <= 0xCB
    for name, fields in case["headers"]:
        shown = SHOWN["bth_write" if is_write else "bth"] if name == "bth" else [f for f in fields if f not in HIDDEN]
        fields = {**{f: 0 for f in shown}, **fields, **case.get("expect", {}).get(name, {})}
        if name == "eeth":
            shown = ["op", "timestamp"]
        yield from table(name, {f: fields[f] for f in shown})


def render(case):
    lines = ["", "[[vector]]", f"name = {quoted(case['name'])}", f"about = {quoted(case['about'])}",
             f"level = {quoted(case['level'])}", f"verdict = {quoted(case['verdict'])}"]
    if case.get("emit") is False:
        lines.append("emit = false")
    lines.append(f"bytes = {hex_lines(case['bytes'])}")
    if case["verdict"] in ("ok", "trimmed_ok"):
        lines.append(f"payload = {quoted(case['payload'].hex())}")
    if "settings" in case:
        lines += table("settings", case["settings"])
    if case["verdict"] in ("ok", "trimmed_ok"):
        lines += net_table(case)
        lines += header_tables(case)
    return "\n".join(lines) + "\n"


def contents(about, make):
    return f"# {about}\n# Format: README.md. Written by make_vectors.py.\n" + "".join(render(case) for case in make())


def main():
    here = pathlib.Path(__file__).parent
    stale = []
    for name, (about, make) in FILES.items():
        text = contents(about, make)
        if "--check" not in sys.argv:
            (here / name).write_text(text)
        elif (here / name).read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the reference encoder writes; run tests/vectors/make_vectors.py and look at the diff")


if __name__ == "__main__":
    main()
