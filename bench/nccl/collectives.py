#!/usr/bin/env python3
"""NCCL's collectives over OpenMRC and over NCCL's own sockets, in the same processes, in turns, on the same links.

Needs root, PyTorch with NCCL and one GPU, which all ranks share: start MPS before (nvidia-cuda-mps-control -d). Every result is
checked on the GPU.
Example: bench/nccl/collectives.py --ranks 2 --planes 4 --sizes 8,64K,1M,256M --out result.json
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import ranks
import wires

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv")
SIZES = "8,64,1K,8K,64K,1M,8M,64M,256M,1G"


def iterations(size):
    return 50 if size <= 64 << 10 else 20 if size <= 1 << 20 else 8 if size <= 16 << 20 else 3


def bus_factor(operation, n):
    return {"all_reduce": 2 * (n - 1) / n, "sendrecv": 1.0}.get(operation, (n - 1) / n)


class Operation:
    """Buffers for one operation and size, a way to run it, and a way to see that it did what it should."""

    def __init__(self, torch, dist, name, size, rank, n):
        self.dist, self.name, self.rank, self.n = dist, name, rank, n
        count = max(1, size // 4 // n) * n
        self.bytes = count * 4
        base = torch.arange(count, device="cuda", dtype=torch.float32) % 1000
        self.block = count // n
        if name == "all_reduce":
            self.source, self.expected = base + rank, base * n + n * (n - 1) / 2
            self.target = torch.empty_like(base)
        elif name == "all_gather":
            self.source = (base[: self.block] + rank).contiguous()
            self.target = torch.zeros_like(base)
            self.expected = torch.cat([base[: self.block] + r for r in range(n)])
        elif name == "reduce_scatter":
            self.source, self.target = base + rank, torch.zeros_like(base[: self.block])
            self.expected = base[rank * self.block:(rank + 1) * self.block] * n + n * (n - 1) / 2
        elif name == "alltoall":
            self.source, self.target = base + rank, torch.zeros_like(base)
            mine = base[rank * self.block:(rank + 1) * self.block]
            self.expected = torch.cat([mine + r for r in range(n)])
        else:
            self.source, self.target = base + rank, torch.zeros_like(base)
            self.expected = base + (rank - 1) % n

    def prepare(self):
        self.target.copy_(self.source) if self.name == "all_reduce" else self.target.zero_()

    def run(self, group):
        d = self.dist
        if self.name == "all_reduce":
            d.all_reduce(self.target, group=group)
        elif self.name == "all_gather":
            d.all_gather_into_tensor(self.target, self.source, group=group)
        elif self.name == "reduce_scatter":
            d.reduce_scatter_tensor(self.target, self.source, group=group)
        elif self.name == "alltoall":
            d.all_to_all_single(self.target, self.source, group=group)
        else:
            pair = [d.P2POp(d.isend, self.source, (self.rank + 1) % self.n, group=group),
                    d.P2POp(d.irecv, self.target, (self.rank - 1) % self.n, group=group)]
            for work in d.batch_isend_irecv(pair):
                work.wait()

    def wrong(self):
        return int((self.target != self.expected).sum())


def make_group(dist, transport, datetime):
    options = dist.ProcessGroupNCCL.Options()
    options.config.net_name = transport
    return dist.new_group(pg_options=options, timeout=datetime.timedelta(seconds=100))


def recorded(torch, run):
    """The same work without PyTorch's part of each call: recorded once, then played by the GPU."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def measure(torch, operation, group, size, graph):
    operation.prepare()
    operation.run(group)
    torch.cuda.synchronize()
    wrong = operation.wrong()
    n = iterations(size)

    def run():
        for _ in range(n):
            operation.run(group)

    if graph:
        run = recorded(torch, run)
    run() if graph else operation.run(group)  # everybody is here now
    torch.cuda.synchronize()
    began = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / n, wrong


def work(options):
    ranks.enter_namespace(os.environ["OPENMRC_NAMESPACE"])
    import datetime
    import torch
    import torch.distributed as dist
    rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method="file://" + os.environ["OPENMRC_STORE"], rank=rank, world_size=n)
    groups = {transport: make_group(dist, transport, datetime) for transport in options.transports}
    rows = []
    for name in options.operations:
        for size in options.sizes:
            operation = Operation(torch, dist, name, size, rank, n)
            for turn in range(options.rounds):
                for transport, group in groups.items():
                    seconds, wrong = measure(torch, operation, group, size, options.graph)
                    rows.append({"operation": name, "size": size, "bytes": operation.bytes, "transport": transport,
                                 "round": turn, "seconds": seconds, "wrong": wrong})
            del operation
        pathlib.Path(f"{options.rows}.{rank}").write_text(json.dumps(rows))
    version = ".".join(map(str, torch.cuda.nccl.version()))
    if rank == 0:
        print(f"rank 0: torch {torch.__version__}, NCCL {version}, {torch.cuda.get_device_name(0)}", file=sys.stderr)
    dist.destroy_process_group()


def merge(paths, n):
    """The slowest rank counts; the fastest round counts; wrong elements add up."""
    table = {}
    for path in paths:
        if not os.path.exists(path):
            continue
        for row in json.loads(pathlib.Path(path).read_text()):
            rounds = table.setdefault((row["operation"], row["size"], row["transport"]), {})
            entry = rounds.setdefault(row["round"], {"seconds": 0.0, "wrong": 0, "bytes": row["bytes"]})
            entry["seconds"] = max(entry["seconds"], row["seconds"])
            entry["wrong"] += row["wrong"]
    merged = []
    for (operation, size, transport), rounds in table.items():
        seconds = sorted(entry["seconds"] for entry in rounds.values())
        moved = next(iter(rounds.values()))["bytes"] * bus_factor(operation, n)
        merged.append({"operation": operation, "size": size, "transport": transport, "us": round(seconds[0] * 1e6, 1),
                       "us_median": round(seconds[len(seconds) // 2] * 1e6, 1), "busbw_gbps": round(moved * 8e-9 / seconds[0], 3),
                       "wrong": sum(entry["wrong"] for entry in rounds.values())})
    return merged


def print_table(rows):
    by_key = {}
    for row in rows:
        by_key.setdefault((row["operation"], row["size"]), {})[row["transport"]] = row
    transports = list(dict.fromkeys(row["transport"] for row in rows))
    both = "OpenMRC / Socket" if {"OpenMRC", "Socket"} <= set(transports) else ""
    print(f"{'operation':15}{'bytes':>12}  " + "".join(f"{name + ' us':>12}{'Gb/s':>9}  " for name in transports) + both)
    for (operation, size), pair in by_key.items():
        line = f"{operation:15}{size:>12}  "
        for name in transports:
            line += f"{pair[name]['us']:>12.1f}{pair[name]['busbw_gbps']:>9.3f}  " if name in pair else f"{'-':>12}{'-':>9}  "
        if {"OpenMRC", "Socket"} <= set(pair):
            line += f"rate {pair['OpenMRC']['busbw_gbps'] / max(pair['Socket']['busbw_gbps'], 1e-9):.2f}"
        wrong = sum(row["wrong"] for row in pair.values())
        print(line + (f"  {wrong} WRONG" if wrong else ""))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rows", default="", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--planes", type=int, default=4)
    parser.add_argument("--rate", type=ranks.rate, help="of each NIC port, such as 5G; without it as fast as the machine is")
    parser.add_argument("--lab", action="store_true", help="through the lab's SRv6 switches instead of over bare veth cables")
    parser.add_argument("--ipv4", action="store_true", help="bare cables with IPv4 addresses (IPv6)")
    parser.add_argument("--operations", type=ranks.words(*OPERATIONS), default=",".join(OPERATIONS))
    parser.add_argument("--sizes", type=ranks.sizes, default=SIZES)
    parser.add_argument("--rounds", type=int, default=2, help="turns of each transport at each size; the best counts")
    parser.add_argument("--graph", action="store_true", help="recorded in a CUDA graph: what PyTorch needs for each call is not measured")
    parser.add_argument("--transports", type=ranks.words("OpenMRC", "Socket"), default="OpenMRC,Socket")
    parser.add_argument("--seconds", type=float, default=300, help="give up after so long")
    parser.add_argument("--out", help="JSON goes there")
    parser.add_argument("--dry-run", action="store_true", help="build the lab, show a rank's environment, run nothing")
    ranks.add_tuning(parser)
    return parser.parse_args(arguments)


def make_network(options, kit):
    if options.lab:
        return ranks.Lab(kit, options.ranks, options.planes, rate=options.rate)
    rate = ranks.bits_per_second(options.rate) if options.rate else None
    return wires.Wires(options.ranks, options.planes, rate, options.ipv4)


def main(arguments):
    options = parse(arguments)
    if options.worker:
        return work(options)
    if not options.dry_run:
        ranks.find_torch()
    kit = ranks.find_kit()
    rows = tempfile.mktemp(prefix="openmrc-rows-")
    with make_network(options, kit) as lab:
        extra = ranks.tuning_environment(options, lab)
        if options.dry_run:
            shown = ranks.rank_environment(kit, lab, 0, options.ranks, "store", extra)
            return print("\n".join(sorted(f"{k}={v}" for k, v in shown.items() if k.startswith(("NCCL", "OPENMRC", "RANK")))))
        mps = ranks.check_mps()
        started = ranks.start_ranks(__file__, [*arguments, "--rows", rows], kit, lab, options.ranks, extra)
        ended_well = ranks.reap(started, options.seconds)
    paths = [f"{rows}.{rank}" for rank in range(options.ranks)]
    merged = merge(paths, options.ranks)
    for path in paths:
        pathlib.Path(path).unlink(missing_ok=True)
    print_table(merged)
    setting = {k: v for k, v in vars(options).items() if k not in ("worker", "rows", "out", "dry_run")}
    ranks.write_json(options.out, {"setting": {**setting, "mps": mps}, "ended_well": ended_well, "rows": merged})
    return 0 if ended_well and merged and not any(row["wrong"] for row in merged) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
