// The status in lines: bars that fit the terminal, one line a reading for logs, and a picture that is drawn again.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { barsOf, once, watch } from "../../src/cli/status.ts";
import type { PolicyStatus } from "../../src/probe/policy-status.ts";
import type { StatusReading, StatusWindow } from "../../src/probe/status.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { recorded, tagged } from "../support/recorded.ts";
import { typedAtTarget } from "./typed-at-target.ts";

const noon = Date.UTC(2026, 0, 2, 12);
const window = (more: Partial<StatusWindow>): StatusWindow => ({
  ...{ scope: "rest", owner: "organization", limit: 10, used: 0, endsAtMs: noon + 30_000, enforced: true },
  ...more,
});
const all = { scope: "graphql", owner: "user", limit: 1_000 } as const;
const reading = (...windows: Partial<StatusWindow>[]): StatusReading => ({
  ...{ organization: "acme", atMs: noon, skewMs: null },
  windows: [...windows, all].map(window),
});
const status: PolicyStatus = {
  ...{ policy: "github", caller: { user: "ann", ip: "1.2.3.4" }, atMs: noon, skewMs: 0 },
  quotas: [
    { quota: "core", limit: 60, used: 59, endsAtMs: null },
    { quota: "search", limit: 10, used: 1, endsAtMs: noon + 61_000 },
  ],
};
const bars = (of: StatusReading | PolicyStatus, columns = 100, afterMs = 0) =>
  barsOf(of, noon + afterMs, columns).map(tagged);
const dots = (used: number, color = "green", of = 40) => {
  const marks = used === 0 ? "" : `<${color}>${"#".repeat(used)}</>`;
  return `[${marks}${used === of ? "" : `<dim>${".".repeat(of - used)}</>`}]`;
};

test("a bar is green, yellow from 80% and red from 100% on; a little use is seen", () => {
  const used = (count: number) => bars(reading({ limit: 1_000, used: count }))[1];
  expect([0, 1, 49, 50, 799, 800, 999, 1_000, 1_001, 5_000].map(used)).toEqual([
    `rest         ${dots(0)} 0 / 1,000  30 s left`,
    `rest         ${dots(1)} 1 / 1,000  30 s left`,
    `rest         ${dots(1)} 49 / 1,000  30 s left`,
    `rest         ${dots(2)} 50 / 1,000  30 s left`,
    `rest         ${dots(31)} 799 / 1,000  30 s left`,
    `rest         ${dots(32, "yellow")} 800 / 1,000  30 s left`,
    `rest         ${dots(39, "yellow")} 999 / 1,000  30 s left`,
    `rest         ${dots(40, "red")} 1,000 / 1,000  30 s left`,
    `rest         ${dots(40, "red")} 1,001 / 1,000  30 s left`,
    `rest         ${dots(40, "red")} 5,000 / 1,000  30 s left`,
  ]);
});

test("windows end, are not enforced, and belong to users; GraphQL's own is missed where it is not shown", () => {
  const windows = [
    window({ used: 5 }),
    window({ owner: "user", used: 5, endsAtMs: noon + 1, enforced: null }),
    window({ scope: "graphql", enforced: false, endsAtMs: noon + 90_500 }),
    window({ scope: "graphql", endsAtMs: noon + 500 }),
  ];
  const shown = bars({ ...reading(), windows }, 100, 1);
  expect(shown).toEqual([
    "<bold>acme at 12:00:00 UTC</>",
    `rest      ${dots(20)} 5 / 10  30 s left`,
    `rest user ${dots(0)} 0 / 10  ended`,
    `graphql   ${dots(0)} 0 / 10  1 min 31 s left, not enforced`,
    `graphql   ${dots(0)} 0 / 10  1 s left`,
    "<dim>GraphQL's user window is on GraphQL's own answers alone: asking may cost</>",
  ]);
  expect(bars({ ...reading(), windows: [] })).toHaveLength(2);
  expect(bars(reading())).toHaveLength(2);
});

test("quotas of a policy are named with the caller, and may have no end", () => {
  expect(bars(status)).toEqual([
    "<bold>github, ann, 1.2.3.4 at 12:00:00 UTC</>",
    `core   ${dots(39, "yellow")} 59 / 60  `,
    `search ${dots(4)}  1 / 10  1 min 1 s left`,
  ]);
});

test("bars shrink with the terminal, and are left out below five characters; lines are cut", () => {
  const one = { ...status, quotas: status.quotas.slice(1) };
  const line = (columns: number) => bars(one, columns)[1];
  // The rest of a line takes 6 + 6 + 14 characters, 6 for what stands between, and 1 for the cursor.
  expect(line(73)).toBe(`search ${dots(4, "green", 40)} 1 / 10  1 min 1 s left`);
  expect(line(72)).toBe(`search ${dots(3, "green", 39)} 1 / 10  1 min 1 s left`);
  expect(line(39)).toBe(`search ${dots(1, "green", 6)} 1 / 10  1 min 1 s left`);
  expect(line(38)).toBe(`search ${dots(1, "green", 5)} 1 / 10  1 min 1 s left`);
  expect(line(37)).toBe("search 1 / 10  1 min 1 s left");
  expect(line(30)).toBe("search 1 / 10  1 min 1 s left");
  expect(line(29)).toBe("search 1 / 10  1 min 1 s lef");
  expect(bars(one, 20)).toEqual(["<bold>github, ann, 1.2.3.</>", "search 1 / 10  1 mi"]);
});

test.each([
  [null, ""],
  [1_499, ""],
  [1_500, ", the target's clock is 1.5 s ahead"],
  [-1_499, ""],
  [-1_500, ", the target's clock is 1.5 s behind"],
  [-90_000, ", the target's clock is 1 min 30 s behind"],
])("a clock %s ms off is told from 1.5 s on: %s", (skewMs, said) => {
  expect(bars({ ...status, skewMs })[0]).toBe(`<bold>github, ann, 1.2.3.4 at 12:00:00 UTC${said}</>`);
});

const { isTTY, columns } = process.stdout;
beforeEach(() => Object.assign(process.stdout, { isTTY: undefined, columns: undefined }));
afterEach(() => Object.assign(process.stdout, { isTTY, columns }));

/** Watches readings, each after so many ms, under a clock of the test's; ends when there are none left. */
async function watched(
  readings: readonly (StatusReading | PolicyStatus | Error)[],
  json = false,
  ms = 2_500,
) {
  let nowMs = noon;
  const waits: number[] = [];
  const over = new AbortController();
  const left = [...readings];
  const reader = {
    async read() {
      nowMs += 100;
      const next = left.shift();
      if (next === undefined) {
        over.abort();
        throw new Error("over");
      }
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const kept = recorded();
  const clock = {
    now: () => nowMs,
    wait: async (waitMs: number) => {
      waits.push(waitMs);
      nowMs += waitMs;
    },
  };
  const thrown = await watch(reader, { ...kept, json }, ms, over.signal, clock).catch(
    (error: unknown) => error,
  );
  return { ...kept, waits, thrown };
}

const problem = { path: "--target", got: "503", allowed: "200" };
const silent = new SpillwayError("TARGET_UNREACHABLE", "no status", { problem });
const bare = new SpillwayError("TARGET_UNREACHABLE", "no status");

test("off a terminal each reading is a line, asked for every so often", async () => {
  const shown = reading({ used: 3, enforced: false }, { owner: "user", enforced: null, endsAtMs: noon });
  const { lines, waits, pictures } = await watched([shown, silent, bare, status]);
  expect(lines).toEqual([
    "12:00:00 rest 3/10 resets in 30 s (not enforced), rest user 0/10 resets in 0 s, graphql user 0/1000 resets in 30 s",
    "12:00:02 no reading: 503",
    "12:00:05 no reading: no status",
    "12:00:00 core 59/60, search 1/10 resets in 1 min 1 s",
  ]);
  expect(waits).toEqual([1_000, 1_000, 400, 1_000, 1_000, 400, 1_000, 1_000, 400, 1_000, 1_000, 400]);
  expect(pictures).toEqual([]);
  expect((await watched([status], false, 100)).waits).toEqual([]);
  expect((await watched([status], false, 101)).waits).toEqual([1]);
});

test("once, it is the bars, 100 columns wide where no terminal says how wide it is", async () => {
  const long = { ...status, caller: { user: "a".repeat(200) } };
  const { terminal, lines, results } = recorded();
  await once({ read: async () => long }, terminal);
  expect(lines).toEqual([
    `github, ${"a".repeat(91)}`,
    `core   [${"#".repeat(39)}.] 59 / 60  `,
    `search [####${".".repeat(36)}]  1 / 10  1 min 1 s left`,
  ]);
  expect(results).toEqual([long]);
});

test("under --json each reading is one object, and so is a failure", async () => {
  Object.assign(process.stdout, { isTTY: true });
  const { results, lines, pictures } = await watched([status, silent], true);
  expect(results).toEqual([status, { atMs: noon + 2_600, failure: "503" }]);
  expect([lines, pictures]).toEqual([[], []]);
});

test("on a terminal it is a picture that counts down, and keeps its last reading beside a failure", async () => {
  Object.assign(process.stdout, { isTTY: true, columns: 37 });
  const { lines, pictures } = await watched([bare, { ...status, quotas: status.quotas.slice(1) }, silent]);
  const head = (second: number) => `<bold>github, ann, 1.2.3.4 at 12:00:0${second} UTC</>`;
  const bar = (left: string) => `search [<green>#</><dim>........</>] 1 / 10  ${left} left`;
  expect(lines).toEqual([]);
  expect(pictures.map((lines) => lines.at(-1))).toEqual([
    ...Array<string>(4).fill("<yellow>no answer: no status; trying again</>"),
    ...Array<string>(4).fill("Ctrl-C ends"),
    ...Array<string>(4).fill("<yellow>no answer: 503; trying again</>"),
  ]);
  expect(pictures[0]).toHaveLength(1);
  expect(pictures[4]?.slice(0, 2)).toEqual([head(2), bar("59 s")]);
  expect(pictures.slice(8).map(([first]) => first)).toEqual([5, 6, 7, 7].map(head));
  expect(pictures[9]?.[1]).toMatch(/55 s left$/);
  Object.assign(process.stdout, { columns: undefined });
  const problem = { path: "--target", got: "x".repeat(200), allowed: "200" };
  const long = await watched([new SpillwayError("TARGET_UNREACHABLE", "no status", { problem })]);
  expect(long.pictures[0]).toEqual([`<yellow>no answer: ${"x".repeat(68)}</>`]);
});

test("ten silences in a row end it, and so does an error of another kind, or Ctrl-C", async () => {
  const silences = Array<Error>(9).fill(silent);
  expect((await watched([...silences, status, ...silences])).thrown).toMatchObject({ message: "over" });
  expect((await watched([...silences, silent, status])).thrown).toBe(silent);
  const odd = new TypeError("odd");
  const { thrown, lines } = await watched([odd, status]);
  expect([thrown, lines]).toEqual([odd, []]);
  const over = AbortSignal.abort();
  const { terminal } = recorded();
  const reader = { read: () => Promise.reject(silent) };
  await expect(watch(reader, { terminal, json: false }, 1, over)).rejects.toBe(silent);
});

describe("as it is typed, a target on this machine", () => {
  const at = typedAtTarget();

  test("shows its status", async () => {
    const { code, said } = await at("status");
    expect([code, said.length, said[0]]).toEqual([0, 5, "acme at TIME"]);
    expect((await at("status", " --json")).json()).toMatchObject({ organization: "acme" });
    const byPolicy = await at("status", " --policy github");
    expect([byPolicy.code, byPolicy.said]).toEqual([3, []]);
  });
});
