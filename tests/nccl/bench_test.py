"""bench/nccl without a GPU: what its scripts take for an answer, and when they call a run good."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench/nccl"
sys.path.insert(0, str(BENCH))
import collectives  # noqa: E402
import ranks  # noqa: E402
import train  # noqa: E402
import wires  # noqa: E402


def program(name):
    """A script without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


targets = program("targets")


def refused(script, *arguments):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            script.parse(list(arguments))
        except SystemExit as end:
            return said.getvalue() if end.code != 0 else ""
    return ""


def result(transport, mood, bits, ended_well=True, stalled=None):
    return {"transport": transport, "mood": mood, "ended_well": ended_well, "stalled": stalled, "steps": [{"bits": b} for b in bits]}


class Options(unittest.TestCase):
    def test_sizes_and_rates_have_units(self):
        self.assertEqual(collectives.parse(["--sizes", "8,64K,1G"]).sizes, [8, 65536, 1 << 30])
        self.assertEqual(ranks.bits_per_second("500M"), 500_000_000)
        self.assertEqual(ranks.bits_per_second("2.5G"), 2_500_000_000)

    def test_defaults_are_read_as_options_are(self):
        options = collectives.parse([])
        self.assertEqual(options.operations, list(collectives.OPERATIONS))
        self.assertEqual(options.transports, ["OpenMRC", "Socket"])
        self.assertEqual(train.parse([]).jobs[0], "OpenMRC:calm")

    def test_nonsense_is_refused_with_a_sentence(self):
        self.assertIn("'allreduce' is none of all_reduce", refused(collectives, "--operations", "allreduce"))
        self.assertIn("'1T' is no size", refused(collectives, "--sizes", "8,1T"))
        self.assertIn("'5' is no rate", refused(collectives, "--rate", "5"))
        self.assertIn("'IB' is none of", refused(collectives, "--transports", "IB"))
        self.assertIn("'OpenMRC:storm' is none of", refused(train, "--jobs", "OpenMRC:storm"))
        self.assertIn("needs 4", refused(train, "--planes", "2"))
        self.assertEqual("", refused(train, "--planes", "2", "--jobs", "OpenMRC:calm"))
        self.assertIn("a multiple of 6", refused(train, "--width", "400"))


class Verdict(unittest.TestCase):
    def test_a_job_that_failed_is_no_success(self):
        calm = result("OpenMRC", "calm", "abc")
        self.assertEqual(train.verdict([calm, result("OpenMRC", "story", "abc")], 3), (True, True))
        self.assertEqual(train.verdict([calm, result("OpenMRC", "story", "abd")], 3), (False, False))
        self.assertFalse(train.verdict([calm, result("OpenMRC", "story", "ab", ended_well=False)], 3)[0])
        self.assertFalse(train.verdict([result("OpenMRC", "calm", "", ended_well=False)], 3)[0])
        nothing = [result("OpenMRC", mood, "", ended_well=False) for mood in ("calm", "story")]
        self.assertEqual(train.verdict(nothing, 3), (False, False))  # no losses are no identical ones

    def test_sockets_may_stall_and_dead_planes_must_end_the_job(self):
        stalled = result("Socket", "story", "a", ended_well=False, stalled="no step for 30 s")
        self.assertEqual(train.verdict([result("OpenMRC", "calm", "abc"), stalled], 3), (True, None))
        self.assertTrue(train.verdict([result("OpenMRC", "dead", "a", ended_well=False)], 3)[0])
        self.assertFalse(train.verdict([result("OpenMRC", "dead", "a", ended_well=False, stalled="no step")], 3)[0])


def measured(size, ours, theirs, wrong=0):
    return {"rows": [{"size": size, "transport": t, "us_median": us, "busbw_gbps": 19.0, "wrong": wrong}
                     for t, us in (("OpenMRC", ours), ("Socket", theirs))]}


def trained(mood="story", transport="OpenMRC", ended_well=True, struck=True, **longest):
    names = ("everything works", "a NIC port dies", "healed", "a cable swallows everything")
    return {"transport": transport, "mood": mood, "ended_well": ended_well, "stalled": None, "seconds_from_last_fault_to_end": 10.5,
            "faults": [{"what": "every plane dies", **({"at_step": 3} if struck else {})}],
            "phases": [{"phase": n, "median_ms": 30.0, "longest_ms": longest.get(n.split()[-1], 40.0)} for n in names]}


class Targets(unittest.TestCase):
    def test_the_setting_that_is_best_for_sockets_counts(self):
        long, short = targets.bare_rows({"a": measured(targets.LONG, 100, 200), "b": measured(targets.LONG, 100, 110),
                                         "c": measured(targets.SHORT, 20, 40), "d": measured(targets.SHORT, 30, 40)})
        self.assertAlmostEqual(long["value"], 1.1)
        self.assertFalse(long["met"])
        self.assertAlmostEqual(short["value"], 0.75)
        self.assertTrue(short["met"])

    def test_what_was_wrong_or_not_measured_is_not_met(self):
        for results in ({}, {"a": measured(targets.LONG, 100, 500, wrong=1)}):
            self.assertEqual([(r["value"], r["met"]) for r in targets.bare_rows(results)], [(None, False)] * 2)
        self.assertFalse(targets.limited_rows({"rows": []})[0]["met"])
        self.assertTrue(targets.limited_rows(measured(targets.LONG, 1, 1))[0]["met"])
        self.assertIsNone(targets.variant_rows({"graph": measured(targets.SHORT, 1, 2)})[0]["met"])

    def test_training_is_judged_by_its_phases(self):
        dead = trained("dead", ended_well=False)
        rows = targets.training_rows({"identical": True, "runs": [trained(), dead]})
        self.assertTrue(all(r["met"] for r in rows), rows)
        rows = targets.training_rows({"identical": None, "runs": [trained(everything=90.0), trained("dead", ended_well=False, struck=False)]})
        self.assertEqual([r["met"] for r in rows], [False, True, True, False, False])


class Table(unittest.TestCase):
    def shown(self, *transports):
        rows = [{"operation": "all_reduce", "size": 8, "transport": t, "us": 5.0 + i, "busbw_gbps": 1.0, "wrong": 0}
                for i, t in enumerate(transports)]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            collectives.print_table(rows)
        return [line.split() for line in said.getvalue().splitlines()]

    def test_each_column_has_the_name_of_its_transport(self):
        self.assertEqual(self.shown("Socket", "OpenMRC")[0][2:], "Socket us Gb/s OpenMRC us Gb/s OpenMRC / Socket".split())
        self.assertEqual(self.shown("OpenMRC")[0][2:], ["OpenMRC", "us", "Gb/s"])
        self.assertEqual(self.shown("Socket", "OpenMRC")[1][2:], ["5.0", "1.000", "6.0", "1.000", "rate", "1.00"])


class Mps(unittest.TestCase):
    def test_ranks_that_take_turns_on_the_gpu_are_told_of(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertFalse(ranks.check_mps(folder))
            self.assertIn("nvidia-cuda-mps-control -d", said.getvalue())
            (pathlib.Path(folder) / "control").touch()
            self.assertTrue(ranks.check_mps(folder))


class Wires(unittest.TestCase):
    def test_a_cable_has_the_rate_that_it_was_given(self):
        for rate in (500_000_000, 5_000_000_000, 40_000_000_000):
            try:
                with wires.Wires(2, 1, rate) as lab:
                    enter = ["nsenter", "--net=" + lab.namespace(0), "tc", "-json", "qdisc", "show", "dev", "p0"]
                    shown = json.loads(subprocess.run(enter, capture_output=True, text=True, check=True).stdout)
            except (PermissionError, FileNotFoundError) as forbidden:
                self.skipTest(f"NOT TESTED, no namespaces or tc here: {forbidden}")
            self.assertEqual(shown[0]["options"]["rate"], rate // 8)


class Kit(unittest.TestCase):
    def test_the_newer_of_a_kit_and_a_build_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for age, name in ((100, "build-kit"), (50, "build")):
                for file in ("bin/mrc", ranks.PLUGIN):
                    (root / name / file).parent.mkdir(parents=True, exist_ok=True)
                    (root / name / file).touch()
                os.utime(root / name / ranks.PLUGIN, (1e9 - age, 1e9 - age))
            self.assertEqual(ranks.find_kit(root), root / "build")


if __name__ == "__main__":
    unittest.main()
