// Laws on shown counts, under a policy: against the right numbers, said by the limiter itself or by its HTTP answer.
import { expect, test } from "vitest";
import { laws } from "../../src/laws/catalogue.ts";
import type { QuotaHistory } from "../../src/laws/quotas/script.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";

/** Four calls in ten seconds, by windows that open with their first call, or by a bucket. */
const policyOf = ({ charge, ...algorithm }: { readonly charge?: object }) =>
  parsePolicy({
    version: 2,
    name: "calls",
    quotas: { requests: { algorithm, key: ["client"], ...(charge && { charge }) } },
    operations: { call: { uses: { requests: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
    wire: "openai",
  });
const fixed = { kind: "fixed-window", limit: 4, windowSeconds: 10, anchor: "first-request" };
const bucket = { kind: "token-bucket", capacity: 4, refill: { amount: 10, everyMs: 5_000 } };
/** Buckets that get three back in a second, and one in each ms. */
const thirds = { ...bucket, refill: { amount: 3, everyMs: 1_000 } };
const fast = { ...bucket, refill: { amount: 1, everyMs: 1 } };
const caller = { client: "ann" };
const startMs = 1_767_225_600_000;

interface Shown {
  readonly said?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a second apart, and what each shows: what a law says of them, or how much it judged. */
async function found(
  law: LimiterLawName,
  algorithm: object,
  shown: readonly Shown[],
  isExact = true,
): Promise<string | number> {
  const policy = policyOf(algorithm);
  const ops = shown.map((_, id) => ({
    ...({ do: "call", id, caller, operation: "call", cost: 1 } as const),
    atMs: startMs + 1_000 * id,
  }));
  const history = ops.map((op, at) => {
    const { said, headers } = shown[at] as Shown;
    const read =
      headers === undefined
        ? null
        : readAnswer(
            wireOf(policy),
            { status: 200, headers, body: {} },
            { quotas: ["requests"], isStatus: false },
          );
    const readings = said === undefined ? [] : [{ quota: "requests", ...said }];
    return {
      ...{ op, admitted: true, refusedBy: null, retryAtMs: null, isAtOdds: false },
      said: { readings },
      read,
    };
  }) as unknown as QuotaHistory;
  const script = { policy, isExact, startMs, pick: 0, ops };
  const { judged, violation } = await laws[law].judge({ script, play: async () => history });
  return violation === null
    ? judged
    : `${violation.at}: ${violation.expected}; ${violation.got}; ${violation.arithmetic}`;
}

const saying = (...readings: readonly object[]): Shown[] => readings.map((said) => ({ said }));
const resets = (...afterMs: readonly number[]): Shown[] =>
  saying(...afterMs.map((ms) => ({ resetAtMs: startMs + ms })));
/** An answer whose reset is so far away; one call is used. */
const answer = (reset: string): Shown => ({
  headers: {
    "x-ratelimit-limit-requests": "4",
    "x-ratelimit-remaining-requests": "3",
    "x-ratelimit-reset-requests": reset,
  },
});

test.each<[string, readonly Shown[], object, boolean, string | number]>([
  ["of a window", resets(10_000, 10_000), fixed, true, 2],
  [
    "late",
    resets(10_000, 10_001),
    fixed,
    true,
    "1: reset 9 s after this; reset 9.001 s after this; the window ends then",
  ],
  [
    "early",
    resets(9_999),
    fixed,
    false,
    "0: reset 10 s after this; reset 9.999 s after this; the window ends then",
  ],
  ["of an exact bucket", resets(500, 1_500), bucket, true, 2],
  [
    "late",
    resets(501),
    bucket,
    true,
    "0: reset 0.5 s after this; reset 0.501 s after this; the bucket is full then",
  ],
  // A bucket in fractions may be rounded by a call, which comes back in half a second.
  ["of a bucket", resets(1_000, 1_000), bucket, false, 2],
  [
    "late",
    resets(1_001),
    bucket,
    false,
    "0: reset 0.5 s after this; reset 1.001 s after this; the bucket is full then",
  ],
  ["of a bucket by thirds of a second", resets(334 + 334), thirds, false, 1],
  [
    "late",
    resets(334 + 335),
    thirds,
    false,
    "0: reset 0.334 s after this; reset 0.669 s after this; the bucket is full then",
  ],
  ["of a bucket by the ms", resets(2), fast, false, 1],
  [
    "late",
    resets(3),
    fast,
    false,
    "0: reset 0.001 s after this; reset 0.003 s after this; the bucket is full then",
  ],
  ["unsaid", saying({ used: 1 }), fixed, true, 0],
  ["in an answer", [answer("10s")], fixed, true, 1],
  [
    "early in it",
    [answer("9s")],
    fixed,
    true,
    "0: reset 10 s; reset 9 s; the window ends then (its answer shows it)",
  ],
  // Answers may round to whole seconds.
  ["of a bucket in it", [answer("1500ms")], bucket, false, 1],
  [
    "late in it",
    [answer("1501ms")],
    bucket,
    false,
    "0: reset 0.5 s; reset 1.501 s; the bucket is full then (its answer shows it)",
  ],
])("a reset %s: %#", async (_, shown, algorithm, isExact, expected) => {
  expect(await found("reset-agrees", algorithm, shown, isExact)).toBe(expected);
});

test.each<[LimiterLawName, string, readonly Shown[], object, boolean, string | number]>([
  ["conserved", "of a window", saying({ used: 1 }, { used: 2 }), fixed, false, 2],
  [
    "conserved",
    "one off",
    saying({ used: 2 }),
    fixed,
    false,
    "0: used 1; used 2; nothing was charged in this window before, this operation adds 1: 1",
  ],
  [
    "conserved",
    "of an exact bucket",
    saying({ used: 2 }),
    bucket,
    true,
    "0: used 1; used 2; nothing was charged before, this operation adds 1: 1",
  ],
  ["conserved", "of a bucket, one off", saying({ used: 2 }), bucket, false, 1],
  ["conserved", "of a bucket, one less", saying({ used: 0 }), bucket, false, 1],
  [
    "conserved",
    "of a bucket, two off",
    saying({ used: 3 }),
    bucket,
    false,
    "0: used 1; used 3; nothing was charged before, this operation adds 1: 1",
  ],
  ["conserved", "left in an answer", [answer("10s")], fixed, true, 1],
  [
    "conserved",
    "left in a later answer",
    [answer("10s"), answer("9s")],
    fixed,
    true,
    "1: remaining 2; remaining 3; 1 charged before, this operation adds 1: 2 (its answer shows it)",
  ],
  ["bounded", "within the limit", saying({ used: 4, remaining: 0 }), bucket, true, 1],
  [
    "bounded",
    "above it",
    saying({ used: 5 }),
    bucket,
    true,
    "0: 0 <= used <= 4; used 5; the limit is 4 and every call of this bucket was decided while enforced",
  ],
  [
    "bounded",
    "of which more is left",
    saying({ remaining: 5 }),
    fixed,
    true,
    "0: 0 <= used <= 4; used -1; the limit is 4 and every call of this window was decided while enforced",
  ],
  [
    "bounded",
    "that any call passes while some is left",
    saying({ used: 5 }),
    { ...fixed, charge: { fits: "any-left" } },
    true,
    0,
  ],
  [
    "bounded",
    "of refused calls, too",
    saying({ used: 5 }),
    { ...fixed, charge: { refused: "counted" } },
    true,
    0,
  ],
  ["bounded", "in an answer", [answer("10s")], fixed, true, 1],
  ["remaining-agrees", "that adds up", saying({ used: 1, remaining: 3 }), fixed, true, 1],
  [
    "remaining-agrees",
    "of a limit that it says",
    saying({ limit: 6, used: 1, remaining: 5 }),
    fixed,
    true,
    1,
  ],
  [
    "remaining-agrees",
    "that does not add up",
    saying({ used: 1, remaining: 2 }),
    fixed,
    true,
    "0: remaining 3; remaining 2; max(0, 4 - 1) = 3",
  ],
  ["monotone", "that rises", saying({ used: 1 }, { used: 3 }), fixed, true, 2],
  [
    "monotone",
    "that falls",
    saying({ used: 1 }, { used: 3 }, { used: 2 }),
    fixed,
    true,
    "2: used >= 3; used 2; 3 was shown before in this window, 0 given back since",
  ],
  [
    "monotone",
    "that begins above its first call",
    saying({ used: 2 }),
    fixed,
    true,
    "0: used 1; used 2; this is the first call, so the count was 0 and only this operation is in it",
  ],
  ["monotone", "of a bucket", saying({ used: 3 }, { used: 1 }), bucket, true, 0],
])("%s: a count %s", async (law, _, shown, algorithm, isExact, expected) => {
  expect(await found(law, algorithm, shown, isExact)).toBe(expected);
});
