// The search for an order of overlapping calls that explains their answers: which orders it tries, and what it says where
// none does.
import { describe, expect, test } from "vitest";
import { type OrderJudge, OrderSearch, type Round } from "../../src/laws/orders.ts";
import type { LawKind } from "../../src/laws/script.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";

interface Kind extends LawKind {
  readonly answered: { readonly op: { readonly name: string; readonly atMs: number } } & LawKind["answered"];
}
const round = (names: string, atMs = 0, untilMs = atMs): Round<Kind> => ({
  ...{ atMs, untilMs, steps: [] },
  events: Array.from(names, (name) => ({ op: { name, atMs } })) as unknown as Kind["answered"][],
});
/** A history in letters; those at another time than 0 have it behind them. */
const said = (history: readonly Kind["answered"][]): string =>
  history.map(({ op: { name, atMs } }) => `${name}${atMs === 0 ? "" : atMs}`).join("");

/** Searches among rounds, where `breaks` tells whether a history breaks a law. */
async function searched(
  rounds: readonly Round<Kind>[],
  breaks: (history: string, law: LimiterLawName) => boolean,
  laws: readonly LimiterLawName[] = ["bounded"],
) {
  const asked: string[] = [];
  const script = {} as Kind["script"];
  const judges: OrderJudge<Kind> = {
    laws,
    isVoid: (law) => law === "monotone",
    judge: async (law, { script: own, play, isRecorded }) => {
      expect(own).toBe(script);
      const history = (await play([])) as readonly Kind["answered"][];
      const text = said(history);
      asked.push(text);
      const violation = breaks(text, law) ? { at: history.length, text } : null;
      return { history, judged: 1, violation: isRecorded === true ? violation : null } as never;
    },
  };
  const found = await new OrderSearch(judges, script, rounds).unexplained();
  return { asked, found };
}

test("the order of the answers is tried first", async () => {
  expect(await searched([round("ab"), round("c")], () => false)).toEqual({
    asked: ["ab", "abc"],
    found: null,
  });
  expect(await searched([], () => true)).toEqual({ asked: [], found: null });
  // A round of no calls has one order.
  expect((await searched([round(""), round("a")], (history) => history === "a")).asked).toEqual(["", "a"]);
});

test("every other order is tried until one explains the answers", async () => {
  const { asked, found } = await searched([round("abc")], (history) => history !== "cba");
  expect([asked, found]).toEqual([["abc", "acb", "bac", "bca", "cab", "cba"], null]);
});

test("an order that a later round contradicts is given up", async () => {
  const { asked, found } = await searched([round("ab"), round("cd")], (history) => /^ab.|^bac/.test(history));
  expect(asked).toEqual(["ab", "abcd", "abdc", "ba", "bacd", "badc"]);
  expect(found).toBeNull();
});

test("where none explains them, the first breach of the farthest round is told", async () => {
  const rounds = [round("ab"), round("c"), round("d")];
  const { asked, found } = await searched(rounds, (history) => history === "ab" || history.length > 2);
  expect(asked).toEqual(["ab", "ba", "bac"]);
  expect(found).toEqual({
    ...{ law: "bounded", violation: { at: 3, text: "bac" } },
    ...{ rounds: rounds.slice(0, 2), orders: 3 },
  });
  const first = await searched([round("ab")], () => true);
  expect(first.found).toMatchObject({ violation: { text: "ab" }, orders: 2 });
});

test("every law that is not void is asked", async () => {
  const laws = ["monotone", "conserved", "bounded", "recovers"] as const;
  const asked: string[] = [];
  const { found } = await searched(
    [round("a")],
    (_, law) => {
      asked.push(law);
      return law === "bounded";
    },
    laws,
  );
  expect([asked, found?.law]).toEqual([["conserved", "bounded"], "bounded"]);
});

describe("a clock that moves while calls are under way", () => {
  test("may have moved before any of them", async () => {
    const { asked } = await searched([round("ab", 0, 7)], () => true);
    expect(asked).toEqual(["ab", "ab7", "a7b7", "ba", "ba7", "b7a7"]);
  });
});

test("too many orders accuse nobody", async () => {
  const six = await searched([round("abcdef")], () => true);
  expect(six.found?.orders).toBe(720);
  const seven = await searched([round("abcdefg")], () => true);
  expect([seven.asked.length, seven.found]).toEqual([2000, null]);
});
