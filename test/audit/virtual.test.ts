// The audit in virtual time: nothing is found in right deployments, by rules and by policies.
// @module-tag long
import { expect, test } from "vitest";
import { emptiedExperiments } from "../../src/audit/experiments/emptied.ts";
import { experiments } from "../../src/audit/experiments.ts";
import type { Plan } from "../../src/audit/plan.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Quota } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { auditedPolicy, auditedRules, experimentsOf, findings } from "./virtual.ts";

/** Reasons why experiments show nothing in the reference deployment. */
const unexercised = {
  "other-resource": "no second sample of another resource",
  "status-letter-case-of-path": "the policy has it as rest",
  "status-letter-case-of-name": "answered 404",
  "status-http-2": "the target is no https",
  "twin-http-2": "the target is no https",
  "answered-304": "the policy has no request that provokes 304",
  "burst-is-bounded": "no bucket, and no window without counts, that plain calls empty first",
  "emptied-has-room-again": "no bucket, and no window without counts, that plain calls empty first",
  "emptied-leaves-others": "no bucket, and no window without counts, that plain calls empty first",
  "emptied-wait-is-honest": "no bucket, and no window without counts, that plain calls empty first",
  "other-requests": "the policy has no other request of its quotas",
  "refusal-by-other-quota": "no other operation empties one of its quotas alone",
};

test.each([
  ["epoch", { "pause-then-status-then-call": "windows lie on a grid" }],
  ["first-request", { "window-on-its-grid": "windows open with their first call" }],
] as const)("right windows of the anchor %s keep every promise that can be tried", async (anchor, more) => {
  let planned = 0;
  const onPlan = ({ calls }: Plan): void => {
    planned = calls;
  };
  const made = await auditedRules(null, { onPlan }, { semantics: { anchor } });
  expect(findings(made)).toEqual([]);
  const others = made.result.rows.filter(({ state }) => state !== "kept");
  expect(Object.fromEntries(others.map(({ name, why }) => [name, why]))).toEqual({ ...unexercised, ...more });
  expect(made.result.rows.map(({ name }) => name)).toEqual([
    ...experiments.map(({ name }) => name),
    "agreement",
  ]);
  expect(made.result).toMatchObject({ ended: "whole", verdict: { verdict: "ok" } });
  expect(made.result.calls).toBeLessThanOrEqual(planned);
});

const buckets = parsePolicy({
  version: 2,
  name: "buckets",
  quotas: {
    requests: {
      algorithm: { kind: "token-bucket", capacity: 6, refill: { amount: 2, everyMs: 1000 } },
      key: ["client"],
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: { revision: "2026", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
});

test("refusals of a bucket owe a time to come back where the format has a place for it", async () => {
  const only = experimentsOf("emptied-wait-is-honest");
  const requests = buckets.quotas["requests"] as Quota;
  const silent = {
    ...buckets,
    quotas: { requests: { ...requests, shown: { ...requests.shown, retryAfter: false } } },
  };
  const made = await auditedPolicy(silent, null, { experiments: only, policy: buckets });
  expect(findings(made)).toEqual([
    "emptied-wait-is-honest, call: headers-present: a refusal tells when to come back: none of the format's places does, on 429",
  ]);
  const shared = await auditedPolicy(buckets, null, { experiments: only, alone: false });
  expect(shared.result.rows[0]).toMatchObject({
    state: "not exercised",
    why: expect.stringContaining("--alone"),
  });
});

test("a refused call that costs more than a whole limit owes no time to come back, and another does", async () => {
  const tokensOf = (shown: object) =>
    parsePolicy({
      version: 2,
      name: "tokens",
      quotas: {
        requests: {
          algorithm: { kind: "fixed-window", limit: 60, windowSeconds: 60, anchor: "first-request" },
          key: ["client"],
        },
        tokens: {
          algorithm: { kind: "fixed-window", limit: 10_000, windowSeconds: 60, anchor: "first-request" },
          key: ["client"],
          shown,
        },
      },
      operations: {
        chat: {
          uses: { requests: 1, tokens: "declared" },
          samples: [
            {
              ...{ method: "POST", path: "/chat", body: { max: 20 }, cost: 20 },
              dearer: { pointer: "/max", costEach: 1 },
            },
          ],
        },
      },
      routes: [{ methods: ["POST"], path: "/chat", operation: "chat" }],
      auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
      wire: {
        revision: "2026",
        readings: ["requests", "tokens"].map((name) => ({
          quotas: [name],
          headers: {
            [`X-Limit-${name}`]: "{limit}",
            [`X-Left-${name}`]: "{remaining}",
            [`X-Reset-${name}`]: "{reset}",
          },
          reset: { form: "delta-s", means: "window-end", round: "ceil" },
        })),
        retryAfter: [{ header: "Retry-After", form: "delta-s" }],
      },
    });
  const only = experimentsOf("cost-above-the-limit headers-on-every-answer");
  const right = tokensOf({});
  expect(findings(await auditedPolicy(right, null, { experiments: only }))).toEqual([]);
  const silent = auditedPolicy(tokensOf({ retryAfter: false }), null, { experiments: only, policy: right });
  expect(findings(await silent)).toEqual([
    "headers-on-every-answer, chat: headers-present: a refusal tells when to come back: none of the format's places does, on 429",
  ]);
});

test.each([
  [null, []],
  ["one-extra", ["burst-is-bounded, call: rate-bound: 6 calls of requests at most within 4 ms: 7 admitted"]],
  [
    "double-count",
    ["burst-is-bounded, call: refusal-justified: 6 calls admitted: requests had rested: 3 admitted"],
  ],
  [
    "one-short",
    [
      "burst-is-bounded, call: refusal-justified: 6 calls admitted: requests had rested: 5 admitted",
      "emptied-wait-is-honest, call: honest-wait: admitted after the 0 ms that the refusal told: refused",
    ],
  ],
  [
    "refused-counted",
    [
      "burst-is-bounded, call: refusal-justified: 6 calls admitted: requests had rested: 0 admitted",
      "emptied-has-room-again, call: give-back: requests has room for a call after 1500 ms: refused",
      "emptied-wait-is-honest, call: honest-wait: a wait of 3 s at most, in which all of requests comes back: the refusal tells 29 s",
      "agreement: refusal-justified",
    ],
  ],
])("a bucket of six, two a second, under %s", async (fault, found) => {
  const own = experiments.filter((each) => emptiedExperiments.includes(each));
  const made = await auditedPolicy(buckets, fault, { experiments: own });
  expect(findings(made)).toEqual(found);
  if (fault === null)
    expect(made.result.rows.map(({ state }) => state)).toEqual([...Array.from({ length: 5 }, () => "kept")]);
});

/** Twenty in ten seconds; no answer shows a count. */
const uncounted = (anchor: string) =>
  parsePolicy({
    ...buckets,
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit: 20, windowSeconds: 10, anchor },
        key: ["client"],
      },
    },
  } as never);

test.each<[string | null, string, string[]]>([
  [null, "epoch", []],
  [null, "first-request", []],
  [
    "one-extra",
    "epoch",
    ["burst-is-bounded, call: bounded: 20 calls of requests at most within 4 ms: 21 admitted"],
  ],
  [
    "one-short",
    "first-request",
    ["burst-is-bounded, call: refusal-justified: 20 calls admitted: requests had rested: 19 admitted"],
  ],
  [
    "retry-too-soon",
    "epoch",
    ["emptied-wait-is-honest, call: honest-wait: admitted after the 1000 ms that the refusal told: refused"],
  ],
  // Windows end whatever refusals cost.
  ["refused-counted", "first-request", []],
])("windows without counts, under %s, of the anchor %s", async (fault, anchor, found) => {
  const twins = experimentsOf("other-user twin-head twin-pipelined");
  const own = [...emptiedExperiments, ...twins];
  const made = await auditedPolicy(uncounted(anchor), fault, { experiments: own });
  expect(findings(made)).toEqual(found);
  const states = made.result.rows.map(({ name, state, why }) => `${name} ${state} ${why}`);
  expect(states.filter((text) => text.includes("not exercised"))).toEqual([]);
});

test("windows without counts are judged only where nobody else calls", async () => {
  const made = await auditedPolicy(uncounted("epoch"), null, {
    experiments: emptiedExperiments,
    alone: false,
  });
  expect(made.result.rows.map(({ why }) => why).slice(0, 3)).toEqual(
    Array.from({ length: 3 }, () => "only who promises to be alone knows what a quota has left: --alone"),
  );
});

/** The same, of 20, refilled by so many a second. */
const refilled = (amount: number) =>
  parsePolicy({
    ...buckets,
    quotas: {
      requests: {
        ...buckets.quotas["requests"],
        algorithm: { kind: "token-bucket", capacity: 20, refill: { amount, everyMs: 1000 } },
      },
    },
  });

test.each([
  [2, []],
  [
    3,
    [
      "burst-is-bounded, call: rate-bound: 32 calls of requests at most within 5008 ms: 35 admitted",
      "agreement: bounded",
    ],
  ],
  [
    1,
    [
      "burst-is-bounded, call: refusal-justified: 8 calls admitted: requests was refilled for 5000 ms: 5 admitted",
      "agreement: refusal-justified",
    ],
  ],
])("a bucket of twenty, two a second by its policy, under %d a second", async (amount, found) => {
  const own = experiments.filter(({ name }) => name === "burst-is-bounded");
  const made = await auditedPolicy(refilled(amount), null, { experiments: own, policy: refilled(2) });
  expect(findings(made)).toEqual(found);
});

test("a bucket that cannot be refilled in the time that is left is judged by its first burst alone", async () => {
  const own = experiments.filter(({ name }) => name === "burst-is-bounded");
  const options = { experiments: own, policy: refilled(2), maxMs: 14_000 };
  const made = await auditedPolicy(refilled(3), null, options);
  expect(made.result.rows[0]).toMatchObject({ state: "kept" });
});

test("a bucket of calls beside one of what they declare is emptied first, by what the sample declares", async () => {
  const { call } = buckets.operations;
  const declaring = parsePolicy({
    ...buckets,
    quotas: {
      ...buckets.quotas,
      tokens: {
        algorithm: { kind: "token-bucket", capacity: 100, refill: { amount: 50, everyMs: 1000 } },
        key: ["client"],
      },
    },
    operations: {
      call: { uses: { ...call?.uses, tokens: "declared" }, samples: [{ path: "/", cost: 2 }] },
    },
    wire: {
      ...{ revision: "2026", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
      outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { "X-By": "{quota}" } }],
    },
  });
  const own = experiments.filter(({ name }) => name === "burst-is-bounded");
  const made = await auditedPolicy(declaring, "one-extra", { experiments: own });
  expect(findings(made)).toEqual([
    "burst-is-bounded, call: rate-bound: 6 calls of requests at most within 4 ms: 7 admitted",
  ]);
});

/** Calls to rooms use a quota of all, and one of the caller's that looks use, too. */
const rooms = parsePolicy({
  version: 2,
  name: "rooms",
  quotas: {
    room: {
      algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 5 },
      key: ["room"],
    },
    own: { algorithm: { kind: "fixed-window", limit: 40, windowSeconds: 5 }, key: ["user"] },
  },
  operations: {
    look: { uses: { own: 1 }, samples: [{ path: "/me" }] },
    write: { uses: { room: 1, own: 1 }, samples: [{ path: "/rooms/blue" }, { path: "/rooms/green" }] },
  },
  routes: [
    { path: "/me", operation: "look" },
    { path: "/rooms/{room}", operation: "write" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "2026",
    readings: ["room", "own"].map((name) => ({
      quotas: [name],
      headers: { [`X-${name}`]: "{remaining}/{limit}", [`X-${name}-Reset`]: "{reset}" },
      reset: { form: "delta-s", means: "window-end", round: "ceil" },
    })),
    outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { "X-By": "{quota}" } }],
  },
});

/** The same, where each quota decides alone: a refused call is charged where there is room. */
const apart = parsePolicy({
  ...rooms,
  operations: { ...rooms.operations, write: { ...rooms.operations["write"], relation: "each-alone" } },
});

test.each([
  ["all or nothing", rooms, null, []],
  ["each alone", apart, null, []],
  [
    "all or nothing",
    rooms,
    "narrow-drains-broad",
    [
      "refusal-is-free, write: all-or-nothing: room stays at 7 used: 9 used after 2 more refusals",
      "refusal-by-other-quota, write: all-or-nothing: room stays at 13 used: 15 used after 2 more refusals",
      "agreement: conserved",
    ],
  ],
] as const)("operations that share a quota, %s, by policy %#", async (_name, policy, fault, found) => {
  const chosen = experimentsOf("refusal-by-other-quota other-resource refusal-is-free");
  const made = await auditedPolicy(policy, fault, { experiments: chosen });
  expect(findings(made)).toEqual(found);
  if (fault === null)
    expect(made.result.rows.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "other-resource kept",
      "refusal-is-free kept",
      "refusal-by-other-quota kept",
      "agreement kept",
    ]);
});

test("nothing is found in a right stand-in of github", async () => {
  const { policy } = presets["github"] as (typeof presets)[string];
  const made = await auditedPolicy(parsePolicy(policy), null, { maxMs: 3 * 3_600_000 });
  expect(findings(made)).toEqual([]);
  const whyNot = Object.fromEntries(made.result.rows.map(({ name, why }) => [name, why]));
  expect(whyNot).toMatchObject({
    "twin-head": "query: the sample is no GET",
    "query-of-no-cost": "read, search, code_search: the sample is no GraphQL",
    "calls-at-once": "code_search: a window has too little room for it",
    "window-watched": "read, query: the wait is longer than the time that is left: --max-time",
    "broad-quota-refuses":
      "read, query: no quota whose limit is known in calls, and whose count answers show; search, code_search: no quota that callers share",
    "status-letter-case-of-path": "the policy has it as read",
    "status-reset-agrees": "the status tells no end as an instant",
    "call-slower-than-its-window": "servers wait less long for a request",
  });
  expect(made.result.rows.filter(({ state }) => state === "kept").length).toBe(67);
});
