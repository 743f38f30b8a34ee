// The canvas: draws the scene, finds what is pointed at, and moves packets along their paths.

import { Camera } from "./camera";
import { Kind, Levels } from "./heatmap";
import { Frame, Node, Packet, Tier, Topo } from "./model";
import { drawMatrix, MatrixImages } from "./draw_matrix";
import { drawOverlay } from "./draw_wires";
import { WireLayers } from "./layer";
import { Drawn, Scene } from "./scene";
import { theme } from "./theme";

export type Thing = { link: number } | { node: Node } | { packet: Packet };
export interface Flyer { packet: Packet; born: number; life: number }

const WIRES_AT_MOST = 3000; // links: beyond, a matrix says more
export const WIRES_POSSIBLE = 60_000; // and beyond these wires are a grey wall
const FLIGHT_MS = 1400;

export class FabricView {
  readonly camera = new Camera();
  readonly levels: Levels;
  scene: Scene;
  kind: Kind = "load";
  hovered: Thing | null = null;
  selected: Thing | null = null;
  path: number[] = [];
  flyers: Flyer[] = [];
  frame: Frame | null = null;
  version = 0; // of what stands still: a new frame, a new theme
  readonly layers = new WireLayers();
  onView: () => void = () => {}; // the camera has moved
  firstPicture = 0; // ms after the address was asked for
  readonly times: number[] = []; // of drawing, for those who measure
  onHover: (t: Thing | null, x: number, y: number) => void = () => {};
  onPick: (t: Thing | null) => void = () => {};
  private dirty = true;
  private width = 1; private height = 1;
  private images: MatrixImages;
  private readonly ctx: CanvasRenderingContext2D;
  private fitted = true;

  constructor(readonly canvas: HTMLCanvasElement, readonly topo: Topo, drawn?: Drawn) {
    this.ctx = canvas.getContext("2d", { alpha: false })!;
    this.levels = new Levels(topo);
    this.scene = new Scene(topo, drawn ?? (topo.links <= WIRES_AT_MOST ? "wires" : "matrix"), 1600, 1000);
    this.images = new MatrixImages(topo);
    this.camera.onMove = () => { this.dirty = true; this.onView(); };
    this.camera.attach(canvas, (x, y) => { this.onPick(this.find(x, y, false)); }); // packets fly over what is meant
    canvas.addEventListener("pointermove", (e) => this.point(e));
    canvas.addEventListener("pointerleave", () => { this.hovered = null; this.dirty = true; this.onHover(null, 0, 0); });
    for (const type of ["wheel", "pointerdown"] as const) canvas.addEventListener(type, () => { this.fitted = false; }, { passive: true });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    const tick = (now: number) => { this.tick(now); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  }

  get drawn(): Drawn { return this.scene.drawn; }
  setDrawn(drawn: Drawn): void { this.scene = new Scene(this.topo, drawn, this.width, this.height); this.fit(); }
  /** Hosts have come: they stand elsewhere. */
  relayout(): void {
    this.scene = new Scene(this.topo, this.scene.drawn, this.width, this.height);
    if (this.fitted) this.fit();
    ++this.version;
  }
  setKind(kind: Kind): void { this.kind = kind; if (this.frame) this.show(this.frame); }
  redraw(): void { this.dirty = true; }
  /** Light or dark. */
  repaint(): void { this.dirty = true; this.images.stale = true; ++this.version; }
  fit(): void { this.fitted = true; this.camera.fit(this.scene.width, this.scene.height, this.width, this.height); }

  private resize(): void {
    const r = this.canvas.getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = Math.max(1, r.width);
    this.height = Math.max(1, r.height);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    if (this.fitted) { this.scene = new Scene(this.topo, this.scene.drawn, this.width, this.height); this.fit(); }
    this.dirty = true;
  }

  show(f: Frame): void {
    const fresh = f !== this.frame;
    this.frame = f;
    this.levels.update(f, this.kind);
    this.images.stale = true;
    ++this.version;
    if (fresh && this.drawn === "wires") this.launch(f);
    this.dirty = true;
  }

  /** A few of the packets that really left, on the way that they really took. */
  private launch(f: Frame): void {
    const now = performance.now(), some = f.packets.filter((_, i) => i % 4 === 0).slice(0, 8);
    some.forEach((packet, i) => this.flyers.push({ packet, born: now + i * 60, life: FLIGHT_MS }));
    if (this.flyers.length > 120) this.flyers.splice(0, this.flyers.length - 120);
  }

  private tick(now: number): void {
    if (this.flyers.length > 0) {
      this.flyers = this.flyers.filter((f) => now < f.born + f.life);
      this.dirty = true;
    }
    if (!this.dirty) return;
    this.dirty = false;
    const began = performance.now();
    this.draw(now);
    if (this.frame && this.firstPicture === 0) this.firstPicture = performance.now();
    this.times.push(performance.now() - began);
    if (this.times.length > 1000) this.times.splice(0, 500);
  }

  private draw(now: number): void {
    const { ctx, camera } = this, ratio = this.canvas.width / this.width;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = theme.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const view = { ctx, scale: camera.scale, x: camera.x, y: camera.y, width: this.width, height: this.height, ratio };
    if (this.drawn === "matrix") return drawMatrix(view, this, this.images);
    if (this.layers.draw(view, this)) this.dirty = true;
    drawOverlay(view, this, now);
  }

  private point(e: PointerEvent): void {
    if (e.buttons !== 0) return this.onHover(null, 0, 0);
    const r = this.canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    this.hovered = this.find(x, y);
    this.canvas.classList.toggle("pointing", this.hovered !== null);
    this.dirty = true;
    this.onHover(this.hovered, x, y);
  }

  /** Looks at a thing: brings it into the middle when it is out of sight. */
  lookAt(t: Thing): void {
    if ("packet" in t) return;
    const [x, y] = this.whereIs(t), sx = x * this.camera.scale + this.camera.x, sy = y * this.camera.scale + this.camera.y;
    if (sx < 0 || sy < 0 || sx > this.width || sy > this.height) this.camera.centre(x, y, this.width, this.height);
    this.dirty = true;
  }
  /** The plane and the T0 in the middle of the picture, and how tall a T0's row is there. Only of a matrix. */
  middle(): { plane: number; t0: number; pixels: number } | null {
    const [x, y] = this.camera.toWorld(this.width / 2, this.height / 2);
    const plane = this.scene.panels.findIndex((p) => x >= p.x - 60 && x <= p.x + p.w + 60 && y >= p.y - 60 && y <= p.y + p.h + 60);
    if (plane < 0) return null;
    const body = this.scene.blocks(plane).hosts, t0s = this.topo.t0s;
    return { plane, t0: Math.min(t0s - 1, Math.max(0, Math.floor(((y - body.y) / body.h) * t0s))), pixels: (body.h / t0s) * this.camera.scale };
  }
  private whereIs(t: { link: number } | { node: Node }): [number, number] {
    if ("node" in t) return this.scene.at(t.node);
    if (this.drawn === "matrix") { const c = this.scene.cell(t.link); return [c.x + c.w / 2, c.y + c.h / 2]; }
    const i = t.link * 4, s = this.scene.lines;
    return [(s[i] + s[i + 2]) / 2, (s[i + 1] + s[i + 3]) / 2];
  }

  find(px: number, py: number, packets = true): Thing | null {
    return this.drawn === "wires" ? this.findInWires(px, py, packets) : this.findInMatrix(px, py);
  }

  private findInWires(px: number, py: number, packets: boolean): Thing | null {
    const { scale } = this.camera, [x, y] = this.camera.toWorld(px, py), now = performance.now();
    for (const f of packets ? this.flyers : []) {
      const at = flyerAt(this.scene, f, now);
      if (at && Math.hypot(at[0] - x, at[1] - y) * scale < 9) return { packet: f.packet };
    }
    for (let plane = 0; plane < this.topo.f.planes; ++plane) {
      for (let tier = 0; tier <= this.topo.f.tiers; ++tier) {
        const near = this.nearestNode(plane, tier as Tier, x, y, scale);
        if (near) return { node: near };
      }
    }
    return this.nearestLink(x, y, scale);
  }

  private nearestNode(plane: number, tier: Tier, x: number, y: number, scale: number): Node | null {
    const count = this.scene.countOf(tier);
    if (count === 0) return null;
    const first = this.scene.at({ tier, plane, index: 0 });
    if (Math.abs(first[1] - y) * scale > 11) return null;
    let best: Node | null = null, distance = Math.max(6, Math.min(12, (this.scene.spacing(tier) * scale) / 2)) / scale;
    for (let index = 0; index < count; ++index) {
      const d = Math.abs(this.scene.at({ tier, plane, index })[0] - x);
      if (d < distance) { distance = d; best = { tier, plane, index }; }
    }
    return best;
  }

  private nearestLink(x: number, y: number, scale: number): Thing | null {
    const s = this.scene.lines, most = 6 / scale;
    let best = -1, distance = most * most;
    for (let l = 0, i = 0; l < this.topo.links; ++l, i += 4) {
      const y0 = s[i + 1], y1 = s[i + 3];
      if (y > y0 + most || y < y1 - most) continue;
      const dx = s[i + 2] - s[i], dy = y1 - y0, t = Math.min(1, Math.max(0, ((x - s[i]) * dx + (y - y0) * dy) / (dx * dx + dy * dy)));
      const ex = s[i] + t * dx - x, ey = y0 + t * dy - y, d = ex * ex + ey * ey;
      if (d < distance) { distance = d; best = l; }
    }
    return best < 0 ? null : { link: best };
  }

  private findInMatrix(px: number, py: number): Thing | null {
    const [x, y] = this.camera.toWorld(px, py), { f } = this.topo;
    for (let plane = 0; plane < f.planes; ++plane) {
      const b = this.scene.blocks(plane), base = plane * this.topo.linksPerPlane;
      const inside = (r: { x: number; y: number; w: number; h: number }, columns: number, rows: number): [number, number] | null => {
        const c = Math.floor(((x - r.x) / r.w) * columns), w = Math.floor(((y - r.y) / r.h) * rows);
        return x >= r.x && y >= r.y && c >= 0 && w >= 0 && c < columns && w < rows ? [c, w] : null;
      };
      let hit = inside(b.hosts, f.hosts_per_t0, this.topo.t0s);
      if (hit && hit[1] * f.hosts_per_t0 + hit[0] < f.hosts) return { link: base + hit[1] * f.hosts_per_t0 + hit[0] };
      if ((hit = inside(b.t0, 1, this.topo.t0s))) return { node: { tier: 1, plane, index: hit[1] } };
      if (f.tiers > 1 && (hit = inside(b.up, f.t1, this.topo.t0s))) return { link: base + f.hosts + hit[1] * f.t1 + hit[0] };
      if (f.pods === 1 && f.tiers > 1 && (hit = inside(b.t1, f.t1, 1))) return { node: { tier: 2, plane, index: hit[0] } };
      if (b.spine && (hit = inside(b.spine, f.t2, this.topo.t1s))) return { link: base + this.topo.firstT1T2 + hit[1] * f.t2 + hit[0] };
    }
    return null;
  }
}

/** Where a packet is on its way, or null before it left. */
export function flyerAt(scene: Scene, f: Flyer, now: number): [number, number] | null {
  const t = (now - f.born) / f.life;
  if (t < 0 || t >= 1) return null;
  const x = t * f.packet.hops.length, i = Math.floor(x), part = x - i, hop = f.packet.hops[i], at = (hop >> 1) * 4, s = scene.lines;
  const along = hop & 1 ? 1 - part : part;
  return [s[at] + (s[at + 2] - s[at]) * along, s[at + 1] + (s[at + 3] - s[at + 1]) * along];
}
