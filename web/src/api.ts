// The server's side of the conversation.

import { Fabric } from "./model";

export async function getFabric(): Promise<Fabric> {
  const r = await fetch("api/fabric");
  if (!r.ok) throw new Error(await r.text());
  return (await r.json()) as Fabric;
}

/** Frames from `from` on, each as its own text. */
export async function getFrames(from: number, count: number): Promise<string[]> {
  const r = await fetch(`api/frames?from=${from}&count=${count}`);
  if (!r.ok) throw new Error(await r.text());
  return ((await r.json()) as unknown[]).map((f) => JSON.stringify(f));
}

export interface Path { hops: number[]; names: string[] }
const paths = new Map<string, Promise<Path>>();
export function getPath(from: number, to: number, plane: number, uplink0: number, uplink1: number): Promise<Path> {
  const query = `from=${from}&to=${to}&plane=${plane}&uplink0=${uplink0}&uplink1=${uplink1}`;
  let path = paths.get(query);
  if (!path) {
    if (paths.size > 5000) paths.clear();
    path = fetch(`api/path?${query}`).then((r) => (r.ok ? (r.json() as Promise<Path>) : { hops: [], names: [] }));
    paths.set(query, path);
  }
  return path;
}

/** Says what went wrong, or null. */
export async function act(action: Record<string, unknown>): Promise<string | null> {
  try {
    const r = await fetch("api/act", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(action) });
    return r.ok ? null : (await r.text()).trim();
  } catch {
    return "the server does not answer";
  }
}

export function listen(onFrame: (text: string) => void, onState: (open: boolean) => void): void {
  const events = new EventSource("api/live");
  events.addEventListener("frame", (e) => onFrame((e as MessageEvent<string>).data));
  events.onopen = () => onState(true);
  events.onerror = () => onState(false);
}
