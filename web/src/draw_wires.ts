// Planes as people draw them: hosts below, T0s and T1s above, a line for each cable.

import { flyerAt, FabricView } from "./fabric_view";
import { Tier } from "./model";
import { PANEL_H, PANEL_W } from "./scene";
import { heatBucket, heatBuckets, scale as scaleOf, theme } from "./theme";

export interface View { ctx: CanvasRenderingContext2D; scale: number; x: number; y: number; width: number; height: number; ratio: number }

const TIERS = ["hosts", "T0", "T1", "T2"];

/** What moves, or comes and goes with the pointer; the rest is a layer's. */
export function drawOverlay(v: View, f: FabricView, now: number): void {
  drawPath(v, f);
  drawMarked(v, f);
  drawFlyers(v, f, now);
}

export function drawPlanes(v: View, f: FabricView): void {
  const { ctx, scale } = v;
  f.scene.panels.forEach((p, plane) => {
    const x = p.x * scale + v.x, y = p.y * scale + v.y, w = PANEL_W * scale, h = PANEL_H * scale;
    ctx.fillStyle = theme.panel;
    ctx.beginPath();
    ctx.roundRect(x - 30 * Math.min(1, scale), y - 30, w + 60 * Math.min(1, scale), h + 30 + Math.min(26, 70 * scale), 12);
    ctx.fill();
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.fillStyle = theme.planes[plane % theme.planes.length];
    ctx.fillText(f.topo.planeName(plane), x - 18 * Math.min(1, scale), y - 13);
    if (w < 320) return;
    ctx.font = "10.5px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillStyle = theme.faint;
    for (let t = 0; t <= f.topo.f.tiers; ++t) ctx.fillText(TIERS[t], x + w + 26 * Math.min(1, scale), y + h * (1 - t / f.topo.f.tiers) + (t === 0 ? -10 : -12));
  });
}

/** The cables in sight, cold ones first: hot ones lie above them. */
export class LinkOrder {
  count = 0;
  links = new Int32Array(0);
  buckets = new Uint8Array(0); // by link
  private readonly ends = new Int32Array(heatBuckets + 1);

  sort(f: FabricView, v: View): void {
    const { links } = f.topo, s = f.scene.lines, level = f.levels.level, faults = f.levels.faults, { ends } = this;
    if (this.buckets.length !== links) { this.links = new Int32Array(links); this.buckets = new Uint8Array(links); }
    const left = -v.x / v.scale, right = (v.width - v.x) / v.scale, top = -v.y / v.scale, bottom = (v.height - v.y) / v.scale;
    const someVacant = f.topo.hostNames.size > 0; // then links lead to hosts only
    ends.fill(0);
    for (let l = 0, i = 0; l < links; ++l, i += 4) {
      const x0 = s[i], x1 = s[i + 2];
      const out = (x0 < left && x1 < left) || (x0 > right && x1 > right) || s[i + 1] < top || s[i + 3] > bottom || (faults.size > 0 && faults.has(l)) || (someVacant && f.topo.isVacant(l % f.topo.linksPerPlane));
      const b = out ? 255 : heatBucket(level[l]);
      this.buckets[l] = b;
      if (!out) ++ends[b + 1];
    }
    for (let b = 0; b < heatBuckets; ++b) ends[b + 1] += ends[b];
    this.count = ends[heatBuckets];
    for (let l = 0; l < links; ++l) if (this.buckets[l] !== 255) this.links[ends[this.buckets[l]]++] = l;
  }
}

/** Lines of one colour are one stroke: ten thousand of them are two dozen strokes. */
export function strokeLinks(v: View, f: FabricView, order: LinkOrder, from: number, end: number): void {
  const { ctx, scale } = v, s = f.scene.lines, links = f.topo.links;
  const width = Math.min(5, Math.max(1, 2.6 * Math.sqrt(scale * (12 / Math.max(4, Math.sqrt(links / f.topo.f.planes))))));
  const colours = scaleOf(f.kind), many = links > 2500; // hairlines without smoothing of joints
  ctx.lineCap = "butt";
  for (let at = from; at < end;) {
    const b = order.buckets[order.links[at]];
    ctx.strokeStyle = colours[b];
    ctx.lineWidth = many ? 1 : width * (b === 0 ? 0.6 : 0.8 + (0.5 * b) / heatBuckets);
    ctx.beginPath();
    for (; at < end && order.buckets[order.links[at]] === b; ++at) {
      const i = order.links[at] * 4;
      ctx.moveTo(s[i] * scale + v.x, s[i + 1] * scale + v.y);
      ctx.lineTo(s[i + 2] * scale + v.x, s[i + 3] * scale + v.y);
    }
    ctx.stroke();
  }
}

export function drawBroken(v: View, f: FabricView, only: Iterable<number> = f.levels.faults.keys()): void {
  const { ctx } = v;
  ctx.strokeStyle = theme.broken;
  ctx.fillStyle = theme.broken;
  ctx.lineWidth = 2;
  for (const link of only) {
    const fault = f.levels.faults.get(link);
    if (!fault) continue;
    const [x0, y0, x1, y1] = onScreen(v, f, link);
    ctx.setLineDash(fault[1] === "down" ? [3, 6] : [9, 4]);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
    if (f.levels.faults.size <= 200 && (fault[1] === "down" || fault[1] === "black_hole")) cross(ctx, (x0 + x1) / 2, (y0 + y1) / 2);
  }
}

function cross(ctx: CanvasRenderingContext2D, x: number, y: number): void {
  ctx.beginPath();
  ctx.arc(x, y, 7, 0, 7);
  ctx.fill();
  ctx.save();
  ctx.strokeStyle = theme.panel;
  ctx.beginPath();
  ctx.moveTo(x - 3, y - 3); ctx.lineTo(x + 3, y + 3); ctx.moveTo(x + 3, y - 3); ctx.lineTo(x - 3, y + 3);
  ctx.stroke();
  ctx.restore();
}

function onScreen(v: View, f: FabricView, link: number): [number, number, number, number] {
  const s = f.scene.lines, i = link * 4;
  return [s[i] * v.scale + v.x, s[i + 1] * v.scale + v.y, s[i + 2] * v.scale + v.x, s[i + 3] * v.scale + v.y];
}

function drawPath(v: View, f: FabricView): void {
  const { ctx } = v;
  const links = f.path.map((h) => h >> 1);
  for (const t of [f.hovered, f.selected]) if (t && "link" in t) links.push(t.link);
  if (links.length === 0) return;
  ctx.lineCap = "round";
  for (const [width, colour] of [[8, theme.panel], [4, theme.path]] as const) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    for (const l of links) {
      const [x0, y0, x1, y1] = onScreen(v, f, l), part = Math.min(0.2, 11 / Math.max(1, Math.hypot(x1 - x0, y1 - y0))); // what it joins stays in sight
      ctx.moveTo(x0 + (x1 - x0) * part, y0 + (y1 - y0) * part);
      ctx.lineTo(x1 - (x1 - x0) * part, y1 - (y1 - y0) * part);
    }
    ctx.stroke();
  }
  drawBroken(v, f, links);
}

/** A ring around what is pointed at and what is chosen; a host stands in every plane. */
function drawMarked(v: View, f: FabricView): void {
  const { ctx, scale } = v;
  ctx.strokeStyle = theme.path;
  ctx.lineWidth = 2.5;
  for (const t of [f.hovered, f.selected]) {
    if (!t || !("node" in t)) continue;
    const r = radius(f, scale, t.node.tier) * 1.9;
    for (let plane = 0; plane < f.topo.f.planes; ++plane) {
      if (t.node.tier !== 0 && plane !== t.node.plane) continue;
      const at = f.scene.at({ ...t.node, plane });
      ctx.beginPath();
      ctx.arc(at[0] * scale + v.x, at[1] * scale + v.y, r, 0, 7);
      ctx.stroke();
    }
  }
}

function spacingOf(f: FabricView, scale: number, tier: Tier): number { return f.scene.spacing(tier) * scale * (tier === 0 ? 0.84 : 1); }
function radius(f: FabricView, scale: number, tier: Tier): number { return Math.max(1, Math.min(tier === 0 ? 5 : 8, spacingOf(f, scale, tier) * 0.32)); }

export function drawNodes(v: View, f: FabricView): void {
  for (let plane = 0; plane < f.topo.f.planes; ++plane) {
    for (let tier = 0; tier <= f.topo.f.tiers; ++tier) drawTier(v, f, plane, tier as Tier);
  }
}

function drawTier(v: View, f: FabricView, plane: number, tier: Tier): void {
  const { ctx, scale } = v, count = f.scene.countOf(tier), spacing = spacingOf(f, scale, tier), r = radius(f, scale, tier);
  const labels = (spacing > 20 || f.topo.hostNames.size > 0) && PANEL_W * scale > 260;
  const y = f.scene.at({ tier, plane, index: 0 })[1] * scale + v.y;
  if (y < -20 || y > v.height + 20) return;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = "10px system-ui, sans-serif";
  ctx.lineWidth = 1.2;
  const colours = scaleOf(f.kind);
  for (let index = 0; index < count; ++index) {
    const x = f.scene.at({ tier, plane, index })[0] * scale + v.x;
    if (x < -20 || x > v.width + 20 || (tier === 0 && f.topo.isVacant(index))) continue;
    const level = tier === 0 ? 0 : f.levels.ofNode(tier, plane, index), dead = level < 0;
    ctx.fillStyle = dead ? theme.broken : tier === 0 ? theme.node : colours[heatBucket(level)];
    if (r < 2) { ctx.fillRect(x - r * 1.3, y - r, r * 2.6, r * 2); continue; }
    ctx.strokeStyle = theme.node;
    ctx.beginPath();
    if (tier === 0) ctx.arc(x, y, r, 0, 7); else ctx.roundRect(x - r * 1.3, y - r * 0.85, r * 2.6, r * 1.7, r * 0.45);
    ctx.fill();
    if (tier > 0 && r > 3) ctx.stroke();
    if (!labels) continue;
    const inside = tier > 0 && r >= 7;
    ctx.fillStyle = !inside ? theme.faint : dead || (level > 0.45) !== theme.dark ? "#fff" : theme.dark && level > 0.45 ? "#0e131a" : theme.text;
    ctx.fillText(tier === 0 ? f.topo.hostLabel(index, f.topo.hostNames.size > 6 ? 8 : 20) : `${index}`, x, inside ? y + 0.5 : y + (tier === 0 ? r + 8 : -r - 7));
  }
}

function drawFlyers(v: View, f: FabricView, now: number): void {
  const { ctx } = v;
  for (const flyer of f.flyers) {
    const at = flyerAt(f.scene, flyer, now);
    if (!at) continue;
    const pointed = f.hovered && "packet" in f.hovered && f.hovered.packet === flyer.packet;
    ctx.fillStyle = flyer.packet.repair ? theme.broken : theme.dot;
    ctx.strokeStyle = theme.panel;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.arc(at[0] * v.scale + v.x, at[1] * v.scale + v.y, pointed ? 6.5 : 3.6, 0, 7);
    ctx.fill();
    ctx.stroke();
  }
}
