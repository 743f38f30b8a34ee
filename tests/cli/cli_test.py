"""The command line as a whole: each level of --help has an example, and JSON has the keys that are documented.

The cases are the rows of docs/reference/json.md: `command` | what comes out | keys. A key with a question mark may be
missing, `...` allows others; everything else must be there, and nothing else may be. Rows marked `lab` run in a lab of their own.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
BIN = os.environ["MRC_BIN_DIR"]
ENV = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
ROW = re.compile(r"^\| `(mrc [^`]*)`( \(lab\))? \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
WAY = ["unshare", "--net", "--map-root-user", "--kill-child", "--fork"]


def help_of(words):
    return subprocess.run(["mrc", *words, "--help"], env=ENV, capture_output=True, text=True, timeout=60)


def verbs(text):
    listed = text.partition("Subcommands:\n")[2]
    return re.findall(r"^  ([a-z][\w-]*) ", listed.partition("\n\n")[0], re.MULTILINE)


def rows():
    return ROW.findall((ROOT / "docs/reference/json.md").read_text())


def objects(text):
    """One JSON value, or one per line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def check_keys(value, documented):
    """Keys that are missing or unknown, of an object or of an array's first element."""
    value = value[0] if isinstance(value, list) else value
    words = re.findall(r"`([^`]+)`", documented)
    wanted, allowed = {w for w in words if not w.endswith("?")}, {w.rstrip("?") for w in words}
    unknown = set() if "..." in words else value.keys() - allowed
    return sorted(wanted - {"..."} - value.keys()), sorted(unknown)


class Refusals(unittest.TestCase):
    def test_no_device_says_what_to_set(self):
        done = subprocess.run(["mrc", "perf", "--local", "--seconds", "0.1"], env={**ENV, "MRC_DEVICES": ""},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("MRC_DEVICES=eth0", done.stderr)

    def test_a_program_is_told_of_no_device_too(self):
        done = subprocess.run(["mrc", "exec", "--", "true"], env={**ENV, "MRC_DEVICES": ""}, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("there is no soft device", done.stderr)

    def test_the_daemon_refuses_likewise(self):
        for words in (["--frobnicate"], ["--map", "x.toml"]):
            done = subprocess.run(["mrcd", *words], env=ENV, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_too_little_memory_is_said(self):
        done = subprocess.run(["bash", "-c", "ulimit -v 300000; mrc sim --pattern permutation --planes 8 --t0 64 --t1 64 --hosts-per-t0 64"],
                              env=ENV, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not enough memory", done.stderr)


class FullDisk(unittest.TestCase):
    def test_what_standard_output_lost_is_no_success(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run(["mrc", "topo", "describe", "--json"], env=ENV, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard output is not whole: No space left on device", run.stderr)


    def test_the_simulators_table_refuses_in_one_sentence(self):
        mrc = f"{BIN}/mrc"
        for words, why in ((["--mrc", "/nope"], "no such program"), (["--mrc", mrc, "--seeds", "0"], "at least 1"),
                           (["--mrc", mrc, "--only"], "at least one"), (["--mrc", mrc, "--peer", "/nope"], "no such program"),
                           (["--mrc", mrc, "--peer", "/bin/true", "--only", "speed"], "is it htsim_uec?")):
            with self.subTest(" ".join(words)):
                done = subprocess.run([ROOT / "bench/sim/targets", *words], capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)
                self.assertNotIn("Traceback", done.stderr)


class Help(unittest.TestCase):
    def walk(self, words):
        done = help_of(words)
        with self.subTest(" ".join(["mrc", *words])):
            self.assertEqual(done.returncode, 0, done.stderr)
            # Its own: a verb without one would show its noun's.
            self.assertIn(" ".join(["mrc", *words]), done.stdout.partition("Example: ")[2])
            self.assertNotIn("\033", done.stdout)
        found = verbs(done.stdout)
        return 1 + sum(self.walk([*words, verb]) for verb in found)

    def test_every_level_has_an_example(self):
        self.assertGreater(self.walk([]), 40)

    def test_nonsense_is_wrong_usage(self):
        for words in (["frobnicate"], ["lab", "frobnicate"], ["version", "--frobnicate"], ["topo"], ["perf"], ["perf", "--size", "x"],
                      ["exec", "--udp-port", "70000", "--", "true"], ["exec", "--spray-unit", "65", "--", "true"],
                      ["collective", "--sizes", "x"], ["web"], ["ctl", "ports", "down"],
                      ["ctl", "profiles", "show", "ev"], ["ctl", "profiles", "delete", "foo", "7"], ["ctl", "profiles", "create"], ["ctl", "evs", "deny", "1"],
                      ["perf", "--local", "--tcp-port", "x"], ["perf", "--local", "--wait", "nan"], ["map", "--seconds", "nan"],
                      ["collective", "--seconds", "nan"]):
            with self.subTest(" ".join(words)):
                done = subprocess.run(["mrc", *words], env=ENV, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertNotEqual(done.stderr, "")

    def test_failures_say_what_to_do(self):
        for words, hint in ((["dump", "/nowhere"], "nowhere"), (["lab", "status", "--name", "no-such"], "mrc lab up"),
                            (["map", "--host", "h0", "--planes", "2"], "no port of this node has an address of that fabric"),
                            (["conform", "self", "--check", "x"], "mrc conform list")):
            with self.subTest(" ".join(words)):
                done = subprocess.run(["mrc", *words], env=ENV, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn(hint, done.stderr)


class Json(unittest.TestCase):
    def outcome(self, command, lab):
        script = f"mrc lab up --planes 2 > /dev/null && {command}; s=$?; mrc lab down > /dev/null; exit $s" if lab else command
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mrc", "pair", "--writes", "2", "--loss", "0.02", "--capture", "pair.pcap"], env=ENV, cwd=folder,
                           capture_output=True, timeout=60)
            return subprocess.run([*(WAY if lab else []), "bash", "-c", script], env=ENV, cwd=folder, capture_output=True,
                                  text=True, timeout=200)

    def test_documented_keys(self):
        may = subprocess.run([*WAY, "true"], capture_output=True).returncode == 0
        self.assertGreater(len(rows()), 15)
        for command, lab, _, documented in rows():
            if lab and not may:
                continue
            with self.subTest(command):
                done = self.outcome(command, lab)
                self.assertEqual(done.returncode, 0, done.stderr)
                for value in objects(done.stdout):
                    self.assertEqual(check_keys(value, documented), ([], []))

    def test_every_command_with_json_is_documented(self):
        documented = " ".join(command for command, _, _, _ in rows()) + (ROOT / "docs/reference/json.md").read_text()

        def walk(words):
            text = help_of(words).stdout
            if "--json" in text and not verbs(text):
                with self.subTest(" ".join(words)):
                    self.assertIn(" ".join(["mrc", *words]), documented)
            for verb in verbs(text):
                walk([*words, verb])

        walk([])

    def test_the_comparison_sees_mistakes(self):
        self.assertEqual(check_keys({"a": 1, "b": 2}, "`a`, `c`, `d?`"), (["c"], ["b"]))
        self.assertEqual(verbs("Subcommands:\n  up    start\n  down  stop\n\nExample: x\n"), ["up", "down"])


if __name__ == "__main__":
    unittest.main()
