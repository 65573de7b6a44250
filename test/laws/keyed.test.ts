// Limiters by key: what a few facts say of them, and their answers as decisions.
import { describe, expect, test } from "vitest";
import { checkLaws } from "../../src/laws/check.ts";
import { type KeyedAnswer, type KeyedKind, keyedLaws, keyedLimiter } from "../../src/laws/keyed.ts";
import type { Algorithm } from "../../src/rules/algorithms.ts";
import { parseRules } from "../../src/rules/parse.ts";

const rules = parseRules({
  user: { rest: { limit: 3, windowSeconds: 7 }, graphql: { limit: 9, windowSeconds: 8 } },
});

/** A limiter that gives one answer, and what it was asked. */
async function made(answer: unknown, kind: Partial<KeyedKind> = {}, more: object = {}) {
  const asked: unknown[] = [];
  const factory = keyedLimiter({
    ...{ name: "mine", algorithm: "fixed-window", ...kind },
    create: (settings) => {
      asked.push(settings);
      const consume = (...given: unknown[]): KeyedAnswer => {
        asked.push(given);
        return answer as KeyedAnswer;
      };
      return { consume, ...more };
    },
  });
  const limiter = await factory.create(rules);
  const call = { organization: "acme", user: "ann", scope: "rest", cost: 2 } as const;
  return { factory, limiter, asked, decide: async () => limiter.decide(call, 1_000) };
}

describe("laws that are claimed by default", () => {
  const any = ["status-free", "isolated", "honest-wait", "rate-bound", "give-back"];
  test.each<[Algorithm, readonly string[]]>([
    ["unknown", any.filter((law) => law !== "give-back")],
    ["concurrency", ["remaining-agrees", ...any, "refusal-justified"]],
  ])("of %s", (algorithm, laws) => {
    expect([...keyedLaws({ algorithm })].sort()).toEqual([...laws].sort());
  });

  test("fewer where refused calls are counted, by saying so, or by saying nothing", () => {
    const without = (refused: "counted" | "uncounted", algorithm: Algorithm) =>
      keyedLaws({ algorithm, refused });
    expect(keyedLaws({ algorithm: "fixed-window" })).toEqual(without("uncounted", "fixed-window"));
    expect(keyedLaws({ algorithm: "unknown" })).toEqual(without("counted", "unknown"));
    const lost = without("uncounted", "fixed-window").filter(
      (law) => !without("counted", "fixed-window").includes(law),
    );
    expect([...lost].sort()).toEqual(["all-or-nothing", "bounded", "give-back"]);
  });
});

describe("facts of a factory", () => {
  const usual = {
    ...{ name: "mine", algorithm: "fixed-window", claims: keyedLaws({ algorithm: "fixed-window" }) },
    ...{ claimsAsShown: true, anchorUnsaid: true, keyed: true, scopes: ["rest"] },
    ...{ opensToMs: 1, endsLate: false, fromStart: false, create: expect.any(Function) },
  };
  const semantics = {
    ...{ anchor: ["first-request"], refused: ["uncounted"], refusedByUser: ["charges-nothing"] },
    ...{ graphqlCharge: ["prepaid"], remaining: ["clamped"], reset: ["ceil"] },
  };
  test.each<[string, Partial<KeyedKind>, object, object]>([
    ["by default", {}, {}, {}],
    ["of the epoch", { anchor: "epoch" }, { anchorUnsaid: false }, { anchor: ["epoch"] }],
    ["from the start", { anchor: "start" }, { anchorUnsaid: false, fromStart: true }, {}],
    ["opened to the second", { opensTo: "second" }, { opensToMs: 1000 }, {}],
    ["with an inclusive end", { end: "inclusive" }, { endsLate: true }, {}],
    ["of calls that cost", { weighted: true }, { scopes: ["graphql"] }, {}],
    ["with claims", { claims: ["bounded"] }, { claims: ["bounded"], claimsAsShown: false }, {}],
    [
      "of other semantics",
      { refused: "counted", remaining: "signed", reset: "floor" },
      { claims: keyedLaws({ algorithm: "fixed-window", refused: "counted" }) },
      { refused: ["counted"], remaining: ["signed"], reset: ["floor"] },
    ],
    [
      "of a sliding counter",
      { algorithm: "sliding-counter" },
      {
        algorithm: "sliding-counter",
        anchorUnsaid: false,
        claims: keyedLaws({ algorithm: "sliding-counter" }),
      },
      { anchor: ["epoch", "first-request"] },
    ],
  ])("%s", async (_, kind, facts, switches) => {
    const { factory } = await made(true, kind);
    expect(factory).toEqual({ ...usual, ...facts, semantics: { ...semantics, ...switches } });
  });

  test("settings are those of the users' windows", async () => {
    expect((await made(true)).asked).toEqual([{ limit: 3, windowSeconds: 7, windowMs: 7_000 }]);
    expect((await made(true, { weighted: true })).asked).toEqual([
      { limit: 9, windowSeconds: 8, windowMs: 8_000 },
    ]);
  });
});

describe("answers", () => {
  test.each<[unknown, object]>([
    [true, { admitted: true, refusedBy: null }],
    [false, { admitted: false, refusedBy: "user" }],
    [
      { allowed: true, retryAfter: 3 },
      { admitted: true, refusedBy: null, user: {} },
    ],
    [
      { allowed: false, retryAfter: 3 },
      { admitted: false, refusedBy: "user", retryAfterMs: 3_000, user: {} },
    ],
    [
      { allowed: false, retryAfter: 3, retryAfterMs: 20 },
      { admitted: false, refusedBy: "user", retryAfterMs: 20, user: {} },
    ],
    [
      { allowed: false, retryAfter: null, remaining: null, limit: null },
      { admitted: false, refusedBy: "user", retryAfterMs: undefined, user: {} },
    ],
    [
      { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY },
      { admitted: false, refusedBy: "user", user: {} },
    ],
    [
      { allowed: true, limit: 5, current: 1, remaining: 3, reset: 2, resetMs: 30 },
      {
        ...{ admitted: true, refusedBy: null },
        user: { limit: 5, current: 1, remaining: 3, reset: 2, resetAtMs: 1_030 },
      },
    ],
    [
      { allowed: true, resetAt: 2_000, resetMs: 30 },
      { admitted: true, refusedBy: null, user: { resetAtMs: 2_000 } },
    ],
    [
      { allowed: true, resetAt: null, resetMs: 30 },
      { admitted: true, refusedBy: null, user: { resetAtMs: 1_030 } },
    ],
    [
      { allowed: true, resetAt: new Date(3_000) },
      { admitted: true, refusedBy: null, user: { resetAtMs: 3_000 } },
    ],
  ])("%j of a fixed window", async (answer, decision) => {
    expect(await (await made(answer)).decide()).toEqual(decision);
  });

  test.each([
    [
      { limit: 5, current: 1.5, remaining: 3.7, reset: 2.2, resetMs: 30.5 },
      { limit: 5, current: 2, remaining: 3, reset: 3, resetAtMs: 1_031 },
    ],
    [{ remaining: -1e-7 }, { remaining: 0 }],
    [{ remaining: -1e-6 }, { remaining: -1 }],
    [{ remaining: -0.4 }, { remaining: -1 }],
    [{ remaining: 0 }, { remaining: 0 }],
  ])("%j of a bucket is told in whole numbers", async (shown, user) => {
    const { decide } = await made({ allowed: true, ...shown }, { algorithm: "token-bucket" });
    expect(await decide()).toEqual({ admitted: true, refusedBy: null, user });
  });

  const answer = "true, false or an object with `allowed`";
  const whole = "a safe integer, or nothing";
  const number = "a number, or nothing";
  const date = "a Date, ms since the epoch, or nothing";

  test.each<[unknown, string, string, Partial<KeyedKind>?]>([
    [null, "the answer = null", answer],
    ["yes", 'the answer = "yes"', answer],
    [{ remaining: 3 }, "allowed = nothing", "true or false"],
    [{ allowed: 1 }, "allowed = 1", "true or false"],
    [{ allowed: true, limit: "5" }, 'limit = "5"', whole],
    [{ allowed: true, current: Number.NaN }, "current = NaN", whole],
    [{ allowed: true, remaining: 0.5 }, "remaining = 0.5", whole],
    [{ allowed: true, reset: 0.5 }, "reset = 0.5", whole],
    [{ allowed: true, resetMs: 0.5 }, "resetMs = 0.5", whole],
    [{ allowed: true, resetAt: "soon" }, 'resetAt = "soon"', date],
    [{ allowed: true, resetAt: {} }, "resetAt = {}", date],
    [{ allowed: true, resetAt: new Date("soon") }, "resetAt = NaN", date],
    [{ allowed: false, retryAfter: "3" }, 'retryAfter = "3"', number],
    [{ allowed: false, retryAfterMs: Number.NaN }, "retryAfterMs = NaN", number],
    [{ allowed: true, remaining: Number.NaN }, "remaining = NaN", number, { algorithm: "token-bucket" }],
    [{ allowed: true, resetAt: "soon" }, 'resetAt = "soon"', date, { algorithm: "token-bucket" }],
  ])("%j is none: %s", async (wrong, got, allowed, kind = {}) => {
    await expect((await made(wrong, kind)).decide()).rejects.toMatchObject({
      ...{ name: "LimiterFailure", call: 'consume("acme/ann", 2, 1000)', got, allowed },
    });
  });

  test("a throw of each function is told with its call", async () => {
    const failing = () => {
      throw new RangeError("odd");
    };
    const more = { consume: failing, peek: failing, release: failing };
    const { decide, limiter } = await made(true, { algorithm: "concurrency" }, more);
    const odd = { got: "RangeError: odd", allowed: "an answer" };
    await expect(decide()).rejects.toMatchObject({ call: 'consume("acme/ann", 2, 1000)', ...odd });
    await expect(async () => limiter.status?.("acme", 7, "ann")).rejects.toMatchObject({
      call: 'peek("acme/ann", 7)',
      ...odd,
    });
    await expect(async () => limiter.settle?.({ key: "k", cost: 1, lease: 0 }, 1, 7)).rejects.toMatchObject({
      ...{ call: 'release("k", 1, 7)', ...odd },
    });
    const looking = (await made(true, {}, { peek: () => 3 })).limiter;
    await expect(async () => looking.status?.("acme", 7, "ann")).rejects.toMatchObject({
      ...{ call: 'peek("acme/ann", 7)', got: "the reading = 3", allowed: "an object, null or nothing" },
    });
  });

  test("a key is an organization's user; an admitted call is released with its lease", async () => {
    const released: unknown[] = [];
    const release = (...given: unknown[]): void => void released.push(given);
    const { decide, limiter, asked } = await made(
      { allowed: true, lease: "seven" },
      { algorithm: "concurrency" },
      { release },
    );
    const { reservation } = await decide();
    expect(asked.at(-1)).toEqual(["acme/ann", 2, 1_000]);
    expect(reservation).toEqual({ key: "acme/ann", cost: 2, lease: 0 });
    expect((await decide()).reservation).toMatchObject({ lease: 1 });
    expect(await limiter.settle?.(reservation, 1, 1_500)).toEqual({});
    expect(released).toEqual([["acme/ann", 2, 1_500, "seven"]]);
    const refusing = await made(false, { algorithm: "concurrency" }, { release });
    expect(await refusing.decide()).toEqual({ admitted: false, refusedBy: "user" });
  });

  test("a look shows a user's window, or nothing", async () => {
    const looked = async (shown: unknown) => {
      const { limiter } = await made(true, {}, { peek: () => shown });
      return limiter.status?.("acme", 1_000, "ann");
    };
    expect(await looked({ remaining: 2, resetMs: 5 })).toEqual({ rest: { remaining: 2, resetAtMs: 1_005 } });
    expect([await looked(null), await looked(undefined)]).toEqual([{ rest: {} }, { rest: {} }]);
    expect((await made(true)).limiter.status).toBeUndefined();
  });
});

test("what is no limiter, or does not say what it counts", async () => {
  const create = () => ({}) as never;
  await expect(keyedLimiter({ name: "none", algorithm: "unknown", create }).create(rules)).rejects.toThrow(
    new TypeError("a limiter with `consume` was expected"),
  );
  expect(() => keyedLimiter({ name: "none", create } as never)).toThrow(
    expect.objectContaining({
      code: "ADAPTER_INVALID",
      problems: [expect.objectContaining({ path: "algorithm" })],
    }),
  );
  const said = { name: "mine", algorithm: "fixed-window", anchor: "epcoh", end: "inclusiv", wieghted: true };
  expect(() => keyedLimiter({ ...said, create } as never)).toThrow(
    expect.objectContaining({
      code: "ADAPTER_INVALID",
      problems: [
        { path: "anchor", got: '"epcoh"', allowed: 'one of "first-request", "epoch", "start"' },
        { path: "end", got: '"inclusiv"', allowed: '"inclusive"' },
        { path: "wieghted", got: "a fact that is not known", allowed: "weighted" },
      ],
    }),
  );
});

describe("windows from the first call on", () => {
  /** @param share part of its window's length that a window lasts; @param waitMs wait that a refusal tells, ms */
  const lasting = (share: number, waitMs = (leftMs: number): number => leftMs) =>
    keyedLimiter({
      ...{ name: "short", algorithm: "fixed-window" },
      create({ limit, windowMs }) {
        const windows = new Map<string, { count: number; resetAt: number }>();
        return {
          consume(key, _cost, nowMs) {
            const known = windows.get(key);
            const isOpen = known !== undefined && known.resetAt > nowMs;
            const window = isOpen ? known : { count: 0, resetAt: nowMs + windowMs * share };
            windows.set(key, window);
            const allowed = window.count < limit;
            if (allowed) window.count += 1;
            return { allowed, resetAt: window.resetAt, retryAfterMs: waitMs(window.resetAt - nowMs) };
          },
        };
      },
    });
  const outcome = async (limiter: ReturnType<typeof lasting>, law: "reset-agrees" | "honest-wait") =>
    (await checkLaws(limiter, { laws: [law], runs: 60, seed: 3 })).laws[0];

  test("last as long as the limiter was made for", async () => {
    expect(await outcome(lasting(1), "reset-agrees")).toMatchObject({ outcome: "no-counterexample" });
    expect(await outcome(lasting(0.5), "reset-agrees")).toMatchObject({
      outcome: "violated",
      counterexample: {
        script: { ops: [expect.anything()] },
        violation: {
          arithmetic: expect.stringMatching(/^a window opens with its first call, and is \d+ s long$/),
        },
      },
    });
  });

  test("are waited for no less than nothing", async () => {
    expect(await outcome(lasting(1), "honest-wait")).toMatchObject({ outcome: "no-counterexample" });
    expect(
      await outcome(
        lasting(1, (leftMs) => -leftMs),
        "honest-wait",
      ),
    ).toMatchObject({
      outcome: "violated",
      counterexample: { violation: { expected: "a wait of 0 s or more" } },
    });
  });
});

test.each<[number, string]>([
  [0, "no-counterexample"],
  [20_000, "violated"],
])(
  "a key without a window may say that there is nothing to wait for, and %d ms is: %s",
  async (restMs, outcome) => {
    const limiter = keyedLimiter({
      ...{ name: "idle", algorithm: "fixed-window", anchor: "epoch", claims: ["reset-agrees"] },
      create({ limit, windowMs }) {
        const counts = new Map<string, number>();
        const windowOf = (key: string, nowMs: number) => `${key} ${Math.floor(nowMs / windowMs)}`;
        const left = (nowMs: number) => windowMs - (nowMs % windowMs);
        return {
          consume(key, _cost, nowMs) {
            const count = (counts.get(windowOf(key, nowMs)) ?? 0) + 1;
            counts.set(windowOf(key, nowMs), count);
            return { allowed: count <= limit, resetMs: left(nowMs) };
          },
          peek: (key, nowMs) => ({
            resetMs: counts.has(windowOf(key, nowMs)) ? left(nowMs) : restMs,
          }),
        };
      },
    });
    const rules = { user: { rest: { limit: 2, windowSeconds: 10 } } };
    const { laws } = await checkLaws(limiter, { laws: ["reset-agrees"], runs: 60, seed: 3, rules });
    expect(laws[0]?.outcome).toBe(outcome);
  },
);

test("keys are names of an object's members, too, which a plain object has from the start", async () => {
  const keys = new Set<string>();
  const factory = keyedLimiter({
    ...{ name: "plain object", algorithm: "fixed-window", anchor: "epoch" },
    create({ limit, windowMs }) {
      const counts: Record<string, { readonly endsMs: number; readonly used: number }> = {};
      return {
        consume(key, cost, nowMs) {
          keys.add(key);
          let count = counts[key];
          if (!count || count.endsMs <= nowMs)
            count = { endsMs: nowMs - (nowMs % windowMs) + windowMs, used: 0 };
          if (count.used + cost > limit) return false;
          counts[key] = { ...count, used: count.used + cost };
          return true;
        },
      };
    },
  });
  const { laws } = await checkLaws(factory, { seed: 1, laws: ["refusal-justified"] });
  expect([...keys]).toEqual(expect.arrayContaining(["acme/ann", "toString/constructor", "constructor"]));
  expect(laws[0]?.counterexample?.script.ops).toMatchObject([
    { organization: "", user: "constructor" },
    { organization: "", user: "constructor" },
  ]);
});
