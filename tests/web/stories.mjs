// What a person does on the page, story by story. Usage: node stories.mjs STORY URL
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import path from "node:path";

const { chromium } = createRequire(path.join(process.env.MODULES, "package.json"))("playwright-core");
const [story, url] = process.argv.slice(2);
const screens = process.env.SCREENS;
const PATIENCE = { timeout: 60_000 };

const shot = (page, name) => page.screenshot({ path: path.join(screens, `${name}.png`) });
/** Waits until `f` says so in the page. */
const until = (page, f, arg) => page.waitForFunction(f, arg, PATIENCE);
const frame = (page, f, arg) => page.evaluate(f, arg);

/** Where the middle of a link, or a switch, is on the screen. */
const whereIs = (page, name) => page.evaluate((n) => {
  const { view, topo } = window.mrc, thing = topo.find(n), c = view.camera, box = view.canvas.getBoundingClientRect();
  let x, y;
  if ("node" in thing) [x, y] = view.scene.at(thing.node);
  else if (view.drawn === "matrix") { const r = view.scene.cell(thing.link); x = r.x + r.w / 2; y = r.y + r.h / 2; }
  else { const s = view.scene.lines, i = thing.link * 4; x = s[i] * 0.37 + s[i + 2] * 0.63; y = s[i + 1] * 0.37 + s[i + 3] * 0.63; }
  return { x: box.x + x * c.scale + c.x, y: box.y + y * c.scale + c.y };
}, name);
const click = async (page, name) => { const p = await whereIs(page, name); await page.mouse.click(p.x, p.y); };
const faults = (page) => page.evaluate(() => window.mrc.view.levels.faults.size);

const stories = {
  async simulation(page) {
    await until(page, () => window.mrc?.store.current?.total.goodput > 1e9 && window.mrc.store.texts.length > 5);
    assert.match(await page.textContent("#source"), /16 hosts · 4 planes/);
    await shot(page, "simulation-light");

    // A cable breaks by a click, the traffic moves, and the paths over it are given up.
    const link = "p1.t0.1-p1.t1.2";
    await click(page, link);
    assert.equal(await page.textContent("#card h3"), link);
    await page.click("#card .primary");
    await until(page, () => window.mrc.view.levels.faults.size === 1);
    await until(page, (n) => { const m = window.mrc, id = m.topo.find(n).link; return m.store.current.load[2 * id] === 0 && m.store.current.load[2 * id + 1] === 0 && m.store.current.total.goodput > 1e9; }, link);
    await until(page, () => window.mrc.store.current.qps.some((q) => q.counts[2] > 0));
    assert.match(await page.textContent("#card .state"), /down/);
    assert.match(await page.textContent("#events"), /by hand: break p1\.t0\.1-p1\.t1\.2/);
    await shot(page, "simulation-broken");

    // It heals by a key, and carries traffic again.
    await page.keyboard.press("b");
    await until(page, () => window.mrc.view.levels.faults.size === 0);
    await until(page, (n) => { const m = window.mrc, id = m.topo.find(n).link; return m.store.current.load[2 * id] > 0; }, link);

    // A switch, then everything is healed.
    await click(page, "p2.t1.1");
    assert.equal(await page.textContent("#card h3"), "p2.t1.1");
    await page.click("#card .primary");
    await until(page, () => window.mrc.view.levels.faults.size === 4);
    await page.keyboard.press("Shift+H");
    await until(page, () => window.mrc.view.levels.faults.size === 0);
    await page.keyboard.press("Escape");

    // Pointing at an EV shows its path; the queue pairs sort and filter.
    await page.fill("#filter", "h0");
    await until(page, () => document.querySelectorAll("#qps tbody tr").length >= 2 && document.querySelectorAll("#qps tbody tr").length < 8);
    await page.click("#qps tbody tr");
    await page.hover("#evs button >> nth=5");
    await until(page, () => window.mrc.view.path.length >= 2);
    await shot(page, "simulation-path");
    await page.fill("#filter", "");

    // Time: pause, go back, come back.
    await page.locator("#filter").blur();
    await page.keyboard.press("Space");
    await until(page, () => window.mrc.controls.paused);
    await page.keyboard.press("Space");
    await page.evaluate(() => window.mrc.controls.seek(2));
    assert.equal(await page.evaluate(() => window.mrc.store.live), false);
    const then = await page.evaluate(() => window.mrc.store.current.t);
    await page.keyboard.press(".");
    assert.ok(await page.evaluate((t) => window.mrc.store.current.t > t, then));
    await page.keyboard.press("l");
    await until(page, (t) => window.mrc.store.live && window.mrc.store.current.t > t, then);

    // Dark, another heat, the matrix, from the keyboard.
    await page.keyboard.press("t");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.keyboard.press("2");
    assert.equal(await page.textContent("#heat [aria-checked=true]"), "queue");
    await page.keyboard.press("1");
    await shot(page, "simulation-dark");
    await page.keyboard.press("m");
    assert.equal(await page.textContent("#layout [aria-checked=true]"), "matrix");
    await shot(page, "simulation-matrix");
    await page.keyboard.press("m");

    // A phone: nothing sticks out.
    await page.setViewportSize({ width: 390, height: 844 });
    await until(page, () => document.documentElement.scrollWidth <= innerWidth);
    await shot(page, "phone");
  },

  async large(page) {
    await until(page, () => window.mrc?.store.texts.length > 2);
    assert.equal(await page.textContent("#layout [aria-checked=true]"), "matrix");
    assert.ok(await page.evaluate(() => window.mrc.topo.links >= 10_000));
    const link = "p3.t0.2-p3.t1.9";
    await click(page, link);
    assert.equal(await page.textContent("#card h3"), link);
    await page.click("#card .primary");
    await until(page, () => window.mrc.view.levels.faults.size === 1);
    await shot(page, "large-matrix");
    await page.keyboard.press("m");
    await until(page, () => window.mrc.view.drawn === "wires" && window.mrc.view.times.length > 3);
    await shot(page, "large-wires");
  },

  async huge(page) {
    assert.match(await page.textContent("#source"), /131,072 hosts · 8 planes · 2,097,152 links/);
    await until(page, () => window.mrc.store.current.qps.length > 0 && window.mrc.store.current.cells?.load.some((x) => x > 100));
    await shot(page, "huge");
    const told = () => page.evaluate(() => { const { view, topo } = window.mrc; return view.levels.isKnown(topo.find("p5.t0.300-p5.t1.77").link); });
    assert.equal(await told(), false);

    // Closer: the cables of the T0s in the middle are told.
    await page.evaluate(() => { const { view, topo } = window.mrc, c = view.scene.cell(topo.find("p5.t0.300-p5.t1.77").link); view.camera.zoom(40, 0, 0); view.camera.centre(c.x, c.y, view.canvas.clientWidth, view.canvas.clientHeight); });
    await until(page, () => { const { view, topo } = window.mrc; return view.levels.isKnown(topo.find("p5.t0.300-p5.t1.77").link); });
    await shot(page, "huge-closer");
    await click(page, "p5.t0.300-p5.t1.77");
    assert.equal(await page.textContent("#card h3"), "p5.t0.300-p5.t1.77");

    // And one path, of 128.
    await page.keyboard.press("0");
    await page.click("#qps tbody tr");
    await page.hover("#evs button >> nth=5");
    await until(page, () => window.mrc.view.path.length === 4);
    await shot(page, "huge-path");
    // Hosts take turns to be looked at; none is faster for that than its eight ports.
    await until(page, () => window.mrc.store.texts.length > 12);
    assert.ok(await page.evaluate(() => window.mrc.store.texts.every((t) => JSON.parse(t).qps.every((q) => q.rate < 8e11))));
  },

  async lab(page) {
    await until(page, () => window.mrc.store.current.qps.some((q) => q.rate > 0 && q.rtt_ns > 0));
    await until(page, () => document.querySelectorAll("#evs button").length >= 64);
    const link = "p0.t0.0-p0.t1.0";
    /** What the cable carries from h0's T0, beside what all carry together. */
    const carries = (some) => until(page, ([n, some]) => {
      const m = window.mrc, f = m.store.current, up = 2 * m.topo.find(n).link;
      return f.load[up] > 0 === some && f.total.goodput > 1e6;
    }, [link, some]);
    await carries(true);
    await click(page, link);
    assert.equal(await page.textContent("#card h3"), link);
    await page.click("#card .primary");
    await until(page, () => window.mrc.view.levels.faults.size === 1);
    await carries(false);
    // Its EVs are given up; those of the plane's other T1 are not, or are soon back.
    await until(page, () => window.mrc.store.current.qps.some((q) => q.counts[2] >= 16 && q.counts[2] <= 48));
    await page.hover("#evs button.b >> nth=0");
    await until(page, () => window.mrc.view.path.length === 4);
    await shot(page, "lab");
    await page.keyboard.press("Shift+H");
    await until(page, () => window.mrc.view.levels.faults.size === 0);
    await carries(true);
  },

  async recording(page) {
    await until(page, () => window.mrc?.store.texts.length > 10);
    assert.match(await page.textContent("#source"), /recording/);
    await until(page, () => window.mrc.store.happenings.some((h) => h.what.includes("p0.t0.0-p0.t1.0")));
    await page.evaluate(() => window.mrc.controls.seek(0));
    await page.click("#play");
    await until(page, () => window.mrc.store.at > 3);
    await click(page, "p1.t0.0-p1.t1.0");
    assert.equal(await page.locator("#card .primary").count(), 0);
    await shot(page, "recording");
  },
};

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
const complaints = [];
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("console", (m) => { if (m.type() === "error") complaints.push(m.text()); });
try {
  const began = performance.now();
  await page.goto(url, { waitUntil: "load" });
  await until(page, () => window.mrc?.store.current);
  console.log(`${story}: first picture after ${Math.round(performance.now() - began)} ms`);
  await stories[story](page);
  assert.deepEqual(complaints, []);
} catch (e) {
  await shot(page, `failed-${story}`);
  console.error(complaints.join("\n"));
  throw e;
} finally {
  await browser.close();
}
