// A replay's page and documents: who, when, how full, which limits would have done.
import { beforeAll, describe, expect, it } from "vitest";
import { share } from "../../src/report/format.ts";
import { renderReplayJunit, renderReplayMarkdown } from "../../src/report/replay-documents.ts";
import { renderReplay } from "../../src/report/replay-page.ts";
import { replayView } from "../../src/report/replay-view.ts";
import { demandWords, replayAnswer, replayOutcome, smallestWords } from "../../src/report/replay-words.ts";
import { count } from "../../src/rules/words.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { readMarkup } from "./markup.ts";
import { replayed } from "./results.ts";

let result: ReplayResult;
let page: string;
let files: ReadonlyMap<string, string>;
const says = (text: string, where = page): void => expect(where.includes(text), text).toBe(true);

beforeAll(async () => {
  result = await replayed(true);
  ({ html: page } = renderReplay(result, "0.1.0", "pictures"));
  files = renderReplay(result, "0.1.0", "pictures").files();
});

describe("the page", () => {
  it("is well-formed and says the answer first", () => {
    readMarkup(page);
    expect(result.totals.refused).toBeGreaterThan(0);
    says(replayAnswer(replayView(result)));
    says(`${count(result.totals.refused)} of ${count(result.totals.calls)} calls`);
    expect(page.indexOf('class="what"')).toBeLessThan(page.indexOf("<svg"));
  });

  it("has the same bytes each time, and prints no number that is none", () => {
    expect(renderReplay(result, "0.1.0", "pictures").html === page).toBe(true);
    expect(page.slice(0, page.indexOf("<script>"))).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it("keeps each instant of a table on one line", () => {
    const instant = /<td([^>]*)>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^<]*</g;
    const classes = [...page.matchAll(instant)].map(([, words]) => words);
    expect(new Set(classes)).toEqual(new Set([' class="number"']));
  });

  it("says how full the windows were, and which limits would have refused nobody", () => {
    for (const { useMax, useP50 } of result.headroom) {
      says(`>${share(useMax)}<`);
      says(`>${share(useP50)}<`);
    }
    for (const { smallest } of result.smallestLimits) says(`>${count(smallest)}</span>`);
    says("Limits that would have refused no row as it came");
  });

  it("promises no limit for a demand that the log's own refusals put off", () => {
    const smallest = result.smallestLimits.map((one) => ({ ...one, smallest: one.limit + 7 }));
    const seen = { calls: 900, refused: 40, both: 30, onlyInLog: 10, onlyInReplay: 0, seemsFiltered: false };
    const words = (recorded: ReplayResult["recorded"]) =>
      smallestWords(replayView({ ...result, smallestLimits: smallest, recorded, demand: null }));
    expect(words(null)).toMatch(/^No row of this log, as it came, would have been refused with [^.]*\.$/);
    expect(words({ ...seen, refused: 0 })).toBe(words(null));
    expect(words(seen)).toContain("The demand may need more: the log has 40 refusals");
  });

  it("names smaller limits with their units where nobody was refused", () => {
    const [first] = result.smallestLimits;
    if (first === undefined) throw new RangeError("there is a limit");
    const nobody = { ...result, recorded: null, demand: null, totals: { ...result.totals, refused: 0 } };
    const words = (smallest: number) =>
      smallestWords(replayView({ ...nobody, smallestLimits: [{ ...first, limit: 60, smallest }] }));
    expect(words(20)).toMatch(/ with 20 instead of 60 (requests|points) for [^,]*, either\.$/);
    expect(words(60)).toBe("");
  });

  it("lists eight limits of single owners, and counts the others", () => {
    const [first] = result.smallestLimits;
    if (first === undefined) throw new RangeError("there is a limit");
    const words = (limits: number) => {
      const smallestLimits = Array.from({ length: limits }, (_, at) => ({
        ...first,
        limit: 10 + at,
        smallest: 90,
      }));
      return smallestWords(replayView({ ...result, recorded: null, demand: null, smallestLimits }));
    };
    expect(words(8)).toMatch(/ 90 instead of 17 [^,]*\.$/);
    expect(words(11)).toMatch(/ 90 instead of 17 [^,]*, 3 more limits of single owners\.$/);
  });

  it("gives the limits of a demand that is put back as an interval, and what cannot be told", () => {
    const limits = [
      { owner: "organization", scope: "rest", limit: 200, low: 210, high: 260 },
      { owner: "user", scope: "rest", limit: 50, low: 40, high: 50 },
    ] as const;
    const demand = { wishes: 1_200, retries: 40, untold: 3, untoldUsers: 1, limits };
    expect(demandWords(replayView({ ...result, demand }))).toBe(
      "The log's own refusals put calls off. Had each come when it was first wanted, the 1,200 to 1,203 calls would need 210 to 260 instead of 200 requests for the organization (REST). 40 refusals count as tries of a call that came again. Nobody can tell whether 3 refusals of 1 user came again: numbered attempts would tell it, times in milliseconds with durations may.",
    );
    expect(demandWords(replayView({ ...result, demand: { ...demand, limits: [], untold: 0 } }))).toContain(
      "would fit into these limits",
    );
    expect(demandWords(replayView({ ...result, demand: null }))).toBe("");
    says("Nobody can tell whether ");
  });

  it("names whom it would have hit, the rows that could not be read, and the rules", () => {
    for (const { org, user } of result.users) says(`>${org}/${user}<`);
    for (const text of ["access.log:17", "no time", "&lt;b&gt;garbage", "Under which rules"]) says(text);
  });

  it("says what waiting would have done, where callers were to react", () => {
    says("With callers that react: <code>waitReset</code>");
    says(`${count(result.reaction?.admittedLater ?? -1)} after a refusal`);
  });

  it("has every call of the log in the numbers of the pictures", () => {
    const [columns = [], ...rows] = (files.get("refusals.csv") ?? "")
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    const total = (column: string): number =>
      rows.reduce((sum, row) => sum + Number(row[columns.indexOf(column)]), 0);
    expect(total("admitted")).toBe(result.totals.admitted);
    expect(total("refused_by_user")).toBe(result.totals.refusedByUser);
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(["refusals.svg", "headroom.csv", "users.svg", "reaction.csv"]),
    );
  });
});

describe("documents", () => {
  it("call refusals no failure where nothing else was expected", () => {
    expect(replayOutcome(replayView(result))).toBe("good");
    expect(replayOutcome(replayView({ ...result, expectations: [] }))).toBe("none");
    expect(renderReplayJunit(result)).not.toContain("<failure");
    expect(renderReplayMarkdown({ ...result, expectations: [] })).toMatch(/^## ➖/);
  });

  it("fail where an expectation is missed, and say by how much", () => {
    const missed = {
      ...result,
      expectations: [{ figure: "refused", bound: "==0", actual: 81, held: false }],
    };
    expect(renderReplayMarkdown(missed)).toMatch(/^## ❌/);
    expect(renderReplayJunit(missed)).toContain("refused was 81, expected ==0");
    says("Missed: refused is 81, expected ==0.", renderReplay(missed, "0.1.0").html);
  });

  it("are as short for a thousand users as for fifty", () => {
    const [user] = result.users;
    if (user === undefined) throw new Error("no user was refused");
    const users = Array.from({ length: 1_000 }, (_, index) => ({ ...user, user: `u${index}` }));
    const many = { ...result, users, totals: { ...result.totals, users: 1_000, usersRefused: 1_000 } };
    expect(renderReplay(many, "0.1.0").html.length).toBeLessThan(600_000);
    expect(renderReplayMarkdown(many).length).toBeLessThan(10_000);
    says("And 985 users more.", renderReplayMarkdown(many));
  });

  it("make a page of a log without a call", async () => {
    const empty: ReplayResult = {
      ...result,
      totals: { ...result.totals, calls: 0, admitted: 0, refused: 0, users: 0, usersRefused: 0 },
      slots: [],
      users: [],
      headroom: [],
      organizations: [],
      smallestLimits: [],
      refusingWindows: [],
      refusingWindowsSeen: 0,
      recorded: null,
      reaction: null,
      expectations: [],
      log: { ...result.log, firstAt: null, lastAt: null },
    };
    const { html } = renderReplay(empty, "0.1.0");
    readMarkup(html);
    says("The log has no call that a quota counts", html);
    expect(html.slice(0, html.indexOf("<script>"))).not.toMatch(/NaN|undefined|Infinity/);
  });
});

it("escapes hostile names in page, pictures, Markdown and JUnit", async () => {
  const evil = `<img src=x onerror=alert(1)>|"&'\u0000`;
  const hostile = await replayed(true, (index) => `${evil}${index}`);
  const { html, files } = renderReplay(hostile, "0.1.0", "pictures");
  expect(readMarkup(html).map(({ name }) => name)).not.toContain("img");
  for (const [name, content] of files()) if (name.endsWith(".svg")) readMarkup(content);
  readMarkup(renderReplayJunit(hostile));
  expect(renderReplayMarkdown(hostile)).not.toContain("<img");
});
