// The page's script in a browser: pictures say what they show under the pointer and by the keyboard, pictures of one
// run are zoomed together, and a page of results is whole at either width.
// @module-tag long
// @module-tag chromium
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Page as Rendered } from "../../src/report/frame.ts";
import { renderReport } from "../../src/report/page.ts";
import { renderPlan } from "../../src/report/plan-page.ts";
import { renderReplay } from "../../src/report/replay-page.ts";
import { launchChromium } from "./browser.ts";
import { fixture } from "./fixtures.ts";
import { chosen, mapped, replayed, searched, stormy } from "./results.ts";

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await launchChromium();
  folder = await mkdtemp(join(tmpdir(), "spillway-script-"));
  await mkdir(join(folder, "pictures"));
});
afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function put(name: string, page: Rendered): Promise<string> {
  const path = join(folder, `${name}.html`);
  await writeFile(path, page.html);
  return pathToFileURL(path).href;
}

const timesOf = (picture: Locator): Promise<string[]> =>
  picture.locator("svg:visible > .times text").allTextContents();

describe("a run's pictures", () => {
  const source = fixture();
  let page: Page;
  let url = "";
  const troubles: string[] = [];

  beforeAll(async () => {
    url = await put("run", renderReport(source, null, "pictures"));
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on("console", (message) => troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(error.message));
  });
  beforeEach(async () => {
    await page.goto(url);
  });
  afterAll(async () => {
    await page?.close();
    expect(troubles).toEqual([]);
  });

  /** A point of a picture, in parts of its width and height. */
  async function at(picture: Locator, x: number, y: number): Promise<[number, number]> {
    await picture.scrollIntoViewIfNeeded();
    const box = await picture.boundingBox();
    if (box === null) throw new Error("no such picture");
    return [box.x + x * box.width, box.y + y * box.height];
  }

  it("say the values under the pointer, those of the table", async () => {
    const picture = page.locator("#picture-traffic");
    await page.mouse.move(...(await at(picture, 0.5, 0.5)));
    const reading = picture.locator(".reading");
    const text = await reading.innerText();
    const slot = source.series.traffic.find(({ atMs }) => text.startsWith(`${atMs / 1000} s`));
    expect(slot, text).toBeDefined();
    expect(text.replaceAll(/\s+/g, " ")).toContain(`admitted ${slot?.admitted}`);
    await page.mouse.move(0, 0);
    expect(await reading.isVisible()).toBe(false);
  });

  it("are read by the arrow keys, from the first point to the last", async () => {
    const picture = page.locator("#picture-timeline");
    await picture.focus();
    await page.keyboard.press("ArrowRight");
    const first = await picture.locator(".reading").innerText();
    expect(first).toContain(source.series.timeline.rows[0]?.client);
    await page.keyboard.press("ArrowDown");
    expect(await picture.locator(".reading").innerText()).not.toBe(first);
    await page.keyboard.press("End");
    expect(await picture.locator(".reading").innerText()).toContain(
      source.series.timeline.rows.at(-1)?.client,
    );
    await page.keyboard.press("Escape");
    expect(await picture.locator(".reading").isVisible()).toBe(false);
  });

  it("are zoomed together by a drag, and back by Escape", async () => {
    const [window, timeline] = [page.locator("#picture-window-1"), page.locator("#picture-timeline")];
    const before = await timesOf(timeline);
    await page.mouse.move(...(await at(window, 0.4, 0.5)));
    await page.mouse.down();
    await page.mouse.move(...(await at(window, 0.6, 0.5)), { steps: 4 });
    await page.mouse.up();
    for (const picture of [window, timeline]) {
      const times = (await timesOf(picture)).map((text) => Number.parseFloat(text));
      expect(Math.min(...times)).toBeGreaterThan(7);
      expect(Math.max(...times)).toBeLessThan(16);
    }
    const plot = timeline.locator("svg:visible > .plot");
    const [, , width = 0] = (await plot.getAttribute("viewBox"))?.split(" ").map(Number) ?? [];
    expect(width).toBeLessThan(250);
    await window.focus();
    await page.keyboard.press("Escape");
    expect(await timesOf(timeline)).toEqual(before);
  });

  it("are zoomed by keys and by buttons, around what is read", async () => {
    const picture = page.locator("#picture-traffic");
    const before = await timesOf(picture);
    await picture.focus();
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    expect(await timesOf(picture)).not.toEqual(before);
    await page.keyboard.press("0");
    expect(await timesOf(picture)).toEqual(before);
    await picture.hover();
    await picture.getByRole("button", { name: "Zoom in" }).click();
    expect(await timesOf(picture)).not.toEqual(before);
    await picture.getByRole("button", { name: "Show the whole time" }).click();
    expect(await timesOf(picture)).toEqual(before);
  });
});

describe("a page of results", () => {
  const urls = new Map<string, string>();
  beforeAll(async () => {
    for (const [name, plan] of Object.entries({ searched, chosen, mapped, stormy }))
      urls.set(name, await put(name, renderPlan(plan, "0.1.0", "pictures")));
    urls.set("replayed", await put("replayed", renderReplay(await replayed(true), "0.1.0", "pictures")));
  });

  const looks = [
    { width: 1280, scheme: "dark" },
    { width: 400, scheme: "light" },
  ] as const;

  it.each(looks)(
    "is no wider than $width px, $scheme, each picture seen once, nothing wrong",
    async (look) => {
      const context = await browser.newContext({
        viewport: { width: look.width, height: 900 },
        colorScheme: look.scheme,
      });
      const page = await context.newPage();
      const troubles: string[] = [];
      page.on("console", (message) => troubles.push(message.text()));
      page.on("pageerror", (error) => troubles.push(error.message));
      for (const [name, url] of urls) {
        await page.goto(url);
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBe(look.width);
        for (const picture of await page.locator(".picture").all()) {
          expect(await picture.getByRole("img").count(), name).toBe(1);
          await picture.focus();
          await page.keyboard.press("ArrowRight");
          expect(await picture.locator(".reading").innerText(), name).toMatch(/\d/);
        }
      }
      expect(troubles).toEqual([]);
      await context.close();
    },
  );
});
