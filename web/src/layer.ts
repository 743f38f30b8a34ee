// What stands still is drawn into a layer, some cables per animation frame; what moves is drawn over it.
//
// A layer remembers the camera it was drawn with. While the picture moves, the last whole layer moves with it, and the
// next one is drawn behind: however many cables there are, a frame costs one copy and one slice.

import { drawBroken, drawNodes, drawPlanes, LinkOrder, strokeLinks, View } from "./draw_wires";
import { FabricView } from "./fabric_view";
import { theme } from "./theme";

const SLICE = 1500;  // cables per animation frame: a few ms where no graphics card helps
const MARGIN = 160;  // drawn beyond the edges, for the next moves

interface Layer { canvas: HTMLCanvasElement; view: View }

export class WireLayers {
  private front: Layer | null = null;
  private back: Layer | null = null;
  private spare: HTMLCanvasElement[] = [];
  private readonly order = new LinkOrder();
  private next = 0;            // of the order: what the back lacks
  private drawnOf: unknown[] = []; // what the front, or the back that is being drawn, shows
  slices = 0;                  // drawn so far, for those who measure

  /** Draws what is there. True: a newer one is being made, come again. */
  draw(v: View, f: FabricView): boolean {
    if (!this.back && this.isOld(v, f)) this.begin(v, f);
    if (this.back) this.go(f);
    this.copy(v);
    return this.back !== null || this.isOld(v, f);
  }

  private wanted(v: View, f: FabricView): unknown[] {
    return [f.version, f.scene, theme, f.kind, v.scale, v.x, v.y, v.width, v.height, v.ratio];
  }
  private isOld(v: View, f: FabricView): boolean {
    return !this.front || this.wanted(v, f).some((w, i) => w !== this.drawnOf[i]);
  }

  private begin(v: View, f: FabricView): void {
    this.drawnOf = this.wanted(v, f);
    const canvas = this.spare.pop() ?? document.createElement("canvas");
    const width = v.width + 2 * MARGIN, height = v.height + 2 * MARGIN;
    const w = Math.round(width * v.ratio), h = Math.round(height * v.ratio);
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    const ctx = canvas.getContext("2d", { alpha: false })!;
    const view = { ctx, scale: v.scale, x: v.x + MARGIN, y: v.y + MARGIN, width, height, ratio: v.ratio };
    this.back = { canvas, view };
    ctx.setTransform(v.ratio, 0, 0, v.ratio, 0, 0);
    ctx.fillStyle = theme.background;
    ctx.fillRect(0, 0, width, height);
    drawPlanes(view, f);
    this.order.sort(f, view);
    this.next = 0;
  }

  private go(f: FabricView): void {
    const { view } = this.back!, end = Math.min(this.order.count, this.next + SLICE);
    strokeLinks(view, f, this.order, this.next, end);
    this.next = end;
    ++this.slices;
    if (end < this.order.count) return;
    drawBroken(view, f);
    drawNodes(view, f);
    if (this.front) this.spare.push(this.front.canvas);
    this.front = this.back;
    this.back = null;
  }

  private copy(v: View): void {
    const layer = this.front ?? this.back!, l = layer.view, s = v.scale / l.scale;
    v.ctx.setTransform(1, 0, 0, 1, 0, 0);
    v.ctx.drawImage(layer.canvas, Math.round((v.x - l.x * s) * v.ratio), Math.round((v.y - l.y * s) * v.ratio), layer.canvas.width * s, layer.canvas.height * s);
    v.ctx.setTransform(v.ratio, 0, 0, v.ratio, 0, 0);
  }
}
