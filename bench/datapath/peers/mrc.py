"""OpenMRC itself, by `mrc perf` between the two namespaces. What is measured is the table; each row is one run of `mrc perf`."""
import json
import subprocess
import time

from . import namespaces

NAME = "OpenMRC"
PACKAGES = []

# Our name of the figure, arguments of `mrc perf` at both ends, the figure in its JSON, and settings of the library. A thousand QPs
# are compared with one at a size of which each of them completes many in a second.
RUNS = [
    ("mrc_spray_8_gbps", ["--size", "1M", "--spray-unit", "8"], ("gbps",), {}),
    ("mrc_spray_1_gbps", ["--size", "1M", "--spray-unit", "1"], ("gbps",), {}),
    ("mrc_spray_1_xdp_gbps", ["--size", "1M", "--spray-unit", "1"], ("gbps",), {"MRC_PORT": "xdp"}),
    ("mrc_write_8_us", ["--size", "8", "--latency"], ("half_rtt_us", "p50"), {}),
    ("mrc_write_8_xdp_us", ["--size", "8", "--latency"], ("half_rtt_us", "p50"), {"MRC_PORT": "xdp"}),
    ("mrc_write_64_mops", ["--size", "64", "--depth", "512"], ("mops",), {}),
    ("mrc_1_qp_gbps", ["--size", "64K", "--spray-unit", "8", "--depth", "256"], ("gbps",), {}),
    ("mrc_1000_qps_gbps", ["--size", "64K", "--spray-unit", "8", "--qps", "1000", "--depth", "4"], ("gbps",), {}),
]


def available(build):
    try:
        return subprocess.run([f"{build}/bin/mrc", "perf", "--help"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def measure(pair, seconds, build):
    if not available(build):
        return
    for name, args, path, settings in RUNS:
        report = _one(pair, seconds, build, args, settings)
        if report is None:
            continue
        value = report
        for key in path:
            value = value[key]
        yield name, float(value)
        yield name.rsplit("_", 1)[0] + "_repairs", float(report["repairs"])


def _one(pair, seconds, build, args, settings):
    mrc = [f"{build}/bin/mrc", "perf"]
    server = pair.right.start(mrc + ["--listen", namespaces.RIGHT6] + args, env=settings)
    try:
        for _ in range(30):
            done = pair.left.run(mrc + ["--connect", namespaces.RIGHT6, "--seconds", str(seconds), "--json"] + args,
                                 timeout=seconds * 5 + 20, env=settings)
            if done.returncode == 0:
                break
            time.sleep(0.1)
        return json.loads(done.stdout)
    except (json.JSONDecodeError, subprocess.TimeoutExpired):
        return None
    finally:
        namespaces.stop(server)
