"""Runs tshark with our dissector over frames and gives back named fields per frame."""
import os
import pathlib
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(os.environ.get("MRC_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SCRIPT = ROOT / "share/wireshark/mrc.lua"
ETHERNET, RAW_IP = 1, 101


def write_pcap(path, link, frames):
    """Nanosecond pcap; a frame is its bytes, or (kept bytes, length on the wire)."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link))
        for i, frame in enumerate(frames):
            kept, length = frame if isinstance(frame, tuple) else (frame, len(frame))
            out.write(struct.pack("<IIII", 1, i * 1000, len(kept), length) + kept)


def run(args, script=SCRIPT):
    """Nobody's own preferences take part: HOME is a new folder, with the dissector installed as a user would."""
    with tempfile.TemporaryDirectory() as home:
        plugins = pathlib.Path(home) / ".local/lib/wireshark/plugins"
        plugins.mkdir(parents=True)
        (plugins / "mrc.lua").symlink_to(script)
        env = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["tshark", *args], env=env, capture_output=True, text=True)
    # Debian's tshark warns of being root; an error of the dissector would name Lua.
    if done.returncode != 0 or "Lua" in done.stderr:
        raise RuntimeError(f"tshark {' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def field_names():
    """Every filter name that the dissector registers, experts included."""
    rows = (line.split("\t") for line in run(["-G", "fields"]).splitlines())
    return sorted({row[2] for row in rows if row[0] == "F" and row[2].startswith("mrc.")})


def dissect(frames, link, names, preferences=()):
    """One dictionary per frame: the fields that it has, as text; several values of one field joined by a comma."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "frames.pcap"
        write_pcap(path, link, frames)
        args = ["-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
        for preference in preferences:
            args += ["-o", preference]
        for name in names:
            args += ["-e", name]
        lines = run(args).split("\n")[: len(frames)]
    return [{n: v for n, v in zip(names, line.split("\t")) if v != ""} for line in lines]


def number(text):
    return {"True": 1, "False": 0}.get(text) if text in ("True", "False") else int(text, 0)
