// The page of `padir serve` in Chromium.
//
//     npm install playwright-core && node page.mjs http://127.0.0.1:5000 [directory of screenshots]
//
// Needs Debian's chromium. Prints one line for each check; ends with an error if one fails.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const [url, pictures] = process.argv.slice(2);
const TEXT = "My brother has been learning to play the piano for two years.";
const GERMAN = "Mein Bruder lernt schon seit zwei Jahren Klavier zu spielen.";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: flags });
const context = await browser.newContext({ viewport: { width: 1200, height: 850 }, colorScheme: "light" });
const page = await context.newPage();
const foreign = [];
page.on("request", (request) => { if (!request.url().startsWith(url) && !request.url().startsWith("data:")) foreign.push(request.url()); });
const faults = [];
page.on("pageerror", (error) => faults.push(String(error)));

const shown = async () => (await page.textContent("#view")).replace(/\s+/g, " ").trim();
const until = (expected) => page.waitForFunction(
  (text) => document.getElementById("view").textContent.replace(/\s+/g, " ").trim() === text, expected, { timeout: 30000 });
const picture = async (name) => { if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }); };
const done = (what) => console.log(`ok: ${what}`);

try {
  await page.goto(url);
  await page.fill("#text", TEXT);
  await page.selectOption("#pair", "en|de");
  await page.keyboard.press("Control+Enter");
  await until(GERMAN);
  await page.waitForSelector("#more:not([hidden])");
  done("translates and streams");
  assert.equal(await page.textContent("#said"), GERMAN, "screen readers hear it");
  assert.ok((await page.locator("#alternatives li").count()) > 1, "alternatives");
  await page.click("#lengths-box summary");
  assert.ok((await page.locator("#lengths tr").count()) >= 5, "competing lengths");
  await picture("light");

  const steps = Number(await page.getAttribute("#step", "max"));
  assert.ok(steps >= 2, "several steps");
  await page.fill("#step", "1");
  assert.match(await page.textContent("#step-number"), /^1 of/);
  const first = await shown();
  assert.ok((await page.locator("#view .changed").count()) > 0, "the first step changes words");
  await picture("first-step");
  await page.click("#replay");
  await until(GERMAN);
  done(`replays ${steps} steps, from "${first}"`);

  await page.click("#view button.word:has-text('Klavier')");
  await page.fill("#view input.edit", "Geige");
  await page.keyboard.press("Enter");
  await until(GERMAN.replace("Klavier", "Geige"));
  assert.equal(await page.locator("#view .fixed").innerText(), "Geige");
  await picture("fixed");
  await page.click("#view button.word:has-text('Bruder')");
  await page.fill("#view input.edit", "Onkel");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#view .fixed").length === 2);
  assert.match(await shown(), /Onkel.*Geige/);
  done("fixes two words");
  await page.click("#view button.word:has-text('Onkel')");
  await page.keyboard.press("Escape");
  assert.match(await shown(), /Onkel/);

  await page.click("#settings summary");
  await page.fill("#set-more", "stepps=3");
  await page.click("#go");
  await page.waitForFunction(() => document.getElementById("error").textContent.includes("is `steps` meant?"));
  await page.fill("#set-more", "");
  await page.fill("#set-steps", "1");
  await page.click("#go");
  await page.waitForFunction(() => document.getElementById("step").max === "1");
  assert.equal(await page.textContent("#error"), "");
  done("settings and errors");
  await page.route("**/v1/translate/stream", (route) => route.fulfill({
    status: 429, headers: { "Retry-After": "7", "Content-Type": "application/json" }, body: '{"error":"Slowdown: 1 requests a minute are allowed"}' }));
  await page.click("#go");
  await page.waitForFunction(() => document.getElementById("error").textContent.includes("try again in 7 s"));
  await page.unroute("**/v1/translate/stream");
  done("too many requests");
  await page.context().setOffline(true);
  await page.click("#go");
  await page.waitForFunction(() => document.getElementById("error").textContent.includes("cannot be reached"));
  await page.context().setOffline(false);
  done("offline");

  await page.click("#theme");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await page.fill("#set-steps", "");
  await page.click("#go");
  await until(GERMAN);
  await picture("dark");
  await page.setViewportSize({ width: 380, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.ok(!wide, "nothing is wider than a phone");
  await picture("phone");
  done("dark and narrow");

  const plain = await browser.newContext({ javaScriptEnabled: false });
  const simple = await plain.newPage();
  await simple.goto(url);
  await simple.fill("#text", "Good morning.");
  await simple.selectOption("#pair", "en|de");
  await simple.click("#go");
  assert.match(await simple.textContent("#view"), /Guten Morgen\./);
  done("without JavaScript");
  assert.deepEqual(foreign, [], "nothing from elsewhere");
  assert.deepEqual(faults, [], "no errors in the page");
} finally {
  await browser.close();
}
