// Refusals of each algorithm, what they may say and when they may come: refusal-justified without fixed windows, honest-wait.
import { describe, expect, test } from "vitest";
import type { CallOp, Op, Script } from "../../src/laws/script.ts";
import type { Algorithm } from "../../src/rules/algorithms.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, type Said } from "./scripted.ts";

/** For a user 4 within 10 s. */
const rulesOf = (semantics: object = {}) =>
  parseRules({
    organization: { rest: { limit: 1000, windowSeconds: 10 } },
    user: { rest: { limit: 4, windowSeconds: 10 } },
    semantics,
  });
type Terms = Partial<Script> & { readonly isRecorded?: true };

describe("a refusal needs a past that left no room", () => {
  /** `3@0 !1@2`: calls by cost and time, ms, of which `!` is refused; `=1@5` completes the second one. */
  const of = (algorithm: Algorithm, text: string, { said, ...terms }: Terms & { said?: Said } = {}) => {
    const calls = text.split(" ").map((call) => {
      const [, mark = "", cost = "", ms = ""] = /^([!=]?)(\d+)@(\d+)$/.exec(call) ?? [];
      return { mark, cost, ms: Number(ms) };
    });
    const refused = new Set(calls.flatMap(({ mark, ms }, at) => (mark === "!" ? [`${at} ${ms}`] : [])));
    const decides: Said = (one, before) => {
      if (one.do === "settle")
        return { call: before.find((call) => "id" in call && call.id === one.id) ?? null, readings: {} };
      if (one.do !== "call") return {};
      const isRefused = refused.has(`${one.id} ${one.atMs}`);
      return { decision: { admitted: !isRefused, refusedBy: isRefused ? "user" : null } };
    };
    const words = calls.map(({ mark, cost }, at) => (mark === "=" ? `=${cost}` : `a${at}x${cost}`)).join(" ");
    const times = calls.map(({ ms }) => ms);
    return judged("refusal-justified", words, {
      ...{ rules: rulesOf(), keyed: true, opensToMs: 1, algorithm, times, said: said ?? decides },
      ...terms,
    });
  };

  // The last instant at which a refusal is right, the first at which it is not, and what is said then.
  test.each<[Algorithm, string, string, string, Terms?]>([
    ["sliding-log", "4@0 !1@10000", "4@0 !1@10001", "at most 0 of 4 are taken by calls of the last 10 s"],
    [
      "sliding-log",
      "4@0 !1@10001",
      "4@0 !1@10002",
      "at most 0 of 4 are taken by calls of the last 10 s",
      { endsLate: true },
    ],
    [
      "sliding-log",
      "4@0 !1@10999",
      "4@0 !1@11000",
      "at most 0 of 4 are taken by calls of the last 10 s",
      { opensToMs: 1000 },
    ],
    [
      "sliding-log",
      "1@0 3@1 !1@10000",
      "1@0 3@1 !1@10001",
      "at most 3 of 4 are taken by calls of the last 10 s",
    ],
    ["sliding-counter", "4@0 !1@20000", "4@0 !1@20001", "at most 0 of 4 are taken by calls of the last 20 s"],
    ["concurrency", "1@0 3@1 !1@50000", "1@0 3@1 =0@2 !1@2", "at most 3 of 4 are under way"],
    ["concurrency", "4@0 =9@1 !1@2", "4@0 =0@1 !1@2", "at most 0 of 4 are under way"],
    ["unknown", "4@0 !1@12499", "4@0 !1@12500", "at most 3 of 4 are taken: 4 units in the last 12.5 s"],
    [
      "unknown",
      "2@0 2@5000 !1@12499",
      "2@0 2@5000 !1@12500",
      "at most 3 of 4 are taken: 4 units in the last 12.5 s",
    ],
    ["unknown", "4@0 !1@9000", "2@0 1@5000 !1@9000", "at most 3 of 4 are taken: 3 units in the last 9 s"],
    ["unknown", "1@0 !4@9000", "!1@9000", "at most 0 of 4 are taken"],
    ["token-bucket", "4@0 !1@12499", "4@0 !1@12500", "at most 3 of 4 are taken: 4 units in the last 12.5 s"],
  ])("%s: %s is right, %s is not", async (algorithm, right, wrong, sum, terms) => {
    expect(await of(algorithm, right, terms)).toMatchObject({ judged: 1, broken: null });
    const at = wrong.split(" ").length - 1;
    // A bucket may be a moment late: it is asked again.
    const said: Terms & { said?: Said } =
      algorithm === "token-bucket"
        ? { said: (one) => ({ decision: { admitted: "cost" in one && one.cost > 1 } }) }
        : {};
    expect((await of(algorithm, wrong, { ...terms, ...said })).broken).toBe(
      `${at}: admitted; a refusal; ${sum}, and the call costs 1`,
    );
  });

  test("a bucket that admits 1 ms later is none that refuses early; one that is recorded cannot be asked", async () => {
    const { played, atMs, broken } = await of("token-bucket", "4@0 !1@12500");
    expect([played, atMs[1], broken]).toEqual([["a0x4 a1", "a0x4 a1"], [0, 12_501], null]);
    const never: Said = (one) => ({ decision: { admitted: "cost" in one && one.cost > 1 } });
    expect(await of("token-bucket", "4@0 !1@12500", { said: never, isRecorded: true })).toMatchObject({
      played: ["a0x4 a1"],
      broken: null,
    });
  });

  test("what was refused takes nothing, but where refused calls count, and then nobody knows when", async () => {
    expect((await of("sliding-log", "3@0 !2@1 !1@2")).broken).toMatch(/^2: .*; at most 3 of 4 are taken/);
    const counted = { rules: rulesOf({ refused: "counted" }) };
    expect(await of("sliding-log", "3@0 !2@1 !1@2", counted)).toMatchObject({ judged: 1, broken: null });
  });

  test("what a call took stays taken when it completes, but for calls that are under way", async () => {
    expect(await of("sliding-log", "4@0 =0@1 !1@2")).toMatchObject({ judged: 1, broken: null });
    expect(await of("sliding-counter", "4@0 =0@1 !1@2")).toMatchObject({ judged: 1, broken: null });
  });

  test("says nothing after a clock stepped back, nor of what is not enforced", async () => {
    expect(await of("sliding-log", "1@100 !1@100")).toMatchObject({ judged: 1 });
    expect(await of("sliding-log", "1@100 1@99 !1@200")).toMatchObject({ judged: 0, broken: null });
    const terms = { rules: rulesOf(), algorithm: "sliding-log" } as const;
    const refuses: Said = (one) => (one.do === "call" ? { decision: { admitted: false } } : {});
    expect(await judged("refusal-justified", "off a1", { ...terms, said: refuses })).toMatchObject({
      judged: 0,
    });
    // Of two windows each has to have room.
    expect((await judged("refusal-justified", "a1", { ...terms, said: refuses, opensToMs: 1 })).broken).toBe(
      "0: admitted; a refusal; at most 0 of 1000 are taken by calls of the last 10 s; " +
        "at most 0 of 4 are taken by calls of the last 10 s, and the call costs 1",
    );
  });
});

describe("a caller without calls for two windows is admitted", () => {
  /** `a1 !a1`: calls at times, ms, of which the marked ones are refused. */
  const of = async (
    text: string,
    times: readonly number[],
    refused: "counted" | "uncounted" = "uncounted",
  ) => {
    const said: Said = (_, before) => ({
      decision: { admitted: !text.split(" ")[before.length]?.startsWith("!"), refusedBy: "user" },
    });
    const words = text.replaceAll("!", "");
    const terms = {
      rules: rulesOf({ refused }),
      keyed: true,
      algorithm: "sliding-log",
      times,
      said,
    } as const;
    return judged("recovers", words, terms);
  };
  const wrong = (at: number, seconds: number, cost = 1) =>
    `${at}: admitted; refused; nobody called for ${seconds} s, and ${cost} <= 4`;

  test.each([
    ["a1 !a2", [0, 19_999], "uncounted", 0, null],
    ["a1 !a2", [0, 20_000], "uncounted", 1, wrong(1, 20)],
    ["a1 a2", [0, 20_000], "uncounted", 1, null],
    ["a1 !a2x4", [0, 20_000], "uncounted", 1, wrong(1, 20, 4)],
    ["a1 !a2x5", [0, 20_000], "uncounted", 0, null],
    // One refusal takes part of a later window, five take two.
    ["a1 !a2 !a3", [0, 1, 30_000], "counted", 0, null],
    ["a1 !a2 !a3", [0, 1, 30_001], "counted", 1, wrong(2, 30)],
    ["a1 !a2x4 !a3", [0, 1, 30_001], "counted", 1, wrong(2, 30)],
    ["a1 !a2x4 !a3 !a4", [0, 1, 1, 40_000], "counted", 0, null],
    ["a1 !a2x4 !a3 !a4", [0, 1, 1, 40_001], "counted", 1, wrong(3, 40)],
  ] as const)("%s at %j, refused calls %s", async (text, times, refused, count, broken) => {
    expect(await of(text, times, refused)).toMatchObject({ judged: count, broken });
  });
});

describe("a greedy caller is added to one run of ten", () => {
  const startMs = 12_345;
  const of = (terms: Terms & { said?: Said }) =>
    judged("refusal-justified", "a1x2", {
      ...{ rules: rulesOf(), keyed: true, opensToMs: 1, algorithm: "sliding-log", startMs, pick: 9 },
      ...{ said: (one: Op) => ("cost" in one ? { decision: { admitted: true } } : {}), times: [startMs] },
      ...terms,
    });

  test("with 23 calls of one unit in each of ten windows, from the next edge of the epoch's grid", async () => {
    const { played, atMs } = await of({});
    expect(played[1]?.split(" ")).toEqual(Array.from({ length: 230 }, (_, id) => `a${id}`));
    expect(atMs[1]).toEqual(Array.from({ length: 230 }, (_, id) => 20_000 + Math.floor((id * 10_000) / 23)));
    expect(played).toHaveLength(2);
  });

  test.each<[string, Terms]>([
    ["of the others", { pick: 10 }],
    ["of known windows", { algorithm: "fixed-window" }],
    ["of calls under way", { algorithm: "concurrency" }],
    ["of unknown algorithms", { algorithm: "unknown" }],
    ["of several keys", { keyed: false }],
    ["that are recorded", { isRecorded: true }],
  ])("and not to runs %s", async (_name, terms) => {
    expect((await of(terms)).played).toHaveLength(1);
  });
});

describe("a caller who waits as long as a refusal said", () => {
  interface Refusal {
    readonly refusedBy?: "organization" | "user" | null;
    readonly retryAfterMs?: number;
    readonly user?: { readonly resetAtMs?: number; readonly reset?: number };
  }
  /** Admits the first call of a script and what comes at the times that are listed; refuses all others. */
  const says =
    (refusal: Refusal, ...free: readonly number[]): Said =>
    (one, before) =>
      one.do !== "call"
        ? {}
        : before.length === 0 || free.includes(one.atMs)
          ? { decision: { admitted: true } }
          : { decision: { admitted: false, refusedBy: "user", ...refusal } };
  const of = (
    algorithm: Algorithm,
    refusal: Refusal,
    { words = "a1 a2", ...terms }: Terms & { words?: string } = {},
  ) =>
    judged("honest-wait", words, {
      ...{ rules: rulesOf(), keyed: true, algorithm, said: says(refusal) },
      ...terms,
    });

  // When it comes again, where the refusal came at 10 ms, and what the refusal had said; null where it had said nothing.
  test.each<[Algorithm, Refusal, number | null, string, (Terms & { words?: string })?]>([
    ["fixed-window", { retryAfterMs: 2500.5 }, 2511, "retry after 2.5005 s"],
    ["fixed-window", { retryAfterMs: 0 }, 10, "retry after 0 s"],
    ["fixed-window", { retryAfterMs: 2500 }, 2511, "retry after 2.5 s", { endsLate: true }],
    ["sliding-log", { retryAfterMs: 2500 }, 2510, "retry after 2.5 s"],
    ["token-bucket", { retryAfterMs: 2500 }, 2511, "retry after 2.5 s"],
    ["sliding-counter", { retryAfterMs: 2500 }, 2511, "retry after 2.5 s"],
    ["unknown", { retryAfterMs: 2500 }, 2511, "retry after 2.5 s"],
    ["concurrency", { retryAfterMs: 2500 }, 2510, "retry after 2.5 s"],
    ["fixed-window", { user: { resetAtMs: 6010 } }, 6010, "reset 6 s later"],
    ["fixed-window", { user: { resetAtMs: 9 } }, null, ""],
    ["token-bucket", { user: { resetAtMs: 6010 } }, 6011, "reset 6 s later"],
    ["token-bucket", { user: { resetAtMs: 6010 } }, null, "", { words: "a1 a2x2" }],
    ["fixed-window", { user: { resetAtMs: 6010 } }, 6010, "reset 6 s later", { words: "a1 a2x2" }],
    ["sliding-log", { user: { resetAtMs: 6010 } }, 6010, "reset 6 s later"],
    ["sliding-counter", { user: { resetAtMs: 6010 } }, null, ""],
    ["concurrency", { user: { resetAtMs: 6010 } }, null, ""],
    ["fixed-window", { user: { reset: 3 } }, 3010, "reset 3 s"],
    ["fixed-window", { user: { reset: 3 } }, 4010, "reset 3 s", { rules: rulesOf({ reset: "floor" }) }],
    ["fixed-window", { user: { reset: 3 } }, 3510, "reset 3 s", { rules: rulesOf({ reset: "round" }) }],
    ["fixed-window", { retryAfterMs: 1 }, null, "", { words: "a1 a2x5" }],
    ["fixed-window", { retryAfterMs: 1 }, 11, "retry after 0.001 s", { words: "a1 a2x4" }],
  ])("%s, %j: comes again at %j ms", async (algorithm, refusal, ms, said, terms) => {
    const { played, atMs, broken, judged: count } = await of(algorithm, refusal, terms);
    if (ms === null) {
      expect([played.length, count, broken]).toEqual([1, 0, null]);
      return;
    }
    expect(atMs).toEqual([
      [0, 10],
      [0, 10, ms],
    ]);
    expect(broken).toBe(
      `2: admitted; refused again; the refusal before said ${said}, the caller waited so long, and nobody else called`,
    );
    const kept = await of(algorithm, refusal, { ...terms, said: says(refusal, ms) } as Terms);
    if (ms !== 10) expect([kept.judged, kept.broken]).toEqual([1, null]);
  });

  test.each<[Algorithm, number, string, Terms?]>([
    ["fixed-window", 11_000, "a wait of at most 11 s"],
    ["sliding-log", 11_000, "a wait of at most 11 s"],
    ["token-bucket", 11_000, "a wait of at most 11.001 s"],
    ["sliding-counter", 21_000, "a wait of at most 21.001 s"],
    ["fixed-window", 11_000, "a wait of at most 11 s", { rules: rulesOf({ refused: "counted" }) }],
    ["sliding-log", 99_000, "", { rules: rulesOf({ refused: "counted" }) }],
    ["concurrency", 99_000, ""],
    ["unknown", 99_000, ""],
  ])("%s: waits %i ms, and no longer", async (algorithm, longest, expected, terms) => {
    const broken = async (retryAfterMs: number) => (await of(algorithm, { retryAfterMs }, terms)).broken;
    expect(await broken(longest)).toMatch(/^2: admitted; refused again/);
    if (expected === "") return;
    expect(await of(algorithm, { retryAfterMs: longest + 1 }, terms)).toMatchObject({
      played: ["a1 a2"],
      judged: 1,
      broken: `1: ${expected}; retry after ${(longest + 1) / 1000} s; until then every call is forgotten`,
    });
  });

  test("of many refusals three are tried, the last one among them", async () => {
    const tried = async (count: number, pick: number) => {
      const words = ["a1", ...Array.from({ length: count }, (_, at) => `a${at + 2}`)].join(" ");
      const refuses: Said = (one, before) => {
        const isAgain = (one as CallOp).id === count + 2;
        return { decision: { admitted: before.length === 0 || isAgain, refusedBy: "user", retryAfterMs: 5 } };
      };
      const { played } = await of("fixed-window", {}, { words, pick, said: refuses } as Terms & {
        words: string;
      });
      return played.slice(1).map((each) => each.split(" ").length - 3);
    };
    expect(await tried(3, 0)).toEqual([0, 1, 2]);
    expect(await tried(4, 0)).toEqual([0, 2, 3]);
    expect(await tried(4, 1)).toEqual([1, 3]);
    expect(await tried(7, 0)).toEqual([0, 3, 6]);
    expect(await tried(7, 5)).toEqual([2, 5, 6]);
  });

  test("whose refusal names no window of several, or is refused by another then, is promised nothing", async () => {
    const both = (refusal: Refusal, said: Said = says(refusal)) =>
      judged("honest-wait", "a1 a2", { rules: rulesOf(), said });
    expect(await both({ refusedBy: null, retryAfterMs: 5 })).toMatchObject({ played: ["a1 a2"], judged: 0 });
    const another = (_: Op, before: readonly Op[]): object => ({
      decision: {
        admitted: before.length === 0,
        refusedBy: before.length === 2 ? "organization" : "user",
        retryAfterMs: 5,
      },
    });
    expect(await both({}, another)).toMatchObject({ played: ["a1 a2", "a1 a2 a3"], judged: 0, broken: null });
    expect(await both({ retryAfterMs: 5 })).toMatchObject({
      judged: 1,
      broken: expect.stringMatching(/^2: /),
    });
  });
});
