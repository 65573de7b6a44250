// The laws on spans of time, at their bounds: the last unit that they let pass, the first that they do not, and the sum.
import { describe, expect, test } from "vitest";
import type { Script } from "../../src/laws/script.ts";
import type { Algorithm } from "../../src/rules/algorithms.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, type Said } from "./scripted.ts";

const usual = { limit: 4, graphqlCharge: "cost" as "cost" | "postpaid" };
/** An organization that is never in the way; for a user 4 within 10 s, and 6 points within 20 s. */
const rulesOf = ({ limit, graphqlCharge } = usual) =>
  parseRules({
    organization: { rest: { limit: 1000, windowSeconds: 10 }, graphql: { limit: 1000, windowSeconds: 20 } },
    user: { rest: { limit, windowSeconds: 10 }, graphql: { limit: 6, windowSeconds: 20 } },
    semantics: graphqlCharge === "cost" ? {} : { graphqlCharge },
  });
const rules = rulesOf();

/** Admits every call but bob's. */
const admits: Said = (one, before) => {
  if (one.do === "call") return { decision: { admitted: one.user !== "b", refusedBy: "user" } };
  if (one.do !== "settle") return {};
  return { call: before.find((call) => call.do === "call" && call.id === one.id) ?? null, readings: {} };
};

/** `4@0 1@2500`: calls of ann by cost and time, ms. */
function callsAt(text: string): { readonly words: string; readonly times: readonly number[] } {
  const calls = text.split(" ").map((call) => call.split("@").map(Number));
  return {
    words: calls.map(([cost], at) => `a${at}x${cost}`).join(" "),
    times: calls.map(([, ms = 0]) => ms),
  };
}

describe("twice-at-most", () => {
  const of = (text: string) => {
    const { words, times } = callsAt(text);
    return judged("twice-at-most", words, { rules, said: admits, times });
  };

  test("lets twice the limit pass within a window's length, and no unit more", async () => {
    expect(await of("3@0 1@0 4@9999")).toMatchObject({ judged: 6, broken: null });
    expect(await of("3@0 1@0 4@9999 1@9999")).toMatchObject({
      judged: 8,
      broken: "3: at most 8 admitted in any 10 s; 9 admitted in the 10 s up to this call; 2 x 4 = 8",
    });
  });

  test("forgets what was admitted a whole length before", async () => {
    expect(await of("3@0 2@1 3@9999 3@10000")).toMatchObject({ broken: null });
    expect(await of("3@0 2@1 3@9999 4@10000")).toMatchObject({
      broken: expect.stringMatching(/^3: .*; 9 admitted/),
    });
    expect(await of("3@0 2@1 3@9999 5@10001")).toMatchObject({ broken: null });
  });

  test("counts no refused calls, and judges nothing once limits were off", async () => {
    const terms = { rules, said: admits };
    expect(await judged("twice-at-most", "a0x4 b1x9 a2x4", terms)).toMatchObject({ judged: 4, broken: null });
    expect(await judged("twice-at-most", "off a0x4 a1x9", terms)).toMatchObject({ judged: 0 });
    expect((await judged("twice-at-most", "* a0x4 a1x9", terms)).broken).toMatch(/^1: /);
  });

  test("adds what postpaid windows passed their limit by through calls that they had room for", async () => {
    const postpaid = rulesOf({ ...usual, graphqlCharge: "postpaid" });
    const late = (text: string, times?: readonly number[]) =>
      judged("twice-at-most", text, { rules: postpaid, said: admits, ...(times && { times }) });
    // A call of 20 points in an empty window: 14 above the limit of 6. The next one finds it full.
    expect(await late("a1g =1x20 a2g =2x6")).toMatchObject({ judged: 4, broken: null });
    expect((await late("a1g =1x20 a2g =2x7")).broken).toBe(
      "2: at most 26 admitted in any 20 s; 27 admitted in the 20 s up to this call; 2 x 6 + 14 of overshoots = 26",
    );
    expect((await late("a1g =1x7 a2g =2x7")).broken).toMatch(/; 2 x 6 \+ 1 of overshoots = 13$/);
    // Two windows of one span, of 20 and 10 points.
    expect((await late("a1g =1x20 a2g =2x10", [1, 2, 20_000, 20_001])).broken).toBeNull();
    // No overshoot: 5 points and 7 in a window that had room.
    expect((await late("a1g =1x5 a2g =2x1 a3g =3x7")).broken).toBe(
      "4: at most 12 admitted in any 20 s; 13 admitted in the 20 s up to this call; 2 x 6 = 12",
    );
  });
});

describe("rate-bound", () => {
  const of = (algorithm: Algorithm, text: string, more: Partial<Script> & { isRecorded?: true } = {}) => {
    const { words, times } = callsAt(text);
    return judged("rate-bound", words, { rules, said: admits, algorithm, times, ...more });
  };

  test.each(["fixed-window", "sliding-log", "sliding-counter", "token-bucket", "unknown"] as const)(
    "%s: the capacity at one instant",
    async (algorithm) => {
      expect(await of(algorithm, "3@5 1@5")).toMatchObject({ judged: 4, broken: null });
      expect(await of(algorithm, "3@5 1@5 1@5")).toMatchObject({
        judged: 6,
        broken:
          "2: at most 4 admitted at one instant; 5 admitted at one instant, up to this call; the capacity is 4",
      });
    },
  );

  test.each([
    ["fixed-window", "4@0 4@2", "4@0 1@1 4@2", "0.002 s touch 2 windows: 2 x 4", 8, "0.002"],
    ["fixed-window", "4@0 4@10000", "4@0 1@1 4@10000", "10 s touch 2 windows: 2 x 4", 8, "10"],
    ["unknown", "4@0 4@10000", "4@0 1@1 4@10000", "10 s touch 2 windows: 2 x 4", 8, "10"],
    ["sliding-log", "3@0 1@9999", "4@0 1@9999", "9.999 s touch 1 window: 1 x 4", 4, "9.999"],
    [
      ...["sliding-counter", "4@0 1@2500 4@5000", "4@0 2@2500 4@5000"],
      ...["the limit 4, 4 per 10 s in 5 s and half a window, and 1 by rounding", 9, "5"],
    ],
    [
      ...["token-bucket", "4@0 2@2500 4@5000", "4@0 3@2500 4@5000"],
      ...["the capacity 4, 4 per 10 s in 5 s, and a refill of 10 s", 10, "5"],
    ],
  ] as [Algorithm, string, string, string, number, string][])(
    "%s: %s, and not %s",
    async (algorithm, kept, broken, sum, most, span) => {
      expect((await of(algorithm, kept)).broken).toBeNull();
      const at = broken.split(" ").length - 1;
      expect((await of(algorithm, broken)).broken).toBe(
        `${at}: at most ${most} admitted within ${span} s; ${most + 1} admitted within ${span} s, up to this call; ${sum}`,
      );
    },
  );

  test("a longer span touches one window more", async () => {
    expect((await of("fixed-window", "4@0 4@5000 4@10001")).broken).toBeNull();
    expect((await of("sliding-log", "4@0 4@10000")).broken).toBeNull();
    expect((await of("sliding-log", "4@0 4@10000 4@20000")).broken).toBeNull();
  });

  test("a fixed window by key is held to its limit where its anchor puts it", async () => {
    expect((await of("fixed-window", "4@0 1@9999")).broken).toBeNull();
    expect(await of("fixed-window", "3@0 1@9999 4@10000", { keyed: true })).toMatchObject({
      judged: 6,
      broken: null,
    });
    expect((await of("fixed-window", "4@0 1@9999", { keyed: true })).broken).toBe(
      "1: at most 4 admitted in a window; 5 admitted in this one, up to this call; the limit is 4",
    );
    expect((await of("unknown", "4@0 1@9999", { keyed: true })).broken).toBeNull();
  });

  test("says nothing of postpaid points, which may overshoot", async () => {
    const terms = { rules: rulesOf({ ...usual, graphqlCharge: "postpaid" }), said: admits };
    expect(await judged("rate-bound", "a1g =1x50 a2x9", terms)).toMatchObject({ judged: 2 });
    expect((await judged("rate-bound", "a1g =1x50 a2x9", terms)).broken).toMatch(/^2: at most 4/);
  });

  describe("a bucket by key is emptied, to see in which steps it refills", () => {
    const keyed = { keyed: true, startMs: 3000 } as const;

    test("those of one unit bound it closer", async () => {
      expect((await of("token-bucket", "4@0 3@5000", keyed)).broken).toBeNull();
      const { broken, played, atMs } = await of("token-bucket", "4@0 4@5000", keyed);
      expect(broken).toBe(
        "1: at most 7 admitted within 5 s; 8 admitted within 5 s, up to this call; " +
          "the capacity 4, 4 per 10 s in 5 s, and a refill of 2.5 s",
      );
      const emptied = "a0 a1 a2 a3 a4 a5 a6 a7";
      expect(played).toEqual(["a0x4 a1x4", emptied, emptied, emptied, emptied]);
      expect(atMs[1]).toEqual([10_001, 10_001, 10_001, 10_001, 12_502, 15_003, 17_504, 20_005]);
      expect(atMs.slice(1).map(([first]) => first)).toEqual([10_001, 12_901, 14_301, 15_701]);
      expect((await of("token-bucket", "4@0 2@1000", keyed)).broken).toMatch(
        /: at most 5 admitted within 1 s;/,
      );
    });

    test("a bucket that refuses then refills at once", async () => {
      const said: Said = (one, before) => ({
        decision: { admitted: one.do === "call" && before.length < 7 },
      });
      expect((await of("token-bucket", "4@0 4@5000", { ...keyed, said } as object)).broken).toBeNull();
    });

    test("whatever grid its steps lie on, steps of two units are seen", async () => {
      const two = rulesOf({ ...usual, limit: 2 });
      for (let offMs = 0; offMs < 10_000; offMs += 500) {
        const stepOf = (atMs: number): number => Math.floor((atMs - offMs) / 10_000);
        const said: Said = (one, before) => {
          const past = before.filter((other) => stepOf(other.atMs) === stepOf(one.atMs)).length;
          return { decision: { admitted: past < 2 } };
        };
        const edgeMs = 20_000 + offMs;
        const terms = { ...keyed, rules: two, said } as object;
        const text = `1@${edgeMs - 1} 1@${edgeMs - 1} 1@${edgeMs} 1@${edgeMs}`;
        expect((await of("token-bucket", text, terms)).broken, text).toBeNull();
      }
    });

    test("each size of bucket by itself", async () => {
      const sizes = rulesOf({ ...usual, limit: 1 });
      const lengthOf = (scope: string): number => (scope === "rest" ? 10_000 : 20_000);
      const said: Said = (one, before) => {
        if (one.do !== "call") return {};
        const stepOf = (atMs: number): number => Math.floor(atMs / lengthOf(one.scope));
        const past = before.filter(
          (other) =>
            other.do === "call" && other.scope === one.scope && stepOf(other.atMs) === stepOf(one.atMs),
        );
        const taken = past.reduce((sum, other) => sum + (other.do === "call" ? other.cost : 0), 0);
        return { decision: { admitted: taken + one.cost <= (one.scope === "rest" ? 1 : 6) } };
      };
      const terms = { ...keyed, rules: sizes, said, algorithm: "token-bucket", times: [0, 19_999, 20_000] };
      const { broken, judged: count } = await judged("rate-bound", "a0 a1gx6 a2gx6", terms as object);
      expect({ broken, count }).toEqual({ broken: null, count: 3 });
    });

    test("only if the bound of single units is passed", async () => {
      expect((await of("token-bucket", "4@0 1@1000", keyed)).played).toHaveLength(1);
    });

    test("but not one of more than 200, nor one that is recorded, nor one of an organization", async () => {
      const plays = async (more: object) =>
        (await of("token-bucket", "400@0", { ...keyed, ...more })).played.length;
      expect(await plays({ rules: rulesOf({ ...usual, limit: 200 }) })).toBe(5);
      expect(await plays({ rules: rulesOf({ ...usual, limit: 201 }) })).toBe(1);
      expect(await plays({ isRecorded: true })).toBe(1);
      expect(await plays({ keyed: undefined })).toBe(1);
      expect(
        (await judged("rate-bound", "?", { rules, said: admits, algorithm: "token-bucket", ...keyed }))
          .played,
      ).toEqual(["?"]);
    });
  });

  describe("calls that are under way at once", () => {
    const concurrent = (words: string, times?: readonly number[]) =>
      judged("rate-bound", words, { rules, said: admits, algorithm: "concurrency", ...(times && { times }) });

    test("are no more than the limit, by cost and by caller", async () => {
      expect(await concurrent("a1x3 b2x9 a3 c4! ~")).toMatchObject({ judged: 3, broken: null });
      expect((await concurrent("a1x3 a2 c3! a4")).broken).toBe(
        "3: at most 4 under way at once; 5 under way with this call; " +
          "those that were admitted within the last second and have not ended",
      );
    });

    test("end where they are completed, or after a second", async () => {
      expect((await concurrent("a1x4 =1 a2x4")).broken).toBeNull();
      expect((await concurrent("a1x4 a2x4", [0, 1000])).broken).toBeNull();
      expect((await concurrent("a1x4 a2x4", [0, 999])).broken).toMatch(/; 8 under way/);
      expect((await concurrent("b1x4 =1 a2x4")).broken).toBeNull();
    });
  });
});
