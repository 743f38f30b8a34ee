"""Raw UDP by bench_raw: single packets, trains of 8 and 15, spinning and blocking ping-pong."""
import json
import subprocess

NAME = "raw UDP"
PACKAGES = []


def measure(pair, seconds, build):
    """bench_raw makes namespaces of the same shape itself."""
    done = subprocess.run([f"{build}/bin/bench_raw", "--json", "--rounds", "1", "--seconds", str(seconds), "--via", "socket",
                           "--train", "1", "--train", "8", "--train", "15"], capture_output=True, text=True, timeout=120)
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    names = {"socket_train_1": "raw_udp_single_gbps", "socket_train_8": "raw_udp_train_8_gbps",
             "socket_train_15": "raw_udp_train_15_gbps", "socket_ping_spin": "raw_udp_spin_us",
             "socket_ping_blocking": "raw_udp_blocking_us"}
    for theirs, ours in names.items():
        if "median" in rows.get(theirs, {}):
            yield ours, rows[theirs]["median"]
