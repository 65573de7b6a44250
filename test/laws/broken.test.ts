// Each law can fail: it finds the limiter that breaks it, in 100 runs, and makes the counterexample small.
// @module-tag long
import { describe, expect, test } from "vitest";
import { checkLaws, judgeScript, limiterLawNames } from "../../src/laws/index.ts";
import { brokenLimiters } from "./broken-limiters.ts";
import { expectKept, only } from "./expectations.ts";
import { tinyFactory } from "./tiny-limiter.ts";

const usualSeed = 4;
/** Seed of a limiter that seed 4 comes to, or makes small, late. */
const sooner: Readonly<Record<string, number>> = { "snapshot-equals snapshot-forgets-enforced": 5 };

/** Text of a violation: the expected value, the value that came, and the reason. */
const sentences: Readonly<Record<string, readonly [expected: string, got: string, arithmetic: string]>> = {
  "bounded one-extra": [
    "0 <= current <= 1",
    "current 2",
    "the limit is 1 and every call of this window was decided while enforced",
  ],
  "bounded cost-over-limit-admitted": [
    "0 <= current <= 1",
    "current 2",
    "the limit is 1 and every call of this window was decided while enforced",
  ],
  "bounded negative-count": [
    "0 <= current <= 1",
    "current -1",
    "the limit is 1 and every call of this window was decided while enforced",
  ],
  "conserved double-count": [
    "current 1",
    "current 2",
    "nothing was charged in this window before, this operation adds 1: 1",
  ],
  "conserved cost-ignored": [
    "current 2",
    "current 1",
    "nothing was charged in this window before, this operation adds 2: 2",
  ],
  "conserved overflow": [
    "current 4294967297",
    "current 1",
    "nothing was charged in this window before, this operation adds 4294967297: 4294967297",
  ],
  "conserved status-charged": [
    "current 0",
    "current 1",
    "nothing was charged in this window before, this operation charges nothing: 0",
  ],
  "conserved gives-back-too-late": [
    "current 0",
    "current -1",
    "nothing was charged in this window before, this operation charges nothing: 0",
  ],
  "remaining-agrees remaining-unclamped": ["remaining 0", "remaining -1", "max(0, 1 - 2) = 0"],
  "reset-agrees reset-truncated": ["reset = ceil(9999 ms)", "reset 9", "reset_at - now = 9.999 s"],
  "reset-agrees reset-in-ms": ["1 <= reset <= 10", "reset 10000", "the window is 10 s long"],
  "reset-agrees reset-epoch": ["1 <= reset <= 10", "reset 1767225610", "the window is 10 s long"],
  "reset-agrees reset-zero": ["reset = ceil(10000 ms)", "reset 9", "reset_at - now = 10 s"],
  "reset-agrees reset-at-drifts": [
    "reset_at 9998 ms after now",
    "reset_at 10000 ms after now",
    "windows of 10 s end at whole multiples of that since the epoch",
  ],
  "reset-agrees reset-disagrees": [
    "reset_at within 10 s after now",
    "reset_at 74000 ms after now",
    "the window is [reset_at - 10 s, reset_at) and holds this instant",
  ],
  "all-or-nothing refused-counted": [
    "current 1, as before the refused call",
    "current 2",
    "a refused call is not charged here",
  ],
  "all-or-nothing narrow-drains-broad": [
    "current 0, as before the refused call",
    "current 2",
    "a refused call is not charged here",
  ],
  "refusal-justified one-short": [
    "admitted",
    "refused by rest",
    "the call found rest 0 of 1, rest_user 0 of 1, and takes 1",
  ],
  "refusal-justified one-extra": [
    "a refusal",
    "admitted",
    "the call found rest 1 of 1, rest_user 1 of 1, and takes 1",
  ],
  "refusal-justified cost-over-limit-admitted": [
    "a refusal",
    "admitted",
    "the call found graphql 0 of 1, graphql_user 0 of 1, and takes 2",
  ],
  "monotone reset-all-sweep": [
    "current >= 1",
    "current 0",
    "1 was shown before in this window, 0 given back since",
  ],
  "monotone new-reset-old-count": [
    "current 0",
    "current 1",
    "the window before has ended, so the count was 0 and only this operation is in it",
  ],
  "recovers lost-expiry": [
    "admitted",
    "refused by rest",
    "that window ended, nothing was charged since, and 1 <= 1",
  ],
  "recovers boundary-inclusive": [
    "admitted",
    "refused by rest",
    "that window ended, nothing was charged since, and 1 <= 1",
  ],
  "recovers rearmed-per-hit": [
    "admitted",
    "refused by graphql",
    "that window ended, nothing was charged since, and 1 <= 1",
  ],
  "unenforced-never-refuses unenforced-refuses": [
    "admitted",
    "refused by rest",
    "enforced is false; the call found rest 1 of 1 (not enforced), rest_user 1 of 1 (not enforced), and takes 1",
  ],
  "unenforced-never-refuses unenforced-forgets": [
    "current 1",
    "current 0",
    "counting goes on while unenforced: 0 + 1",
  ],
  "twice-at-most double-roll": [
    "at most 2 admitted in any 10 s",
    "3 admitted in the 10 s up to this call",
    "2 x 1 = 2",
  ],
  "headers-present headers-missing-on-429": [
    "RateLimit-Scope: rest",
    "no such header",
    "the answer has status 429",
  ],
  "headers-present headers-missing-on-status": [
    "RateLimit-Scope: rest",
    "no such header",
    "the answer has status 200",
  ],
  "headers-present wrong-scope-header": [
    "RateLimit-User-Scope: rest_user",
    '"rest"',
    "the answer has status 200",
  ],
  "headers-present doubled-header": ["RateLimit-Limit: an integer", '"5, 5"', "the answer has status 200"],
  "limit-agrees limit-off": ["limit 1", "limit 2", "the rules say so"],
  "limit-agrees headers-of-the-other-window": [
    "RateLimit-Limit: 2",
    "RateLimit-Limit: 1",
    "the rules say so",
  ],
  "refusal-agrees wrong-window-named": [
    "a refusal that names rest",
    "rest_user",
    "rest and rest_user lack room, in this order",
  ],
  "refusal-agrees remaining-of-laxer-window": [
    "headers of the organization's window that agree with the body",
    "limit 1 in the body, 2 in the headers",
    "the body and the headers of a refusal show one window at one instant",
  ],
  "refusal-agrees stale-body": [
    "headers of the organization's window that agree with the body",
    "limit - current 1 in the body, 0 in the headers",
    "the body and the headers of a refusal show one window at one instant",
  ],
  "rate-bound one-extra": [
    "at most 1 admitted at one instant",
    "2 admitted at one instant, up to this call",
    "the capacity is 1",
  ],
  "rate-bound cost-ignored": [
    "at most 1 admitted at one instant",
    "2 admitted at one instant, up to this call",
    "the capacity is 1",
  ],
};

test("every law has a limiter that breaks it", () => {
  const broken = new Set(brokenLimiters.map(({ law }) => law));
  expect(limiterLawNames.filter((law) => !broken.has(law))).toEqual([]);
});

test("every sentence is of a limiter that is tried", () => {
  const tried = brokenLimiters.map(({ law, fault }) => `${law} ${fault}`);
  expect(tried).toEqual(expect.arrayContaining(Object.keys(sentences)));
});

test("the limiter that all of them are made from keeps every law", async () => {
  // Those below show in at most 38 runs, most of them in 5.
  expectKept(await checkLaws(tinyFactory("tiny"), { seed: usualSeed, runs: 40 }));
});

describe.each(brokenLimiters)("$law finds $fault", ({ law, fault, Kind, ops }) => {
  const seed = sooner[`${law} ${fault}`] ?? usualSeed;
  test(`in 100 runs of seed ${seed}, in at most ${ops} operations`, async () => {
    const factory = tinyFactory(fault, Kind);
    const report = only(await checkLaws(factory, { seed, laws: [law] }));
    expect(report.outcome).toBe("violated");
    const script = report.counterexample?.script;
    if (script === undefined) throw new Error("a violation without a counterexample");
    expect(script.ops.length).toBeLessThanOrEqual(ops);
    // The counterexample is data: judged again, from JSON and without its seed, it breaks the law again.
    const again = await judgeScript(factory, law, JSON.parse(JSON.stringify(script)));
    expect(again.violation).toEqual(report.counterexample?.violation);
    expect((await judgeScript(tinyFactory("tiny"), law, script)).violation).toBeNull();
    const { expected, got, arithmetic } = report.counterexample?.violation ?? {};
    expect([expected, got, arithmetic]).toEqual(sentences[`${law} ${fault}`] ?? [expected, got, arithmetic]);
  });
});
