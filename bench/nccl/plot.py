#!/usr/bin/env python3
"""Draws what train.py measured: the time of each step under each transport, the faults, and the losses. plot.py IN.json OUT.svg"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP = 900, 250, 70, 30
COLOURS = {"OpenMRC": "#1a6", "Socket": "#c33"}


def scale(value, low, high):
    return (math.log10(max(value, low)) - math.log10(low)) / (math.log10(high) - math.log10(low))


def step_times(run, y, steps, low, high):
    colour = COLOURS.get(run["transport"], "#555")
    points = " ".join(f"{LEFT + WIDTH * i / steps:.1f},{y + HEIGHT * (1 - scale(s['seconds'], low, high)):.1f}"
                      for i, s in enumerate(run["steps"]))
    out = [f'<polyline fill="none" stroke="{colour}" points="{points}"/>']
    for fault in run["faults"]:
        if "at_step" in fault:
            x = LEFT + WIDTH * fault["at_step"] / steps
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + HEIGHT}" stroke="#999" stroke-dasharray="3"/>')
            out.append(f'<text x="{x + 3:.1f}" y="{y + 12}" font-size="10" fill="#555">{fault["what"]}</text>')
    if run["stalled"]:
        x = LEFT + WIDTH * len(run["steps"]) / steps
        out.append(f'<text x="{x:.1f}" y="{y + HEIGHT / 2}" font-size="12" fill="{colour}">{run["stalled"]}</text>')
    title = f'{run["transport"]}, {"with faults" if run["disturbed"] else "undisturbed"}: time of each step'
    out.append(f'<text x="{LEFT}" y="{y - 8}" font-size="13">{title}</text>')
    for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
        at = y + HEIGHT * (1 - scale(10 ** power, low, high))
        out.append(f'<text x="{LEFT - 6}" y="{at:.1f}" font-size="10" text-anchor="end">{10 ** power * 1000:g} ms</text>')
        out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>')
    return out


def losses(runs, y, steps):
    highest = max(s["loss"] for r in runs for s in r["steps"])
    out = [f'<text x="{LEFT}" y="{y - 8}" font-size="13">loss: with and without faults, one on top of the other</text>']
    for index, run in enumerate(runs):
        points = " ".join(f"{LEFT + WIDTH * i / steps:.1f},{y + HEIGHT * (1 - s['loss'] / highest):.1f}" for i, s in enumerate(run["steps"]))
        style = 'stroke-width="4" stroke-opacity="0.3"' if index == 0 else 'stroke-width="1"'
        out.append(f'<polyline fill="none" stroke="{COLOURS.get(run["transport"], "#555")}" {style} points="{points}"/>')
    out.append(f'<text x="{LEFT - 6}" y="{y + 8}" font-size="10" text-anchor="end">{highest:.2f}</text>')
    return out


def main(source, target):
    data = json.load(open(source))
    runs = [r for r in data["runs"] if r["steps"]]
    steps = data["setting"]["steps"]
    times = [s["seconds"] for r in runs for s in r["steps"][3:]]
    low, high = min(times) / 1.2, max(times) * 1.2
    out, y = [], TOP
    for run in runs:
        if run["disturbed"]:
            out += step_times(run, y, steps, low, high)
            y += HEIGHT + 50
    ours = [r for r in runs if r["transport"] == "OpenMRC"]
    if ours:
        out += losses(ours, y, steps)
    y += HEIGHT + 30
    box = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {y}" font-family="sans-serif">'
    open(target, "w").write("\n".join([box, '<rect width="100%" height="100%" fill="#fff"/>', *out, "</svg>"]) + "\n")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
