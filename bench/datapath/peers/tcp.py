"""Kernel TCP by iperf3: one stream, cubic, with the offloads that a veth has."""
import json

from . import namespaces

NAME = "TCP cubic (iperf3)"
PACKAGES = ["iperf3"]


def measure(pair, seconds, build):
    server = pair.right.start(["iperf3", "-s", "-1", "-B", namespaces.RIGHT, "--forceflush"])
    try:
        server.stdout.readline()
        server.stdout.readline()  # "Server listening": it is there
        done = pair.left.run(["iperf3", "-c", namespaces.RIGHT, "-C", "cubic", "-t", str(max(seconds, 1)), "-O", "0", "-J"],
                             timeout=seconds + 30)
        report = json.loads(done.stdout)
        yield "tcp_cubic_gbps", report["end"]["sum_received"]["bits_per_second"] / 1e9
    finally:
        namespaces.stop(server)
