// The end of a run in words, sentence by sentence.
import { describe, expect, test } from "vitest";
import type { LoadAccount } from "../../src/load/account.ts";
import {
  accountNotes,
  crossedThresholds,
  failedChecks,
  failureOf,
  k6Notes,
  silenceOf,
} from "../../src/load/outcome.ts";
import type { K6Outcome } from "../../src/load/run-k6.ts";

const account = (changed: Partial<LoadAccount> = {}): LoadAccount =>
  ({
    silence: null,
    calls: 9,
    unanswered: 0,
    failures: new Map(),
    cutOff: 0,
    lost: 0,
    torn: 0,
    printed: [],
    ...changed,
  }) as unknown as LoadAccount;
const outcome = (changed: Partial<K6Outcome> = {}): K6Outcome =>
  ({
    exitCode: 0,
    killedBy: null,
    interrupted: false,
    linesFailed: 0,
    complaints: [],
    summary: null,
    ...changed,
  }) as unknown as K6Outcome;
const silent = { silence: { sinceMs: Date.UTC(2026, 0, 1, 9, 8, 7), calls: 2 } } as Partial<LoadAccount>;

describe("a run failed", () => {
  test.each<[string, string | null, Partial<K6Outcome>, Partial<LoadAccount>]>([
    ["not, if it ended well", null, {}, {}],
    ["not, by thresholds alone", null, { exitCode: 99 }, {}],
    ["not, where it was interrupted", null, { interrupted: true, exitCode: 1, killedBy: "SIGINT" }, silent],
    ["not, where k6 says that it was", null, { exitCode: 105 }, silent],
    [
      "by a full disk, whatever else",
      "k6 could not write 1 line (is the disk full?)",
      { linesFailed: 1, interrupted: true },
      {},
    ],
    [
      "by a signal",
      "k6 was killed (SIGKILL)",
      { exitCode: null, killedBy: "SIGKILL", complaints: ["odd"] },
      {},
    ],
    ["with a status", "k6 ended with status 107", { exitCode: 107 }, {}],
    [
      "with a status and a reason, the first",
      "k6 ended with status 107: a",
      { exitCode: 107, complaints: ["a", "b"] },
      {},
    ],
    [
      "by a target that fell silent",
      "the target stopped answering at 09:08:07 UTC: none of the 2 calls since then has an answer",
      {},
      silent,
    ],
    [
      "by a target that is silent, in spite of thresholds",
      "the target answered none of 9 calls",
      { exitCode: 99 },
      { ...silent, unanswered: 9 },
    ],
  ])("%s", (_, expected, end, about) => {
    expect(failureOf(account(about), outcome(end))).toBe(expected);
  });

  test("one call without an answer is no silence", () => {
    expect(silenceOf(account({ silence: { sinceMs: 0, calls: 1 } } as Partial<LoadAccount>))).toBeNull();
  });
});

test("thresholds that were crossed, and checks that failed, of all that there are", () => {
  const summary = {
    metrics: {
      checks: { values: {}, thresholds: { "rate>0.9": { ok: false }, "rate>0.5": { ok: true } } },
      waits: { values: {}, thresholds: { "p(95)<9": { ok: false } } },
      plain: { values: {} },
    },
    root_group: {
      checks: [
        { name: "a", fails: 0 },
        { name: "b", fails: 1 },
      ],
    },
  };
  const end = outcome({ summary } as unknown as Partial<K6Outcome>);
  expect(crossedThresholds(end)).toEqual(["checks rate>0.9", "waits p(95)<9"]);
  expect(failedChecks(end)).toEqual([{ name: "b", fails: 1 }]);
  expect([crossedThresholds(outcome()), failedChecks(outcome())]).toEqual([[], []]);
});

test("notes say what happened, and nothing of what did not", () => {
  expect([...accountNotes(account(), []), ...k6Notes(account(), outcome())]).toEqual([]);
  const told = account({
    failures: new Map([
      [500, 2],
      [404, 1],
    ]),
    cutOff: 1,
    lost: 1,
  });
  expect(accountNotes(told, [{ name: "limit", fails: 3 }])).toEqual([
    "3 answers failed the check limit",
    "2 answers had status 500",
    "1 answer had status 404",
    "1 client cut off before its end",
    "up to 1 call may have been sent that the trace has no line of",
  ]);
  expect(accountNotes(account({ cutOff: 2 }), [])).toEqual(["2 clients cut off before their end"]);
  const metrics = { dropped_iterations: { values: { count: 1 } } };
  const end = outcome({ complaints: ["odd"], summary: { metrics } } as unknown as Partial<K6Outcome>);
  expect(k6Notes(account({ torn: 1, printed: ["hello"] }), end)).toEqual([
    "1 line of k6's were cut off and left out",
    "1 arrival found no free client: raise the population's maxVUs",
    "k6 says: odd",
    "the scenario printed: hello",
  ]);
});
