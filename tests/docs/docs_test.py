"""Documents stay true: they build into the book, their links lead somewhere, and the commands in them run.

Which blocks run is written in docs/decisions/0021-the-book.md: those of one document in order, in one new folder, with
`mrc` on the PATH, and those marked `lab` in network namespaces of their own.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
BIN = os.environ["MRC_BIN_DIR"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ |mrc |mrcd |\./|sudo |build/)", re.MULTILINE)
SECONDS = 240  # for the commands of one document, on a machine that does other things as well


def documents():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).exists()] or sorted(ROOT.glob("docs/**/*.md"))


def blocks(text):
    """(language, what follows it, body) of each fenced block."""
    for info, body in BLOCK.findall(text):
        language, _, rest = info.partition(" ")
        yield language, rest.strip(), body


def misfits(text):
    """What is wrong with the blocks of a document."""
    for language, rest, body in blocks(text):
        if language == "console":
            if rest not in ("", "lab") and not re.fullmatch(r"shown: \S.*", rest):
                yield f"'console {rest}' is none of: console, console lab, console shown: why"
            if not re.search(r"^\$ ", body, re.MULTILINE):
                yield "a console block without a line that begins with '$ '"
        elif language in ("sh", "bash", "shell", "") and COMMAND.search(body):
            yield f"commands in a block that is not 'console': {body.splitlines()[0]}"


def commands(text):
    """The commands to run, and whether any needs namespaces."""
    chosen = [(rest, line[2:]) for language, rest, body in blocks(text) if language == "console" and not rest.startswith("shown")
              for line in body.splitlines() if line.startswith("$ ")]
    return [line for _, line in chosen], any(rest == "lab" for rest, _ in chosen)


def namespaces():
    """How to run in a network of one's own; None where that is forbidden."""
    way = ["unshare", "--net", "--map-root-user", "--kill-child", "--fork"]
    return way if subprocess.run([*way, "true"], capture_output=True).returncode == 0 else None


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

    def test_every_error_has_its_remedy(self):
        page = (ROOT / "docs/troubleshooting.md").read_text()
        statuses = set(re.findall(r"return (IBV_WC_\w+_ERR);", "".join(p.read_text() for p in (ROOT / "src").rglob("*.cc"))))
        self.assertGreater(len(statuses), 4)
        self.assertEqual([s for s in sorted(statuses) if f"`{s}`" not in page], [])
        errors = set(re.findall(r"Error\{(E[A-Z0-9]+),", "".join(p.read_text() for p in (ROOT / "src/lib").glob("*.cc"))))
        self.assertGreater(len(errors), 4)
        self.assertEqual([e for e in sorted(errors) if f"`{e}`" not in page], [])

    def test_every_variable_has_its_row(self):
        code = "".join(p.read_text() for module in ("lib", "node", "verbs") for p in (ROOT / "src" / module).glob("*.cc")
                       if not p.name.endswith("_test.cc"))
        variables = set(re.findall(r'(?:getenv|read_number|read_bytes)\("(MRC_\w+)"', code))
        rows = set(re.findall(r"^\| `(MRC_\w+)` \|", (ROOT / "docs/reference/environment.md").read_text(), re.MULTILINE))
        self.assertGreater(len(variables), 10)
        self.assertEqual(variables, rows)

    def test_blocks_say_whether_they_run(self):
        for path in documents():
            with self.subTest(str(path.relative_to(ROOT))):
                self.assertEqual(list(misfits(path.read_text())), [])

    def test_the_rules_see_mistakes(self):
        self.assertEqual(len(list(misfits("```\nmrc version\n```\n```console\nmrc x\n```\n```console gpu\n$ y\n```\n"))), 3)
        self.assertEqual(commands("```console\n$ a\nsaid\n$ b\n```\n```console shown: why\n$ c\n```\n"), (["a", "b"], False))
        self.assertNotEqual(self.run_script(["true", "false"], None).returncode, 0)

    def run_script(self, lines, way):
        env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        script = "\n".join(f"{line}\nstatus=$?; [ $status = 0 ] || {{ echo 'failed: line {i + 1}' >&2; exit $status; }}"
                           for i, line in enumerate(lines))
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([*(way or []), "bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=SECONDS)

    def test_commands_run(self):
        way, seen = namespaces(), 0
        for path in documents():
            lines, lab = commands(path.read_text())
            if not lines or (lab and way is None):
                continue
            seen += len(lines)
            with self.subTest(str(path.relative_to(ROOT))):
                done = self.run_script(lines, way if lab else None)
                self.assertEqual(done.returncode, 0, f"{done.stderr[-2000:]}\n{lines}")
        self.assertGreater(seen, 20)

    def test_the_book_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, ROOT / "scripts/book", "--to", folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            pages = list(pathlib.Path(folder).rglob("*.html"))
            self.assertGreater(len(pages), 30)
            for page in pages:
                for href in re.findall(r'href="([^":#]+)(?:#[^"]*)?"', page.read_text()):
                    with self.subTest(f"{page.name}: {href}"):
                        self.assertTrue((page.parent / href).exists())


if __name__ == "__main__":
    unittest.main()
