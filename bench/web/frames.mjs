// How long the page takes to draw ten thousand links while the picture moves, in headless Chromium.
// Usage: mrc web tests/web/wide.toml, then
//   CHROMIUM=$(command -v chromium) MODULES=build/web node bench/web/frames.mjs URL
import { createRequire } from "node:module";
import path from "node:path";

const { chromium } = createRequire(path.resolve(process.env.MODULES, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const began = performance.now();
await page.goto(process.argv[2]);
await page.waitForFunction(() => window.mrc?.store.current);
console.log(`first picture after ${Math.round(performance.now() - began)} ms`);

for (const drawn of ["wires", "matrix"]) {
  const result = await page.evaluate(async (d) => {
    const { view, topo } = window.mrc;
    view.setDrawn(d);
    view.times.length = 0;
    const gaps = [];
    let last = performance.now();
    await new Promise((done) => {
      const end = last + 5000;
      const step = (now) => {
        gaps.push(now - last);
        last = now;
        view.camera.pan(Math.sin(now / 300) * 6, Math.cos(now / 400) * 3); // every link is drawn anew
        now < end ? requestAnimationFrame(step) : done();
      };
      requestAnimationFrame(step);
    });
    const sorted = (list) => [...list].sort((a, b) => a - b);
    const at = (list, part) => sorted(list)[Math.floor(part * (list.length - 1))];
    const times = view.times.slice();
    return { links: topo.links, frames: gaps.length, draw50: at(times, 0.5), draw99: at(times, 0.99), gap50: at(gaps, 0.5), gap99: at(gaps, 0.99) };
  }, drawn);
  console.log(`${drawn}: ${result.links} links, ${(result.frames / 5).toFixed(1)} frames/s; drawing median ${result.draw50.toFixed(2)} ms, p99 ${result.draw99.toFixed(2)} ms; between frames median ${result.gap50.toFixed(1)} ms, p99 ${result.gap99.toFixed(1)} ms`);
}
await browser.close();
