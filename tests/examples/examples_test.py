#!/usr/bin/env python3
"""Every example, run as its first comment says: two processes of one host, over loopback."""
import os
import pathlib
import re
import socket
import subprocess
import unittest

MRC = os.environ["MRC_BIN_DIR"] + "/mrc"
EXAMPLES = pathlib.Path(os.environ["MRC_BIN_DIR"]).parent / "examples"
SECONDS = 120  # generous: a wait that ends early proves nothing


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def command(example, address, port, *arguments):
    return [MRC, "exec", "-d", f"lo/{address}", "--udp-port", port, "--", EXAMPLES / example, *arguments]


class Pairs(unittest.TestCase):
    def run_pair(self, example, *to_client, to_server=()):
        """Starts the side that listens, then the other one; gives what both said."""
        port = free_udp_port()
        with subprocess.Popen(command(example, "127.0.0.1", port, *to_server), stdout=subprocess.PIPE, text=True) as server:
            try:
                listening = re.fullmatch(r"listening on (\d+)\n", server.stdout.readline())
                self.assertTrue(listening)
                client = subprocess.run(command(example, "127.0.0.2", port, "127.0.0.1", listening[1], *to_client),
                                        capture_output=True, text=True, timeout=SECONDS)
                self.assertEqual(client.returncode, 0, client.stdout + client.stderr)
                said, _ = server.communicate(timeout=SECONDS)
                self.assertEqual(server.returncode, 0, said)
            finally:
                server.kill()
        return client.stdout, said

    def test_hello_write(self):
        client, server = self.run_pair("hello_write")
        self.assertEqual(client, "written\n")
        self.assertEqual(server, "my memory says: hello over many paths\n")

    def test_write_with_imm(self):
        client, server = self.run_pair("write_with_imm")
        self.assertEqual(client, "sent 10\n")
        expected = [f"message {i}: 100000 bytes of '{chr(97 + i)}' to '{chr(97 + i)}'" for i in range(10)]
        self.assertEqual(server.splitlines(), expected)

    def test_watch_paths(self):
        client, _ = self.run_pair("watch_paths", "0.2")
        self.assertRegex(client, r"plane 1  lo +link up +\d+ of 128 paths")
        self.assertRegex(client, r"\d+ MiB, every write completed\n$")

    def test_incast_with_and_without_a_hint(self):
        for hint in ((), ("hint",)):
            client, _ = self.run_pair("incast", "4", *hint, to_server=("4",))
            self.assertRegex(client, r"^4 senders: first done after [\d.]+ ms, last after [\d.]+ ms")


class Controller(unittest.TestCase):
    @unittest.skipIf(os.geteuid() != 0, "a controller needs CAP_NET_ADMIN; an ordinary user has none")
    def test_controller(self):
        done = subprocess.run(command("controller", "127.0.0.1", free_udp_port()), capture_output=True, text=True,
                              timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        states = ["EV 50000: good", "EV 50001: good", "EV 50002: denied", "EV 50003: good"]
        self.assertEqual(done.stdout.splitlines(), [*states, "CC profile 7: NSCC, target delay 18000 ns"])


if __name__ == "__main__":
    unittest.main()
