// The report in a browser: wide and on a phone, light and dark, with scripts and without: nothing is wrong,
// nothing is fetched, nothing sticks out, every picture is seen.
// @module-tag long
// @module-tag chromium
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderReport } from "../../src/report/page.ts";
import { launchChromium } from "./browser.ts";
import { fixture, sampleViolation } from "./fixtures.ts";

let browser: Browser;
let folder: string;
let url: string;
const longName = `${"a-very-long-scenario-name-".repeat(6)}end`;

beforeAll(async () => {
  browser = await launchChromium();
  folder = await mkdtemp(join(tmpdir(), "spillway-page-"));
  const run = fixture({
    violations: [sampleViolation],
    record: {
      scenario: { name: longName, description: longName, file: `/${longName}.ts` },
      command: `spillway load ${longName} --out ${longName}`,
      expect: { "agents.refusedShare": "<1%", fairness: ">=0.9" },
    },
  });
  const simulated = fixture({ latencyMs: 8, record: { driver: "simulator" } });
  const path = join(folder, "report.html");
  const page = renderReport(run, simulated, "pictures");
  await writeFile(path, page.html);
  await mkdir(join(folder, "pictures"));
  for (const [name, content] of page.files()) await writeFile(join(folder, "pictures", name), content);
  url = pathToFileURL(path).href;
});

afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

interface Look {
  readonly width: number;
  readonly colorScheme: "light" | "dark";
  readonly javaScriptEnabled: boolean;
}

const looks: Look[] = [1280, 400].flatMap((width) =>
  (["light", "dark"] as const).flatMap((colorScheme) =>
    [false, true].map((javaScriptEnabled) => ({ width, colorScheme, javaScriptEnabled })),
  ),
);

/** Opens a page and gathers what went wrong on it, and what it asked for. */
async function open(look: Look, address = url): Promise<{ page: Page; troubles: string[]; asked: string[] }> {
  const { width, colorScheme, javaScriptEnabled } = look;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
    javaScriptEnabled,
  });
  const page = await context.newPage();
  const troubles: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => troubles.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url()}`));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(address);
  return { page, troubles, asked };
}

/** Returns a colour's lightness, 0 to 1 (WCAG 2.2, relative luminance). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+(?:\.\d+)?/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(looks)("at $width px, $colorScheme, scripts: $javaScriptEnabled", (look) => {
  let page: Page;
  let troubles: string[];
  let asked: string[];
  beforeAll(async () => {
    ({ page, troubles, asked } = await open(look));
  });
  afterAll(async () => {
    await page?.context().close();
  });

  it("reports no error and asks for nothing but itself", () => {
    expect(troubles).toEqual([]);
    expect(asked).toEqual([url]);
  });

  it("is no wider than the screen, tables unfolded too", async () => {
    const widths = (): Promise<number[]> =>
      page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
    expect(await widths()).toEqual([look.width, look.width]);
    await page.locator("summary").first().click();
    expect(await page.locator("details[open]").count()).toBe(1);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await page.locator("details:not([open])").count()).toBe(0);
    expect(await widths()).toEqual([look.width, look.width]);
  });

  it("breaks long reasons, and on a phone long names, in place of pushing columns aside", async () => {
    const overflow: number = await page.evaluate(`(() => {
      const table = document.querySelector("table.stack").parentElement;
      return table.scrollWidth - table.clientWidth;
    })()`);
    expect(overflow).toBe(0);
    if (look.width > 400) return;
    const widest: number = await page.evaluate(`(() => {
      const names = [...document.querySelectorAll("table:not(.stack) :is(td, tbody th).name")];
      for (const name of names) name.textContent = ${JSON.stringify("long".repeat(20))};
      return Math.max(...names.map((name) => name.getBoundingClientRect().width));
    })()`);
    expect(widest).toBeLessThan(160);
  });

  it("shows each picture once, as wide as its column, named in words", async () => {
    // All at once: a question to the browser takes longer than its answer.
    const pictures: { labels: string[]; width: number; height: number; column: number }[] =
      await page.evaluate(`[...document.querySelectorAll(".picture")].map((picture) => {
        const seen = [...picture.querySelectorAll('[role="img"]')].filter((one) => one.checkVisibility());
        const { width = 0, height = 0 } = seen[0]?.getBoundingClientRect() ?? {};
        const labels = seen.map((one) => one.getAttribute("aria-label"));
        return { labels, width, height, column: picture.getBoundingClientRect().width };
      })`);
    expect(pictures.length).toBeGreaterThanOrEqual(8);
    for (const { labels, width, height, column } of pictures) {
      expect(labels).toEqual([expect.stringMatching(/\d/)]);
      expect(width).toBeGreaterThan(0.9 * column);
      expect(height).toBeGreaterThan(60);
    }
  });

  it("writes in pictures no smaller than nine pixels", async () => {
    const sizes: number[] = await page.evaluate(
      `[...document.querySelectorAll(".picture > svg")].filter((svg) => svg.checkVisibility()).map((svg) =>
        Math.min(...[...svg.querySelectorAll("text")].map((text) => text.getBoundingClientRect().height)))`,
    );
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(9);
  });

  it("has text that stands out from its ground", async () => {
    const pairs: [string, string][] = await page.evaluate(`(() => {
      const ground = getComputedStyle(document.body).backgroundColor;
      const texts = document.querySelectorAll("h1, p, dt, dd, th, td, summary, .legend li, .laws li, .what, text");
      return [...texts].map((text) => {
        const style = getComputedStyle(text);
        const raised = text.closest(".verdict, pre");
        const own = raised === null ? ground : getComputedStyle(raised).backgroundColor;
        return [text.tagName === "text" ? style.fill : style.color, own];
      });
    })()`);
    expect(pairs.length).toBeGreaterThan(100);
    for (const [ink, ground] of new Map(pairs.map((pair) => [pair.join(" on "), pair])).values())
      expect(contrast(ink, ground), `${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    const paper = pairs[0]?.[1] ?? "";
    expect(luminance(paper) < 0.5).toBe(look.colorScheme === "dark");
  });
});

describe("a picture as a file", () => {
  it.each(["light", "dark"] as const)("opens by itself, %s", async (colorScheme) => {
    const address = new URL("pictures/window-1.svg", url).href;
    const { page, troubles } = await open({ width: 1280, colorScheme, javaScriptEnabled: true }, address);
    expect(troubles).toEqual([]);
    const ink: string = await page.evaluate(`getComputedStyle(document.querySelector("text")).fill`);
    expect(luminance(ink) > 0.3).toBe(colorScheme === "dark");
    await page.context().close();
  });
});
