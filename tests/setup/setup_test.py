"""scripts/setup.sh against a pretended machine: what it installs, and what it says when it may not."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
WANTED = [line.split("#")[0].strip() for line in (ROOT / "scripts/packages").read_text().splitlines()]
WANTED = [name for name in WANTED if name]


class Machine:
    """A PATH of stand-ins: dpkg-query knows `installed`, apt-get writes down what it was asked."""

    def __init__(self, folder, installed, uid=0, sudo=False, debian=True, apt_status=0):
        self.bin = pathlib.Path(folder)
        self.log = self.bin / "apt.log"
        (self.bin / "installed").write_text("\n".join(installed) + "\n")
        if debian:
            self.tool("dpkg-query", f'grep -qx "${{@: -1}}" {self.bin}/installed && printf "installed "')
        self.tool("apt-get", f'echo "$@" >> {self.log}; exit {apt_status}')
        self.tool("id", f"echo {uid}")
        if sudo:
            self.tool("sudo", '[ "$1" = -n ] && shift; exec "$@"')
        for name in ("bash", "sed", "tr", "grep", "dirname", "basename", "nproc", "env", "mktemp", "cat", "rm", "true"):
            os.symlink(subprocess.check_output(["which", name], text=True).strip(), self.bin / name)

    def tool(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def install(self):
        script = f". {ROOT}/scripts/setup.sh; install_packages"
        return subprocess.run(["/bin/bash", "-c", script], env={"PATH": str(self.bin)}, capture_output=True, text=True)

    def asked(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def machine(self, installed, **how):
        return Machine(self.folder.name, installed, **how)

    def test_nothing_missing_never_calls_apt(self):
        machine = self.machine(WANTED, uid=1000)
        done = machine.install()
        self.assertEqual((done.returncode, done.stdout, machine.asked()), (0, "", []), done.stderr)

    def test_root_installs_exactly_what_is_missing(self):
        machine = self.machine(WANTED[2:])
        self.assertEqual(machine.install().returncode, 0)
        self.assertEqual(machine.asked()[-1], "-qq install -y --no-install-recommends " + " ".join(WANTED[:2]))

    def test_sudo_without_a_question_is_used(self):
        machine = self.machine(WANTED[1:], uid=1000, sudo=True)
        self.assertEqual(machine.install().returncode, 0)
        self.assertIn(WANTED[0], machine.asked()[-1])

    def test_without_rights_it_says_what_to_run(self):
        machine = self.machine(WANTED[1:], uid=1000)
        done = machine.install()
        self.assertEqual((done.returncode, machine.asked()), (1, []))
        self.assertIn(f"sudo apt-get install --no-install-recommends {WANTED[0]}", done.stderr)

    def test_an_apt_failure_is_an_error(self):
        done = self.machine(WANTED[1:], apt_status=100).install()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"could not install: {WANTED[0]}", done.stderr)

    def test_another_distribution_is_told_what_to_do(self):
        done = self.machine([], debian=False).install()
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/packages", done.stderr)


class Packages(unittest.TestCase):
    def test_each_line_names_one_package_with_a_reason(self):
        for line in (ROOT / "scripts/packages").read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                self.assertRegex(line, r"^[a-z0-9][a-z0-9.+-]+\s+# \S")


if __name__ == "__main__":
    unittest.main()
