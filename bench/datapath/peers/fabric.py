"""libfabric's tcp provider: RMA writes of 1 MiB and of 8 bytes, by a small client that is compiled on the spot."""
import json
import pathlib
import subprocess

from . import namespaces

NAME = "libfabric (tcp)"
PACKAGES = ["libfabric-dev", "libfabric-bin"]
PROVIDER = "tcp;ofi_rxm"


def measure(pair, seconds, build):
    client = _client(build)
    server = pair.right.start([client, namespaces.RIGHT, PROVIDER], env={"FI_TCP_IFACE": "r0"})
    try:
        done = pair.left.run([client, namespaces.LEFT, PROVIDER, namespaces.RIGHT, str(1 << 20), str(seconds)],
                             timeout=seconds * 10 + 20, env={"FI_TCP_IFACE": "l0"})
        report = json.loads(done.stdout)
        yield "libfabric_write_gbps", report["gbps"]
        yield "libfabric_write_us", report["half_rtt_us"]
    finally:
        namespaces.stop(server)


def _client(build):
    source = pathlib.Path(__file__).with_name("fabric_write.c")
    program = pathlib.Path(build) / "bin" / "fabric_write"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", str(source), "-lfabric", "-o", str(program)], check=True)
    return str(program)
