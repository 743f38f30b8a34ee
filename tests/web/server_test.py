"""`mrc web` as strangers meet it: who may ask, what is refused, and what a bad start says."""
import base64
import itertools
import json
import os
import socket
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from server_for_test import MRC, ROOT, Server

SCENARIO = ROOT / "share/scenarios/watch.toml"


def ask(url, path, method="GET", body=None, **headers):
    """Status and text of an answer."""
    base = urllib.parse.urlsplit(url)
    request = urllib.request.Request(f"{base.scheme}://{base.netloc}{path}", method=method, data=body.encode() if body is not None else None,
                                     headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.read().decode()


def live_frames(url):
    """The events of the live stream, as they come."""
    with urllib.request.urlopen(url.split("?")[0] + "api/live" + (f"?{urllib.parse.urlsplit(url).query}" if "?" in url else ""), timeout=30) as stream:
        while True:
            line = stream.readline().decode()
            if line.startswith("data: "):
                yield json.loads(line[6:])


def next_frames(url, count):
    return list(itertools.islice(live_frames(url), count))


class OnLoopback(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(SCENARIO)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def ask(self, *words, **more):
        return ask(self.server.url, *words, **more)

    def act(self, **action):
        return self.ask("/api/act", "POST", json.dumps(action), Content_Type="application/json")

    def test_a_failed_link_is_in_the_next_frames(self):
        self.assertEqual(self.act(verb="fail", target="p0.t0.0-p0.t1.1")[0], 200)
        seen = next_frames(self.server.url, 8)
        self.assertTrue(any(fault[1] == "down" for f in seen for fault in f["faults"]), "not seen in 8 frames, 0.8 s")
        self.assertEqual(self.act(verb="heal")[0], 200)

    def test_actions_that_make_no_sense_are_refused_with_a_sentence(self):
        for action, status in [({"verb": "explode"}, 400), ({"verb": "fail", "target": "p9.t9.9"}, 409), ({"verb": "fail"}, 409),
                               ({"verb": "fail", "target": 7}, 400), ({"verb": "fail", "target": "p0", "loss": 3}, 400), ({"verb": "pace", "pace": -1}, 400),
                               ({"verb": "focus", "plane": 99}, 409)]:
            got, text = self.act(**action)
            self.assertEqual(got, status, action)
            self.assertGreater(len(text), 10)
        self.assertEqual(self.ask("/api/act", "POST", "{", Content_Type="application/json")[0], 400)
        self.assertEqual(self.ask("/api/act", "POST", "[" * 60000, Content_Type="application/json")[0], 400)

    def test_other_sites_pages_may_not_speak_to_it(self):
        self.assertEqual(self.ask("/api/fabric", Host="attacker.example")[0], 403)
        self.assertEqual(self.ask("/api/fabric", Origin="http://attacker.example")[0], 403)
        self.assertEqual(self.ask("/api/act", "POST", '{"verb":"heal"}', Content_Type="text/plain")[0], 415)

    def test_there_is_nothing_else(self):
        self.assertEqual(self.ask("/etc/passwd")[0], 404)
        self.assertEqual(self.ask("/../../etc/passwd")[0], 400)
        self.assertEqual(self.ask("/%2e%2e/%2e%2e/etc/passwd")[0], 400)
        self.assertEqual(self.ask("/", "POST", "x")[0], 405)
        self.assertEqual(self.ask("/api/act")[0], 405)
        self.assertEqual(self.ask("/api/act", "POST", "x" * 100_000, Content_Type="application/json")[0], 413)

    def test_a_path_is_told_hop_by_hop(self):
        status, text = self.ask("/api/path?from=0&to=5&plane=1&uplink0=2")
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(text)["names"], ["h0>p1.t0.0", "p1.t0.0>p1.t1.2", "p1.t1.2>p1.t0.1", "p1.t0.1>h5"])
        for query in ("from=0&to=0&plane=0", "from=0&to=99&plane=0", "from=0&to=1&plane=9", "from=x&to=1&plane=0", ""):
            self.assertEqual(self.ask("/api/path?" + query)[0], 400, query)


class Elsewhere(unittest.TestCase):
    def test_everything_needs_the_token(self):
        with Server(SCENARIO, "--listen", "0.0.0.0") as server:
            parts = urllib.parse.urlsplit(server.url)
            self.assertEqual(parts.hostname, socket.gethostname().lower())  # 0.0.0.0 is nothing that a browser elsewhere finds
            url = parts._replace(netloc=f"127.0.0.1:{parts.port}").geturl()
            token = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["token"][0]
            self.assertEqual(len(token), 32)
            for path in ("/", "/api/fabric", "/api/live"):
                self.assertEqual(ask(url, path)[0], 401)
            heal = json.dumps({"verb": "heal"})
            self.assertEqual(ask(url, "/api/act", "POST", heal, Content_Type="application/json")[0], 401)
            self.assertEqual(ask(url, "/api/act?token=" + "0" * 32, "POST", heal, Content_Type="application/json")[0], 401)
            self.assertEqual(ask(url, "/api/fabric", Authorization=f"Bearer {token}")[0], 200)
            self.assertEqual(ask(url, "/api/fabric", Cookie=f"mrc_token={token}")[0], 200)
            self.assertEqual(ask(url, "/api/act", "POST", heal, Content_Type="application/json", Cookie=f"mrc_token={token}", Origin="http://attacker.example")[0], 403)
            self.assertEqual(ask(url, "/api/act", "POST", heal, Content_Type="application/json", Authorization=f"Bearer {token}")[0], 200)


class OnALab(unittest.TestCase):
    """A lab of kernels: what its interfaces carry, and cables that break by a request."""

    def setUp(self):
        self.name = f"web{os.getpid()}"
        up = subprocess.run([MRC, "lab", "up", "--name", self.name, "--planes", "2", "--hosts-per-t0", "1", "--rate", "100M"], capture_output=True, text=True, timeout=120)
        if up.returncode == 77:
            self.skipTest(up.stderr)
        self.assertEqual(up.returncode, 0, up.stderr)
        self.addCleanup(subprocess.run, [MRC, "lab", "down", "--name", self.name], capture_output=True, timeout=120)

    def test_a_cable_fails_in_the_page_as_in_the_lab(self):
        with Server("--lab", self.name) as server:
            self.assertEqual(json.loads(ask(server.url, "/api/fabric")[1])["source"], "lab")
            link = "p0.t0.0-p0.t1.0"
            fail = json.dumps({"verb": "fail", "target": link})
            self.assertEqual(ask(server.url, "/api/act", "POST", fail, Content_Type="application/json")[0], 200)
            seen = next_frames(server.url, 4)
            self.assertTrue(any(f["faults"] for f in seen), "not seen in 4 frames, 0.8 s")
            status = json.loads(subprocess.run([MRC, "lab", "status", "--name", self.name, "--json"], capture_output=True, text=True).stdout)
            self.assertEqual({f["link"] for f in status["faults"]}, {link})
            self.assertEqual(ask(server.url, "/api/act", "POST", '{"verb":"heal"}', Content_Type="application/json")[0], 200)
            self.assertTrue(any(not f["faults"] for f in next_frames(server.url, 4)))
            # Traffic of any program shows.
            address = next(h["addresses"][1] for h in status["host_addresses"] if h["host"] == "h1")
            send = f"import socket, time\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\nwhile True: s.sendto(bytes(1000), ('{address}', 9)); time.sleep(0.001)"
            sender = subprocess.Popen([MRC, "lab", "exec", "--name", self.name, "h0", "--", "python3", "-c", send], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:  # 5 frames a second; how soon the program is at work is the machine's affair
                seen = itertools.islice(live_frames(server.url), 300)
                carried = any(any(base64.b64decode(f["load"])) for f in seen)
            finally:
                sender.terminate()
                sender.wait()
            self.assertTrue(carried, "no interface carried anything in a minute")
            self.assertEqual(ask(server.url, "/api/act", "POST", '{"verb":"pause"}', Content_Type="application/json")[0], 409)


class BadStart(unittest.TestCase):
    def refused(self, *words, status=1):
        done = subprocess.run([MRC, "web", *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, words)
        return done.stderr

    def test_says_what_is_wrong(self):
        self.assertIn("nothing to show", self.refused(status=2))
        self.assertIn("nowhere.toml", self.refused("nowhere.toml"))
        self.assertIn("no recording", self.refused("--trace", SCENARIO))
        self.assertIn("127.0.0.1", self.refused(SCENARIO, "--listen", "example"))
        self.assertIn("no host 99", self.refused(SCENARIO, "--host", "99"))


if __name__ == "__main__":
    unittest.main()
