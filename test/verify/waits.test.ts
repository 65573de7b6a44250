// The wait that a refusal tells, held to the end that it shows of the window that refused: by quotas of a policy, and by
// rules (FORMAT.md, "Waits").
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { judged, refused } from "./traces.ts";

const minute = Date.UTC(2026, 0, 5, 10, 0);
const clock = { kind: "wall", resolutionMs: 1, errorMs: 0 } as const;

const window = { kind: "fixed-window", limit: 10, windowSeconds: 60 } as const;
const given = {
  version: 2,
  name: "waits",
  quotas: {
    tenant: { algorithm: window, key: ["tenant"] },
    user: { algorithm: window, key: ["tenant", "user"] },
    bucket: { algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } } },
  },
  operations: {
    send: { uses: { tenant: 1, user: 1 } },
    mix: { uses: { user: 1, bucket: 1 } },
    dear: { uses: { user: "declared" } },
  },
  routes: [{ path: "/send", operation: "send" }],
  auth: { attributes: ["tenant", "user"] },
  wire: {
    revision: "1",
    readings: ["tenant", "user", "bucket"].map((quota) => ({
      quotas: [quota],
      on: ["admitted", "refused"],
      headers: { [`${quota}-Left`]: "{remaining}/{limit}", [`${quota}-Reset`]: "{reset}" },
      reset: { form: "delta-s", means: "window-end" },
    })),
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { By: "{quota}" } }],
  },
};

const shown = (quota: string, remaining: number, afterMs = 40_000): QuotaReading => ({
  quota,
  limit: 10,
  remaining,
  used: null,
  reset: { afterMs, atMs: null, gridMs: 1000 },
});

/** A refusal by the user's quota, 20 s after its window opened. */
const told = (changes: Partial<QuotaCall>): QuotaCall => ({
  sent: minute + 20_000,
  received: minute + 20_100,
  client: "agents/0",
  call: 0,
  caller: { tenant: "acme", user: "ann" },
  operation: "send",
  cost: 1,
  status: 429,
  outcome: "refused",
  by: "user",
  readings: [shown("tenant", 3), shown("user", 0)],
  ...changes,
});

const judgedBy = (policy: object, call: QuotaCall) =>
  judgeQuotas(
    {
      format: "spillway-trace",
      version: 2,
      source: "other",
      scenario: null,
      seed: null,
      target: null,
      startedAt: minute,
      clock,
      complete: false,
      lost: 0,
      policy: parsePolicy(policy as Parameters<typeof parsePolicy>[0]),
    },
    [{ line: 2, call }],
  );

const charged = (when: string) => ({
  ...given,
  quotas: { ...given.quotas, user: { ...given.quotas.user, charge: { when } } },
});

test("a wait that ends before the window does is accused: refusal-agrees, retry-too-soon", async () => {
  const { violations } = await judgedBy(given, told({ retryAfterMs: 1000 }));
  expect(violations).toMatchObject([
    {
      law: "refusal-agrees",
      suspects: ["retry-too-soon", "stale-cached-reset"],
      quota: "user",
      lines: [2],
      explanation:
        "line 2 was refused by user and told to come back at least 36.9 s before the shown end of its window, " +
        "which has no room until then",
    },
  ]);
});

test.each([
  ["a second for each rounding, and the answer's way, is no breach", { retryAfterMs: 38_000 }],
  ["an instant is as far off as the clocks may be", { retryAt: minute + 25_000 }],
  ["another quota shows no room", { retryAfterMs: 1000, readings: [shown("tenant", 0), shown("user", 0)] }],
  ["another quota shows nothing", { retryAfterMs: 1000, readings: [shown("user", 0)] }],
  [
    "a bucket may have refused",
    {
      retryAfterMs: 1000,
      operation: "mix",
      readings: [shown("user", 0), { ...shown("bucket", 4), limit: 5 }],
    },
  ],
  ["nobody is named", { retryAfterMs: 1000, by: undefined }],
  ["a ban refused", { retryAfterMs: 1000, by: "ban" }],
  [
    "the shown window may have opened after the decision",
    { retryAfterMs: 1000, readings: [shown("tenant", 3), shown("user", 0, 60_000)] },
  ],
  [
    "a call that costs more than the limit never fits",
    { retryAfterMs: 1000, operation: "dear", cost: 11, readings: [shown("user", 4)] },
  ],
  ["a cache told it", { retryAfterMs: 1000, via: "cache" }],
  ["a cache shows room", { via: "cache", readings: [shown("tenant", 3), shown("user", 2)] }],
] as const)("no accusation where %s", async (_, changes) => {
  expect((await judgedBy(given, told(changes as Partial<QuotaCall>))).violations).toEqual([]);
});

test("points that come back make room before the window's end: no accusation; charged later, they do not", async () => {
  const call = told({ retryAfterMs: 1000 });
  expect((await judgedBy(charged("reserve-settle"), call)).violations).toEqual([]);
  expect((await judgedBy(charged("completion"), call)).violations).toMatchObject([{ law: "refusal-agrees" }]);
});

test("a Date header tells where an instant to come back lies", async () => {
  const call = told({ date: minute + 20_000, retryAt: minute + 25_000 });
  expect((await judgedBy(given, call)).violations).toMatchObject([
    {
      law: "refusal-agrees",
      suspects: ["retry-too-soon", "stale-cached-reset"],
      explanation: expect.stringContaining("told to come back at least 32.9 s before the shown end"),
    },
  ]);
  // The end is told to a second, and so are the instant and the Date.
  const near = async (retryAt: number): Promise<number> =>
    (await judgedBy(given, told({ date: minute + 20_000, retryAt }))).violations.length;
  expect([await near(minute + 57_894), await near(minute + 57_895)]).toEqual([1, 0]);
});

test("a wait of more than a window, and the rounding, is asked about once", async () => {
  expect((await judgedBy(given, told({ retryAfterMs: 62_000 }))).questions).toBeUndefined();
  const { violations, questions } = await judgedBy(given, told({ retryAfterMs: 39_500_000 }));
  expect(violations).toEqual([]);
  expect(questions).toEqual([
    {
      quota: "user",
      question:
        "A refusal by user tells to come back after 39500 s, and its windows last 60 s (line 2). Is that meant?",
      suspects: ["reset-in-ms"],
      lines: [2],
    },
  ]);
});

test("a wait of more than a window is asked about beside an end that is none of a window's, too", async () => {
  const far = { ...shown("user", 0), reset: { afterMs: null, atMs: minute + 600_000, gridMs: 1000 } };
  const { questions } = await judgedBy(
    given,
    told({ operation: "dear", readings: [far], retryAfterMs: 90_000 }),
  );
  expect(questions).toMatchObject([
    {
      question:
        "A refusal by user tells to come back after 90 s, and its windows last 60 s (line 2). Is that meant?",
    },
  ]);
});

test("an end that lies further ahead of the answer's own Date than a window lasts is asked about once", async () => {
  const asked = async (atMs: number, changes: Partial<QuotaCall> = {}) => {
    const readings = [{ ...shown("user", 0), reset: { afterMs: null, atMs, gridMs: 1000 } }];
    const call = told({ readings, date: minute + 20_000, ...changes });
    return (await judgedBy(given, call)).questions?.map(({ question, lines }) => [question, lines]) ?? [];
  };
  expect(await asked(minute + 83_100)).toEqual([]);
  expect(await asked(minute + 83_101)).toEqual([
    [
      "An answer shows a window of user that ends 63.1 s after its own Date, and its windows last 60 s (line 2). Is that meant?",
      [2],
    ],
  ]);
  expect(await asked(minute + 95_000, { via: "cache" })).toEqual([]);
  expect(await asked(minute + 95_000, { date: undefined })).toEqual([]);
});

test.each([
  [9, "retry-too-soon"],
  [8, "retry-too-soon"],
  [10, null],
  [11, null],
  [12, null],
  [13, "reset-in-ms"],
])("by rules, Retry-After %s beside a reset of 11 s: %s", async (retryAfter, suspect) => {
  const call = refused({ at: 1000, count: 50, ends: 12_000 }, "rest_user", { retryAfter });
  const { violations } = await judged([call]);
  const waits = violations.filter(({ explanation }) => explanation.includes("retry after"));
  expect(waits.map(({ law, suspects }) => [law, suspects[0]])).toEqual(
    suspect === null ? [] : [["refusal-agrees", suspect]],
  );
});
