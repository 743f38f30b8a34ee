// Time: pause, pace, back and forth; and the keys.

import { act } from "./api";
import { byId, make } from "./dom";
import { time } from "./format";
import { Fabric, Frame } from "./model";
import { Store } from "./store";

export class Controls {
  paused = false;
  private replay: number | null = null; // a timer: the past is played

  constructor(private readonly store: Store, private readonly fabric: Fabric) {
    byId("play").addEventListener("click", () => this.toggle());
    byId("live").addEventListener("click", () => this.goLive());
    byId<HTMLInputElement>("scrub").addEventListener("input", (e) => this.seek(Number((e.target as HTMLInputElement).value)));
    byId("pace-box").hidden = !fabric.simulated;
    byId("restart").hidden = !fabric.simulated;
    byId("restart").addEventListener("click", () => this.restart());
    byId<HTMLInputElement>("pace").addEventListener("input", (e) => this.setPace(10 ** Number((e.target as HTMLInputElement).value)));
  }

  private setPace(pace: number): void { void act({ verb: "pace", pace: Math.min(0.1, Math.max(1e-6, pace)) }); }
  faster(factor: number): void { this.setPace((this.store.current?.pace ?? 1e-4) * factor); }
  restart(): void { if (this.fabric.simulated) { this.goLive(); void act({ verb: "restart" }); this.paused = false; } }

  toggle(): void {
    if (!this.store.live || !this.fabric.simulated) return this.toggleReplay();
    this.paused = !this.paused;
    void act({ verb: this.paused ? "pause" : "resume" });
    this.refresh();
  }
  /** Plays the past at the rate at which it came. */
  private toggleReplay(): void {
    if (this.replay !== null) { this.stopReplay(); return; }
    if (this.store.live) { this.seek(this.store.at); return; }
    if (this.store.at >= this.store.texts.length - 1) this.store.seek(0);
    this.replay = window.setInterval(() => {
      if (this.store.at >= this.store.texts.length - 1) return this.stopReplay();
      this.store.seek(this.store.at + 1);
    }, 100);
    this.refresh();
  }
  playFromStart(): void { this.seek(0); this.toggleReplay(); }
  private stopReplay(): void { if (this.replay !== null) clearInterval(this.replay); this.replay = null; this.refresh(); }

  seek(index: number): void { this.stopReplay(); this.store.seek(index); }
  step(by: number): void { this.seek(this.store.at + by); }
  goLive(): void { this.stopReplay(); this.store.goLive(); this.refresh(); }

  show(f: Frame): void {
    if (this.store.live) this.paused = f.paused;
    byId("clock").textContent = time(f.t) + (f.done ? " · end" : "");
    const scrub = byId<HTMLInputElement>("scrub");
    scrub.max = String(Math.max(0, this.store.texts.length - 1));
    scrub.value = String(this.store.at);
    if (this.fabric.simulated && f.pace > 0) {
      byId("pace-text").textContent = `${time(f.pace * 1e9)} / s`;
      const pace = byId<HTMLInputElement>("pace");
      if (document.activeElement !== pace) pace.value = String(Math.log10(f.pace));
    }
    this.refresh();
  }
  private refresh(): void {
    const moving = this.store.live ? !this.paused : this.replay !== null;
    byId("play").textContent = moving ? "❚❚" : "▶";
    byId("live").classList.toggle("on", this.store.live);
    byId("live").textContent = this.store.live ? "● Live" : "Live";
  }
}

const HELP: [string, string][] = [
  ["space", "pause, or go on"], ["[  ]", "slower, faster"], [",  .", "one moment back, one on"], ["l", "back to now"], ["r", "from the beginning"],
  ["+  −  0", "closer, further, everything"], ["arrows", "move the picture"], ["n", "to the next trouble"], ["b", "break or heal what is chosen"], ["H", "heal everything"],
  ["1 … 5", "colour by load, queue, loss, trims, marks"], ["m", "wires or matrix"], ["/", "filter queue pairs"], ["t", "light or dark"], ["esc", "let go"],
];

export function showHelp(): void {
  const box = byId<HTMLDialogElement>("help");
  box.replaceChildren(make("h2", {}, "Keys"), make("table", {}, ...HELP.map(([k, v]) => make("tr", {}, make("td", {}, make("kbd", {}, k)), make("td", {}, v)))),
    make("p", {}, "Drag to move, wheel or two fingers to zoom, click a cable or a switch to choose it, double-click to break or heal it."));
  box.showModal();
  box.addEventListener("click", () => box.close(), { once: true });
}
