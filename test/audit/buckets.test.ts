// Buckets under audit in virtual time: no count of theirs is shown, so admissions and refusals alone tell. The oracle judges
// the trace as well.
import { expect, test } from "vitest";
import type { Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { found } from "./deployment.ts";
import { auditedPolicy, experimentsOf } from "./virtual.ts";

/** No answer shows a count. */
const bare = parsePolicy({
  version: 2,
  name: "buckets",
  quotas: {
    requests: {
      algorithm: { kind: "token-bucket", capacity: 20, refill: { amount: 2, everyMs: 1000 } },
      key: ["client"],
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: { revision: "2026", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
});

type KeyOf = (shot: Shot) => string | null;

/** Status of each answer of a bucket of twenty, so many a second, as a proxy may have it; calls without a key pass. */
function bareBucket(keyOf: KeyOf, grainMs: number, rate: number): (shot: Shot, nowMs: number) => number {
  const levels = new Map<string, { level: number; at: number }>();
  return (shot, nowMs) => {
    const key = keyOf(shot);
    if (key === null) return 200;
    const now = Math.floor(nowMs / grainMs) * grainMs;
    const { level, at } = levels.get(key) ?? { level: 20, at: now };
    const has = Math.min(20, level + ((now - at) * rate) / 1000);
    levels.set(key, { level: has >= 1 ? has - 1 : has, at: now });
    return has >= 1 ? 200 : 429;
  };
}

/** Audits a bucket that takes `callMs` for each call, one after the other. */
function auditedBucket(
  names: string,
  keyOf: KeyOf,
  { grainMs = 1, callMs = 1, rate = 2, retryAfter = "" } = {},
) {
  const statusOf = bareBucket(keyOf, grainMs, rate);
  let freeMs = 0;
  return auditedPolicy(bare, null, {
    experiments: experimentsOf(names),
    maxMs: 120_000,
    by: (_send, clock) => async (shot) => {
      const sentMs = clock.now();
      freeMs = Math.max(freeMs, sentMs) + callMs;
      await clock.sleep(freeMs - sentMs, undefined);
      const status = statusOf(shot, clock.now());
      const headers = status === 429 && retryAfter !== "" ? { "retry-after": retryAfter } : {};
      return { sentMs, receivedMs: clock.now(), error: null, status, headers, body: "" };
    },
  });
}

const callerOf = ({ caller }: Shot): string => String(caller?.name);

test.each<readonly [string, KeyOf, readonly string[]]>([
  ["a right bucket", callerOf, []],
  [
    "that lets HEAD pass",
    (shot) => (shot.method === "HEAD" ? null : callerOf(shot)),
    ["twin-head: conserved"],
  ],
  [
    "a bucket that believes who is forwarded",
    (shot) => shot.headers["X-Forwarded-For"] ?? callerOf(shot),
    ["twin-forwarded-for: isolated"],
  ],
  ["a bucket by path", (shot) => callerOf(shot) + shot.path, ["twin-query-string: conserved"]],
])("no answer shows the count: %s", async (_name, keyOf, expected) => {
  const made = await auditedBucket("other-user twin-head twin-query-string twin-forwarded-for", keyOf);
  const tried = made.result.rows.filter(({ name }) => name !== "agreement");
  const named = tried.flatMap(({ name, broken }) => broken.map(({ law }) => `${name}: ${law}`));
  const why = made.result.rows.map(({ name, state, why: because }) => `${name} ${state} ${because}`);
  expect(named, [...found(made), ...why].join("\n")).toEqual(expected);
  expect(tried.filter(({ state }) => state === "kept").length, why.join("\n")).toBe(4 - expected.length);
  // The oracle sees by the trace alone that a bucket has too much room.
  const agreement = made.result.rows.find(({ name }) => name === "agreement");
  expect(agreement?.state).toBe(expected.length === 0 ? "kept" : "broken");
});

// At 30 ms a call, a second begins within the burst.
test.each([1, 30])(
  "a bucket that is refilled in whole seconds is a right one, at %i ms a call",
  async (callMs) => {
    const made = await auditedBucket("burst-is-bounded", callerOf, { grainMs: 1000, callMs });
    expect(found(made)).toEqual([]);
    expect(made.result.rows.map(({ state }) => state)).toEqual(["kept", "kept"]);
  },
);

test.each(["burst-is-bounded", "twin-gzip"])(
  "no call is blamed for a bucket that is refilled too slowly, with %s first",
  async (first) => {
    for (const callMs of [1, 30, 40]) {
      const made = await auditedBucket(`${first} twin-gzip twin-other-client`, callerOf, { rate: 1, callMs });
      expect(found(made).filter((line) => line.startsWith("twin"))).toEqual([]);
    }
  },
);

test.each<readonly [string, readonly string[]]>([
  ["10", []],
  ["12", []],
  ["13", ["the refusal tells 13 s"]],
  ["1000", ["the refusal tells 1000 s"]],
])("a refusal by a bucket that is full in 10 s may tell to wait %s s: %j", async (retryAfter, expected) => {
  const made = await auditedBucket("emptied-wait-is-honest", callerOf, { retryAfter });
  const got = made.result.rows.flatMap(({ broken }) => broken.map((one) => one.got));
  expect(got, found(made).join("\n")).toEqual(expected);
});
