"""Documents stay true: their links lead somewhere, and the commands in ```console blocks run.

Commands begin with "$ "; those of one document run in order, in one new folder, with `mrc` on the PATH.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
BIN = os.environ["MRC_BIN_DIR"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).exists()] or sorted(ROOT.glob("docs/**/*.md"))


class Docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for path in documents():
            for target in LINK.findall(path.read_text()):
                if not re.match(r"\w+:", target):
                    with self.subTest(f"{path.relative_to(ROOT)}: {target}"):
                        self.assertTrue((path.parent / target).exists())

    def test_every_module_has_its_sentence(self):
        modules = re.findall(r'^  "(\w+):', (ROOT / "cmake/modules.cmake").read_text(), re.MULTILINE)
        rows = re.findall(r"^\| (\w+) \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
        self.assertLessEqual(set(modules), set(rows), "docs/architecture.md lacks a row")

    def test_every_verdict_has_its_remedy(self):
        verdicts = re.findall(r'^  X\((\w+), "', (ROOT / "src/wire/verdict.h").read_text(), re.MULTILINE)
        page = (ROOT / "docs/troubleshooting.md").read_text()
        self.assertEqual([v for v in verdicts if f"`{v}`" not in page], [])

    def test_commands_run(self):
        seen = 0
        for path in documents():
            commands = [line[2:] for block in CONSOLE.findall(path.read_text()) for line in block.splitlines()
                        if line.startswith("$ ")]
            with tempfile.TemporaryDirectory() as folder:
                for command in commands:
                    seen += 1
                    with self.subTest(f"{path.relative_to(ROOT)}: {command}"):
                        env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
                        done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True,
                                              text=True, timeout=120)
                        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    unittest.main()
