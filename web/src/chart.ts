// Rate per plane over time, with a line where something broke and where the shown moment is.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { byId } from "./dom";
import { Store } from "./store";
import { onTheme, theme } from "./theme";

const MOST_POINTS = 600;

export class Chart {
  private plot: uPlot | null = null;
  private drawnAt = 0;

  constructor(private readonly box: HTMLElement, private readonly store: Store, private readonly planes: number, private readonly onSeek: (index: number) => void, private readonly planeName?: (p: number) => string) {
    onTheme(() => this.rebuild());
    new ResizeObserver(() => this.plot?.setSize({ width: this.box.clientWidth, height: 140 })).observe(box);
    this.rebuild();
  }

  private rebuild(): void {
    this.plot?.destroy();
    const axis = { stroke: theme.faint, grid: { stroke: theme.line, width: 1 }, ticks: { show: false }, font: "10.5px system-ui, sans-serif" };
    const options: uPlot.Options = {
      width: this.box.clientWidth || 340, height: 140, legend: { show: true, live: false }, cursor: { y: false, points: { size: 5 } },
      scales: { x: { time: false } },
      series: [{ label: "time" }, ...Array.from({ length: this.planes }, (_, p) => ({ label: this.planeName?.(p) ?? `${p}`, stroke: theme.planes[p % theme.planes.length], width: 1.5, points: { show: false } }))],
      axes: [{ ...axis, size: 24 }, { ...axis, size: 36 }],
      hooks: { draw: [(u) => this.drawMarks(u)] },
    };
    this.plot = new uPlot(options, this.data(), this.box);
    this.plot.over.addEventListener("click", () => {
      const x = this.plot?.cursor.left;
      if (x !== undefined && x >= 0) this.seekTo(this.plot!.posToVal(x, "x") * this.unit());
    });
  }

  private unit(): number {
    const s = this.store.summaries, last = s.length ? s[s.length - 1].t : 0;
    return last > 2e9 ? 1e9 : last > 2e6 ? 1e6 : 1e3;
  }
  private seekTo(ns: number): void {
    const s = this.store.summaries;
    let best = 0;
    for (let i = 0; i < s.length; ++i) if (Math.abs(s[i].t - ns) < Math.abs(s[best].t - ns)) best = i;
    this.onSeek(best);
  }

  private data(): uPlot.AlignedData {
    const s = this.store.summaries, step = Math.max(1, Math.ceil(s.length / MOST_POINTS)), unit = this.unit();
    const x: number[] = [], ys: number[][] = Array.from({ length: this.planes }, () => []);
    for (let i = step - 1; i < s.length; i += step) {
      x.push(s[i].t / unit);
      for (let p = 0; p < this.planes; ++p) {
        let sum = 0;
        for (let k = i - step + 1; k <= i; ++k) sum += s[k].planes[p] ?? 0;
        ys[p].push(sum / step / 1e9);
      }
    }
    byId("chart-unit").textContent = `Gb/s over ${unit === 1e9 ? "s" : unit === 1e6 ? "ms" : "µs"}`;
    return [x, ...ys];
  }

  private drawMarks(u: uPlot): void {
    const { ctx } = u, unit = this.unit(), top = u.bbox.top, bottom = top + u.bbox.height;
    const line = (ns: number, colour: string, dash: number[]) => {
      const x = Math.round(u.valToPos(ns / unit, "x", true)) + 0.5;
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
      ctx.strokeStyle = colour;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, bottom);
      ctx.stroke();
    };
    ctx.save();
    ctx.lineWidth = 1;
    for (const h of this.store.happenings.slice(-400)) if (h.kind === "action" || h.kind === "phase") line(h.t, h.kind === "action" ? theme.broken : theme.faint, [3, 3]);
    if (!this.store.live && this.store.current) line(this.store.current.t, theme.path, []);
    ctx.restore();
  }

  /** At most a few times a second: nobody reads faster. */
  update(now: number): void {
    if (now - this.drawnAt < 250) return;
    this.drawnAt = Math.min(now, performance.now());
    this.plot?.setData(this.data());
  }
}
