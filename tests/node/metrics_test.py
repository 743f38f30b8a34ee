#!/usr/bin/env python3
"""Metrics of mrcd and of processes: as OpenMetrics' own parser reads them, as documented, and under abuse."""
import http.client
import json
import os
import pathlib
import re
import resource
import socket
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from node_case import SECONDS, NodeCase

SOURCE = pathlib.Path(os.environ["MRC_SOURCE_DIR"])
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
CONNECTIONS = 1000


def free_tcp_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path="/metrics", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


def scrape(port, path="/metrics"):
    answer, body = get(port, path, Accept=OPEN_METRICS)
    assert answer.status == 200 and answer.headers["Content-Type"] == OPEN_METRICS, answer.headers
    return {family.name: family for family in open_metrics(body)}


def value(family, **labels):
    found = [s.value for s in family.samples if all(s.labels.get(k) == v for k, v in labels.items())]
    assert len(found) == 1, (family, labels)
    return found[0]


class Metrics(NodeCase):
    def setUp(self):
        self.port = free_tcp_port()
        self.mrcd_options = ("--metrics", str(self.port))
        super().setUp()

    def writes(self, application):
        """Some writes, and mrcd knows of them."""
        self.more_writes(application)
        self.ctl("snapshot")

    def test_of_the_node(self):  # MRC-NODE-008
        self.create_profiles()
        application = self.start_application(1, 3)
        self.writes(application)
        first = scrape(self.port)
        self.assertEqual(value(first["mrc_device_queue_pairs"], device="mrc0"), 2)
        self.assertEqual(value(first["mrc_device_profiles"], device="mrc0", kind="ev"), 1)
        self.assertEqual(value(first["mrc_port_link_up"], device="mrc0", port="1", interface="lo"), 1)
        sent = value(first["mrc_device_tx_bytes"], device="mrc0")
        self.assertGreater(sent, 0)
        self.assertEqual((first["mrc_device_tx_bytes"].type, first["mrc_device_tx_bytes"].unit), ("counter", "bytes"))
        self.writes(application)
        self.ctl("ports", "down", "1")
        second = scrape(self.port)
        self.assertGreater(value(second["mrc_device_tx_bytes"], device="mrc0"), sent)
        self.assertEqual(value(second["mrc_port_enabled"], device="mrc0"), 0)
        self.ctl("ports", "up", "1")
        self.end(application)
        after = scrape(self.port)  # what a process did stays when it is gone
        self.assertGreaterEqual(value(after["mrc_device_tx_bytes"], device="mrc0"),
                                value(second["mrc_device_tx_bytes"], device="mrc0"))

    def test_of_each_process(self):
        one, other = self.start_application(), self.start_application()
        self.writes(one)
        metrics = scrape(self.port, "/metrics/processes")
        labels = {"device": "mrc0", "pid": str(one.pid)}
        self.assertEqual(value(metrics["mrc_process_queue_pairs"], **labels), 2)
        self.assertGreater(value(metrics["mrc_process_rx_bytes"], **labels), 0)
        self.assertEqual(value(metrics["mrc_process_rx_bytes"], device="mrc0", pid=str(other.pid)), 0)
        self.more_writes(other)
        self.end(one)
        self.end(other)

    def test_of_a_process_that_is_asked(self):
        port = free_tcp_port()
        application = self.start_application(MRC_METRICS=str(port), MRC_SOCKET="")
        self.more_writes(application)
        whole = scrape(port)
        self.assertGreater(value(whole["mrc_process_tx_packets"], pid=str(application.pid)), 0)
        qps = scrape(port, "/metrics/qps")
        sender = max(qps["mrc_qp_tx_bytes"].samples, key=lambda s: s.value).labels
        self.assertGreater(value(qps["mrc_qp_rtt_seconds"], **sender), 0)
        # How many are good at the moment is the machine's affair.
        states = ("good", "skip", "assumed_bad", "denied")
        self.assertEqual(sum(value(qps["mrc_qp_evs"], state=state, **sender) for state in states), 128)
        self.end(application)

    def test_the_older_form_for_who_asks_for_nothing(self):
        answer, body = get(self.port)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        names = {family.name for family in prometheus(body)}
        self.assertIn("mrc_device_tx_bytes", names)  # the parser takes _total off
        self.assertNotIn("# EOF", body)

    def test_documented_and_shown(self):
        application = self.start_application(MRC_METRICS=str(port := free_tcp_port()))
        self.writes(application)
        served = {}
        for at, path in ((self.port, "/metrics"), (self.port, "/metrics/processes"), (port, "/metrics/qps")):
            served |= scrape(at, path)
        self.end(application)
        samples = {s.name for family in served.values() for s in family.samples}
        documented = set(re.findall(r"^\| `(mrc_\w+)`", (SOURCE / "docs/operating/metrics.md").read_text(), re.M))
        self.assertEqual(documented, samples)
        board = json.loads((SOURCE / "share/grafana/openmrc.json").read_text())
        queries = [t["expr"] for panel in board["panels"] for t in panel.get("targets", [])]
        self.assertGreater(len(queries), 5)
        shown = set(re.findall(r"mrc_\w+", " ".join(queries)))
        self.assertLessEqual(shown, samples)

    def test_what_is_not_served(self):
        self.assertEqual(get(self.port, "/etc/passwd")[0].status, 404)
        self.assertIn(get(self.port, "/metrics/../../etc/passwd")[0].status, (400, 404))
        self.assertEqual(get(self.port, Host="evil.example")[0].status, 403)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request("DELETE", "/metrics")
        self.assertEqual(connection.getresponse().status, 405)
        connection.close()

    def talk(self, *pieces):
        """All that comes back until the server ends it."""
        heard = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as s:
            try:
                for piece in pieces:
                    s.sendall(piece)
                while more := s.recv(65536):
                    heard += more
            except (BrokenPipeError, ConnectionResetError):
                pass
        return heard

    def test_malformed_and_oversized_requests(self):  # MRC-NODE-009
        begin = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
        bad = [b"\x00" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /%zz HTTP/1.1\r\n\r\n",
               b"\x16\x03\x01\x02\x00" + os.urandom(512) + b"\r\n\r\n", begin + b"no colon\r\n\r\n", begin + b" folded\r\n\r\n",
               begin + b"A: " + b"a" * 100000 + b"\r\n\r\n", begin + b"B: b\r\n" * 1000 + b"\r\n",
               begin + b"Content-Length: 99999999999999999999\r\n\r\n", begin + b"Content-Length: -1\r\n\r\n",
               begin + b"Content-Length: 1000000\r\n\r\n" + b"x" * 100000, begin + b"Transfer-Encoding: chunked\r\n\r\n"]
        for request in bad:
            said = self.talk(request)
            self.assertNotIn(b" 200 ", said[:16], request[:80])
        self.assertIn(b"# EOF", self.talk(begin + b"Connection: close\r\nAccept: application/openmetrics-text\r\n\r\n"))
        self.assertIn("mrc_node", scrape(self.port))

    def test_a_thousand_connections_that_say_nothing_or_little(self):  # MRC-NODE-009
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * CONNECTIONS), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        crowd = []
        for i in range(CONNECTIONS):
            s = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
            self.addCleanup(s.close)
            if i % 2:
                s.sendall(b"GET /metrics HTTP/1.1\r\nHo")
            crowd.append(s)
        self.assertIn("mrc_node", scrape(self.port))
        self.assertTrue(self.json("ports"))
        self.assertIsNone(self.mrcd.poll())


if __name__ == "__main__":
    unittest.main()
