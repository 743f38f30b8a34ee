// The page: puts the parts together and hands frames round.

import "./style.css";
import { act, getFabric, getFrames, listen } from "./api";
import { Chart } from "./chart";
import { Controls, showHelp } from "./controls";
import { byId, make, segmented } from "./dom";
import { FabricView, Thing, WIRES_POSSIBLE } from "./fabric_view";
import { count, rate } from "./format";
import { Kind, KINDS } from "./heatmap";
import { Inspector } from "./inspector";
import { Fabric, Frame, Topo } from "./model";
import { EventList, EvGrid, QpTable, showPackets } from "./panels";
import { Drawn } from "./scene";
import { Store } from "./store";
import { heatBuckets, onTheme, scale, toggleTheme } from "./theme";

const MOST_PAST = 16e6; // letters of frames that were before we came: more takes longer to load than it is worth
const SIDE_EVERY_MS = 200; // the side is read, not watched

function showFigures(f: Frame): void {
  const figures: [string, string][] = [[rate(f.total.goodput), "goodput"], [count(f.total.repairs), "repairs"], [count(f.total.trims), "trims"], [count(f.total.lost), "lost"], [String(f.faults.length + f.more_faults > 0 ? new Set(f.faults.map((x) => x[0] >> 1)).size + (f.more_faults >> 1) : 0), "broken cables"]];
  byId("figures").replaceChildren(...figures.map(([value, name]) => make("div", {}, make("b", {}, value), make("span", {}, name))));
}

function drawLegend(kind: Kind): void {
  const canvas = byId<HTMLCanvasElement>("legend-scale"), ctx = canvas.getContext("2d")!;
  scale(kind).forEach((c, i) => { ctx.fillStyle = c; ctx.fillRect((canvas.width * i) / heatBuckets, 0, canvas.width / heatBuckets + 1, 8); });
  byId("legend-low").textContent = kind === "load" ? "idle" : kind === "queue" ? "empty" : "none";
  byId("legend-high").textContent = kind === "load" ? "line rate" : kind === "queue" ? "full" : "many";
}

class Page {
  readonly store = new Store();
  readonly topo: Topo;
  readonly view: FabricView;
  readonly controls: Controls;
  private readonly inspector: Inspector;
  private readonly qps: QpTable;
  private readonly evs: EvGrid;
  private readonly events: EventList;
  private readonly chart: Chart;
  private readonly markKind: (k: Kind) => void;
  private readonly markDrawn: (d: Drawn) => void;
  private sideAt = 0;
  private lastTap = { at: 0, name: "" };
  private trouble = 0;

  constructor(readonly fabric: Fabric) {
    this.topo = new Topo(fabric);
    this.view = new FabricView(byId<HTMLCanvasElement>("fabric"), this.topo);
    this.qps = new QpTable(byId("qps"), this.topo);
    this.controls = new Controls(this.store, fabric);
    this.inspector = new Inspector(this.topo, this.view, fabric.actions);
    const setPath = (hops: number[]) => { this.view.path = hops; this.view.redraw(); };
    this.evs = new EvGrid(byId("evs"), this.topo, setPath);
    this.events = new EventList(byId("events"), this.store, (n, target) => this.goTo(n, target));
    this.chart = new Chart(byId("chart"), this.store, fabric.planes, (i) => this.controls.seek(i), fabric.plane_names?.length ? (p) => this.topo.planeName(p) : undefined);
    this.markKind = segmented(byId("heat"), KINDS, "load", (k) => this.setKind(k));
    this.markDrawn = segmented(byId("layout"), this.topo.links > WIRES_POSSIBLE ? ["matrix"] as const : ["wires", "matrix"] as const, this.view.drawn, (d: Drawn) => this.view.setDrawn(d));
    byId("name").textContent = fabric.name;
    byId("source").textContent = fabric.plane_names?.length ? `${fabric.source} · ${fabric.planes} ports`
      : `${fabric.source} · ${fabric.hosts.toLocaleString("en")} hosts · ${fabric.planes} planes · ${this.topo.links.toLocaleString("en")} links`;
    document.title = `${fabric.name} · OpenMRC`;
    this.wire(setPath);
    drawLegend("load");
  }

  private wire(setPath: (hops: number[]) => void): void {
    this.store.onShow((f) => this.show(f));
    this.qps.onChoose = () => this.showSide();
    this.view.onView = () => this.followView();
    let pointed = false; // at a packet: its path goes when the pointer does
    this.view.onHover = (t, x, y) => {
      if (t && "packet" in t) setPath(t.packet.hops);
      else if (pointed) setPath([]);
      pointed = t !== null && "packet" in t;
      this.inspector.hover(t, x, y);
    };
    this.view.onPick = (t) => {
      const name = t ? this.inspector.name(t) : "", now = performance.now();
      if (!t || !("packet" in t)) setPath([]);
      this.inspector.select(t);
      if (t) this.focusOn(t);
      if (t && name === this.lastTap.name && now - this.lastTap.at < 400) this.inspector.toggle();
      this.lastTap = { at: now, name };
    };
    // Beside the picture where there is room, over it on a phone.
    const wide = matchMedia("(min-width: 821px)"), place = () => (wide.matches ? document.querySelector("aside")! : byId("stage")).prepend(byId("card"));
    wide.addEventListener("change", place);
    place();
    byId("fit").addEventListener("click", () => this.view.fit());
    byId("heal-all").addEventListener("click", () => void this.inspector.act({ verb: "heal" }));
    byId("theme").addEventListener("click", toggleTheme);
    byId("help-open").addEventListener("click", showHelp);
    byId<HTMLInputElement>("filter").addEventListener("input", (e) => { this.qps.filter = (e.target as HTMLInputElement).value; this.showSide(); });
    onTheme(() => { this.view.repaint(); drawLegend(this.view.kind); });
    addEventListener("keydown", (e) => this.onKey(e));
  }

  private setKind(kind: Kind): void { this.view.setKind(kind); this.markKind(kind); drawLegend(kind); }
  private asked = { plane: -1, t0: -1, at: 0 };
  /** Where not everything is told: the cables of this T0 and of those around it. */
  private focus(plane: number, t0: number): void {
    const link = plane * this.topo.linksPerPlane + Math.min(this.fabric.hosts - 1, t0 * this.fabric.hosts_per_t0), now = performance.now();
    if (this.fabric.source === "recording" || this.view.levels.isKnown(link)) return;
    if (this.asked.plane === plane && Math.abs(this.asked.t0 - t0) < 8 && now - this.asked.at < 2000) return;
    this.asked = { plane, t0, at: now };
    void act({ verb: "focus", plane, t0 });
  }
  private focusOn(t: Thing): void {
    if ("packet" in t) return;
    const lower = "link" in t ? this.topo.ends(t.link).lower : t.node;
    if (lower.tier < 2) this.focus("link" in t ? this.topo.ends(t.link).plane : t.node.plane, lower.tier === 1 ? lower.index : Math.floor(lower.index / this.fabric.hosts_per_t0));
  }
  private followView(): void {
    const m = this.view.drawn === "matrix" ? this.view.middle() : null;
    if (m && m.pixels > 0.7) this.focus(m.plane, m.t0);
  }
  private goTo(n: number, target: string): void {
    const at = this.store.summaries.findIndex((s) => s.n === n), thing = target ? this.topo.find(target) : null;
    if (at >= 0) this.controls.seek(at);
    if (thing) { this.inspector.select(thing); this.view.lookAt(thing); }
  }

  private show(f: Frame): void {
    const known = this.topo.hostNames.size;
    for (const [host, name] of f.names ?? []) this.topo.hostNames.set(host, name);
    if (this.topo.hostNames.size !== known) this.view.relayout();
    this.view.show(f);
    this.controls.show(f);
    this.inspector.refresh();
    showFigures(f);
    const now = performance.now();
    if (now - this.sideAt < SIDE_EVERY_MS && this.store.live) return;
    this.sideAt = now;
    this.showSide();
    this.chart.update(now);
  }
  private showSide(): void {
    const f = this.store.current;
    if (!f) return;
    this.qps.show(f);
    this.evs.show(this.qps.row(f));
    showPackets(byId("packets"), f, f.qps[0]?.host, (hop) => this.topo.ends(hop >> 1).plane, (hops) => { this.view.path = hops; this.view.redraw(); });
    this.events.show(f);
  }

  private nextTrouble(): void {
    const list = this.view.levels.trouble();
    if (list.length === 0) return;
    const thing = { link: list[this.trouble++ % list.length] };
    this.inspector.select(thing);
    this.view.lookAt(thing);
  }

  private onKey(e: KeyboardEvent): void {
    const typing = e.target instanceof HTMLInputElement && e.target.type === "search";
    if (e.key === "Escape") { this.inspector.select(null); this.view.path = []; (document.activeElement as HTMLElement | null)?.blur(); return; }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    const box = this.view.canvas.getBoundingClientRect(), pan = (x: number, y: number) => this.view.camera.pan(x, y);
    const onRange = e.target instanceof HTMLInputElement;
    const keys: Record<string, () => void> = {
      " ": () => this.controls.toggle(), "[": () => this.controls.faster(1 / 1.78), "]": () => this.controls.faster(1.78), ",": () => this.controls.step(-1), ".": () => this.controls.step(1),
      l: () => this.controls.goLive(), r: () => this.controls.restart(), "+": () => this.view.camera.zoom(1.3, box.width / 2, box.height / 2), "=": () => this.view.camera.zoom(1.3, box.width / 2, box.height / 2), "-": () => this.view.camera.zoom(1 / 1.3, box.width / 2, box.height / 2), "0": () => this.view.fit(),
      n: () => this.nextTrouble(), b: () => this.inspector.toggle(), H: () => void this.inspector.act({ verb: "heal" }), t: toggleTheme, "?": showHelp,
      m: () => { const d: Drawn = this.view.drawn === "wires" || this.topo.links > WIRES_POSSIBLE ? "matrix" : "wires"; this.view.setDrawn(d); this.markDrawn(d); }, "/": () => byId("filter").focus(),
    };
    KINDS.forEach((k, i) => { keys[String(i + 1)] = () => this.setKind(k); });
    if (!onRange) Object.assign(keys, { ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) });
    const run = keys[e.key];
    if (!run || (e.key === " " && e.target instanceof HTMLButtonElement && e.target.id !== "play")) return;
    e.preventDefault();
    run();
  }

  async start(): Promise<void> {
    const { end, source } = this.fabric;
    let first = this.fabric.first;
    if (end > first && source !== "recording") {
      const [newest] = await getFrames(end - 1, 1);
      if (newest) {
        this.store.preview(newest);
        first = Math.max(first, end - Math.ceil(MOST_PAST / newest.length));
      }
    }
    for (let known = first; known < end;) { // what was shown before we came
      const texts = await getFrames(known, 200);
      if (texts.length === 0) break;
      texts.forEach((t) => this.store.addPast(t));
      known += texts.length;
    }
    this.store.goLive();
    this.chart.update(Infinity);
    if (this.fabric.source === "recording" && this.store.texts.length > 0) this.controls.playFromStart();
    listen((text) => this.store.add(text), (open) => {
      const state = byId("link-state");
      state.hidden = open;
      state.className = "tag warn";
      state.textContent = "connection lost, trying again";
    });
  }
}

getFabric().then((fabric) => {
  const page = new Page(fabric);
  (window as unknown as { mrc: Page }).mrc = page; // for those who measure
  return page.start();
}).catch((e: Error) => { byId("name").textContent = e.message; });
