// The side: queue pairs, the EVs of one of them, its packets, and what happened.

import { getPath } from "./api";
import { byId, make } from "./dom";
import { count, rate, size, time } from "./format";
import { Frame, Packet, QpRow, Topo } from "./model";
import { Store } from "./store";
import { theme } from "./theme";

const STATES: Record<string, string> = { g: "GOOD", s: "SKIP", b: "ASSUMED_BAD", d: "DENIED" };
const COLUMNS: [string, (q: QpRow) => number, string][] = [
  ["pair", (q) => q.host * 1e6 + q.peer, "From which host to which"],
  ["rate", (q) => q.rate, "Data sent, repairs included"],
  ["RTT", (q) => q.rtt_ns, "Smoothed round-trip time"],
  ["window", (q) => q.window, "Congestion window of the destination"],
  ["rep.", (q) => q.repairs, "Packets sent again"],
  ["EVs", (q) => -q.counts[0], "States of its paths"],
];

export class QpTable {
  chosen: string | null = null;
  private sort = 0;
  private down = false;
  filter = "";
  onChoose: (q: QpRow) => void = () => {};

  constructor(private readonly box: HTMLElement, private readonly topo: Topo) {}

  static key(q: QpRow): string { return `${q.host}.${q.qpn}`; }
  row(f: Frame | null): QpRow | undefined {
    if (!f) return undefined;
    return f.qps.find((q) => QpTable.key(q) === this.chosen) ?? f.qps.find((q) => q.packets > 0) ?? f.qps[0];
  }

  show(f: Frame): void {
    const wanted = this.filter.trim().toLowerCase();
    const rows = f.qps.filter((q) => !wanted || `h${q.host} h${q.peer}`.split(" ").some((h) => h === wanted) || this.pair(q).toLowerCase().includes(wanted));
    const by = COLUMNS[this.sort][1];
    rows.sort((a, b) => (this.down ? by(b) - by(a) : by(a) - by(b)));
    byId("qps-count").textContent = f.qps.length + f.more_qps > 0 ? `${rows.length} of ${f.qps.length + f.more_qps}` : "none here";
    const chosen = this.row(f);
    const head = make("tr", {}, ...COLUMNS.map(([name, , title], i) => {
      const th = make("th", { title, scope: "col", click: () => { this.down = this.sort === i ? !this.down : i !== 0; this.sort = i; this.show(f); } }, name);
      if (i === this.sort) th.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      return th;
    }));
    const body = rows.map((q) => make("tr", { class: chosen && QpTable.key(q) === QpTable.key(chosen) ? "chosen" : "", tabindex: 0,
      click: () => this.choose(q, f), keydown: (e) => { if ((e as KeyboardEvent).key === "Enter") this.choose(q, f); } },
      make("td", { title: this.pair(q) }, `${this.topo.hostNames.size > 0 ? "" : `h${q.host} `}→ ${this.topo.hostLabel(q.peer, 16)}`), make("td", {}, rate(q.rate)), make("td", {}, time(q.rtt_ns)), make("td", {}, size(q.window)),
      make("td", {}, count(q.repairs)), make("td", {}, bar(q))));
    const top = this.box.scrollTop;
    this.box.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
    this.box.scrollTop = top;
  }
  private pair(q: QpRow): string { return `${this.topo.hostLabel(q.host)} → ${this.topo.hostLabel(q.peer)}`; }
  private choose(q: QpRow, f: Frame): void { this.chosen = QpTable.key(q); this.show(f); this.onChoose(q); }
}

function bar(q: QpRow): HTMLElement {
  const all = Math.max(1, q.counts.reduce((a, b) => a + b, 0));
  return make("span", { class: "states", title: ["GOOD", "SKIP", "ASSUMED_BAD", "DENIED"].map((s, i) => `${s} ${q.counts[i]}`).join(", ") },
    ...["g", "s", "b", "d"].map((s, i) => make("i", { class: s, style: `width:${(100 * q.counts[i]) / all}%` })));
}

/** A QP's EVs, a row per plane; pointing at one shows its path. */
export class EvGrid {
  private shown = "";
  constructor(private readonly box: HTMLElement, private readonly topo: Topo, private readonly onPath: (hops: number[]) => void) {
    byId("evs-legend").replaceChildren(...Object.entries(STATES).map(([s, name]) => make("span", {}, make("i", { class: s }), name.toLowerCase().replace("_", " "))));
  }

  show(q: QpRow | undefined): void {
    byId("evs-title").textContent = q ? `of ${this.topo.hostLabel(q.host, 18)} → ${this.topo.hostLabel(q.peer, 18)}, ${q.evs?.length ?? 0} EVs` : "";
    const key = q?.evs ? `${QpTable.key(q)} ${q.evs.length}` : "";
    if (key !== this.shown) { this.shown = key; this.build(q); }
    if (!q?.evs) return;
    this.box.querySelectorAll("button").forEach((b) => {
      const slot = Number(b.dataset.slot), state = q.evs![slot];
      if (b.className !== state) { b.className = state; b.title = `EV slot ${slot}: ${STATES[state]}`; }
    });
  }

  private build(q: QpRow | undefined): void {
    if (!q?.evs || !q.ways) return this.box.replaceChildren();
    const ways = q.ways, rows = new Map<number, HTMLElement[]>();
    for (let slot = 0; slot < q.evs.length; ++slot) {
      const [plane, up0, up1] = ways.slice(slot * 3, slot * 3 + 3);
      const show = async () => { if (up0 >= 0) this.onPath((await getPath(q.host, q.peer, plane, up0, up1)).hops); }, hide = () => this.onPath([]);
      const b = make("button", { "data-slot": slot, "aria-label": `EV slot ${slot}`, pointerenter: () => void show(), pointerleave: hide, focus: () => void show(), blur: hide, click: () => void show() });
      (rows.get(plane) ?? rows.set(plane, []).get(plane)!).push(b);
    }
    this.box.replaceChildren(...[...rows].map(([plane, buttons]) => make("div", { class: "plane-row" }, make("span", { style: `color:${theme.planes[plane % theme.planes.length]}` }, `p${plane}`), ...buttons)));
  }
}

export function showPackets(box: HTMLElement, f: Frame, host: number | undefined, planeOf: (hop: number) => number, onPath: (hops: number[]) => void): void {
  byId("packets-box").hidden = f.packets.length === 0;
  byId("packets-title").textContent = `the last that left h${host ?? "?"}; point at one for its path`;
  if (box.matches(":hover")) return; // it would slip away
  box.replaceChildren(...f.packets.slice(-24).map((p: Packet) => make("button", {
    class: p.repair ? "repair" : "", style: `border-left-color:${theme.planes[planeOf(p.hops[0]) % theme.planes.length]}`,
    title: `to h${p.peer}, plane ${planeOf(p.hops[0])}${p.repair ? ", a repair" : ""}`, pointerenter: () => onPath(p.hops), pointerleave: () => onPath([]), focus: () => onPath(p.hops), blur: () => onPath([]),
  }, String(p.psn))));
}

export class EventList {
  private last = -1; private length = -1;
  constructor(private readonly box: HTMLElement, private readonly store: Store, private readonly onChoose: (n: number, target: string) => void) {}

  show(f: Frame): void {
    const all = this.store.happenings;
    if (this.last === f.n && this.length === all.length) return;
    this.last = f.n;
    this.length = all.length;
    const until = all.filter((h) => h.n <= f.n).slice(-80).reverse();
    this.box.replaceChildren(...until.map((h) => {
      const kind = h.what.endsWith("works again") || h.what.startsWith("by hand: heal") ? "heals" : h.kind;
      return make("li", { tabindex: 0, click: () => this.onChoose(h.n, h.target), keydown: (e) => { if ((e as KeyboardEvent).key === "Enter") this.onChoose(h.n, h.target); } },
        make("time", {}, time(h.t)), make("span", { class: kind }, h.what));
    }));
  }
}
