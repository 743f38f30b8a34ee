// From a frame to the level of each link, for the chosen kind of heat; and what is broken.

import { Fault, Frame, FULL, Tier, Topo } from "./model";

export const KINDS = ["load", "queue", "loss", "trims", "marks"] as const;
export type Kind = (typeof KINDS)[number];

/** Few events are seen, many do not drown the rest. */
function logLevel(n: number): number { return n <= 0 ? 0 : Math.min(1, 0.35 + Math.log2(n) / 16); }

interface Range { first: number; end: number }

export class Levels {
  level: Float32Array;                         // by link; the worse direction
  readonly faults = new Map<number, Fault>();  // by link
  private ranges: Range[] = [];                // links that the frame tells of
  private nodes: Float32Array;                 // by switch: its busiest link, -1 when all are broken; NaN: not asked yet
  private told: Uint8Array | null = null;      // by switch, from the server

  constructor(private readonly topo: Topo) {
    this.level = new Float32Array(topo.links);
    this.nodes = new Float32Array(topo.switchesPerPlane * topo.f.planes);
  }

  update(f: Frame, kind: Kind): void {
    for (const r of this.ranges) this.level.fill(0, r.first, r.end);
    for (const l of this.touched) this.level[l] = 0;
    this.touched.length = 0;
    this.nodes.fill(NaN);
    this.told = kind === "load" ? f.switches : null;
    this.ranges = [f, ...(f.up ? [f.up] : [])].map((r) => ({ first: r.first >> 1, end: (r.first + r.load.length) >> 1 }));
    if (kind === "queue" || kind === "load") {
      this.fill(f, kind);
      if (f.up) this.fill(f.up, kind);
    } else {
      const counts = kind === "loss" ? f.lost : kind === "trims" ? f.trims : f.marks;
      for (const [hop, n] of counts) { this.level[hop >> 1] = Math.max(this.level[hop >> 1], logLevel(n)); this.touched.push(hop >> 1); }
    }
    this.faults.clear();
    for (const fault of f.faults) this.faults.set(fault[0] >> 1, fault);
  }

  private readonly touched: number[] = [];
  private fill(r: { first: number; load: Uint8Array; queue: Uint8Array | null }, kind: "load" | "queue"): void {
    const bytes = kind === "load" ? r.load : r.queue, first = r.first >> 1;
    if (!bytes) return;
    for (let i = 0, l = first; 2 * i + 1 < bytes.length; ++i, ++l) this.level[l] = Math.max(bytes[2 * i], bytes[2 * i + 1]) / FULL;
  }

  isKnown(link: number): boolean { return this.ranges.some((r) => link >= r.first && link < r.end); }
  /** The links of `first` .. `end` that the frame tells of, as one range. */
  knownOf(first: number, end: number): Range | null {
    for (const r of this.ranges) { const a = Math.max(first, r.first), b = Math.min(end, r.end); if (a < b) return { first: a, end: b }; }
    return null;
  }
  /** Of a switch: its busiest link; -1: all are broken. Computed once for each frame. */
  ofNode(tier: Tier, plane: number, index: number): number {
    const number = this.topo.switchNumber({ tier, plane, index });
    if (this.told) return this.told[number] / FULL;
    if (Number.isNaN(this.nodes[number])) {
      let most = 0, dead = this.faults.size > 0;
      for (const l of this.topo.linksOf({ tier, plane, index })) { most = Math.max(most, this.level[l]); dead &&= this.faults.has(l); }
      this.nodes[number] = dead ? -1 : most;
    }
    return this.nodes[number];
  }
  /** Broken links in order, then the hottest: where to look next. */
  trouble(): number[] {
    const broken = [...this.faults.keys()].sort((a, b) => a - b);
    if (broken.length > 0) return broken;
    return Array.from({ length: Math.min(this.topo.links, 200000) }, (_, l) => l).sort((a, b) => this.level[b] - this.level[a]).slice(0, 8);
  }
}

export function faultText(f: Fault): string {
  if (f[1] === "down") return "down";
  if (f[1] === "black_hole") return "swallows everything";
  return f[1] === "loss" ? `loses ${(100 * f[2]).toFixed(1)} %` : `at ${(100 * f[2]).toFixed(0)} % of its rate`;
}
