"""`mrc web` for the length of a test, on a free port of loopback."""
import os
import pathlib
import select
import subprocess

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
MRC = str(pathlib.Path(os.environ["MRC_BIN_DIR"]) / "mrc")


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([MRC, "web", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        self.url = self.process.stdout.readline().strip() if ready else ""
        if not self.url:
            self.process.kill()
            raise RuntimeError(f"mrc web said no address: {self.process.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.status = self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()
