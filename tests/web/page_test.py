"""The page in headless Chromium: what it shows of a simulation and of a recording, and what clicks and keys do.

Screenshots stay in build/web/screens, to be looked at.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from live_case import LiveCase
from server_for_test import MRC, ROOT, Server

WORK = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/web").resolve()
HERE = pathlib.Path(__file__).parent
SCREENS = WORK / "screens"


def look(url, story):
    """Runs one story of stories.mjs against the page."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    env = {**os.environ, "CHROMIUM": chromium or "", "MODULES": str(WORK), "SCREENS": str(SCREENS)}
    return subprocess.run(["node", str(HERE / "stories.mjs"), story, url], capture_output=True, text=True, timeout=240, env=env)


class Page(unittest.TestCase):
    def setUp(self):
        self.assertTrue((WORK / "node_modules/playwright-core").is_dir(), "the page was not built; scripts/page says why")
        self.assertIsNotNone(shutil.which("chromium"), "apt-get install chromium")

    def run_story(self, story, *words):
        with Server(*words) as server:
            done = look(server.url, story)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print(done.stdout, end="")

    def test_a_simulation_is_broken_and_healed_by_clicking(self):
        self.run_story("simulation", ROOT / "share/scenarios/watch.toml")

    def test_a_large_fabric_is_a_matrix(self):
        self.run_story("large", ROOT / "tests/web/wide.toml")

    def test_131072_hosts_from_afar_and_close(self):
        self.run_story("huge", ROOT / "share/scenarios/watch_131072.toml")

    def test_a_recording_is_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "story.jsonl"
            subprocess.run([MRC, "sim", ROOT / "share/scenarios/lab_story.toml", "--quiet", "--set", "job.0.iterations=2", "--record", record, "--record-every",
                            "25us"], check=True, capture_output=True, timeout=240)
            self.run_story("recording", "--trace", record)

    def test_types(self):
        done = subprocess.run(["node", "node_modules/typescript/bin/tsc", "--noEmit"], cwd=WORK, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_page_is_small(self):
        size = sum(p.stat().st_size for p in (WORK / "dist").rglob("*") if p.is_file())
        self.assertLess(size, 1_000_000)


class PageOfALab(LiveCase):
    setUp, run_story = Page.setUp, Page.run_story

    def test_queue_pairs_of_programs_and_a_cable_broken_by_a_click(self):
        self.run_story("lab", "--lab", self.lab)


if __name__ == "__main__":
    unittest.main()
