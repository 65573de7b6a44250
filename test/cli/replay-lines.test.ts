// A replay in lines: when callers would have been refused and how often, how much room there was, what waiting would
// have changed, what could not be read.
import { expect, test } from "vitest";
import { replay } from "../../sim/replay/replay.ts";
import { sayReplay } from "../../src/cli/say-replay.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { logOf, noon, type Row } from "../replay/rows.ts";
import { saidBy } from "../support/recorded.ts";

const calls = (user: string, count: number, fromMs: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({ atMs: fromMs + at, user, status: 200 }));
const base = await replay(logOf(calls("ann", 1, noon)), parseRules({}), { files: ["a.log"] });

type Members = Partial<Record<keyof ReplayResult, unknown>>;
const said = (members: Members): string[] =>
  saidBy((terminal) => sayReplay(terminal, { ...base, ...members } as ReplayResult));
const linesWith = (words: string | RegExp, members: Members): string[] =>
  said(members).filter((line) => (typeof words === "string" ? line.includes(words) : words.test(line)));

test("nobody refused is green, and has no table", () => {
  expect(said({})).toEqual([
    "<bold>a.log</>: <green>None of 1 call would have been refused</>",
    "  1 call of 1 user in 1 organization over 0 ms, replayed under these rules as they came.",
    "  Rows read: 1 (REST calls: 1; GraphQL calls: 0; Status calls, which are free: 0; What no quota counts: 0); not read: 0.",
    "  organization, REST: 1 window; half use 0.5% of the limit, 99% 0.5%, the fullest 0.5%, none too full",
    "  user, REST:         1 window; half use 2% of the limit, 99% 2%, the fullest 2%, none too full",
    "  No row of this log, as it came, would have been refused with 1 instead of 200 requests for the organization (REST), 1 instead of 50 requests for a user (REST), either.",
    "  The log itself has no refusal among the 1 call whose answer it knows. No call that it admitted would have been refused.",
  ]);
});

const slot = (atMs: number, refusedByOrganization: number, refusedByUser = 0) => ({
  ...{ atMs, calls: 9, refusedByOrganization, refusedByUser, waiting: 0 },
});

test("refusals have a span, a worst time and a picture", () => {
  const slots = [slot(noon, 0), slot(noon + 1_000, 2, 1), slot(noon + 2_000, 0), slot(noon + 3_000, 1, 2)];
  const lines = said({ slots, slotMs: 1_000, totals: { ...base.totals, refused: 3, usersRefused: 1 } });
  expect(lines[0]).toBe("<bold>a.log</>: <red>3 of 1 call (300%) would have been refused</>");
  expect(lines[4]).toBe(
    "  Between 2026-01-05 12:00:01 UTC and 2026-01-05 12:00:04 UTC; 3 within 1 s from 2026-01-05 12:00:01 UTC on.",
  );
  expect(lines[5]).toBe(
    `  <cyan>${`${" ".repeat(15)}${"█".repeat(15)}`.repeat(2)}</> refusals, at most 3 in 1 s`,
  );
  const later = [slot(noon, 1), slot(noon + 1_000, 1_500)];
  expect(linesWith("Between", { slots: later, slotMs: 1_000 })).toEqual([
    "  Between 2026-01-05 12:00:00 UTC and 2026-01-05 12:00:02 UTC; 1,500 within 1 s from 2026-01-05 12:00:01 UTC on.",
  ]);
  expect(linesWith(/Between|refusals,/, { slots: [slot(noon, 0)] })).toEqual([]);
  expect(linesWith(/Between|refusals,/, { slots: [] })).toEqual([]);
  expect(linesWith("refusals,", { slots: [slot(noon, 1)], slotMs: 1_000 })).toEqual([
    `  <cyan>${"█".repeat(60)}</> refusals, at most 1 in 1 s`,
  ]);
});

test("a table has the ten users that were refused most, and how many more there are", () => {
  const user = (name: string, refused: number, more: object = {}) => ({
    ...{ org: "acme", user: name, calls: 40, refused, refusedByOrganization: 0, refusedByUser: refused },
    ...{ firstRefusedAt: noon, lastRefusedAt: noon, restUseMax: 1, graphqlUseMax: null },
    ...more,
  });
  const some = [
    user("ann", 20),
    user("bartholomew", 1_000, { calls: 2_000, firstRefusedAt: null }),
    user("cy", 0),
  ];
  const table = (users: object[], usersRefused: number) => {
    const lines = said({ users, totals: { ...base.totals, usersRefused } });
    const from = lines.findIndex((line) => line.includes("first refused"));
    return from < 0 ? [] : lines.slice(from);
  };
  expect(table(some, 2)).toEqual([
    "  <dim>user         calls  refused  share  first refused</>",
    "  ann             40       20    50%  2026-01-05 12:00:00 UTC",
    "  bartholomew  2,000    1,000    50%",
  ]);
  const many = Array.from({ length: 12 }, (_, at) => user(`u${at}`, 1));
  expect(table(many, 11)).toHaveLength(12);
  expect(table(many, 11).at(-1)).toBe("  <dim>and 1 more user</>");
  expect(table(many, 12).at(-1)).toBe("  <dim>and 2 more users</>");
  expect(table(many, 10)).toHaveLength(11);
  expect(table([user("cy", 0)], 0)).toEqual([]);
});

const reaction = {
  ...{ onRefused: "waitReset(of: both)", calls: 9, attempts: 12, refusals: 3, admittedAtOnce: 6 },
  ...{ admittedLater: 3, gaveUp: 0, unfinished: 0, endsLaterMs: 0, retries: 0, leftOut: 0, byClock: 0 },
  delays: null,
  ...{ refusedByOrganization: 0, refusedByUser: 0, refusedByQuota: 0, users: [], slots: [], slotMs: 1_000 },
  waits: { count: 9, p50: 0, p95: 1_000, max: 2_000 },
  waitsOfRefused: { count: 3, p50: 1_000, p95: 2_000, max: 90_000 },
};
const reacting = (more: object, refused = 3): string[] => {
  const lines = said({ reaction: { ...reaction, ...more }, totals: { ...base.totals, refused } });
  return lines.slice(lines.findIndex((line) => line.includes("If callers react")));
};

test("callers that react have waits, and what of the log's refusals is one call", () => {
  const counts =
    "Of 9 calls, sent 12 times in all (25% refused), 6 get through at the first try, 3 after a refusal, 0 are given up, 0 still wait at the end.";
  const waits = " Those that were refused first waited: half 1 s, 95% 2 s, the longest 1 min 30 s.";
  const head = (before: string) => `  <bold>If callers react by waitReset(of: both)</>${before}:`;
  const lost = " (without, 3 would have been lost)";
  expect(reacting({})).toEqual([head(lost), `    ${counts}${waits}`]);
  for (const name of ["p50", "p95", "max"])
    expect(reacting({ waitsOfRefused: { ...reaction.waitsOfRefused, [name]: null } })[1]).toBe(
      `    ${counts}`,
    );
  expect(reacting({ retries: 1 })).toEqual([
    head(""),
    `    ${counts}${waits}`,
    "    1 refusal of the log and what was tried again are one call each, wanted when it was first sent.",
  ]);
  expect(reacting({ leftOut: 1 })).toEqual([
    head(""),
    `    ${counts}${waits}`,
    "    <yellow>1 refusal of the log cannot be told from calls that come anyway and are left out, so refusals here are too few; --keep-refused takes each for a call.</>",
  ]);
  expect(reacting({ slots: [slot(noon, 1)] }).at(-1)).toBe(
    `    <cyan>${"█".repeat(60)}</> refusals, at most 1 in 1 s`,
  );
});

test("rows that could not be read, expectations and an interruption come last", () => {
  const log = { ...base.log, unread: 2, lastAt: noon + 1_000 };
  const example = { file: "a.log", line: 7, why: "no time", text: "x" };
  expect(said({ log }).at(-1)).toBe("  <yellow>2 rows could not be read</>");
  expect(said({ log: { ...log, unread: 1, examples: [example] } }).at(-1)).toBe(
    "  <yellow>1 row could not be read, the first a.log:7: no time</>",
  );
  const expectations = [
    { figure: "refusedShare", bound: "<1%", actual: 0, held: true },
    { figure: "waitP95Ms", bound: "<1s", actual: 2_000, held: false },
  ];
  expect(said({ expectations, interrupted: true, log: { ...log, unread: 0 } }).slice(-3)).toEqual([
    "  <green>held</> refusedShare <1%: 0%",
    "  <red>missed</> waitP95Ms <1s: 2 s",
    "  <yellow>Interrupted</>: what was read is kept. All of this is about the rows until 2026-01-05 12:00:01 UTC.",
  ]);
  expect(said({ interrupted: true, log: { ...log, unread: 0, lastAt: null } }).at(-1)).toBe(
    "  <yellow>Interrupted</>: what was read is kept.",
  );
});

test("a log that seems to lack refused rows is said to first, and windows that are too full in red", () => {
  const headroom = base.headroom.map((one, at) => ({ ...one, windowsFull: 2, windowsOver: at * 1_500 }));
  const recorded = { ...base.recorded, seemsFiltered: true };
  const lines = said({ headroom, recorded });
  expect(lines[1]).toMatch(/^ {2}<yellow>Refused rows seem to be left out of this log: 2 windows are filled/);
  expect(lines[1]).toMatch(/<\/>$/);
  expect(lines.find((line) => line.startsWith("  user, REST:"))).toBe(
    "  user, REST:         1 window; half use 2% of the limit, 99% 2%, the fullest 2%, <red>1,500 too full</>",
  );
});
