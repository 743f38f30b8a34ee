// Light and dark, and the colours of heat and planes in each.

export interface Theme {
  dark: boolean; background: string; panel: string; line: string; text: string; faint: string; broken: string; path: string; dot: string; node: string;
  heat: string[]; trouble: string[]; planes: string[];
}

const HEAT = 24;
type Rgb = [number, number, number];

function mix(stops: Rgb[], t: number): string {
  const x = t * (stops.length - 1), i = Math.min(Math.floor(x), stops.length - 2), f = x - i;
  const c = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * f));
  return `rgb(${c[0]},${c[1]},${c[2]})`;
}
function ramp(stops: Rgb[]): string[] {
  return Array.from({ length: HEAT }, (_, i) => mix(stops, i / (HEAT - 1)));
}

const LIGHT: Theme = {
  dark: false, background: "#f6f8fb", panel: "#ffffff", line: "#dfe5ee", text: "#1b2430", faint: "#66758a", broken: "#d3165b", path: "#f06a0a", dot: "#111827", node: "#3b4a5e",
  heat: ramp([[221, 228, 238], [164, 203, 240], [84, 160, 232], [36, 108, 205], [28, 62, 150]]),
  trouble: ramp([[221, 228, 238], [248, 205, 120], [240, 150, 40], [224, 84, 30], [176, 28, 40]]),
  planes: ["#2f7de1", "#0f9d8a", "#d98a0b", "#b3479b", "#6b5bd6", "#4f9a2f", "#d2553f", "#3f6f86"],
};
const DARK: Theme = {
  dark: true, background: "#0e131a", panel: "#151c26", line: "#263140", text: "#e7edf5", faint: "#8b9bb0", broken: "#ff4d88", path: "#ffa63d", dot: "#ffffff", node: "#a9b8cb",
  heat: ramp([[40, 51, 67], [32, 78, 138], [44, 122, 216], [84, 178, 250], [196, 232, 255]]),
  trouble: ramp([[40, 51, 67], [120, 84, 30], [214, 140, 40], [250, 120, 60], [255, 190, 170]]),
  planes: ["#5aa2ff", "#2ec9b2", "#f2b13c", "#e07cc6", "#9d8fff", "#86cf5f", "#ff8a70", "#7fb2cc"],
};

const listeners: (() => void)[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = localStorage.getItem("mrc-theme");

export let theme: Theme = LIGHT;
/** Being busy is good, losing is not: two scales. */
export function scale(kind: string): string[] { return kind === "load" ? theme.heat : theme.trouble; }
export function heatBucket(level: number): number { return Math.min(HEAT - 1, Math.max(0, Math.round(level * (HEAT - 1)))); }
export const heatBuckets = HEAT;

function apply(): void {
  const dark = chosen ? chosen === "dark" : system.matches;
  theme = dark ? DARK : LIGHT;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const l of listeners) l();
}
export function onTheme(listener: () => void): void { listeners.push(listener); }
export function toggleTheme(): void {
  chosen = theme.dark ? "light" : "dark";
  localStorage.setItem("mrc-theme", chosen);
  apply();
}
system.addEventListener("change", apply);
apply();
