// From a frame to the level of each link, for the chosen kind of heat; and what is broken.

import { Fault, Frame, FULL, Topo } from "./model";

export const KINDS = ["load", "queue", "loss", "trims", "marks"] as const;
export type Kind = (typeof KINDS)[number];

/** Few events are seen, many do not drown the rest. */
function logLevel(n: number): number { return n <= 0 ? 0 : Math.min(1, 0.35 + Math.log2(n) / 16); }

export class Levels {
  level: Float32Array;                         // by link; the worse direction
  readonly faults = new Map<number, Fault>();  // by link
  first = 0; known = 0;                        // links that the frame tells of

  constructor(private readonly topo: Topo) { this.level = new Float32Array(topo.links); }

  update(f: Frame, kind: Kind): void {
    this.first = f.first >> 1;
    this.known = f.load.length >> 1;
    this.level.fill(0);
    const bytes = kind === "load" ? f.load : kind === "queue" ? f.queue : null;
    if (bytes) {
      for (let i = 0; i < this.known; ++i) this.level[this.first + i] = Math.max(bytes[2 * i], bytes[2 * i + 1]) / FULL;
    } else if (kind !== "queue" && kind !== "load") {
      const counts = kind === "loss" ? f.lost : kind === "trims" ? f.trims : f.marks;
      for (const [hop, n] of counts) this.level[hop >> 1] = Math.max(this.level[hop >> 1], logLevel(n));
    }
    this.faults.clear();
    for (const fault of f.faults) this.faults.set(fault[0] >> 1, fault);
  }

  isKnown(link: number): boolean { return link >= this.first && link < this.first + this.known; }
  /** Of a switch: its busiest link. */
  ofLinks(links: number[]): number { return links.reduce((m, l) => Math.max(m, this.level[l]), 0); }
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
