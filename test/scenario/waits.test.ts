// Waits of retry policies at each bound, what they leave out, and spreads and headers in words.
import { describe, expect, test } from "vitest";
import { withHeaders } from "../../src/scenario/calls.ts";
import { GIVE_UP, type RefusalPolicy } from "../../src/scenario/client.ts";
import * as s from "../../src/scenario/index.ts";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { describeSpread, parseSpread } from "../../src/scenario/spread.ts";
import { made, mistakesOf } from "./mistakes.ts";
import { Rig } from "./rig.ts";

const call = s.rest("/v2/user");
const safe = Number.MAX_SAFE_INTEGER;
test.each<[string, (options: object) => RefusalPolicy, object]>([
  ["waitReset", (more) => s.waitReset({ of: "both", ...more }), { from: "answer", jitter: 0, least: 0 }],
  ["retryAfter", (more) => s.retryAfter(more), { jitter: 0 }],
  [
    "exponential",
    (more) => s.exponential({ first: "1s", most: "9s", ...more }),
    { factor: 2, jitter: "none", unanswered: false },
  ],
  ["fixed", (more) => s.fixed({ wait: 7, ...more }), { attempts: safe, unanswered: false }],
])("what %s leaves out is its default", (_, make, defaults) => {
  const waits = (policy: RefusalPolicy): number[] => {
    const rig = new Rig(s.poller({ every: "1s", call }), policy);
    let planned = rig.only(rig.start(1_000));
    return [3, 4, 5, 6].map((retryAfter) => {
      const nowMs = planned.atMs + 7;
      const refusal = {
        status: 429,
        limit: 5,
        remaining: 0,
        reset: retryAfter,
        userLimit: 5,
        userRemaining: 2,
        userReset: 1,
        retryAfter,
      };
      planned = rig.only(rig.answer(planned, nowMs, refusal));
      return planned.atMs - nowMs;
    });
  };
  const expected: Readonly<Record<string, number[]>> = {
    ...{ waitReset: [3_000, 4_000, 5_000, 6_000], retryAfter: [3_000, 4_000, 5_000, 6_000] },
    ...{ exponential: [1_000, 2_000, 4_000, 8_000], fixed: [7, 7, 7, 7] },
  };
  expect(waits(make({}))).toEqual(expected[_]);
  expect(waits(make(defaults))).toEqual(expected[_]);
  expect(make({}).unanswered).toBeUndefined();
});

describe("a retry", () => {
  const event = (more: object) => ({
    ...{
      kind: 1,
      nowMs: 10_500,
      endMs: safe,
      template: 0,
      page: 0,
      attempt: 0,
      wantedMs: 10_000,
      delayMs: 0,
      cost: 3,
      userCost: 3,
    },
    ...{
      status: 429,
      hasNextPage: false,
      limit: 10,
      remaining: 9,
      reset: 4,
      userLimit: 10,
      userRemaining: 9,
    },
    ...{ userReset: 6, retryAfter: -1 },
    ...more,
  });
  const at = (policy: RefusalPolicy, more: object): number => {
    const record = { random0: 1, random1: 2, random2: 3, random3: 4 };
    return policy.retryAt(record, event(more) as unknown as Parameters<RefusalPolicy["retryAt"]>[1]);
  };
  test.each<[string, RefusalPolicy, object, number]>([
    ["the last attempt is given up", s.fixed({ wait: 5, attempts: 3 }), { attempt: 2 }, GIVE_UP],
    ["the one before is not", s.fixed({ wait: 5, attempts: 3 }), { attempt: 1 }, 10_505],
    ["at the deadline it is sent", s.fixed({ wait: 500, deadline: "1s" }), {}, 11_000],
    ["behind it it is not", s.fixed({ wait: 501, deadline: "1s" }), {}, GIVE_UP],
    ["the window that lacks room is waited for", s.waitReset({ of: "both" }), { remaining: 2 }, 14_500],
    ["so is the user's", s.waitReset({ of: "both" }), { userRemaining: 2 }, 16_500],
    [
      "room for the very cost is room",
      s.waitReset({ of: "both" }),
      { remaining: 3, userRemaining: 2 },
      16_500,
    ],
    ["of both the later one", s.waitReset({ of: "both" }), { remaining: 2, userRemaining: 2 }, 16_500],
    [
      "the organization's, whichever refused",
      s.waitReset({ of: "organization" }),
      { userRemaining: 2 },
      14_500,
    ],
    ["each lacks room for its own cost", s.waitReset({ of: "both" }), { cost: 10 }, 14_500],
    ["the user's for the user's", s.waitReset({ of: "both" }), { userCost: 10 }, 16_500],
    [
      "a user's limit of the user's cost is not hopeless",
      s.waitReset({ of: "both" }),
      { userCost: 10 },
      16_500,
    ],
    ["one below is", s.waitReset({ of: "both" }), { userCost: 11 }, GIVE_UP],
    ["a limit below the cost is hopeless", s.waitReset({ of: "both" }), { limit: 2 }, GIVE_UP],
    ["a user's, too", s.waitReset({ of: "both" }), { userLimit: 2 }, GIVE_UP],
    ["a limit of the cost is not", s.waitReset({ of: "both" }), { limit: 3 }, 16_500],
    ["nor one below in a used-up window", s.waitReset({ of: "both" }), { limit: 2, remaining: 0 }, 14_500],
    [
      "nor in a used-up window of the user",
      s.waitReset({ of: "both" }),
      { limit: 2, userRemaining: 0 },
      16_500,
    ],
    ["no reset is given up", s.waitReset({ of: "both" }), { reset: -1, userReset: -1 }, GIVE_UP],
    [
      "or waited for as it falls back",
      s.waitReset({ of: "both", fallback: 77 }),
      { reset: -1, userReset: -1 },
      10_577,
    ],
    ["from the whole second", s.waitReset({ of: "both", from: "second" }), { remaining: 2 }, 14_000],
    [
      "not before the answer",
      s.waitReset({ of: "both", from: "second" }),
      { remaining: 2, reset: 0 },
      10_500,
    ],
    ["no shorter than `least`", s.waitReset({ of: "both", least: "5s" }), { remaining: 2 }, 15_500],
    ["no longer than `most`", s.waitReset({ of: "both", most: "3s" }), { remaining: 2 }, 13_500],
    ["Retry-After of 0", s.retryAfter(), { retryAfter: 0 }, 10_500],
    ["no longer than its `most`", s.retryAfter({ most: "3s" }), { retryAfter: 4 }, 13_500],
    ["none without it", s.retryAfter(), {}, GIVE_UP],
    ["its fallback", s.retryAfter({ fallback: "2s" }), {}, 12_500],
    ["a factor of 1", s.exponential({ first: "1s", most: "9s", factor: 1 }), { attempt: 7 }, 11_500],
    ["cut off to whole ms", s.exponential({ first: 3, most: "9s", factor: 1.5 }), { attempt: 1 }, 10_504],
  ])("%s", (_, policy, more, atMs) => {
    expect(at(policy, more)).toBe(atMs);
  });
});

test.each<[unknown, string]>([
  [5, "5 ms"],
  [{ least: 2, most: 8 }, "2 to 8 ms"],
  [{ quantiles: [0, 10, 100] }, "0 to 100 ms, 10 ms in the middle"],
  [{ quantiles: [0, 10, 100], shares: [0, 0.2, 1] }, "0 to 100 ms, 44 ms in the middle"],
])("a spread of %j is %s", (value, words) => {
  const mistakes = new Mistakes();
  expect(describeSpread(parseSpread("x", value, mistakes))).toBe(words);
  mistakes.finish("it is none");
});

test.each<[string, unknown, string]>([
  ["a header that the call has anyway", { Authorization: "x" }, "withHeaders.Authorization"],
  ["a name that is none", { "a b": "x" }, "withHeaders.a b"],
  ["two lines", { a: "x\ny" }, "withHeaders.a"],
  ["a list", [], "withHeaders.headers"],
])("headers with %s are refused", (_, headers, path) => {
  expect(mistakesOf(() => made(withHeaders, call, headers)).map((one) => one.split(": ")[0])).toContain(path);
});
