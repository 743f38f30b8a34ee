// Every frame that was seen, and which one is shown: now, or a moment of the past.

import { decode, Frame, Happening } from "./model";

export interface Summary { n: number; t: number; planes: number[]; goodput: number; done: boolean }

type Known = Pick<Frame, "n" | "t" | "planes" | "total" | "done" | "events">;
const MOST = 20000;

export class Store {
  readonly texts: string[] = [];
  readonly summaries: Summary[] = [];
  readonly happenings: (Happening & { n: number })[] = [];
  current: Frame | null = null;
  live = true;
  at = -1;
  private listeners: ((f: Frame) => void)[] = [];

  onShow(listener: (f: Frame) => void): void { this.listeners.push(listener); }

  /** The newest, before those that led to it are here. */
  preview(text: string): void { this.show(decode(text)); }

  /** Frames come in order; one that is known already is left out. */
  add(text: string): void {
    const f = decode(text);
    if (!this.keep(text, f) || !this.live) return;
    this.at = this.texts.length - 1;
    this.show(f);
  }
  /** Of what was before we came: none is shown. */
  addPast(text: string): void {
    if (this.keep(text, JSON.parse(text) as Known) && this.live) this.at = this.texts.length - 1;
  }
  private keep(text: string, f: Known): boolean {
    const last = this.summaries[this.summaries.length - 1];
    if (last && f.n <= last.n) return false;
    if (last && f.t < last.t) this.clear(); // it began again
    this.texts.push(text);
    this.summaries.push({ n: f.n, t: f.t, planes: f.planes, goodput: f.total.goodput, done: f.done });
    for (const h of f.events) this.happenings.push({ ...h, n: f.n });
    if (this.texts.length > MOST) this.forget(MOST / 10);
    return true;
  }

  private clear(): void {
    this.texts.length = this.summaries.length = this.happenings.length = 0;
    this.live = true;
  }
  private forget(count: number): void {
    this.texts.splice(0, count);
    this.summaries.splice(0, count);
    const first = this.summaries[0].n;
    this.happenings.splice(0, this.happenings.findIndex((h) => h.n >= first));
    this.at = Math.max(0, this.at - count);
  }

  seek(index: number): void {
    if (this.texts.length === 0) return;
    this.at = Math.min(Math.max(0, index), this.texts.length - 1);
    this.live = false;
    this.show(decode(this.texts[this.at]));
  }
  goLive(): void {
    this.live = true;
    if (this.texts.length === 0) return;
    this.at = this.texts.length - 1;
    this.show(decode(this.texts[this.at]));
  }
  private show(f: Frame): void {
    this.current = f;
    for (const l of this.listeners) l(f);
  }
}
