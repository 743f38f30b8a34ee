// Large planes: a cell for each cable. Left the cables to hosts, right the uplinks, a row for each T0.

import { View } from "./draw_wires";
import { FabricView } from "./fabric_view";
import { FULL, Topo } from "./model";
import { PANEL_W, Rect } from "./scene";
import { heatBucket, scale as scaleOf, theme } from "./theme";

interface Image { canvas: HTMLCanvasElement; ctx: CanvasRenderingContext2D; data: ImageData; firstRow: number; rows: number; of: number }
interface Block { name: "hosts" | "up" | "spine"; columns: number; rows: number; first: number; count: number }
type Rgb = number[];

const rgb = (hex: string): Rgb => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** One pixel per link, or per cell of many; scaled up when it is drawn. */
export class MatrixImages {
  stale = true;
  readonly blocks: Block[];
  private images = new Map<string, Image>();
  private canvases = new Map<string, Image>();

  constructor(private readonly topo: Topo) {
    const f = topo.f;
    this.blocks = [{ name: "hosts", columns: f.hosts_per_t0, rows: topo.t0s, first: 0, count: f.hosts }];
    if (f.tiers > 1) this.blocks.push({ name: "up", columns: f.t1, rows: topo.t0s, first: topo.firstT0T1, count: topo.t0s * f.t1 });
    if (f.tiers > 2) this.blocks.push({ name: "spine", columns: f.t2, rows: topo.t1s, first: topo.firstT1T2, count: topo.t1s * f.t2 });
  }

  /** `what`: cells, detail, t0 or t1; null: nothing is known. */
  get(plane: number, name: string, what: string): Image | null { return this.images.get(`${plane}.${name}.${what}`) ?? null; }

  private put(key: string, columns: number, rows: number, firstRow: number, of: number, colour: (i: number) => Rgb | null): void {
    let image = this.canvases.get(key);
    if (!image || image.canvas.width !== columns || image.canvas.height !== rows) {
      const canvas = document.createElement("canvas");
      canvas.width = columns;
      canvas.height = rows;
      const ctx = canvas.getContext("2d")!;
      image = { canvas, ctx, data: ctx.createImageData(columns, rows), firstRow, rows, of };
      this.canvases.set(key, image);
    }
    image.firstRow = firstRow;
    const px = image.data.data;
    for (let i = 0, at = 0; i < columns * rows; ++i, at += 4) {
      const c = colour(i);
      px[at + 3] = c ? 255 : 0;
      if (c) { px[at] = c[0]; px[at + 1] = c[1]; px[at + 2] = c[2]; }
    }
    image.ctx.putImageData(image.data, 0, 0);
    this.images.set(key, image);
  }

  paint(f: FabricView): void {
    if (!this.stale || !f.frame) return;
    this.stale = false;
    this.images.clear();
    const palette = scaleOf(f.kind).map((c) => c.match(/\d+/g)!.map(Number)), red = rgb(theme.broken), { topo } = this;
    const heat = (level: number) => (level < 0 ? red : palette[heatBucket(level)]), { levels } = f;
    for (let plane = 0; plane < topo.f.planes; ++plane) {
      this.blocks.forEach((b, number) => this.paintBlock(f, plane, b, number, palette, red));
      this.put(`${plane}.t0.strip`, 1, topo.t0s, 0, topo.t0s, (i) => heat(levels.ofNode(1, plane, i)));
      if (topo.t1s > 0 && topo.f.pods === 1) this.put(`${plane}.t1.strip`, topo.t1s, 1, 0, 1, (i) => heat(levels.ofNode(2, plane, i)));
    }
  }

  private paintBlock(f: FabricView, plane: number, b: Block, number: number, palette: Rgb[], red: Rgb): void {
    const base = plane * this.topo.linksPerPlane + b.first, known = f.levels.knownOf(base, base + b.count), { level, faults } = f.levels;
    const cells = f.frame!.cells, whole = known !== null && known.end - known.first === b.count;
    if (cells && !whole && f.kind === "load") {
      const at = (plane * this.blocks.length + number) * cells.rows * cells.columns;
      this.put(`${plane}.${b.name}.cells`, cells.columns, cells.rows, 0, cells.rows, (i) => palette[heatBucket(cells.load[at + i] / FULL)]);
    }
    if (!known) return;
    const firstRow = Math.floor((known.first - base) / b.columns), rows = Math.ceil((known.end - base) / b.columns) - firstRow, from = base + firstRow * b.columns;
    this.put(`${plane}.${b.name}.detail`, b.columns, rows, firstRow, b.rows, (i) => {
      const link = from + i;
      return link >= known.end ? null : faults.size > 0 && faults.has(link) ? red : palette[heatBucket(level[link])];
    });
  }
}

export function drawMatrix(v: View, f: FabricView, images: MatrixImages): void {
  const { ctx, scale } = v, { topo } = f, fabric = topo.f;
  images.paint(f);
  ctx.setTransform(v.ratio, 0, 0, v.ratio, 0, 0);
  const box = (r: Rect): Rect => ({ x: r.x * scale + v.x, y: r.y * scale + v.y, w: r.w * scale, h: r.h * scale });
  for (let plane = 0; plane < fabric.planes; ++plane) {
    const p = f.scene.panels[plane], places = f.scene.blocks(plane), panel = box(p);
    if (panel.x > v.width || panel.y > v.height || panel.x + panel.w < 0 || panel.y + panel.h < 0) continue;
    ctx.fillStyle = theme.panel;
    ctx.beginPath();
    ctx.roundRect(panel.x - 14, panel.y - 26, panel.w + 28, panel.h + 44, 12);
    ctx.fill();
    label(v, f, plane, panel);
    for (const b of images.blocks) {
      const r = places[b.name];
      if (r) drawBlock(v, images, plane, b, box(r));
    }
    drawImage(v, images.get(plane, "t0", "strip"), box(places.t0), 1, topo.t0s);
    if (fabric.tiers > 1 && fabric.pods === 1) drawImage(v, images.get(plane, "t1", "strip"), box(places.t1), topo.t1s, 1);
  }
  marks(v, f);
}

function drawBlock(v: View, images: MatrixImages, plane: number, b: Block, s: Rect): void {
  const cells = images.get(plane, b.name, "cells"), detail = images.get(plane, b.name, "detail");
  if (cells) drawImage(v, cells, s, cells.canvas.width, cells.rows);
  else if (!detail || detail.rows < b.rows) { v.ctx.fillStyle = theme.line; v.ctx.fillRect(s.x, s.y, s.w, s.h); }
  const row = s.h / b.rows, inside = detail && { x: s.x, y: s.y + detail.firstRow * row, w: s.w, h: detail.rows * row };
  if (inside && (!cells || row > 0.7)) drawImage(v, detail, inside, b.columns, detail.rows); // finer than pixels it says no more than cells
  grid(v, s, b.columns, b.rows);
}

/** Only the part that is in sight: a picture of a picture costs what is copied. */
function drawImage(v: View, image: Image | null, s: Rect, columns: number, rows: number): void {
  if (!image || s.x > v.width || s.y > v.height || s.x + s.w < 0 || s.y + s.h < 0) return;
  const cw = s.w / columns, ch = s.h / rows;
  const c0 = Math.max(0, Math.floor(-s.x / cw)), c1 = Math.min(columns, Math.ceil((v.width - s.x) / cw));
  const r0 = Math.max(0, Math.floor(-s.y / ch)), r1 = Math.min(rows, Math.ceil((v.height - s.y) / ch));
  // Fewer pixels than cells: let neighbours blend, so that none vanishes.
  v.ctx.imageSmoothingEnabled = cw * v.ratio < 1 || ch * v.ratio < 1;
  if (c1 > c0 && r1 > r0) v.ctx.drawImage(image.canvas, c0, r0, c1 - c0, r1 - r0, s.x + c0 * cw, s.y + r0 * ch, (c1 - c0) * cw, (r1 - r0) * ch);
}

function label(v: View, f: FabricView, plane: number, panel: Rect): void {
  const { ctx } = v;
  ctx.textBaseline = "bottom";
  ctx.textAlign = "left";
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.fillStyle = theme.planes[plane % theme.planes.length];
  ctx.fillText(f.topo.planeName(plane), panel.x, panel.y - 7);
  if (PANEL_W * v.scale < 380) return;
  ctx.font = "10.5px system-ui, sans-serif";
  ctx.fillStyle = theme.faint;
  ctx.textAlign = "right";
  const first = plane * f.topo.linksPerPlane, told = f.levels.knownOf(first, first + f.topo.linksPerPlane) ? "" : " · zoom in for detail";
  ctx.fillText(`hosts under each T0 | T0 | its uplinks to T1${told}`, panel.x + panel.w, panel.y - 8);
}

function grid(v: View, s: Rect, columns: number, rows: number): void {
  const { ctx } = v;
  if (s.w / columns < 7 || s.h / rows < 7) return;
  ctx.strokeStyle = theme.panel;
  ctx.lineWidth = 1;
  ctx.beginPath();
  const cw = s.w / columns, ch = s.h / rows, top = Math.max(s.y, 0), bottom = Math.min(s.y + s.h, v.height), left = Math.max(s.x, 0), right = Math.min(s.x + s.w, v.width);
  for (let c = Math.max(1, Math.ceil(-s.x / cw)); c < columns && s.x + c * cw < v.width; ++c) { const x = s.x + c * cw; ctx.moveTo(x, top); ctx.lineTo(x, bottom); }
  for (let r = Math.max(1, Math.ceil(-s.y / ch)); r < rows && s.y + r * ch < v.height; ++r) { const y = s.y + r * ch; ctx.moveTo(left, y); ctx.lineTo(right, y); }
  ctx.stroke();
}

function marks(v: View, f: FabricView): void {
  const { ctx, scale } = v;
  const box = (link: number, colour: string, width: number) => {
    const c = f.scene.cell(link), w = Math.max(c.w * scale, 5), h = Math.max(c.h * scale, 5);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect((c.x + c.w / 2) * scale + v.x - w / 2 - 1, (c.y + c.h / 2) * scale + v.y - h / 2 - 1, w + 2, h + 2);
  };
  let shown = 0;
  for (const link of f.levels.faults.keys()) { if (++shown > 500) break; box(link, theme.broken, 1.5); }
  for (const hop of f.path) box(hop >> 1, theme.path, 2.5);
  for (const t of [f.hovered, f.selected]) {
    if (!t || "packet" in t) continue;
    const links = "link" in t ? [t.link] : f.topo.linksOf(t.node);
    for (const l of links.slice(0, 600)) box(l, theme.path, "link" in t ? 2.5 : 1);
  }
}
