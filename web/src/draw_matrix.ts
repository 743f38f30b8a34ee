// Large planes: a cell for each cable. Left the cables to hosts, right the uplinks, a row for each T0.

import { View } from "./draw_wires";
import { FabricView } from "./fabric_view";
import { FULL, Topo } from "./model";
import { PANEL_W, Rect } from "./scene";
import { heatBucket, scale as scaleOf, theme } from "./theme";

interface Image { canvas: HTMLCanvasElement; data: ImageData }

/** One pixel per link; scaled up when it is drawn. */
export class MatrixImages {
  stale = true;
  private images = new Map<string, Image>();
  constructor(private readonly topo: Topo) {}

  get(name: string, columns: number, rows: number): Image {
    let image = this.images.get(name);
    if (!image) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(1, columns);
      canvas.height = Math.max(1, rows);
      image = { canvas, data: canvas.getContext("2d")!.createImageData(canvas.width, canvas.height) };
      this.images.set(name, image);
    }
    return image;
  }

  paint(f: FabricView): void {
    if (!this.stale) return;
    this.stale = false;
    const palette = scaleOf(f.kind).map((c) => c.match(/\d+/g)!.map(Number)), unknown = theme.line, { topo } = this, { f: fabric } = topo;
    const grey = [1, 3, 5].map((i) => parseInt(unknown.slice(i, i + 2), 16)), red = [1, 3, 5].map((i) => parseInt(theme.broken.slice(i, i + 2), 16));
    for (let plane = 0; plane < fabric.planes; ++plane) {
      const base = plane * topo.linksPerPlane;
      const fill = (name: string, columns: number, rows: number, first: number, count: number) => {
        if (columns === 0 || rows === 0) return;
        const image = this.get(`${plane}.${name}`, columns, rows), px = image.data.data;
        for (let i = 0; i < columns * rows; ++i) {
          const link = base + first + i;
          const c = i >= count ? null : f.levels.faults.has(link) ? red : f.levels.isKnown(link) ? palette[heatBucket(f.levels.level[link])] : grey;
          px[4 * i] = c ? c[0] : 0; px[4 * i + 1] = c ? c[1] : 0; px[4 * i + 2] = c ? c[2] : 0; px[4 * i + 3] = c ? 255 : 0;
        }
        image.canvas.getContext("2d")!.putImageData(image.data, 0, 0);
      };
      fill("hosts", fabric.hosts_per_t0, topo.t0s, 0, fabric.hosts);
      if (fabric.tiers > 1) fill("up", fabric.t1, topo.t0s, topo.firstT0T1, topo.t0s * fabric.t1);
      if (fabric.tiers > 2) fill("spine", fabric.t2, topo.t1s, topo.firstT1T2, topo.t1s * fabric.t2);
    }
  }
}

export function drawMatrix(v: View, f: FabricView, images: MatrixImages): void {
  const { ctx, scale } = v, { topo } = f, fabric = topo.f;
  images.paint(f);
  ctx.setTransform(v.ratio, 0, 0, v.ratio, 0, 0);
  for (let plane = 0; plane < fabric.planes; ++plane) {
    const p = f.scene.panels[plane], b = f.scene.blocks(plane);
    const box = (r: Rect): Rect => ({ x: r.x * scale + v.x, y: r.y * scale + v.y, w: r.w * scale, h: r.h * scale });
    const panel = box(p);
    if (panel.x > v.width || panel.y > v.height || panel.x + panel.w < 0 || panel.y + panel.h < 0) continue;
    ctx.fillStyle = theme.panel;
    ctx.beginPath();
    ctx.roundRect(panel.x - 14, panel.y - 26, panel.w + 28, panel.h + 44, 12);
    ctx.fill();
    label(v, f, plane, panel);
    const put = (name: string, r: Rect, columns: number, rows: number) => {
      const s = box(r);
      // Fewer pixels than cells: let neighbours blend, so that none vanishes.
      ctx.imageSmoothingEnabled = s.w * v.ratio < columns || s.h * v.ratio < rows;
      ctx.drawImage(images.get(`${plane}.${name}`, columns, rows).canvas, s.x, s.y, s.w, s.h);
      grid(v, s, columns, rows);
    };
    put("hosts", b.hosts, fabric.hosts_per_t0, topo.t0s);
    if (fabric.tiers > 1) put("up", b.up, fabric.t1, topo.t0s);
    if (b.spine) put("spine", b.spine, fabric.t2, topo.t1s);
    strip(v, f, plane, box(b.t0), topo.t0s, 1, true);
    if (fabric.tiers > 1 && fabric.pods === 1) strip(v, f, plane, box(b.t1), topo.t1s, 2, false);
  }
  marks(v, f);
}

function label(v: View, f: FabricView, plane: number, panel: Rect): void {
  const { ctx } = v;
  ctx.textBaseline = "bottom";
  ctx.textAlign = "left";
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.fillStyle = theme.planes[plane % theme.planes.length];
  ctx.fillText(`plane ${plane}`, panel.x, panel.y - 7);
  if (PANEL_W * v.scale < 380) return;
  ctx.font = "10.5px system-ui, sans-serif";
  ctx.fillStyle = theme.faint;
  ctx.textAlign = "right";
  const told = f.levels.isKnown(plane * f.topo.linksPerPlane) ? "" : " · click for detail";
  ctx.fillText(`hosts under each T0 | T0 | its uplinks to T1${told}`, panel.x + panel.w, panel.y - 8);
}

function grid(v: View, s: Rect, columns: number, rows: number): void {
  const { ctx } = v;
  if (s.w / columns < 7 || s.h / rows < 7) return;
  ctx.strokeStyle = theme.panel;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let c = 1; c < columns; ++c) { const x = s.x + (s.w * c) / columns; if (x > 0 && x < v.width) { ctx.moveTo(x, s.y); ctx.lineTo(x, s.y + s.h); } }
  for (let r = 1; r < rows; ++r) { const y = s.y + (s.h * r) / rows; if (y > 0 && y < v.height) { ctx.moveTo(s.x, y); ctx.lineTo(s.x + s.w, y); } }
  ctx.stroke();
}

/** Switches as cells: a T0 beside its row, a T1 above its column. */
function strip(v: View, f: FabricView, plane: number, s: Rect, count: number, tier: 1 | 2, vertical: boolean): void {
  const { ctx } = v, step = (vertical ? s.h : s.w) / count, told = f.frame?.switches;
  const every = Math.max(1, Math.floor(1 / step)), colours = scaleOf(f.kind); // no finer than pixels
  for (let index = 0; index < count; index += every) {
    const n = { tier, plane, index } as const;
    const level = told ? told[f.topo.switchNumber(n)] / FULL : f.levels.ofLinks(f.topo.linksOf(n));
    ctx.fillStyle = colours[heatBucket(level)];
    const at = index * step, size = Math.max(1, step * every - (step > 4 ? 1 : 0));
    if (vertical) ctx.fillRect(s.x, s.y + at, s.w, size); else ctx.fillRect(s.x + at, s.y, size, s.h);
  }
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
