// Lists of a page: how many rows and bars they have at most, and what they say of the others.
import { describe, expect, test } from "vitest";
import { findings } from "../../src/report/findings.ts";
import { html } from "../../src/report/html.ts";
import { Gallery, type Picture } from "../../src/report/picture.ts";
import { stormSection } from "../../src/report/plan-storm-section.ts";
import { refusalsSection } from "../../src/report/refusals-section.ts";
import { usersSection } from "../../src/report/replay-users-section.ts";
import type { ReplayView } from "../../src/report/replay-view.ts";
import { windowsSection } from "../../src/report/windows-section.ts";
import type { PlanResult, PlanStorm } from "../../src/summary/plan-result.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { fixture } from "./fixtures.ts";

const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** A gallery that keeps what is drawn. */
class Drawn extends Gallery {
  readonly pictures: Picture[] = [];

  constructor() {
    super(null);
  }

  override draw(picture: Picture) {
    this.pictures.push(picture);
    return html``;
  }

  /** Number of rows of a picture's data. */
  bars(id: string): number | undefined {
    return this.pictures.find((each) => each.id === id)?.data.rows.length;
  }
}

/** Number of rows of the table with a caption, and the text behind them. */
function listed(page: string, caption: string) {
  const table = page.split(/<caption[^>]*>/).find((each) => each.startsWith(caption)) ?? "";
  const [body = "", after = ""] = table.split("</table>");
  const [, more = null] = /^<\/div>\s*<p class="kicker">(.*?)<\/p>/.exec(after) ?? [];
  return { rows: body.split("<tr>").length - 2, more };
}

const source = fixture();

describe("the users of a run", () => {
  const { summary } = source.run;
  const [user] = summary.users;
  if (user === undefined) throw new RangeError("the run has a user");
  const page = (count: number, seen: number, refused = summary.figures.refused) => {
    const users = many(count, (index) => ({ ...user, user: `user-${index}` }));
    const figures = { ...summary.figures, refused };
    const gallery = new Drawn();
    const { text } = refusalsSection(
      { ...source, run: { ...source.run, summary: { ...summary, users, usersSeen: seen, figures } } },
      gallery,
    );
    const title = gallery.pictures.find(({ id }) => id === "users")?.title;
    return { ...listed(text, "Calls and refusals of each user"), bars: gallery.bars("users"), title };
  };

  test("are forty in the table and ten in the picture, those refused most", () => {
    expect(page(10, 10)).toEqual({ rows: 10, more: null, bars: 10, title: "By user" });
    const most = "The users who were refused most";
    expect(page(11, 11)).toEqual({ rows: 11, more: null, bars: 10, title: most });
    expect(page(40, 40)).toMatchObject({ rows: 40, more: null });
    const more = "The 40 most refused of 41 users; summary.json has more.";
    expect(page(41, 41)).toEqual({ rows: 40, more, bars: 10, title: most });
    expect(page(11, 11, 0).title).toBe("The users who called most");
  });
});

test("sixty windows of a quota are listed", () => {
  const [series] = source.series.windows;
  const [window] = series?.windows ?? [];
  if (series === undefined || window === undefined) throw new RangeError("the run has a window");
  const page = (count: number) => {
    const windows = [{ ...series, windows: many(count, () => window) }];
    const { text } = windowsSection({ ...source, series: { ...source.series, windows } }, new Drawn());
    return listed(text, "The windows, from the start of the run");
  };
  expect([60, 61].map(page)).toEqual([
    { rows: 60, more: null },
    { rows: 60, more: "The first 60 of 61 windows." },
  ]);
});

describe("the users of a replay", () => {
  const page = (count: number, changes: object = {}, refused = 3) => {
    const users = many(count, (index) => ({
      ...{ name: `user-${index}`, short: `u${index}`, calls: 10, refused, refusedByUser: refused },
      ...{ refusedByOrganization: 0, refusedByQuota: 0, uses: [0.5, null], firstRefusedAt: null },
    }));
    const totals = { users: count, refused: refused * count };
    const gallery = new Drawn();
    const view = { users, totals, useTitles: ["One", "Two"], under: "rules", ...changes };
    const text = usersSection(view as unknown as ReplayView, gallery)?.text ?? "";
    const title = gallery.pictures[0]?.title;
    return { text, title, bars: gallery.bars("users"), ...listed(text, "Calls of each") };
  };

  test("are twenty-five in the table and twelve in the picture", () => {
    expect(page(12)).toMatchObject({ rows: 12, more: null, bars: 12, title: "By user" });
    const title = "The users who would have been refused most";
    expect(page(13)).toMatchObject({ rows: 13, more: null, bars: 12, title });
    expect(page(25)).toMatchObject({ rows: 25, more: null });
    const more = "The 25 most refused of 26 users; replay.json has more.";
    expect(page(26)).toMatchObject({ rows: 25, more, bars: 12 });
    expect(page(13, {}, 0).title).toBe("The users who called most");
    expect(page(0).text).toBe("");
  });

  test("are callers under a policy, with the share of their calls that are refused, and how full windows were", () => {
    const { text, more, title } = page(26, { under: "policy" });
    expect([more, title]).toEqual([
      "The 25 most refused of 26 callers; replay.json has more.",
      "The callers who would have been refused most",
    ]);
    expect(text).toContain("Calls of each caller, and how full the windows were that they were charged to");
    const cells = (row: string): string[] =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = ""]) => cell.replace(/<[^>]*>/g, ""));
    const rows = text.split("<tr>").slice(1).map(cells);
    expect(rows.slice(0, 2)).toEqual([
      ["Caller", "Calls", "Refused", "Share", "One", "Two", "First refused"],
      ["user-0", "10", "3", "30%", "50%", "–", "never"],
    ]);
  });
});

test("twenty violations are shown, and how many more there are", () => {
  const page = (count: number) => {
    const violations = many(count, (index) => ({
      ...{ law: "bounded", org: "acme", user: null, scope: "rest", window: null, count: index + 1 },
      ...{ lines: index === 0 ? [7] : [7, 8], suspects: [], explanation: `of ${index}` },
    }));
    const verdict = { violations, laws: {} } as unknown as Verdict;
    return findings(verdict, new Drawn(), undefined).text;
  };
  const shown = (text: string): number => text.split('<div class="violation">').length - 1;
  expect([20, 21, 25].map((count) => shown(page(count)))).toEqual([20, 20, 20]);
  expect([20, 21, 25].map((count) => /<p>And (.*?)<\/p>/.exec(page(count))?.[1])).toEqual([
    undefined,
    "1 violation more, in verdict.json.",
    "5 violations more, in verdict.json.",
  ]);
  expect(page(2)).toContain("Seen 1 time; trace line 7.");
  expect(page(2)).toContain("Seen 2 times; trace lines 7, 8.");
});

test("a hundred and twenty windows of a storm are listed", () => {
  const page = (count: number) => {
    const series = [0, 5].map((size) => ({ size, shares: many(count, () => (size === 0 ? 0 : 0.25)) }));
    const storm = {
      ...{ trigger: "burst", atMs: 0, windowMs: 1_000, withinWindows: null, unit: "calls", series },
      triggers: [
        {
          size: 5,
          state: "holds",
          recovered: 3,
          replications: 4,
          recoveredShare: { low: 0, high: 1 },
          windowsToRecover: 1.26,
        },
      ],
    };
    return stormSection(
      { question: { share: 0.9 } } as unknown as PlanResult,
      storm as unknown as PlanStorm,
      new Drawn(),
    ).text;
  };
  const caption = "The mean share of calls that were refused or not answered, by window";
  expect([120, 121].map((count) => listed(page(count), caption))).toEqual([
    { rows: 120, more: null },
    { rows: 120, more: "The first 120 of 121 windows; pictures/storm.csv has all." },
  ]);
  expect(page(2)).toContain("a burst of 5 calls: it recovers");
  expect(page(2)).toContain("1.3");
});
