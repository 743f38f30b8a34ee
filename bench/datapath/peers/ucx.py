"""UCX over TCP by ucx_perftest: tag and put, bandwidth at 1 MiB, latency at 8 bytes, rate at 64 bytes."""
import subprocess
import time

from . import namespaces

NAME = "UCX (tcp)"
PACKAGES = ["ucx-utils"]

# test, size, iterations per second of measuring on a slow machine, column of the final line, scale, name of the figure
TESTS = [
    ("tag_bw", 1 << 20, 600, 5, 8 * 1048576 / 1e9, "ucx_tag_gbps"),
    ("ucp_put_bw", 1 << 20, 300, 5, 8 * 1048576 / 1e9, "ucx_put_gbps"),
    ("tag_lat", 8, 20000, 1, 1, "ucx_tag_us"),
    ("ucp_put_lat", 8, 10000, 1, 1, "ucx_put_us"),
    ("ucp_put_bw", 64, 50000, 7, 1e-6, "ucx_put_64_mops"),
]


def measure(pair, seconds, build):
    for test in TESTS:
        if (value := _one(pair, seconds, test)) is not None:
            yield test[-1], value


def _one(pair, seconds, test):
    name, size, per_second, column, scale, _ = test
    argv = ["ucx_perftest", "-t", name, "-s", str(size), "-n", str(int(per_second * seconds) + 100), "-w", "50", "-f", "-v"]
    server = pair.right.start(argv, env=_env("r0"))
    try:
        for _ in range(50):  # the server says nothing when it listens, so ask until it answers
            done = pair.left.run([argv[0], namespaces.RIGHT] + argv[1:], timeout=seconds * 10 + 5, env=_env("l0"))
            values = _last_numbers(done.stdout)
            if values:
                return values[column] * scale
            time.sleep(0.1)
        return None
    except subprocess.TimeoutExpired:
        return None  # both ends spin: on a machine that has no core for each, it may take for ever
    finally:
        namespaces.stop(server)


def _env(interface):
    return {"UCX_TLS": "tcp", "UCX_NET_DEVICES": interface, "UCX_WARN_UNUSED_ENV_VARS": "n"}


def _last_numbers(text):
    """iterations, percentile, average and overall latency, average and overall MB/s, average and overall messages/s."""
    for line in reversed(text.splitlines()):
        fields = line.split(",")
        try:
            numbers = [float(field) for field in fields]
        except ValueError:
            continue
        if len(numbers) >= 8:
            return numbers
    return None
