#!/usr/bin/env python3
"""What mrcd and its programs make of others: devices of the same name, and programs of another release."""
import json
import pathlib
import socket
import struct
import subprocess
import threading
import unittest

from node_case import MRC, MRCD, SECONDS, NodeCase


class Others(NodeCase):
    def test_a_device_that_is_not_there_is_said_to_be_missing(self):
        other = subprocess.Popen([MRCD, "--foreground", "--devices", "nosuch0", "--socket", str(self.folder / "other.sock")],
                                 env=self.environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        self.assertRegex(other.stderr.readline(), "no interface 'nosuch0'.*it serves without a device of its own")
        self.assertIn("serving at", other.stderr.readline())

    def test_devices_of_one_name_are_told_apart(self):
        here, there = self.start_application(), self.start_application(MRC_DEVICES="lo/::1")
        devices = {d["name"]: d["pids"] for d in self.json("devices")}
        self.assertEqual(devices, {"mrc0": [here.pid], "mrc0@::1": [there.pid]})
        rows = {words[0]: words for words in map(str.split, self.ctl("devices").splitlines())}
        for name, where, process in (("mrc0", "lo/127.0.0.1", here), ("mrc0@::1", "lo/::1", there)):
            self.assertIn(where, rows[name])
            self.assertEqual(rows[name][-1], str(process.pid))
        self.assertEqual([p["address"] for p in self.json("ports", "--device", "mrc0@::1")], ["::1"])

    def stand_in(self, answer):
        """Somebody at mrcd's socket who answers each greeting so and hangs up."""
        self.mrcd.terminate()
        self.mrcd.wait()
        path = pathlib.Path(self.environment["MRC_SOCKET"])
        path.unlink(missing_ok=True)
        at = socket.socket(socket.AF_UNIX)
        self.addCleanup(at.close)
        at.bind(str(path))
        at.listen()

        def serve():
            while True:
                try:
                    caller, _ = at.accept()
                    with caller:
                        caller.recv(65536)
                        caller.sendall(answer)
                except BrokenPipeError:
                    continue
                except OSError:
                    return
        threading.Thread(target=serve, daemon=True).start()

    def test_who_watches_ends_when_mrcd_is_another_release(self):
        welcome_of_version_9 = struct.pack("<IHHI", 4, 1, 9, 1) + bytes(4)
        for answer, words in ((welcome_of_version_9, "(9, this program 3): install both from one release"),
                              (b"", "another version of the protocol")):
            events = subprocess.Popen([MRC, "ctl", "events", "--watch", "--json"], env=self.environment,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(events.kill)
            application = self.start_application()
            while not self.readable(events):  # it has subscribed when it hears of somebody
                application.kill()
                application = self.start_application()
            self.stand_in(answer)
            said = events.communicate(timeout=SECONDS)[1]
            self.assertEqual(events.returncode, 1, said)
            self.assertIn(words, said)
            application.kill()
            pathlib.Path(self.environment["MRC_SOCKET"]).unlink()
            self.start_mrcd()

    def test_who_looks_on_goes_on_when_mrcd_is_started_again(self):
        top = subprocess.Popen([MRC, "top", "--json", "--every", "0.1"], env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(top.communicate)
        self.addCleanup(top.kill)
        self.assertEqual(json.loads(top.stdout.readline())["mrcd_pid"], self.mrcd.pid)
        self.mrcd.kill()
        self.mrcd.wait()
        self.start_mrcd()
        while json.loads(top.stdout.readline())["mrcd_pid"] != self.mrcd.pid:
            continue  # from before
        self.stand_in(struct.pack("<IHHI", 4, 1, 9, 1) + bytes(4))
        said = top.communicate(timeout=SECONDS)[1]
        self.assertEqual(top.returncode, 1)
        self.assertIn("install both from one release", said)

    def test_mrcd_tells_a_program_of_another_release_why(self):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(self.environment["MRC_SOCKET"])
            caller.sendall(struct.pack("<IHHI", 4, 0, 2, 77) + bytes(4))
            said = b""
            while more := caller.recv(4096):
                said += more
        self.assertEqual(struct.unpack("<HHI", said[4:12]), (2, 2, 77))  # an Answer, in the program's version
        self.assertIn(b"another version of the protocol (3, this program 2)", said)


if __name__ == "__main__":
    unittest.main()
