#!/usr/bin/env python3
"""The packages, installed into an empty root: a client is built against them, runs across two namespaces, and nothing is left
after their removal."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["MRC_BIN_DIR"]).parent
PACKAGES = ["libmrc", "libmrc-dev", "openmrc-tools", "openmrc-nccl", "openmrc-dbgsym"]
SECONDS = 120
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]

# Two network namespaces and a cable between them, all gone with this shell. $1: mrc, $2: the client, $3: a file to talk by.
ACROSS_TWO_NAMESPACES = """
set -e
unshare --net sleep 60 & other=$!
trap 'kill $other 2>/dev/null' EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add left type veth peer name right netns $other
ip address add 10.77.0.1/24 dev left
ip link set left up
nsenter --net --target $other ip address add 10.77.0.2/24 dev right
nsenter --net --target $other ip link set right up
"$1" exec -d left -- "$2" > "$3" & server=$!
until grep -q listening "$3"; do sleep 0.05; kill -0 $server; done
nsenter --net --target $other "$1" exec -d right -- "$2" 10.77.0.1 "$(sed -n 's/listening on //p' "$3")"
wait $server
"""


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed: {done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="openmrc-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("cpack", "-G", "DEB", "-B", cls.folder / "packages", cwd=BUILD)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin/ldconfig").symlink_to("/bin/true")
        cls.debs = sorted((cls.folder / "packages").glob("*.deb"))

    def dpkg(self, *arguments):
        """Into our root alone: the packages' scripts only call ldconfig, and must not call this machine's."""
        forced = [f"--force-{f}" for f in ("depends", "not-root", "script-chrootless")]
        return run(*AS_ROOT, "dpkg", f"--root={self.root}", *forced, "--no-triggers", "--log=/dev/null", *arguments,
                   env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})

    def setUp(self):
        self.root = self.folder / "root"
        for part in ("info", "updates", "triggers"):
            (self.root / "var/lib/dpkg" / part).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        self.dpkg("-i", *self.debs)
        self.libraries = {**os.environ, "LD_LIBRARY_PATH": str(self.root / "usr/lib")}

    def tearDown(self):
        shutil.rmtree(self.root)

    def build_client(self):
        flags = run("pkg-config", "--cflags", "--libs", "openmrc",
                    env={**os.environ, "PKG_CONFIG_PATH": str(self.root / "usr/lib/pkgconfig")}).split()
        source = self.root / "usr/share/doc/openmrc/examples/hello_write.c"
        client = self.folder / "hello_write"
        run("cc", "-Wall", "-Werror", source, "-o", client, *flags)
        return client

    def test_there_is_a_package_for_each_user(self):
        self.assertEqual(sorted(run("dpkg-deb", "-f", d, "Package").strip() for d in self.debs), sorted(PACKAGES))

    def test_every_program_has_a_page(self):
        for page, words in (("man1/mrc.1", "mrc"), ("man1/mrc-lab.1", "mrc lab"), ("man8/mrcd.8", "mrcd")):
            self.assertRegex((self.root / "usr/share/man" / page).read_text(), rf"\.B {words}\b")

    def test_a_client_built_by_pkg_config_runs_across_two_namespaces(self):
        client, talk = self.build_client(), self.folder / "talk"
        run("unshare", "--map-root-user", "--net", "sh", "-c", ACROSS_TWO_NAMESPACES, "sh", self.root / "usr/bin/mrc",
            client, talk)  # mrc exec alone finds the library, wherever it was installed
        self.assertIn("my memory says: hello over many paths", talk.read_text())

    def test_cmake_finds_the_library(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(client C)\nfind_package(openmrc 0.1 REQUIRED)\n"
            "add_executable(client client.c)\ntarget_link_libraries(client openmrc::mrc)\n")
        (project / "client.c").write_text(
            "#include <mrc.h>\nint main(void) { uint32_t now; mrc_query_version(&now, 0, 0, 0); return now == 0; }\n")
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.root}/usr")
        run("cmake", "--build", project / "build")
        run(project / "build/client", env=self.libraries)

    def test_debug_information_lies_where_the_build_id_says(self):
        programs = [self.root / "usr/bin/mrc", *self.root.glob("usr/sbin/mrcd"), *self.root.glob("usr/lib/lib*.so.*.*"), self.root / "usr/lib/openmrc/libibverbs.so.1"]
        self.assertGreater(len(programs), 2)
        for program in programs:
            self.assertNotIn(".debug_info", run("readelf", "--wide", "--sections", program), program)
            build_id = run("readelf", "--notes", program).split("Build ID: ")[1].split()[0]
            debug = self.root / f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
            self.assertIn(".debug_info", run("readelf", "--wide", "--sections", debug), program)
            if program.name.startswith("libmrc"):
                self.assertNotIn("::testing::", run("nm", "-C", debug), "what tests are made of is shipped")

    def test_removal_leaves_nothing(self):
        self.dpkg("--purge", *PACKAGES)
        left = [p for p in self.root.rglob("*") if not p.is_dir() and "var/lib/dpkg" not in str(p)]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
