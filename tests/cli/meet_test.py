"""Two ends that meet: processes that are set differently, and strangers at the door."""
import os
import socket
import subprocess
import unittest

BIN = os.environ["MRC_BIN_DIR"]
TCP_PORT = 18818


class Meet(unittest.TestCase):
    def start(self, role, *more, **environment):
        run = subprocess.Popen([f"{BIN}/mrc", "perf", role, "127.0.0.1", "--tcp-port", str(TCP_PORT), "--size", "4K",
                                "--seconds", "0.1", "--wait", "60", *more],
                               env={"MRC_UDP_PORT": "14818", "MRC_SOCKET": "", **os.environ, **environment},
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def ends(self, here, there):
        for end in (here, there):
            end.said = end.communicate(timeout=100)[1]
        return here, there

    def test_a_setting_that_differs_is_named_at_both_ends(self):
        for name, one, other in (("MRC_UDP_PORT", "14818", "14819"), ("MRC_ICRC", "1", "0")):
            here, there = self.ends(self.start("--listen", **{name: one}), self.start("--connect", **{name: other}))
            for end, its, peers in ((here, one, other), (there, other, one)):
                self.assertEqual(end.returncode, 1, end.said)
                self.assertIn(f"{name} is {its} on this side and {peers} at the peer", end.said)

    def test_an_option_for_one_end_only_is_named_too(self):
        here, there = self.ends(self.start("--listen"), self.start("--connect", "--no-icrc"))
        self.assertIn("MRC_ICRC is 1 on this side and 0 at the peer", here.said)
        self.assertIn("MRC_ICRC is 0 on this side and 1 at the peer", there.said)

    def test_a_plane_that_the_peer_does_not_have_is_told(self):
        for _ in range(20):  # each of its paths has to be found dead, which takes as long as the machine does
            here, there = self.ends(self.start("--listen", "--device", "lo/127.0.0.1"),
                                    self.start("--connect", "--device", "lo/127.0.0.1,lo/127.0.0.2"))
            if "some plane carried nothing" in there.said:
                break
        self.assertRegex(there.said, "lo up, [1-9].* EVs good; lo up, 0 of 64 EVs good")

    def test_strangers_do_not_end_the_wait(self):
        here = self.start("--listen")
        self.assertIn("listening at", here.stderr.readline())
        for words in (b"", b"GET / HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", TCP_PORT)) as stranger:
                stranger.sendall(words)
            self.assertIn("turned a caller away", here.stderr.readline())
        here, there = self.ends(here, self.start("--connect"))
        if "no write was done" not in there.said:  # as on a machine that is very busy: they have met all the same
            self.assertEqual((here.returncode, there.returncode), (0, 0), here.said + there.said)


if __name__ == "__main__":
    unittest.main()
