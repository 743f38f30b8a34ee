#!/usr/bin/env python3
"""A small GPT trained by DDP over a multi-plane lab whose planes, cables and switches fail and return.

Runs the job undisturbed, then with faults, over OpenMRC; then the same faults over NCCL's sockets. With the reduction order
fixed, the losses of the disturbed run must equal those of the undisturbed one bit for bit. Needs root, PyTorch and one GPU with
MPS (nvidia-cuda-mps-control -d).
Example: bench/nccl/train.py --ranks 2 --planes 4 --steps 120 --out train.json --svg train.svg
"""
import argparse
import os
import subprocess
import sys
import threading
import time

import ranks

# At which share of the steps, what happens. Names are those of `mrc lab`; host 0 is under T0 switch 0.
STORY = [
    (0.15, "a NIC port dies", ["fail", "h0.p1"]),
    (0.30, "healed", ["heal"]),
    (0.40, "a cable swallows everything", ["fail", "--silent", "p2.t0.0-p2.t1.0"]),
    (0.55, "healed", ["heal"]),
    (0.65, "a switch dies", ["fail", "p3.t1.0"]),
    (0.80, "healed", ["heal"]),
]
MOODS = {"calm": [], "story": STORY, "dead": [(0.5, "every plane dies", ["fail", "h0"])]}


def work(options):
    ranks.enter_namespace(os.environ["OPENMRC_NAMESPACE"])
    import torch
    import torch.distributed as dist
    import gpt
    rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(0)
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("nccl", init_method="file://" + os.environ["OPENMRC_STORE"], rank=rank, world_size=n,
                            device_id=torch.device("cuda", 0))
    model = torch.nn.parallel.DistributedDataParallel(gpt.Gpt(options.width, options.layers).cuda(), bucket_cap_mb=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    if rank == 0:
        print(f"parameters {sum(p.numel() for p in model.parameters())}", flush=True)
    for step in range(options.steps):
        began = time.perf_counter()
        tokens, targets = (t.cuda() for t in gpt.batch(step, rank, options.batch))
        optimizer.zero_grad(set_to_none=True)
        loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        value = (shown / n).item()
        if rank == 0:
            print(f"step {step} {float(value).hex()} {time.perf_counter() - began:.6f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


class Reader(threading.Thread):
    """Rank 0's lines, as they come."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.steps, self.parameters, self.heard = stream, [], 0, time.monotonic()

    def run(self):
        for line in self.stream:
            words = line.split()
            if words[:1] == ["step"]:
                self.steps.append({"loss": float.fromhex(words[2]), "bits": words[2], "seconds": float(words[3])})
            elif words[:1] == ["parameters"]:
                self.parameters = int(words[1])
            self.heard = time.monotonic()


def run(options, arguments, kit, transport, story):
    """One job. Faults come when rank 0 has reached their step."""
    with ranks.Lab(kit, options.ranks, options.planes, t1=2, rate=options.rate) as lab:
        extra = {"NCCL_NET": transport, "NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
                 **ranks.tuning_environment(options, lab)}
        started = ranks.start_ranks(__file__, arguments, kit, lab, options.ranks, extra, pipe_first=True)
        reader = Reader(started[0].stdout)
        reader.start()
        faults = [{"step": int(share * options.steps), "what": what, "command": command} for share, what, command in story]
        pending, stalled, broken_at = list(faults), None, time.monotonic()
        while started[0].poll() is None:
            time.sleep(0.002)
            if pending and len(reader.steps) >= pending[0]["step"]:
                fault = pending.pop(0)
                fault["at_step"] = len(reader.steps)
                lab.command(*fault["command"])
                broken_at = time.monotonic()
            if time.monotonic() - reader.heard > (options.stall if reader.steps else options.start):
                stalled = f"no step for {options.stall} s after step {len(reader.steps) - 1}"
                break
        until_end = time.monotonic() - broken_at
        ended_well = ranks.reap(started, 0.1 if stalled else 20)
        reader.join(timeout=2)
    return {"transport": transport, "disturbed": bool(story), "parameters": reader.parameters, "ended_well": ended_well,
            "stalled": stalled, "seconds_from_last_fault_to_end": round(until_end, 3), "faults": [{k: f[k] for k in ("what", "at_step") if k in f} for f in faults], "steps": reader.steps}


def phases(result):
    """Median and longest step of each stretch between faults; the first steps of a job are left out."""
    edges = [0] + [f["at_step"] for f in result["faults"] if "at_step" in f] + [len(result["steps"])]
    names = ["everything works"] + [f["what"] for f in result["faults"] if "at_step" in f]
    rows = []
    for name, begin, end in zip(names, edges, edges[1:]):
        seconds = sorted(s["seconds"] for s in result["steps"][max(begin, 3):end])
        if seconds:
            rows.append({"phase": name, "steps": len(seconds), "median_ms": round(seconds[len(seconds) // 2] * 1e3, 2),
                         "longest_ms": round(seconds[-1] * 1e3, 2)})
    return rows


def verdict(results, steps):
    """Whether OpenMRC's jobs did what they should, each whole and all with the same losses, and whether losses were the same, of
    two jobs or more. A job whose every plane dies should fail; what becomes of sockets is their business."""
    ours = [r for r in results if r["transport"] == "OpenMRC" and r["mood"] != "dead"]
    whole = all(r["ended_well"] and len(r["steps"]) == steps for r in ours)
    same = whole and len({tuple(s["bits"] for s in r["steps"]) for r in ours}) == 1 if len(ours) > 1 else None
    failed_in_time = all(not r["ended_well"] and not r["stalled"] for r in results if r["transport"] == "OpenMRC" and r["mood"] == "dead")
    return whole and same is not False and failed_in_time, same


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--planes", type=int, default=4, help="at least 4: the story breaks three of them in turn")
    parser.add_argument("--rate", type=ranks.rate, help="of each NIC port, such as 5G")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=8, help="sequences per rank")
    parser.add_argument("--jobs", type=ranks.words(*(f"{t}:{m}" for t in ("OpenMRC", "Socket") for m in MOODS)),
                        default="OpenMRC:calm,OpenMRC:story,Socket:calm,Socket:story", help="TRANSPORT:MOOD, of " + ", ".join(MOODS))
    parser.add_argument("--stall", type=float, default=30, help="seconds without a step after which a job counts as hung")
    parser.add_argument("--start", type=float, default=90, help="the same until the first step")
    parser.add_argument("--out", help="JSON goes there")
    parser.add_argument("--svg", help="a picture goes there")
    ranks.add_tuning(parser)
    options = parser.parse_args(arguments)
    if options.svg and not options.out:
        parser.error("--svg draws what --out wrote: name both")
    if options.planes < 4 and any(job.endswith(":story") for job in options.jobs):
        parser.error("--planes: the story breaks three planes in turn, and needs 4")
    if options.width % 6:
        parser.error("--width: six heads share it, so it must be a multiple of 6")
    return options


def main(arguments):
    options = parse(arguments)
    if options.worker:
        return work(options)
    ranks.find_torch()
    kit, mps = ranks.find_kit(), ranks.check_mps()
    results = []
    for job in options.jobs:
        transport, mood = job.split(":")
        result = run(options, arguments, kit, transport, MOODS[mood])
        result["phases"], result["mood"] = phases(result), mood
        results.append(result)
        print(f"{transport}, {mood}: {len(result['steps'])} steps" + (f", {result['stalled']}" if result["stalled"] else "")
              + ("" if result["ended_well"] or result["stalled"]
                 else f", failed {result['seconds_from_last_fault_to_end']} s after the last fault"), flush=True)
        for row in result["phases"]:
            print(f"  {row['phase']:30}{row['steps']:>5} steps, median {row['median_ms']:>9.2f} ms, longest {row['longest_ms']:>9.2f} ms")
    well, same = verdict(results, options.steps)
    if same is not None:
        print(f"losses with and without faults: {'identical bit for bit' if same else 'DIFFERENT'}")
    setting = {k: v for k, v in vars(options).items() if k not in ("worker", "out", "svg")}
    ranks.write_json(options.out, {"setting": {**setting, "mps": mps}, "identical": same, "runs": results})
    if options.svg:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "plot.py"), options.out, options.svg], check=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
