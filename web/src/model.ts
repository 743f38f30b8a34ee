// What the server says: the fabric once, then frames. docs/operating/web.md describes both.

export interface Fabric {
  name: string; source: string; actions: boolean; simulated: boolean;
  planes: number; tiers: number; pods: number; t0: number; t1: number; t2: number;
  hosts_per_t0: number; hosts: number;
  rates: { host_t0: number; t0_t1: number; t1_t2: number };
  first: number; end: number; plane_names?: string[];
}

export interface Totals { goodput: number; delivered: number; packets: number; repairs: number; trims: number; marks: number; lost: number }
export interface QpRow {
  host: number; peer: number; qpn: number; state: string; rate: number; window: number; in_flight: number; rtt_ns: number;
  packets: number; received: number; repairs: number; lost: number; nacked: number; counts: number[]; evs?: string; ways?: number[];
}
export interface Packet { peer: number; psn: number; repair: boolean; hops: number[] }
export interface Happening { t: number; kind: string; what: string; target: string }
export type Fault = [hop: number, kind: "down" | "black_hole" | "loss" | "rate", amount: number];

interface RawFrame {
  n: number; t: number; span: number; done: boolean; paused: boolean; pace: number; total: Totals; planes: number[];
  first: number; load: string; queue?: string; switches?: string;
  trims: number[]; lost: number[]; marks: number[]; faults: Fault[]; more_faults: number;
  qps: QpRow[]; more_qps: number; packets: Packet[]; events: Happening[]; names?: [host: number, name: string][];
  up?: { first: number; load: string; queue?: string }; cells?: { columns: number; rows: number; load: string };
}
export interface Frame extends Omit<RawFrame, "load" | "queue" | "switches" | "trims" | "lost" | "marks" | "up" | "cells"> {
  load: Uint8Array; queue: Uint8Array | null; switches: Uint8Array | null;
  up: { first: number; load: Uint8Array; queue: Uint8Array | null } | null; // where a plane is too large: hosts first, these are uplinks
  cells: { columns: number; rows: number; load: Uint8Array } | null;       // of each plane's blocks, in so many cells: the busiest link of each
  trims: Map<number, number>; lost: Map<number, number>; marks: Map<number, number>;
}

export const FULL = 250; // a level of this is everything

function bytes(text: string): Uint8Array {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out;
}

function counts(list: number[]): Map<number, number> {
  const out = new Map<number, number>();
  for (let i = 0; i + 1 < list.length; i += 2) out.set(list[i], list[i + 1]);
  return out;
}

export function decode(text: string): Frame {
  const raw = JSON.parse(text) as RawFrame;
  return {
    ...raw, load: bytes(raw.load), queue: raw.queue ? bytes(raw.queue) : null, switches: raw.switches ? bytes(raw.switches) : null,
    up: raw.up ? { first: raw.up.first, load: bytes(raw.up.load), queue: raw.up.queue ? bytes(raw.up.queue) : null } : null,
    cells: raw.cells ? { ...raw.cells, load: bytes(raw.cells.load) } : null,
    trims: counts(raw.trims), lost: counts(raw.lost), marks: counts(raw.marks),
  };
}

export type Tier = 0 | 1 | 2 | 3; // host, T0, T1, T2
export interface Node { tier: Tier; plane: number; index: number }
export interface Ends { plane: number; lower: Node; upper: Node }

/** Names and cables by arithmetic, as src/topo does it. */
export class Topo {
  readonly t0s: number; readonly t1s: number; readonly t2s: number;
  readonly firstT0T1: number; readonly firstT1T2: number; readonly linksPerPlane: number; readonly links: number;
  readonly switchesPerPlane: number;

  constructor(readonly f: Fabric) {
    this.t0s = f.pods * f.t0;
    this.t1s = f.tiers > 1 ? f.pods * f.t1 : 0;
    this.t2s = f.tiers > 2 ? f.t1 * f.t2 : 0;
    this.firstT0T1 = f.hosts;
    this.firstT1T2 = f.hosts + (f.tiers > 1 ? this.t0s * f.t1 : 0);
    this.linksPerPlane = this.firstT1T2 + (f.tiers > 2 ? this.t1s * f.t2 : 0);
    this.links = f.planes * this.linksPerPlane;
    this.switchesPerPlane = this.t0s + this.t1s + this.t2s;
  }

  ends(link: number): Ends {
    const { f } = this;
    const plane = Math.floor(link / this.linksPerPlane), within = link % this.linksPerPlane;
    const node = (tier: Tier, index: number): Node => ({ tier, plane, index });
    if (within < this.firstT0T1) return { plane, lower: node(0, within), upper: node(1, Math.floor(within / f.hosts_per_t0)) };
    if (within < this.firstT1T2) {
      const t0 = Math.floor((within - f.hosts) / f.t1), up = (within - f.hosts) % f.t1;
      return { plane, lower: node(1, t0), upper: node(2, Math.floor(t0 / f.t0) * f.t1 + up) };
    }
    const t1 = Math.floor((within - this.firstT1T2) / f.t2), up = (within - this.firstT1T2) % f.t2;
    return { plane, lower: node(2, t1), upper: node(3, (t1 % f.t1) * f.t2 + up) };
  }

  /** Where hosts have names of their own: peers of a node. */
  hostNames = new Map<number, string>();
  /** A place that nobody has taken yet. */
  isVacant(host: number): boolean { return this.hostNames.size > 0 && !this.hostNames.has(host); }
  planeName(plane: number): string { return this.f.plane_names?.[plane] ?? `plane ${plane}`; }
  /** At most so many letters. */
  hostLabel(host: number, letters = Infinity): string {
    const name = this.hostNames.get(host) ?? `h${host}`;
    return name.length <= letters ? name : letters < 4 ? `h${host}` : `…${name.slice(1 - letters)}`;
  }
  name(n: Node): string { return n.tier === 0 ? `h${n.index}` : `p${n.plane}.t${n.tier - 1}.${n.index}`; }
  linkName(link: number): string {
    const e = this.ends(link);
    return `${this.name(e.lower)}-${this.name(e.upper)}`;
  }
  hopName(hop: number): string {
    const e = this.ends(hop >> 1);
    const [from, to] = hop & 1 ? [e.upper, e.lower] : [e.lower, e.upper];
    return `${this.name(from)}>${this.name(to)}`;
  }
  rate(link: number): number {
    const within = link % this.linksPerPlane, r = this.f.rates;
    return within < this.firstT0T1 ? r.host_t0 : within < this.firstT1T2 ? r.t0_t1 : r.t1_t2;
  }
  switchNumber(n: Node): number {
    return n.plane * this.switchesPerPlane + (n.tier > 1 ? this.t0s : 0) + (n.tier > 2 ? this.t1s : 0) + n.index;
  }
  /** All links of a switch; of a host, in all planes. */
  linksOf(n: Node): number[] {
    const { f } = this, base = n.plane * this.linksPerPlane, out: number[] = [];
    if (n.tier === 0) {
      for (let p = 0; p < f.planes; ++p) out.push(p * this.linksPerPlane + n.index);
    } else if (n.tier === 1) {
      for (let d = 0; d < f.hosts_per_t0 && n.index * f.hosts_per_t0 + d < f.hosts; ++d) out.push(base + n.index * f.hosts_per_t0 + d);
      for (let u = 0; f.tiers > 1 && u < f.t1; ++u) out.push(base + f.hosts + n.index * f.t1 + u);
    } else if (n.tier === 2) {
      const pod = Math.floor(n.index / f.t1);
      for (let d = 0; d < f.t0; ++d) out.push(base + f.hosts + (pod * f.t0 + d) * f.t1 + (n.index % f.t1));
      for (let u = 0; f.tiers > 2 && u < f.t2; ++u) out.push(base + this.firstT1T2 + n.index * f.t2 + u);
    } else {
      for (let pod = 0; pod < f.pods; ++pod) out.push(base + this.firstT1T2 + (pod * f.t1 + Math.floor(n.index / f.t2)) * f.t2 + (n.index % f.t2));
    }
    return out;
  }
  /** A thing by its name, or null. */
  find(name: string): { link: number } | { node: Node } | null {
    const node = (text: string): Node | null => {
      const h = /^h(\d+)$/.exec(text), s = /^p(\d+)\.t([012])\.(\d+)$/.exec(text);
      if (h) return { tier: 0, plane: 0, index: +h[1] };
      return s ? { tier: (+s[2] + 1) as Tier, plane: +s[1], index: +s[3] } : null;
    };
    const ends = /^(.+)[->](.+)$/.exec(name);
    if (!ends) { const n = node(name); return n && { node: n }; }
    const a = node(ends[1]), b = node(ends[2]);
    if (!a || !b) return null;
    const [lower, upper] = a.tier < b.tier ? [a, b] : [b, a];
    const link = this.linksOf(upper).find((l) => { const e = this.ends(l); return e.lower.index === lower.index && e.lower.tier === lower.tier; });
    return link === undefined ? null : { link };
  }
}
