// Where everything stands: planes side by side, in each the tiers one above the other (wires), or a row of cells
// per T0 (matrix). World coordinates; the camera is the view's.

import { Node, Tier, Topo } from "./model";

export const PANEL_W = 1000, PANEL_H = 560, GAP = 120;
const LABELS = 76; // pixels between rows: names above and below, whatever the scale
export interface Rect { x: number; y: number; w: number; h: number }
export type Drawn = "wires" | "matrix";

/** Between rows, so that in a picture of this size there is room for what is written there. */
function rowGap(columns: number, rows: number, wide: number, high: number): number {
  const scale = Math.min(wide / (columns * (PANEL_W + GAP)), Math.max(high - LABELS * rows, high / 3) / (rows * PANEL_H));
  return Math.max(GAP, LABELS / scale);
}

export class Scene {
  readonly panels: Rect[] = [];
  readonly width: number; readonly height: number;
  /** Of each link in wires: x0 y0 x1 y1. */
  readonly lines: Float32Array;

  /** Of a picture that is so many pixels wide and high. */
  constructor(readonly topo: Topo, readonly drawn: Drawn, wide: number, high: number) {
    const planes = topo.f.planes, aspect = wide / high;
    let columns = 1, best = 0;
    for (let c = 1; c <= planes; ++c) {
      const rows = Math.ceil(planes / c);
      const scale = Math.min(aspect / (c * (PANEL_W + GAP)), 1 / (rows * (PANEL_H + rowGap(c, rows, wide, high))));
      if (scale > 0.85 * best) { columns = c; best = Math.max(best, scale); } // rather wide than long
    }
    const rows = Math.ceil(planes / columns), gapY = rowGap(columns, rows, wide, high);
    for (let p = 0; p < planes; ++p) {
      this.panels.push({ x: (p % columns) * (PANEL_W + GAP), y: Math.floor(p / columns) * (PANEL_H + gapY), w: PANEL_W, h: PANEL_H });
    }
    this.width = columns * (PANEL_W + GAP) - GAP;
    this.height = rows * (PANEL_H + gapY) - gapY;
    this.lines = drawn === "wires" ? this.makeLines() : new Float32Array(0);
  }

  private makeLines(): Float32Array {
    const out = new Float32Array(this.topo.links * 4);
    for (let l = 0; l < this.topo.links; ++l) {
      const e = this.topo.ends(l);
      const a = this.at({ ...e.lower, plane: e.plane }), b = this.at(e.upper);
      out.set([a[0], a[1], b[0], b[1]], l * 4);
    }
    return out;
  }

  countOf(tier: Tier): number {
    return tier === 0 ? this.topo.f.hosts : tier === 1 ? this.topo.t0s : tier === 2 ? this.topo.t1s : this.topo.t2s;
  }
  /** How far apart neighbours of a tier stand, in wires. */
  spacing(tier: Tier): number { return PANEL_W / (tier === 0 && this.places > 0 ? this.places : Math.max(1, this.countOf(tier))); }
  /** Of a node whose fabric is unknown: what is taken so far; 0: hosts stand under their T0s. */
  private get places(): number { return this.topo.f.plane_names?.length ? Math.max(2, this.topo.hostNames.size) : 0; }

  /** A node in wires; a host stands in every plane. */
  at(n: Node): [number, number] {
    const panel = this.panels[n.plane], tiers = this.topo.f.tiers;
    const y = panel.y + PANEL_H * (1 - n.tier / tiers);
    if (n.tier === 0 && this.places > 0) return [panel.x + (PANEL_W * (Math.min(n.index, this.places - 1) + 0.5)) / this.places, y];
    if (n.tier === 0) {
      const per = this.topo.f.hosts_per_t0, group = Math.floor(n.index / per), within = n.index % per;
      const groupW = PANEL_W / this.topo.t0s;
      return [panel.x + groupW * (group + 0.5) + groupW * 0.84 * ((within + 0.5) / per - 0.5), y];
    }
    return [panel.x + this.spacing(n.tier) * (n.index + 0.5), y];
  }

  // --- matrix: left the links to hosts, right the uplinks, one row per T0; beyond them T1 by T2 ---

  private static readonly HEAD = 26; // the strip of T1s above the uplinks
  blocks(plane: number): { hosts: Rect; up: Rect; t0: Rect; t1: Rect; spine: Rect | null } {
    const p = this.panels[plane], head = Scene.HEAD, three = this.topo.f.tiers > 2, two = this.topo.f.tiers > 1;
    const strip = 16, gap = 10;
    const width = two ? (p.w - strip - 2 * gap) / (three ? 3 : 2) : p.w - strip - gap;
    const body = p.h - head;
    const hosts = { x: p.x, y: p.y + head, w: width, h: body };
    const t0 = { x: hosts.x + hosts.w + gap, y: p.y + head, w: strip, h: body };
    const up = { x: t0.x + strip + gap, y: p.y + head, w: two ? width - (three ? gap : 0) : 0, h: body };
    const spine = three ? { x: up.x + up.w + gap, y: p.y + head, w: width, h: body } : null;
    return { hosts, t0, up, t1: { x: up.x, y: p.y, w: up.w, h: head - 10 }, spine };
  }
  /** The cell of a link in matrix. */
  cell(link: number): Rect {
    const { f } = this.topo, within = link % this.topo.linksPerPlane;
    const b = this.blocks(Math.floor(link / this.topo.linksPerPlane));
    const place = (r: Rect, columns: number, rows: number, column: number, row: number): Rect =>
      ({ x: r.x + (r.w * column) / columns, y: r.y + (r.h * row) / rows, w: r.w / columns, h: r.h / rows });
    if (within < f.hosts) return place(b.hosts, f.hosts_per_t0, this.topo.t0s, within % f.hosts_per_t0, Math.floor(within / f.hosts_per_t0));
    if (within < this.topo.firstT1T2) return place(b.up, f.t1, this.topo.t0s, (within - f.hosts) % f.t1, Math.floor((within - f.hosts) / f.t1));
    const x = within - this.topo.firstT1T2;
    return place(b.spine ?? b.up, f.t2, this.topo.t1s, x % f.t2, Math.floor(x / f.t2));
  }
}
