// Quotas without counts that rest and are emptied, in virtual time: what a bucket or a window admits at once, and when it
// has room again. Servers differ from the policy by so much.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, type Sent } from "./played.ts";

const kept = { state: "kept" };

/** Twenty calls, and two more a second. */
const bucket = { kind: "token-bucket", capacity: 20, refill: { amount: 2, everyMs: 1_000 } };
/** Twenty calls in ten seconds. */
const windowOf = (anchor: string) => ({ kind: "fixed-window", limit: 20, windowSeconds: 10, anchor });

const policyOf = (algorithm: object, charge: object = {}, retryAfter: readonly object[] = []) =>
  parsePolicy({
    ...{ version: 2, name: "own", quotas: { requests: { algorithm, key: ["user"], charge } } },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: { revision: "2026", readings: [], retryAfter },
  } as never);

interface Wrong {
  readonly capacity?: number;
  /** Units that come back in a second. */
  readonly rate?: number;
  /** Units that a refused call takes. */
  readonly refusedCost?: number;
  readonly isShared?: boolean;
  /** Seconds that a refusal tells; none unless told. */
  readonly wait?: number;
  readonly charge?: object;
  /** Time that a call takes, ms. */
  readonly tripMs?: number;
}

/** Plays an experiment on a bucket. */
function onBucket(name: string, wrong: Wrong = {}, users = 3) {
  const { capacity = 20, rate = 2, refusedCost = 0, isShared = false, wait, charge, tripMs = 1 } = wrong;
  const levels = new Map<string, { level: number; atMs: number }>();
  const server = ({ caller }: { readonly caller: { readonly name: string } | null }, nowMs: number): Sent => {
    const key = isShared ? "all" : `${caller?.name}`;
    const { level, atMs } = levels.get(key) ?? { level: capacity, atMs: nowMs };
    const has = Math.min(capacity, level + ((nowMs - atMs) * rate) / 1_000);
    levels.set(key, { level: has >= 1 ? has - 1 : has - refusedCost, atMs: nowMs });
    if (has >= 1) return { status: 200 };
    return { status: 429, headers: wait === undefined ? {} : { "retry-after": String(wait) } };
  };
  const retryAfter = wait === undefined ? [] : [{ header: "Retry-After", form: "delta-s" }];
  const policy = policyOf(bucket, charge, retryAfter);
  return findingOf(name, new Played(server, users, "epoch", { policy, tripMs }));
}

/** Plays an experiment on a window of so many calls. */
function onWindow(name: string, anchor: "epoch" | "first-request", limit = 20, lengthMs = 10_000) {
  const windows = new Map<string, { endMs: number; used: number }>();
  const server = ({ caller }: { readonly caller: { readonly name: string } | null }, nowMs: number): Sent => {
    const key = `${caller?.name}`;
    const beginMs = anchor === "epoch" ? Math.floor(nowMs / lengthMs) * lengthMs : nowMs;
    const known = windows.get(key);
    const window =
      known === undefined || known.endMs <= nowMs ? { endMs: beginMs + lengthMs, used: 0 } : known;
    windows.set(key, window);
    if (window.used >= limit) return { status: 429 };
    window.used += 1;
    return { status: 200 };
  };
  const policy = policyOf(windowOf(anchor));
  return findingOf(name, new Played(server, 3, anchor, { policy, tripMs: 1, untilMs: 600_000 }));
}

const names = ["burst-is-bounded", "emptied-has-room-again", "emptied-leaves-others"];
test.each(names)("a right bucket, and a right window, keep %s", (name) => {
  expect(onBucket(name)).toEqual(kept);
  expect(onWindow(name, "first-request")).toEqual(kept);
  expect(onWindow(name, "epoch")).toEqual(kept);
});

describe("a rested bucket", () => {
  const found = (wrong: Wrong) => onBucket("burst-is-bounded", wrong);

  test("admits what it holds, and no more", () => {
    // Two units more may be one step of a refill in whole seconds; a second burst shows them again.
    for (const capacity of [21, 22, 23])
      expect(found({ capacity })).toMatchObject({
        ...{ state: "broken", law: undefined, got: `${capacity} admitted` },
        expected: "20 calls of requests at most within 32 ms",
      });
    // A burst of 128 ms may meet such a step each time.
    const slow = (capacity: number) => found({ capacity, tripMs: 4 });
    expect([22, 23].map(slow)).toMatchObject([kept, { state: "broken", got: "23 admitted" }]);
  });

  test("admits all that it holds", () => {
    expect(found({ capacity: 19 })).toMatchObject({
      ...{ state: "broken", law: "refusal-justified", got: "19 admitted" },
      expected: "20 calls admitted: requests had rested",
    });
  });

  test("is refilled by its rate, within a second", () => {
    // Of five seconds, four are owed: eight calls. Six may be ahead: twelve.
    expect([1.6, 2.4].map((rate) => found({ rate }))).toEqual([kept, kept]);
    expect(found({ rate: 1.5 })).toMatchObject({
      ...{ state: "broken", law: "refusal-justified", got: "7 admitted" },
      expected: expect.stringMatching(/^8 calls admitted: requests was refilled for 50\d\d ms$/),
    });
    expect(found({ rate: 1.5, charge: { refused: "counted" } })).toEqual(kept);
    expect(found({ rate: 2.7 })).toMatchObject({
      ...{ state: "broken", law: undefined, got: "33 admitted" },
      expected: expect.stringMatching(/^32 calls of requests at most within 50\d\d ms$/),
    });
  });

  test("is not emptied by calls that are too slow, or that are all admitted", () => {
    const why = "calls came too slowly to empty it";
    expect(found({ tripMs: 600 })).toEqual({ state: "not exercised", why });
    expect(onBucket("emptied-has-room-again", { capacity: 99 })).toEqual({
      ...{ state: "not exercised", why: "it was not emptied" },
    });
  });
});

test("charges are told where calls are quick enough beside a bucket's refill", () => {
  // A trial's 16 calls must be told to 12 units. Two seconds add 4 units; so do bursts of 32 and 48 calls, each its part.
  const found = (tripMs: number) => onBucket("twin-query-string", { tripMs });
  expect(found(46)).toEqual(kept);
  expect(() => found(48)).toThrow("the quota has room again too soon for charges to be told");
});

test("a refused call takes nothing of a bucket", () => {
  const found = (refusedCost: number) => onBucket("emptied-has-room-again", { refusedCost });
  // Twelve calls are refused, and in one and a half seconds three units come back.
  expect([0.1, 0.2].map(found)).toMatchObject([
    kept,
    {
      ...{ state: "broken", law: undefined, got: "refused" },
      expected: "requests has room for a call after 1500 ms",
    },
  ]);
});

test("an empty bucket refuses nobody else", () => {
  expect(onBucket("emptied-leaves-others", { isShared: true })).toMatchObject({
    ...{ state: "broken", expected: "the other caller is admitted, whose requests has rested" },
    got: "refused",
  });
});

test("who waits as long as a bucket's refusal says is admitted", () => {
  const found = (wait?: number) => onBucket("emptied-wait-is-honest", wait === undefined ? {} : { wait });
  expect([1, 12].map(found)).toEqual([kept, kept]);
  expect(found(0)).toMatchObject({
    ...{ state: "broken", expected: "admitted after the 0 ms that the refusal told", got: "refused" },
  });
  expect(found(13)).toMatchObject({
    ...{ state: "broken", expected: "a wait of 10 s at most, in which all of requests comes back" },
    got: "the refusal tells 13 s",
  });
  expect(found()).toEqual({ state: "not exercised", why: "no refusal told when to come back" });
});

describe.each(["first-request", "epoch"] as const)("a window by %s that shows no count", (anchor) => {
  test("admits its limit, and no more", () => {
    expect(onWindow("burst-is-bounded", anchor, 21)).toMatchObject({
      ...{ state: "broken", law: "bounded", got: "21 admitted" },
      expected: expect.stringMatching(/^20 calls of requests at most within \d+ ms$/),
    });
    expect(onWindow("burst-is-bounded", anchor, 19)).toMatchObject({
      ...{ state: "broken", law: "refusal-justified", got: "19 admitted" },
      expected: "20 calls admitted: requests had rested",
    });
  });

  test("has no more than two limits in two windows", () => {
    expect(onWindow("burst-is-bounded", anchor, 41)).toMatchObject({
      ...{ state: "broken", law: "bounded", got: "41 admitted" },
      expected: "40 calls of requests at most in 2 windows",
    });
  });
});

test("a window by its first call is over after its length", () => {
  expect(onWindow("emptied-has-room-again", "first-request", 20, 12_000)).toMatchObject({
    ...{ state: "broken", expected: "requests has room for a call after 11000 ms", got: "refused" },
  });
});
