// How long the page takes to draw ten thousand links while the picture moves, in headless Chromium.
// Usage: mrc web tests/web/wide.toml, then
//   CHROMIUM=$(command -v chromium) MODULES=build/web node bench/web/frames.mjs URL
// PAGE=FOLDER takes the page's files from there instead of from the server: two versions against one server.
//
// Frames per second are the machine's as much as the page's. What the page's thread spends on a frame is told in CPU time, which
// others on the machine do not change.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const { chromium } = createRequire(path.resolve(process.env.MODULES, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
if (process.env.PAGE) {
  await page.route((url) => url.pathname === "/" || url.pathname.startsWith("/assets/"), (route) => {
    const name = new URL(route.request().url()).pathname, file = path.join(process.env.PAGE, name === "/" ? "index.html" : name);
    return fs.existsSync(file) ? route.fulfill({ body: fs.readFileSync(file), contentType: TYPES[path.extname(file)] }) : route.abort();
  });
}
const cdp = await page.context().newCDPSession(page);
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
const cpu = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));

await page.goto(process.argv[2]);
await page.waitForFunction(() => window.mrc?.store.current && window.mrc.view.times.length > 0);
const load = await page.evaluate(() => ({
  picture: window.mrc.view.firstPicture, bytes: performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((sum, e) => sum + (e.decodedBodySize ?? 0), 0),
}));
const begin = await cpu();
console.log(`first picture ${Math.round(load.picture)} ms after the address; ${Math.round(1e3 * begin.TaskDuration)} ms of CPU in the page's thread, ${Math.round(1e3 * begin.ScriptDuration)} of them scripts; ${Math.round(load.bytes / 1e3)} kB`);

for (const drawn of process.argv[3] ? [process.argv[3]] : ["wires", "matrix"]) {
  await page.evaluate((d) => { window.mrc.view.setDrawn(d); }, drawn);
  await page.waitForTimeout(500);
  const before = await cpu();
  const result = await page.evaluate(async () => {
    const { view, topo } = window.mrc;
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
  });
  const after = await cpu(), of = (name) => (1e3 * (after[name] - before[name])) / result.frames;
  console.log(`${drawn}: ${result.links} links, ${(result.frames / 5).toFixed(1)} frames/s; per frame ${of("TaskDuration").toFixed(2)} ms of CPU in the page's thread, ${of("ScriptDuration").toFixed(2)} of them scripts; drawing median ${result.draw50.toFixed(2)} ms, p99 ${result.draw99.toFixed(2)} ms; between frames median ${result.gap50.toFixed(1)} ms, p99 ${result.gap99.toFixed(1)} ms`);
}
await browser.close();
