// The laws under a policy, each against one wrong answer: the engine's own, changed at one place. Which laws accuse it,
// and with which words, stands beside it; right answers are accused by none.
import { expect, test } from "vitest";
import type { QuotaDecision, QuotaLimiterFactory, QuotaSaid } from "../../src/engine/quota-limiter.ts";
import { laws } from "../../src/laws/catalogue.ts";
import { quotaEngine } from "../../src/laws/engine-factory.ts";
import { playQuotas } from "../../src/laws/quotas/play.ts";
import type { QuotaOp, QuotaScript } from "../../src/laws/quotas/script.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { type LimiterLawName, limiterLawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";

const startMs = Date.UTC(2026, 0, 1);
const input: PolicyInput = {
  version: 2,
  name: "three",
  quotas: {
    minute: {
      algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60, anchor: "epoch" },
      key: ["team"],
    },
    own: {
      algorithm: { kind: "fixed-window", limit: 3, windowSeconds: 10, anchor: "first-request" },
      key: ["team", "user"],
    },
    points: {
      algorithm: { kind: "token-bucket", capacity: 4, refill: { amount: 1, everyMs: 2_000 } },
      key: ["user"],
    },
  },
  operations: {
    read: { uses: { minute: 1, own: 1 }, samples: [{ path: "/read" }] },
    ask: { uses: { points: "declared" }, samples: [{ path: "/ask" }] },
  },
  routes: [
    { path: "/read", operation: "read" },
    { path: "/ask", operation: "ask" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["team", "user"] },
  wire: "buildkite",
};
const policy = parsePolicy(input);

const ann = { team: "red", user: "ann" };
const bob = { team: "red", user: "bob" };
let id = 0;
const call = (seconds: number, caller: Record<string, string>, operation = "read", cost = 1): QuotaOp => ({
  do: "call",
  atMs: startMs + 1000 * seconds,
  id: id++,
  caller,
  operation,
  cost,
});
const status = (seconds: number, caller: Record<string, string>): QuotaOp => ({
  do: "status",
  atMs: startMs + 1000 * seconds,
  caller,
});

/** Ann is refused by her own window and by her bucket, both of them by the team's minute; windows end in between. */
const ops: readonly QuotaOp[] = [
  call(1, ann),
  call(2, ann),
  status(2, ann),
  call(2, ann),
  call(3, ann),
  call(4, ann, "ask", 3),
  call(5, ann, "ask", 2),
  call(6, ann, "ask", 2),
  call(7, ann, "ask", 5),
  call(11, ann),
  call(12, bob),
  call(13, bob),
  call(14, ann),
  status(20, bob),
  call(60, bob),
  call(61, ann),
  call(70, ann, "ask", 4),
];
const script: QuotaScript = { policy, isExact: true, startMs, ops, pick: 0 };

type Change = (said: QuotaDecision) => QuotaDecision;

/** The engine, whose answers of one second are changed; below 0, those from there on. */
function changed(seconds: number, change: Change): QuotaLimiterFactory {
  const isDue = (nowMs: number): boolean =>
    seconds < 0 ? nowMs >= startMs - 1000 * seconds : nowMs === startMs + 1000 * seconds;
  return {
    ...quotaEngine,
    async create(given, seam) {
      const limiter = await quotaEngine.create(given, seam);
      return {
        ...limiter,
        sweep: (nowMs) => limiter.sweep?.(nowMs),
        settle: (reservation, actual, nowMs) => limiter.settle?.(reservation, actual, nowMs) ?? {},
        status: async (caller, nowMs) => {
          const said: QuotaSaid = (await limiter.status?.(caller, nowMs)) ?? {};
          return isDue(nowMs) ? change({ ...said }) : said;
        },
        decide: async (asked, nowMs) => {
          const said = await limiter.decide(asked, nowMs);
          return isDue(nowMs) ? change(said) : said;
        },
      };
    },
  };
}

/** The laws that accuse, with what they expected and got. */
async function accusations(
  factory: QuotaLimiterFactory,
  asked: QuotaScript = script,
): Promise<Partial<Record<LimiterLawName, string>>> {
  const found: Partial<Record<LimiterLawName, string>> = {};
  // A change at one time is none of a run that is shifted.
  for (const law of limiterLawNames.filter((each) => each !== "time-translates")) {
    const { violation } = await laws[law].judge({
      script: asked,
      play: (played) => playQuotas(factory, asked.policy, played),
    });
    if (violation !== null) found[law] = `${violation.expected}; ${violation.got}; ${violation.arithmetic}`;
  }
  return found;
}

const reading =
  (quota: string, member: "limit" | "remaining" | "used" | "resetAtMs", by: number): Change =>
  (said) => ({
    ...said,
    readings: said.readings?.map((one) =>
      one.quota === quota ? { ...one, [member]: (one[member] ?? 0) + by } : one,
    ),
  });

const cases: [string, number, Change, Partial<Record<LimiterLawName, string>>][] = [
  ["nothing is wrong", 1, (said) => said, {}],
  [
    "one more is used of a window",
    2,
    reading("own", "used", 1),
    {
      bounded:
        "0 <= used <= 3; used 4; the limit is 3 and every call of this window was decided while enforced",
      conserved: "used 2; used 3; 1 charged before, this operation adds 1: 2",
      "remaining-agrees": "remaining 0; remaining 1; max(0, 3 - 3) = 0",
      monotone: "used >= 4; used 3; 4 was shown before in this window, 0 given back since",
      "all-or-nothing": "used 4, as before the refused call; used 3; a refused call is not charged here",
    },
  ],
  [
    "one less is left of a window",
    2,
    reading("minute", "remaining", -1),
    {
      conserved: "remaining 3; remaining 2; 1 charged before, this operation adds 1: 2",
      "remaining-agrees": "remaining 3; remaining 2; max(0, 5 - 2) = 3",
    },
  ],
  [
    "one less is left of a bucket",
    4,
    reading("points", "remaining", -1),
    {
      conserved: "remaining 1; remaining 0; nothing was charged before, this operation adds 3: 3",
      "remaining-agrees": "remaining 1; remaining 0; max(0, 4 - 3) = 1",
    },
  ],
  [
    "one more is left of a full bucket",
    70,
    reading("points", "remaining", 5),
    {
      bounded:
        "0 <= remaining <= 4; remaining 5; the limit is 4 and every call of this bucket was decided while enforced",
      conserved: "remaining 0; remaining 5; nothing was charged before, this operation adds 4: 4",
      "remaining-agrees": "remaining 0; remaining 5; max(0, 4 - 4) = 0",
    },
  ],
  [
    "the limit is one higher",
    1,
    reading("minute", "limit", 1),
    {
      "remaining-agrees": "remaining 5; remaining 4; max(0, 6 - 1) = 5",
      "limit-agrees": "limit 5; limit 6; the policy says so",
    },
  ],
  [
    "the window ends 1 ms later",
    3,
    reading("own", "resetAtMs", 1),
    {
      "reset-agrees": "reset 8 s after this; reset 8.001 s after this; the window ends then",
    },
  ],
  [
    "the grid's window ends a minute later",
    12,
    reading("minute", "resetAtMs", 60_000),
    {
      "reset-agrees": "reset 48 s after this; reset 108 s after this; the window ends then",
    },
  ],
  [
    "the bucket is full 1 s later",
    4,
    reading("points", "resetAtMs", 1_000),
    {
      "reset-agrees": "reset 6 s after this; reset 7 s after this; the bucket is full then",
    },
  ],
  [
    "who has room is refused by the first quota",
    2,
    (said) => ({ ...said, admitted: false, refusedBy: "minute" }),
    {
      conserved: "used 1; used 2; 1 charged before, this operation charges nothing: 1",
      "all-or-nothing": "used 1, as before the refused call; used 2; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by minute; the call found minute 1 of 5, own 1 of 3, and takes 1",
      "refusal-agrees": "an answer that says refused; admitted; the answer is read by the policy's wire",
    },
  ],
  [
    "who has no room is admitted",
    3,
    (said) => ({ ...said, admitted: true, refusedBy: null }),
    {
      conserved: "used 4; used 3; 3 charged before, this operation adds 1: 4",
      "refusal-justified": "a refusal; admitted; the call found minute 3 of 5, own 3 of 3, and takes 1",
      "refusal-agrees": "an answer that says admitted; refused; the answer is read by the policy's wire",
    },
  ],
  [
    "who asks for more than the bucket is admitted",
    7,
    (said) => ({ ...said, admitted: true, refusedBy: null }),
    {
      conserved: "used 9; used 4; 4 charged before, this operation adds 5: 9",
      "reset-agrees": "reset 17 s after this; reset 7 s after this; the bucket is full then",
      "refusal-justified": "a refusal; admitted; the call found 4 of 4, and takes 5",
      "refusal-agrees": "an answer that says admitted; refused; the answer is read by the policy's wire",
      "rate-bound":
        "at most 4 admitted at one instant; 5 admitted at one instant, up to this call; the capacity is 4",
    },
  ],
  [
    "a refusal names the other quota",
    3,
    (said) => ({ ...said, refusedBy: "minute" }),
    {
      "refusal-agrees":
        "a refusal that names a quota without room; minute; it had 3 of 5, and the call takes 1",
    },
  ],
  [
    "a refusal by both names the second",
    14,
    (said) => ({ ...said, refusedBy: "own" }),
    {
      "refusal-agrees": "a refusal that names a quota without room; own; it had 1 of 3, and the call takes 1",
    },
  ],
  ["a refusal names nobody", 14, (said) => ({ ...said, refusedBy: null }), {}],
  [
    "everybody is admitted from the third second on",
    -3,
    (said) => ({ ...said, admitted: true, refusedBy: null }),
    {
      conserved: "used 4; used 3; 3 charged before, this operation adds 1: 4",
      "reset-agrees": "reset 9 s after this; reset 5 s after this; the bucket is full then",
      "refusal-justified": "a refusal; admitted; the call found minute 3 of 5, own 3 of 3, and takes 1",
      "refusal-agrees": "an answer that says admitted; refused; the answer is read by the policy's wire",
      "rate-bound":
        "at most 4 admitted within 1 s; 5 admitted within 1 s, up to this call; the capacity 4, and 1 per 2 s in 1 s",
    },
  ],
  [
    "everybody is refused from a minute on",
    -60,
    (said) => ({ ...said, admitted: false, refusedBy: "own" }),
    {
      conserved:
        "used 0; used 1; nothing was charged in this window before, this operation charges nothing: 0",
      "reset-agrees": "reset 0 s after this; reset 8 s after this; the bucket is full then",
      "all-or-nothing": "used 0, as before the refused call; used 1; a refused call is not charged here",
      "refusal-justified": "admitted; refused by own; the call found minute 0 of 5, own 0 of 3, and takes 1",
      recovers: "admitted; refused by own; that window ended, nothing was charged since, and 1 <= 3",
      "refusal-agrees": "an answer that says refused; admitted; the answer is read by the policy's wire",
      monotone:
        "used 0; used 1; the window before has ended, so the count was 0 and only this operation is in it",
    },
  ],
  [
    "each window ends 1 s later",
    -1,
    reading("minute", "resetAtMs", 1_000),
    {
      "reset-agrees": "reset 59 s after this; reset 60 s after this; the window ends then",
    },
  ],
  ["nothing is shown", -1, ({ readings: _, ...said }) => said, {}],
  ["no answer is sent", -1, ({ http: _, ...said }) => said, {}],
  [
    "a new window begins with what the old one had",
    60,
    reading("minute", "used", 4),
    {
      conserved: "used 1; used 5; nothing was charged in this window before, this operation adds 1: 1",
      "remaining-agrees": "remaining 0; remaining 4; max(0, 5 - 5) = 0",
      monotone:
        "used 1; used 5; the window before has ended, so the count was 0 and only this operation is in it",
    },
  ],
  [
    "the first of a new window is refused",
    60,
    (said) => ({ ...said, admitted: false, refusedBy: "minute" }),
    {
      conserved:
        "used 0; used 1; nothing was charged in this window before, this operation charges nothing: 0",
      "all-or-nothing": "used 0, as before the refused call; used 1; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by minute; the call found minute 0 of 5, own 0 of 3, and takes 1",
      recovers: "admitted; refused by minute; that window ended, nothing was charged since, and 1 <= 5",
      "refusal-agrees": "an answer that says refused; admitted; the answer is read by the policy's wire",
      "honest-wait":
        "admitted; refused again; the refusal before said retry after 47 s, the caller waited so long, and nobody else called",
      "give-back":
        "refusedBy own, as in the other run; refusedBy minute; the two runs differ only in what must not matter",
      monotone:
        "used 0; used 1; the window before has ended, so the count was 0 and only this operation is in it",
    },
  ],
  [
    "the rested bucket refuses",
    70,
    (said) => ({ ...said, admitted: false, refusedBy: "points" }),
    {
      conserved: "used 0; used 4; nothing was charged before, this operation charges nothing: 0",
      "reset-agrees": "reset 0 s after this; reset 8 s after this; the bucket is full then",
      "refusal-justified": "admitted; refused; the call found 0 of 4, and takes 4",
      recovers: "admitted; refused; it is full again, nothing was charged since, and 4 <= 4",
      "refusal-agrees":
        "a refusal that names a quota without room; points; it had 0 of 4, and the call takes 4",
    },
  ],
  [
    "a status shows less used",
    20,
    reading("minute", "used", -2),
    {
      conserved: "used 5; used 3; 5 charged before, this operation charges nothing: 5",
      "remaining-agrees": "remaining 2; remaining 0; max(0, 5 - 3) = 2",
      monotone: "used >= 5; used 3; 5 was shown before in this window, 0 given back since",
    },
  ],
];

test.each(cases)("the laws on answers in which %s", async (_name, seconds, change, expected) => {
  const got = await accusations(changed(seconds, change));
  expect(got).toEqual(expected);
});

/** The policy, of which answers show the minute. */
const shown: QuotaScript = {
  ...script,
  policy: parsePolicy({
    ...input,
    wire: {
      revision: "2026",
      readings: [
        {
          quotas: ["minute"],
          headers: { "x-limit": "{limit}", "x-left": "{remaining}", "x-reset": "{reset}" },
          reset: { form: "delta-s", means: "window-end" },
        },
      ],
    },
  }),
};

test.each([
  [
    "x-left",
    "5",
    {
      conserved:
        "remaining 4; remaining 5; nothing was charged in this window before, this operation adds 1: 1 (its answer shows it)",
    },
  ],
  ["x-reset", "99", { "reset-agrees": "reset 59 s; reset 99 s; the window ends then (its answer shows it)" }],
  ["x-limit", "6", { "limit-agrees": "limit 5; limit 6; the policy says so (its answer shows it)" }],
] as const)("the laws on answers that show %s: %s", async (header, value, expected) => {
  const factory = changed(1, ({ http, ...said }) => ({
    ...said,
    http: http && { ...http, headers: { ...http.headers, [header]: value } },
  }));
  expect(await accusations(factory, shown)).toEqual(expected);
});

test("an answer is kept as it was given, whatever its limiter makes of it later", async () => {
  const shown = { quota: "minute", used: 0 };
  const limiter = {
    decide: () => {
      shown.used += 1;
      return { admitted: true, readings: [shown] };
    },
  };
  const history = await playQuotas({ ...quotaEngine, create: () => limiter }, policy, [
    call(1, ann),
    call(2, ann),
  ]);
  expect(history).toMatchObject([1, 2].map((used) => ({ said: { readings: [{ quota: "minute", used }] } })));
});

test("an answer that names another quota than the one that refused", async () => {
  const rules = parseRules({ user: { rest: { limit: 1 } }, semantics: { anchor: "epoch" } });
  const caller = { organization: "acme", user: "ann" };
  const asked = {
    ...script,
    policy: policyOf(rules),
    ops: [call(1, caller, "rest"), call(2, caller, "rest")],
  };
  const naming =
    (scope: string): Change =>
    ({ http, ...said }) => {
      const body = { ...(http?.body as object), scope };
      return { ...said, http: http && { ...http, body } };
    };
  expect(await accusations(changed(2, naming("rest_user")), asked)).toEqual({});
  expect(await accusations(changed(2, naming("rest")), asked)).toEqual({
    "refusal-agrees": "an answer that names rest_user; rest; rest_user refused",
  });
  // A decision that names nobody is read from its answer.
  const unnamed =
    (name: string): Change =>
    (said) =>
      naming(name)({ ...said, refusedBy: undefined });
  expect(await accusations(changed(2, unnamed("rest_user")), asked)).toEqual({});
  expect(await accusations(changed(2, unnamed("rest")), asked)).toEqual({
    "refusal-agrees":
      "a refusal that names a quota without room; rest; it had 1 of 200, and the call takes 1",
  });
});
