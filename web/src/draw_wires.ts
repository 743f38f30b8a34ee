// Planes as people draw them: hosts below, T0s and T1s above, a line for each cable.

import { flyerAt, FabricView, Thing } from "./fabric_view";
import { Node, Tier } from "./model";
import { PANEL_H, PANEL_W } from "./scene";
import { heatBucket, heatBuckets, scale as scaleOf, theme } from "./theme";

export interface View { ctx: CanvasRenderingContext2D; scale: number; x: number; y: number; width: number; height: number; ratio: number }

const TIERS = ["hosts", "T0", "T1", "T2"];

export function drawWires(v: View, f: FabricView, now: number): void {
  v.ctx.setTransform(v.ratio, 0, 0, v.ratio, 0, 0);
  drawPlanes(v, f);
  drawLinks(v, f);
  drawPath(v, f);
  drawBroken(v, f);
  drawNodes(v, f);
  drawFlyers(v, f, now);
}

function drawPlanes(v: View, f: FabricView): void {
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
    ctx.fillText(`plane ${plane}`, x - 18 * Math.min(1, scale), y - 13);
    if (w < 320) return;
    ctx.font = "10.5px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillStyle = theme.faint;
    for (let t = 0; t <= f.topo.f.tiers; ++t) ctx.fillText(TIERS[t], x + w + 26 * Math.min(1, scale), y + h * (1 - t / f.topo.f.tiers) + (t === 0 ? -10 : -12));
  });
}

/** Lines of one colour are one stroke: ten thousand of them are two dozen strokes. */
function drawLinks(v: View, f: FabricView): void {
  const { ctx, scale } = v, s = f.scene.lines, level = f.levels.level, links = f.topo.links;
  const width = Math.min(5, Math.max(1, 2.6 * Math.sqrt(scale * (12 / Math.max(4, Math.sqrt(links / f.topo.f.planes))))));
  const buckets: number[][] = Array.from({ length: heatBuckets }, () => []);
  const faults = f.levels.faults;
  for (let l = 0; l < links; ++l) {
    const i = l * 4;
    const x0 = s[i] * scale + v.x, y0 = s[i + 1] * scale + v.y, x1 = s[i + 2] * scale + v.x, y1 = s[i + 3] * scale + v.y;
    if ((x0 < 0 && x1 < 0) || (x0 > v.width && x1 > v.width) || y0 < 0 || y1 > v.height || (faults.size > 0 && faults.has(l))) continue;
    buckets[heatBucket(level[l])].push(x0, y0, x1, y1);
  }
  const colours = scaleOf(f.kind), many = links > 2500; // hairlines without smoothing of joints
  ctx.lineCap = "butt";
  buckets.forEach((lines, b) => {
    if (lines.length === 0) return;
    ctx.strokeStyle = colours[b];
    ctx.lineWidth = many ? 1 : width * (b === 0 ? 0.6 : 0.8 + (0.5 * b) / heatBuckets);
    ctx.beginPath();
    for (let i = 0; i < lines.length; i += 4) { ctx.moveTo(lines[i], lines[i + 1]); ctx.lineTo(lines[i + 2], lines[i + 3]); }
    ctx.stroke();
  });
}

function drawBroken(v: View, f: FabricView): void {
  const { ctx } = v;
  ctx.strokeStyle = theme.broken;
  ctx.fillStyle = theme.broken;
  ctx.lineWidth = 2;
  for (const [link, fault] of f.levels.faults) {
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
    for (const l of links) { const [x0, y0, x1, y1] = onScreen(v, f, l); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); }
    ctx.stroke();
  }
}

function is(t: Thing | null, n: Node): boolean {
  return t !== null && "node" in t && t.node.tier === n.tier && t.node.index === n.index && (n.tier === 0 || t.node.plane === n.plane);
}

function drawNodes(v: View, f: FabricView): void {
  for (let plane = 0; plane < f.topo.f.planes; ++plane) {
    for (let tier = 0; tier <= f.topo.f.tiers; ++tier) drawTier(v, f, plane, tier as Tier);
  }
}

function drawTier(v: View, f: FabricView, plane: number, tier: Tier): void {
  const { ctx, scale } = v, count = f.scene.countOf(tier), spacing = f.scene.spacing(tier) * scale * (tier === 0 ? 0.84 : 1);
  const r = Math.max(1, Math.min(tier === 0 ? 5 : 8, spacing * 0.32));
  const labels = spacing > 20 && PANEL_W * scale > 260, few = count * f.topo.f.planes <= 4000;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = "10px system-ui, sans-serif";
  const colours = scaleOf(f.kind);
  for (let index = 0; index < count; ++index) {
    const n: Node = { tier, plane, index }, at = f.scene.at(n), x = at[0] * scale + v.x, y = at[1] * scale + v.y;
    if (x < -20 || x > v.width + 20 || y < -20 || y > v.height + 20) continue;
    const links = few && tier > 0 ? f.topo.linksOf(n) : [];
    const dead = links.length > 0 && links.every((l) => f.levels.faults.has(l));
    ctx.fillStyle = dead ? theme.broken : tier === 0 ? theme.node : colours[heatBucket(f.levels.ofLinks(links))];
    ctx.strokeStyle = theme.node;
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    if (tier === 0) ctx.arc(x, y, r, 0, 7); else ctx.roundRect(x - r * 1.3, y - r * 0.85, r * 2.6, r * 1.7, r * 0.45);
    ctx.fill();
    if (tier > 0 && r > 3) ctx.stroke();
    if (is(f.selected, n) || is(f.hovered, n)) { ctx.strokeStyle = theme.path; ctx.lineWidth = 2.5; ctx.beginPath(); ctx.arc(x, y, r * 1.9, 0, 7); ctx.stroke(); }
    if (!labels) continue;
    const level = f.levels.ofLinks(links), inside = tier > 0 && r >= 7;
    ctx.fillStyle = !inside ? theme.faint : dead || (level > 0.45) !== theme.dark ? "#fff" : theme.dark && level > 0.45 ? "#0e131a" : theme.text;
    ctx.fillText(tier === 0 ? `h${index}` : `${index}`, x, inside ? y + 0.5 : y + (tier === 0 ? r + 8 : -r - 7));
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
