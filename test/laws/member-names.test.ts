// Limiters that keep counts in a plain object: the key that is a member of every object is named, and hides nothing else.
import { describe, expect, test } from "vitest";
import {
  checkLaws,
  type KeyedAnswer,
  keyedLimiter,
  type LimiterFactory,
  type LimiterLawName,
  renderCounterexample,
} from "../../src/laws/index.ts";
import { entry } from "./expectations.ts";

type Counts = Record<string, { count: number } | undefined>;

/** Counts calls in one window that never ends, by `take`. */
const limiter = (
  take: (counts: Counts, key: string, limit: number) => KeyedAnswer,
  isolated = true,
): LimiterFactory =>
  keyedLimiter({
    name: "a plain object",
    algorithm: "unknown",
    claims: ["rate-bound", ...(isolated ? (["isolated"] as const) : [])],
    create({ limit }) {
      const counts: Counts = {};
      return { consume: (key) => take(counts, key, limit) };
    },
  });

const answersNaN = (extra = 0) =>
  limiter((counts, key, limit) => {
    const one = counts[key] ?? { count: 0 };
    counts[key] = { count: one.count + 1 };
    const remaining = limit - one.count - 1;
    return { allowed: !(remaining < -extra), remaining };
  });
const throws = limiter((counts, key, limit) => {
  const one = counts[key] ?? { count: 0 };
  counts[key] = { count: one.count + 1 };
  if (Number.isNaN(one.count + 1)) throw new TypeError("no count");
  return { allowed: one.count < limit };
});
/** Counts in whatever it finds, which for `constructor` is the function `Object` itself. */
const writes = limiter((counts, key, limit) => {
  counts[key] ??= { count: 0 };
  const one = counts[key];
  one.count ??= 0;
  one.count += 1;
  return { allowed: one.count <= limit };
});

const check = (factory: LimiterFactory, laws: readonly LimiterLawName[], known: unknown[] = []) =>
  checkLaws(factory, { seed: 1, runs: 30, laws, known: known as never });

describe("a limiter that fails by a key that is a member of every object", () => {
  test.each<[string, LimiterFactory, RegExp]>([
    ["answers NaN", answersNaN(), /^remaining = NaN$/],
    ["throws", throws, /^TypeError: no count$/],
    ["writes into it", writes, /^a member "count" of an object that all code shares$/],
  ])("and %s breaks isolated in one call, and no other law", async (_, factory, got) => {
    const report = await check(factory, ["isolated", "rate-bound"]);
    const { outcome, counterexample, ...isolated } = entry(report, "isolated");
    expect(outcome).toBe("violated");
    expect(counterexample?.violation.got).toMatch(got);
    expect(counterexample?.script.ops).toMatchObject([{ do: "call", organization: "", user: "constructor" }]);
    const text = renderCounterexample({
      outcome,
      ...isolated,
      ...(counterexample && { counterexample }),
    }).join("\n");
    expect(text).toMatch(
      /because +"constructor" is a member of every JavaScript object: .* keep counts in a Map/,
    );
    expect(entry(report, "rate-bound")).toMatchObject({ outcome: "no-counterexample", runs: 30 });
    expect(Object.hasOwn(Object, "count")).toBe(false);
  });

  test("is passed over once that is known, and another bug of that law is found", async () => {
    const shares = limiter((counts, key, limit) => {
      const one = counts[key] ?? { count: 0 };
      counts[key] = { count: one.count + 1 };
      if (key === "acme/bob") counts["acme/ann"] = { count: limit };
      return { allowed: one.count < limit, remaining: limit - one.count };
    });
    const { script } = entry(await check(throws, ["isolated"]), "isolated").counterexample ?? {};
    const known = [{ law: "isolated", script }];
    const report = await check(throws, ["isolated"], known);
    expect(report.known).toMatchObject([{ state: "broken" }]);
    expect(entry(report, "isolated").outcome).toBe("known");
    const { counterexample } = entry(await check(shares, ["isolated"], known), "isolated");
    expect(counterexample?.violation.expected).toMatch(/^admitted true, as in the other run$/);
  });

  test("and breaks another law by that key's answers is told of it there", async () => {
    const admits = limiter((counts, key, limit) => {
      const one = counts[key] ?? { count: 0 };
      counts[key] = { count: one.count + 1 };
      return { allowed: !(one.count >= limit) };
    });
    const text = renderCounterexample(entry(await check(admits, ["rate-bound"]), "rate-bound")).join("\n");
    expect(text).toMatch(/note +"(constructor|__proto__)" is a member of every JavaScript object/);
  });
});

describe("a limiter fails, and breaks no law,", () => {
  test("if it fails by any key", async () => {
    const never = limiter(() => ({ allowed: true, remaining: Number.NaN }));
    expect((await check(never, ["isolated"])).laws[0]?.outcome).toBe("failed");
  });

  test("if it does not claim isolated", async () => {
    const throwing = limiter((counts, key) => {
      if (counts[key] !== undefined) throw new TypeError("no count");
      return { allowed: false };
    }, false);
    expect((await check(throwing, ["rate-bound"])).laws[0]?.outcome).toBe("failed");
  });
});
