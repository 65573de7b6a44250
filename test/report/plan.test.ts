// A plan's page and documents: the answer first, every point in picture, table and file, the frontier where it is.
import { describe, expect, it } from "vitest";
import { frontierPaths } from "../../src/report/heat-map-picture.ts";
import { renderPlanJunit, renderPlanMarkdown } from "../../src/report/plan-documents.ts";
import { renderPlan } from "../../src/report/plan-page.ts";
import { planOutcome } from "../../src/report/plan-words.ts";
import type { PlanHeatMap, PlanResult } from "../../src/summary/plan-result.ts";
import { readMarkup } from "./markup.ts";
import { chosen, mapped, searched, stormy } from "./results.ts";

const plans = { searched, chosen, mapped, stormy };
const pageOf = (result: PlanResult): string => renderPlan(result, "0.1.0", "pictures").html;
const filesOf = (result: PlanResult) => renderPlan(result, "0.1.0", "pictures").files();
const says = (text: string, where: string): void => expect(where.includes(text), text).toBe(true);

describe.each(Object.entries(plans))("the page of a plan: %s", (_, result) => {
  const page = pageOf(result);

  it("is well-formed, and says the answer first and the other sentences after it", () => {
    readMarkup(page);
    const [answer = "", ...others] = result.sentences;
    says(answer.replace(/\.$/, "").replace("<", "&lt;"), page);
    for (const one of others) says(one, page);
    expect(page.indexOf('class="what"')).toBeLessThan(page.indexOf("<svg"));
  });

  it("has the same bytes each time, files too, and an id of its own for each element that has one", () => {
    expect(pageOf(result) === page).toBe(true);
    expect([...filesOf(result)]).toEqual([...filesOf(result)]);
    const ids = page.match(/ id="[^"]+"/g) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("links the files of each picture, and each picture is whole", () => {
    const files = filesOf(result);
    const linked = [...page.matchAll(/href="pictures\/([^"]+)"/g)].map(([, name]) => name);
    expect(linked.toSorted()).toEqual([...files.keys()].toSorted());
    expect(files.size).toBeGreaterThanOrEqual(2);
    for (const [name, content] of files)
      if (name.endsWith(".svg")) expect(readMarkup(content).map((one) => one.name)).toContain("desc");
  });

  it("prints no number that is none", () => {
    const text = page.slice(0, page.indexOf("<script>"));
    expect(text).not.toMatch(/NaN|undefined|Infinity|\[object/);
    for (const content of filesOf(result).values()) expect(content).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe("a searched value", () => {
  const page = pageOf(searched);

  it("is drawn as a curve with its goal and what was found, by value", () => {
    for (const words of ["goal: refusedShare &lt;5%", "found: 28", "● holds", "○ fails", "◎ unclear"])
      says(words, page);
    const csv = filesOf(searched).get("sweep-1.csv") ?? "";
    const rows = csv
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    expect(rows[0]).toEqual(["agents.clients", "refusedShare", "low", "high", "replications", "state"]);
    expect(rows.slice(1).map(([value, mean]) => [value, mean])).toEqual([
      ["10", "0.01"],
      ["28", "0.044"],
      ["30", "0.05"],
      ["31", "0.056"],
      ["50", "0.2"],
    ]);
  });

  it("has every point in the table, with state and interval", () => {
    for (const words of ["✓ holds", "✗ fails", "? unclear", "4.4%<small>4% to 4.8%</small>", "8 of 8<small>"])
      says(words, page);
  });
});

describe("two varied values", () => {
  it("are a map with each cell's figure, in the picture and in the table", () => {
    const svg = filesOf(mapped).get("map-1.svg") ?? "";
    const cells = readMarkup(svg).filter(({ name }) => name === "rect");
    expect(cells).toHaveLength(12);
    for (const words of [">5%<", ">7.5% ?<", "agents.clients →"]) says(words, svg);
    says(
      "agents.clients from 10 to 30 and rules.organization.rest.limit from 100 to 400: from 1.3% to 15%",
      svg,
    );
    says("7.5% ?", pageOf(mapped));
    says("✓ the goals hold, ✗ they fail, ? unclear", pageOf(mapped));
    expect((filesOf(mapped).get("map-1.csv") ?? "").split("\r\n").slice(0, 3)).toEqual([
      "agents.clients,rules.organization.rest.limit,refusedShare,state",
      "10,100,0.05,holds",
      "20,100,0.1,fails",
    ]);
  });

  it("write figures into cells that are wide enough for the longest of them", () => {
    const columns = (count: number): PlanResult => {
      const [row = []] = mapped.heatMap?.cells ?? [];
      const xs = Array.from({ length: count }, (_, column) => column);
      const cells = [xs.map(() => row[0] ?? 0)];
      return { ...mapped, heatMap: { ...map, xs, ys: map.ys.slice(0, 1), cells, frontier: [] } };
    };
    const written = (count: number): number =>
      readMarkup(filesOf(columns(count)).get("map-1.svg") ?? "").filter(
        ({ name, text }) => name === "text" && text.includes("%"),
      ).length;
    // A figure of two characters and its margin take 26.4 of the 810 pixels.
    expect([1, 10, 20, 40].map(written)).toEqual([1, 10, 20, 0]);
  });

  const map = mapped.heatMap as PlanHeatMap;
  it("have the frontier between what holds and what fails, in the middle of what is unclear", () => {
    // All of 10 clients' limits hold; of 20 clients' the first fails; of 30 clients' the second is unclear.
    expect(frontierPaths(map, "smallest")).toEqual([
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [2, 1],
        [2, 1.5],
        [3, 1.5],
      ],
    ]);
  });

  it("have the other side hold where the largest is looked for, and none at all at the edges", () => {
    const edge = (x: number, holds: number | null, fails: number | null) => ({
      x,
      holds,
      fails,
      monotone: true,
    });
    const frontier = [edge(10, 400, null), edge(20, 200, 300), edge(30, null, 100)];
    expect(frontierPaths({ ...map, frontier }, "largest")).toEqual([
      [
        [0, 4],
        [1, 4],
        [1, 2],
        [2, 2],
        [2, 0],
        [3, 0],
      ],
    ]);
  });

  it("break the frontier where holding and failing values alternate, and say so", () => {
    const frontier = map.frontier.map((one) => (one.x === 20 ? { ...one, monotone: false } : one));
    const broken = { ...mapped, heatMap: { ...map, frontier } };
    expect(frontierPaths(broken.heatMap, "smallest")).toHaveLength(2);
    says("It is broken at agents.clients = 20", pageOf(broken));
  });
});

describe("a storm and alternatives", () => {
  const page = pageOf(stormy);

  it("are drawn with the trigger and without, each with whether it recovers", () => {
    for (const words of [
      "without a trigger",
      "an outage of 15 s: it recovers",
      "an outage of 20 s: it does not recover",
      "8 of 8 runs (63% to 100% of all)",
    ])
      says(words, page);
    const csv = filesOf(stormy).get("storm.csv") ?? "";
    expect(csv.split("\r\n")[4]).toBe("180000,0.1,0.1,0.8");
    expect(csv.split("\r\n")[5]).toBe("240000,,0.1,0.8");
  });

  it("are held to the storm's own share of runs beside a stricter one of values", () => {
    const { question, storm } = stormy;
    const share = (own: number | undefined): string =>
      pageOf({ ...stormy, question: { ...question, share: 0.95 }, storm: storm && { ...storm, share: own } });
    says("it recovers above 50%", share(0.5));
    says("it recovers above 95%", share(undefined));
  });

  it("stand side by side, what is as it is among them", () => {
    const svg = filesOf(stormy).get("alternatives-1-refusedshare.svg") ?? "";
    for (const words of ["as things stand", "waitReset", "exponential, limits x2"]) says(words, svg);
  });
});

describe("hostile names", () => {
  it("are escaped in page, pictures, Markdown and JUnit", () => {
    const evil = `<script>alert("1")</script>|\`&'`;
    const result: PlanResult = {
      ...stormy,
      question: { ...searched.question, scenario: evil, description: evil, command: evil },
      points: searched.points,
      sentences: [evil, evil],
      notes: [evil],
    };
    expect(readMarkup(pageOf(result)).filter(({ name }) => name === "script")).toHaveLength(1);
    readMarkup(renderPlanJunit(result));
    const markdown = renderPlanMarkdown(result);
    const fence = markdown.indexOf("```sh");
    expect(markdown.slice(0, fence)).not.toContain("<script>");
  });
});

describe("documents", () => {
  it.each([
    ["searched", "good"],
    ["chosen", "good"],
    ["mapped", "good"],
    ["stormy", "bad"],
  ] as const)("say how %s went: %s", (name, outcome) => {
    expect(planOutcome(plans[name])).toBe(outcome);
    expect(renderPlanMarkdown(plans[name])).toMatch(outcome === "good" ? /^## ✅/ : /^## ❌/);
    expect(renderPlanJunit(plans[name]).includes("<failure")).toBe(outcome === "bad");
  });

  it("name no winner where there is none: noise and alternation are skipped, not failed", () => {
    const noisy = {
      ...searched,
      answer: { kind: "too-noisy", holds: 10, fails: 50, replicationsMore: 100 },
    } as const;
    expect(planOutcome(noisy)).toBe("none");
    expect(renderPlanJunit(noisy)).toContain("<skipped");
    expect(renderPlanMarkdown(noisy)).toMatch(/^## ➖/);
  });

  it("have the points around the answer, or the frontier, as a table", () => {
    expect(renderPlanMarkdown(searched)).toContain("| 28 | 4.4% (4% to 4.8%) | 8 of 8 runs");
    expect(renderPlanMarkdown(mapped)).toContain("| 30 | 300 | 100 |");
    expect(renderPlanMarkdown(stormy)).toContain("| 20 s | 0 of 8 | – | ❌ no |");
  });

  it("set policies side by side under larger limits, too, as the page does", () => {
    const text = renderPlanMarkdown(stormy);
    for (const row of ["as things stand | as they are", "exponential | as they are", "exponential | x2"])
      expect(text).toContain(`\n| ${row} |`);
  });
});
