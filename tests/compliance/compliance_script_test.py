"""scripts/compliance on small invented trees: it must see each mistake that it exists to see."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
# Written in two halves, so that the real catalogue is not asked for these.
ONE, TWO = "MRC-" + "ZZZ-001", "MRC-" + "ZZZ-002"


def entry(key, level="MUST", extra=""):
    return f'[[requirement]]\nid = "{key}"\nlevel = "{level}"\ntext = "do it"\nsection = "1"\n{extra}\n'


class Compliance(unittest.TestCase):
    def run_on(self, files, *flags):
        with tempfile.TemporaryDirectory() as folder:
            self.tree = pathlib.Path(folder)
            for name, text in files.items():
                path = self.tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, ROOT / "scripts/compliance", "--root", folder, *flags],
                                  capture_output=True, text=True)
            page = self.tree / "docs/compliance.md"
            return done, page.read_text() if page.exists() else ""

    proven = {"spec/requirements/zzz.toml": entry(ONE), "src/a/a.cc": f"// {ONE}: done\n", "tests/t/t.py": f"# {ONE}\n"}

    def test_a_proven_must_is_met_and_linked(self):
        done, page = self.run_on(self.proven, "--write")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| MUST | 1 | 0 | 0 | 0 | 1 |", page)
        self.assertIn("[src/a/a.cc](../src/a/a.cc#L1)", page)

    def test_both_catalogue_forms_are_read(self):
        done, page = self.run_on({**self.proven, "spec/requirements.toml": entry(TWO, "MAY")}, "--write")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(TWO, page)

    def test_a_unit_test_beside_the_code_proves(self):
        done, _ = self.run_on({"spec/requirements/z.toml": entry(ONE), "src/a/a.h": f"// {ONE}\n",
                               "src/a/a_test.cc": f"// {ONE}\n"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def refused(self, files, *words):
        done, _ = self.run_on(files)
        self.assertEqual(done.returncode, 1)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_an_unknown_id_is_refused_with_its_place(self):
        self.refused({**self.proven, "src/a/b.cc": f"\n// {TWO}\n"}, "src/a/b.cc:2", TWO)

    def test_a_must_without_test_is_refused(self):
        self.refused({"spec/requirements/z.toml": entry(ONE), "src/a/a.cc": f"// {ONE}\n"}, "without test")

    def test_a_must_without_code_is_refused(self):
        self.refused({"spec/requirements/z.toml": entry(ONE), "tests/t/t.py": f"# {ONE}\n"}, "without code")

    def test_an_exception_with_a_reason_is_reported_instead(self):
        files = {"spec/requirements/z.toml": entry(ONE, extra='exception = "no hardware"')}
        done, page = self.run_on(files, "--write")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("**Exception:** no hardware", page)

    def test_broken_entries_are_refused(self):
        self.refused({"spec/requirements/z.toml": entry(ONE, "OUGHT")}, "level")
        self.refused({"spec/requirements/z.toml": entry(ONE) + entry(ONE)}, "twice")
        self.refused({"spec/requirements/z.toml": "[[requirement"}, "z.toml")
        self.refused({"spec/requirements/z.toml": entry(ONE, extra='exception = ""')}, "without a reason")

    def test_check_sees_an_old_page(self):
        done, _ = self.run_on({**self.proven, "docs/compliance.md": "old"}, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("out of date", done.stderr)


if __name__ == "__main__":
    unittest.main()
