// Numbers for people.

export function rate(bps: number): string {
  if (bps >= 1e12) return `${(bps / 1e12).toFixed(2)} Tb/s`;
  if (bps >= 1e9) return `${(bps / 1e9).toFixed(bps >= 1e11 ? 0 : 1)} Gb/s`;
  if (bps >= 1e6) return `${(bps / 1e6).toFixed(1)} Mb/s`;
  return `${(bps / 1e3).toFixed(1)} kb/s`;
}
export function count(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} G`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(2)} M`;
  if (n >= 1e4) return `${(n / 1e3).toFixed(1)} k`;
  return String(Math.round(n));
}
export function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e3).toFixed(0)} kB`;
}
export function time(ns: number): string {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
  return `${(ns / 1e3).toFixed(1)} µs`;
}
export function percent(part: number): string {
  return `${(100 * part).toFixed(part > 0 && part < 0.1 ? 1 : 0)} %`;
}
