// What is under the pointer, and the card of what was chosen, with its buttons to break and heal.

import { act } from "./api";
import { byId, make } from "./dom";
import { FabricView, Thing } from "./fabric_view";
import { count, percent, rate } from "./format";
import { faultText } from "./heatmap";
import { Frame, FULL, Topo } from "./model";

export class Inspector {
  private readonly tip = byId("tip");
  private readonly card = byId("card");
  problem = "";

  constructor(private readonly topo: Topo, private readonly view: FabricView, private readonly actions: boolean) {}

  name(t: Thing): string {
    if ("link" in t) return this.topo.linkName(t.link);
    return "node" in t ? this.topo.name(t.node) : `PSN ${t.packet.psn}`;
  }
  private load(f: Frame, hop: number): number | null {
    for (const r of [f, f.up]) if (r && hop >= r.first && hop - r.first < r.load.length) return r.load[hop - r.first] / FULL;
    return null;
  }
  private links(t: Thing): number[] { return "link" in t ? [t.link] : "node" in t ? this.topo.linksOf(t.node) : []; }
  broken(t: Thing): boolean {
    const links = this.links(t);
    return links.length > 0 && links.every((l) => this.view.levels.faults.has(l));
  }

  private facts(t: Thing, f: Frame): [string, string][] {
    if ("packet" in t) return [["to", `h${t.packet.peer}`], ["path", t.packet.hops.map((h) => this.topo.hopName(h).split(">")[1]).join(" → ")]];
    const links = this.links(t), sum = (m: Map<number, number>) => links.reduce((s, l) => s + (m.get(2 * l) ?? 0) + (m.get(2 * l + 1) ?? 0), 0);
    const out: [string, string][] = [];
    if ("link" in t) {
      for (const [dir, text] of [[0, "up"], [1, "down"]] as const) {
        const load = this.load(f, 2 * t.link + dir);
        out.push([text, load === null ? "not told" : `${rate(load * this.topo.rate(t.link))} · ${percent(load)}`]);
      }
    } else {
      const bad = links.filter((l) => this.view.levels.faults.has(l)).length;
      out.push(["cables", bad > 0 ? `${links.length}, ${bad} broken` : `${links.length}`]);
      const loads = links.flatMap((l) => [this.load(f, 2 * l), this.load(f, 2 * l + 1)]).filter((x): x is number => x !== null);
      if (loads.length > 0) out.push(["load", `${percent(loads.reduce((a, b) => a + b, 0) / loads.length)} mean, ${percent(Math.max(...loads))} most`]);
    }
    for (const [name, m] of [["lost", f.lost], ["trimmed", f.trims], ["marked", f.marks]] as const) out.push([`${name} just now`, count(sum(m))]);
    return out;
  }

  hover(t: Thing | null, x: number, y: number): void {
    const f = this.view.frame;
    this.tip.hidden = t === null || f === null;
    if (!t || !f) return;
    const fault = "link" in t ? this.view.levels.faults.get(t.link) : undefined;
    this.tip.replaceChildren(make("b", {}, this.name(t)), ...(fault ? [" ", make("em", {}, faultText(fault))] : []),
      ...this.facts(t, f).filter(([, v]) => v !== "0").map(([k, v]) => make("div", {}, `${k} ${v}`)));
    const stage = this.view.canvas.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, stage.width - 220)}px`;
    this.tip.style.top = `${Math.min(y + 14, stage.height - 110)}px`;
  }

  select(t: Thing | null): void {
    this.view.selected = t && "packet" in t ? null : t;
    if (t && "packet" in t) this.view.path = t.packet.hops;
    this.problem = "";
    this.refresh();
    this.view.redraw();
  }

  async act(action: Record<string, unknown>): Promise<void> {
    this.problem = (await act(action)) ?? "";
    this.refresh();
  }
  toggle(): void {
    const t = this.view.selected;
    if (!t || !this.actions) return;
    void this.act({ verb: this.broken(t) ? "heal" : "fail", target: this.name(t) });
  }

  refresh(): void {
    const t = this.view.selected, f = this.view.frame;
    this.card.hidden = !t || !f;
    byId("heal-all").hidden = !this.actions || this.view.levels.faults.size === 0;
    if (!t || !f) return;
    const fault = "link" in t ? this.view.levels.faults.get(t.link) : undefined, broken = this.broken(t), name = this.name(t);
    const kind = "link" in t ? "cable" : "node" in t && t.node.tier === 0 ? "host" : "switch";
    const shape = `${name} ${broken} ${this.problem} ${fault ? faultText(fault) : ""}`;
    if (this.card.dataset.shape !== shape) {
      this.card.dataset.shape = shape;
      this.card.replaceChildren(
        make("button", { class: "close", "aria-label": "Close", click: () => this.select(null) }, "✕"), make("h3", {}, name),
        make("p", { class: "sub" }, `${kind} · `, make("span", { class: broken ? "state broken" : "state" }, fault ? faultText(fault) : broken ? "broken" : "works")),
        make("dl", {}), this.buttons(t, name, broken || fault !== undefined), make("p", { class: "sub", role: "alert" }, this.problem));
    }
    this.card.querySelector("dl")!.replaceChildren(...this.facts(t, f).flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)]));
  }

  private buttons(t: Thing, target: string, broken: boolean): HTMLElement {
    if (!this.actions || ("node" in t && t.node.tier === 0)) return make("div", { class: "row" });
    const button = (text: string, klass: string, action: Record<string, unknown>, title: string) => make("button", { class: klass, title, click: () => void this.act(action) }, text);
    if (broken) return make("div", { class: "row" }, button("Heal", "heal", { verb: "heal", target }, "All works again (b)"));
    return make("div", { class: "row" },
      button("Break", "primary", { verb: "fail", target }, "Down: both ends notice (b)"),
      button("Black hole", "", { verb: "fail", target, silent: true }, "Swallows everything, and nobody is told"),
      button("Lose 10 %", "", { verb: "fail", target, loss: 0.1 }, "One packet in ten vanishes"));
  }
}
