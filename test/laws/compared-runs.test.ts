// The laws that play a script twice: which operations they play again, how much they judge, and what they say of a
// limiter to which something matters that must not.
import { describe, expect, test } from "vitest";
import type { Op } from "../../src/laws/script.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, limiter, type Said, wordOf } from "./scripted.ts";

const counted = parseRules({
  organization: { rest: { limit: 4 } },
  user: { rest: { limit: 3 } },
  semantics: { refusedByUser: "charges-organization" },
});

const afterStatus = { counts: (one: Op) => one.do === "status" };
const differ = "the two runs differ only in what must not matter";

describe("status-free", () => {
  test("compares from the first status call on, with a run that has none", async () => {
    expect(await judged("status-free", "a1 * ? a2 b3 ?")).toMatchObject({
      played: ["a1 ? a2 b3 ?", "a1 a2 b3"],
      judged: 2,
      broken: null,
      label: "without the status calls",
    });
    expect(await judged("status-free", "a1 ? a2", { said: limiter(afterStatus) })).toMatchObject({
      broken: `2: rest current 2, as in the other run; rest current 3; ${differ}`,
    });
  });

  test("compares all where a status call comes first, and plays nothing again where there is none", async () => {
    expect(await judged("status-free", "? a1 a2")).toMatchObject({ played: ["? a1 a2", "a1 a2"], judged: 2 });
    expect(await judged("status-free", "a1 a2")).toMatchObject({
      played: ["a1 a2"],
      judged: 0,
      broken: null,
    });
  });
});

describe("snapshot-equals", () => {
  const forgets: Said = (one, before) => {
    const from = before.findIndex((earlier) => earlier.do === "snapshot");
    return limiter()(one, before.slice(from + 1));
  };

  test("compares from the first restart on, with a run that never stopped", async () => {
    expect(await judged("snapshot-equals", "a1 * a2 a3")).toMatchObject({
      played: ["a1 * a2 a3", "a1 a2 a3"],
      judged: 2,
      broken: null,
      label: "without stopping",
    });
    expect(await judged("snapshot-equals", "a1 * a2", { said: forgets })).toMatchObject({
      broken: `2: rest current 2, as in the other run; rest current 1; ${differ}`,
    });
  });

  test("compares all where it begins with one, and plays nothing again without one", async () => {
    expect(await judged("snapshot-equals", "* a1 a2")).toMatchObject({ judged: 2 });
    expect(await judged("snapshot-equals", "a1 ? a2")).toMatchObject({ played: ["a1 ? a2"], judged: 0 });
  });
});

describe("time-translates", () => {
  // Windows of 6, 4, 10 and 15 s have 60 s in common; years are 333,334 of these: 1.2 thousand million seconds and more.
  test.each([
    [0, 60],
    [1, 2 * 60 * 333_334],
    [2, 180],
    [3, 4 * 60 * 333_334],
  ])("pick %i shifts all times by %i s", async (pick, seconds) => {
    const { played, atMs, judged: count, label } = await judged("time-translates", "a1 * ? a2g", { pick });
    expect(played).toEqual(["a1 ? a2g", "a1 ? a2g"]);
    expect(atMs).toEqual([[0, 20, 30], [0, 20, 30].map((ms) => ms + 1000 * seconds)]);
    expect([count, label]).toEqual([2, `with all times ${seconds} s later`]);
  });

  test("windows that nobody's calls touch are not in common", async () => {
    const { atMs } = await judged("time-translates", "off ~ off");
    expect(atMs).toEqual([
      [0, 10, 20],
      [1000, 1010, 1020],
    ]);
  });

  test("says nothing of times that no date has", async () => {
    const latest = 8e15 - 12_000;
    expect(await judged("time-translates", "a1 a2", { times: [latest, 0] })).toMatchObject({ judged: 2 });
    expect(await judged("time-translates", "a1 a2", { times: [latest + 1, 0] })).toMatchObject({
      judged: 0,
      broken: null,
    });
  });

  test("a limiter that knows the time is told so", async () => {
    const said: Said = ({ atMs }) => ({ decision: { admitted: true, organization: { current: atMs } } });
    expect((await judged("time-translates", "a1", { said, times: [5] })).broken).toBe(
      `0: rest current 12005, as in the other run; rest current 5; ${differ}`,
    );
    const reset: Said = ({ atMs }) => ({ decision: { admitted: true, user: { resetAtMs: atMs } } });
    expect(await judged("time-translates", "a1", { said: reset })).toMatchObject({ judged: 1, broken: null });
  });
});

describe("isolated", () => {
  test("plays each organization's scope alone, and in it each of its users", async () => {
    expect(await judged("isolated", "a1 b2 off c3! a4g =4 =3 * ? ~ other-off a5")).toMatchObject({
      played: [
        "a1 b2 off c3! a4g =4 =3 ? ~ other-off a5",
        // acme's REST calls alone, then ann's and bob's alone; of the other ones nobody shares a window.
        "a1 b2 off ~ a5",
        "a1 off ~ a5",
        "b2 off ~",
        "c3! =3 ~ other-off",
        "a4g =4 ~",
      ],
      judged: 8,
      broken: null,
    });
  });

  test("plays nobody alone who is alone", async () => {
    expect(await judged("isolated", "a1 a2")).toMatchObject({ played: ["a1 a2"], judged: 0 });
  });

  test("names the organization and scope, or the user, whose calls others change", async () => {
    const others = limiter({
      counts: (one, asked) => one.do === "call" && one.organization !== asked.organization,
    });
    expect(await judged("isolated", "c1! a2", { said: others })).toMatchObject({
      label: "with the calls of acme in rest alone",
      broken: `1: rest current 1, as in the other run; rest current 2; ${differ}`,
    });
    const users: Said = (one, before) => {
      const { decision } = limiter()(one, before) as { decision: object };
      return { decision: { ...decision, user: { current: before.length } } };
    };
    expect(await judged("isolated", "a1 b2", { said: users })).toMatchObject({
      label: "with the calls of acme/b in rest_user alone",
      broken: `1: rest_user current 0, as in the other run; rest_user current 1; ${differ}`,
    });
  });

  test("compares users until the organization may have refused", async () => {
    // After four calls there is no room for a fifth, in the run with both: a5 and b6 say nothing of ann and bob.
    expect(await judged("isolated", "a1 b2 a3 b4 a5 b6")).toMatchObject({ judged: 4, broken: null });
    const refusedOnce: Said = (_, before) => {
      const decision = {
        admitted: before.length !== 2,
        refusedBy: before.length === 2 ? "organization" : null,
      };
      return { decision };
    };
    expect(await judged("isolated", "a1 b2 a3 b4", { said: refusedOnce })).toMatchObject({ judged: 3 });
    // While nothing is enforced, nothing is tight.
    const admits: Said = (one) => (one.do === "call" ? { decision: { admitted: true } } : {});
    expect(await judged("isolated", "off a1 b2 a3 b4 a5 b6", { said: admits })).toMatchObject({ judged: 6 });
    expect(await judged("isolated", "a1 b2 a3 b4 a5 b6", { said: admits })).toMatchObject({ judged: 4 });
  });
});

describe("all-or-nothing", () => {
  test("plays on without the refused calls", async () => {
    expect(await judged("all-or-nothing", "a1 a2 * a3 a4 b5 b6 b7")).toMatchObject({
      played: ["a1 a2 a3 a4 b5 b6 b7", "a1 a2 a3 b5"],
      // Two windows of each of three refusals, and four answers of the other run.
      judged: 10,
      broken: null,
      label: "without the refused calls",
    });
  });

  test("plays nothing again where nothing was refused, or the clock steps back", async () => {
    expect(await judged("all-or-nothing", "a1 a2")).toMatchObject({ played: ["a1 a2"], judged: 0 });
    const times = [0, 10, 20, 19];
    expect((await judged("all-or-nothing", "a1 a2 a3 a4", { times })).played).toHaveLength(1);
    expect((await judged("all-or-nothing", "a1 a2 a3 a4", { times: [0, 10, 20, 20] })).played).toEqual([
      "a1 a2 a3 a4",
      "a1 a2 a3",
    ]);
  });

  test("a refused call that shows in a window is one that was charged", async () => {
    const charges = limiter({ counts: (one) => wordOf(one) === "a3" });
    const said: Said = (one) =>
      wordOf(one) === "a4"
        ? {
            decision: {
              admitted: false,
              refusedBy: "user",
              organization: { current: 4 },
              user: { current: 3 },
            },
          }
        : charges(one, []);
    expect((await judged("all-or-nothing", "a4", { said })).broken).toBe(
      "0: current 0, as before the refused call; current 4; a refused call is not charged here",
    );
  });

  test("a refused call that changes later answers left a trace", async () => {
    const said: Said = (one, before) => {
      const admitted = wordOf(one) !== "a2";
      return {
        decision: { admitted, refusedBy: admitted ? null : "user", user: { limit: 3 + before.length } },
      };
    };
    expect(await judged("all-or-nothing", "a1 a2 b3", { said })).toMatchObject({
      broken: `2: rest_user limit 4, as in the other run; rest_user limit 5; ${differ}`,
      judged: 2,
    });
  });

  test("leaves in what refusals charge: those by a user, where the organization pays", async () => {
    expect(await judged("all-or-nothing", "a1 a2 a3 a4 b5 b6", { rules: counted })).toMatchObject({
      played: ["a1 a2 a3 a4 b5 b6", "a1 a2 a3 a4 b5"],
    });
    const all = parseRules({ semantics: { refused: "counted" } });
    expect((await judged("all-or-nothing", "a1 a2 a3 a4 b5 b6", { rules: all })).played).toHaveLength(1);
  });
});

describe("give-back", () => {
  test("uses up what is left at the end, as who was refused last, with and without the refused calls", async () => {
    expect(await judged("give-back", "a7 a2 a3 a4 b5", { times: [0, 10, 20, 30, 40] })).toMatchObject({
      played: [
        "a7 a2 a3 a4 b5",
        "a7 a2 a3 a4 b5 a8 a9 a10 a11",
        // Calls at the end are left in, refused or not.
        "a7 a2 a3 b5 a8 a9 a10 a11",
      ],
      atMs: [
        [0, 10, 20, 30, 40],
        [0, 10, 20, 30, 40, 40, 40, 40, 40],
        [0, 10, 20, 40, 40, 40, 40, 40],
      ],
      judged: 8,
      broken: null,
    });
  });

  test("plays nothing more where nobody was refused", async () => {
    expect(await judged("give-back", "a1 * b2")).toMatchObject({ played: ["a1 b2"], judged: 0 });
  });

  test("ends with forty calls at most", async () => {
    const wide = parseRules({ organization: { rest: { limit: 90 } }, user: { rest: { limit: 38 } } });
    const said: Said = (one) => ({ decision: { admitted: wordOf(one) !== "a1", refusedBy: "user" } });
    const closing = async (given: typeof wide) =>
      (await judged("give-back", "b3 a1 ~", { rules: given, said })).played[1]?.split(" ").length;
    expect(await closing(wide)).toBe(3 + 39);
    const wider = parseRules({ organization: { rest: { limit: 90 } }, user: { rest: { limit: 50 } } });
    expect(await closing(wider)).toBe(3 + 40);
  });

  test("a call that can never fit may leave a trace in a limiter by key", async () => {
    const said: Said = (one) => ({
      decision: { admitted: one.do === "call" && one.cost < 3, refusedBy: "user" },
    });
    const played = async (words: string, keyed?: true) =>
      (await judged("give-back", words, { said, ...(keyed && { keyed }) })).played.length;
    expect(await played("a1 a2x4", true)).toBe(1);
    expect(await played("a1 a2x3", true)).toBe(3);
    expect(await played("a1 a2x4")).toBe(3);
  });
});

describe("a limiter that is no fixed window", () => {
  // After a status call it refuses ann's second call at 20 ms, and not at the instants that are listed.
  const until =
    (...free: readonly number[]): Said =>
    (one, before) => {
      const isLate =
        wordOf(one) !== "a2" || free.includes(one.atMs) || !before.some(({ do: what }) => what === "status");
      return one.do === "call" ? { decision: { admitted: isLate, user: { current: before.length } } } : {};
    };
  const bucket = { algorithm: "token-bucket" } as const;

  test("is compared by whom it admits, and told from one that would admit a moment later", async () => {
    const words = "a1 ? a2 b3";
    const first = ["a1 ? a2 b3", "a1 a2 b3"];
    expect(await judged("status-free", words, { ...bucket, said: until(20) })).toMatchObject({
      played: first,
      judged: 2,
      broken: null,
    });
    for (const [free, times] of [
      [21, [21]],
      [1000, [21, 1000]],
    ] as const) {
      const {
        played,
        atMs,
        judged: count,
        broken,
      } = await judged("status-free", words, { ...bucket, said: until(free) });
      expect([played.length - 2, count, broken]).toEqual([times.length, 0, null]);
      expect(played.slice(2)).toEqual(times.map(() => "a1 ? a2"));
      expect(atMs.slice(2)).toEqual(times.map((ms) => [0, 10, ms]));
    }
    expect(await judged("status-free", words, { ...bucket, said: until() })).toMatchObject({
      judged: 1,
      broken: `2: admitted true, as in the other run; admitted false; ${differ}`,
    });
  });

  test("the run that refused is the one that is played again", async () => {
    const said: Said = (one, before) => {
      const asked = before.some(({ do: what }) => what === "status");
      return one.do === "call" ? { decision: { admitted: asked || one.atMs !== 20 } } : {};
    };
    const { played, atMs } = await judged("status-free", "a1 ? a2", { ...bucket, said });
    expect([played, atMs.at(-1)]).toEqual([
      ["a1 ? a2", "a1 a2", "a1 a2"],
      [0, 21],
    ]);
  });
});

test("what one run alone shows is not compared; status answers are, by scope", async () => {
  const shows =
    (own: object, others: object): Said =>
    (one, before) => {
      const current = before.some(({ do: what }) => what === "snapshot") ? own : others;
      return one.do === "status" ? { status: current } : { decision: { admitted: true, user: current } };
    };
  const of = (words: string, own: object, others: object) =>
    judged("snapshot-equals", words, { said: shows(own, others) });
  expect(await of("* a1", { current: null, limit: 2 }, { current: 7 })).toMatchObject({
    judged: 1,
    broken: null,
  });
  expect(await of("* a1", { limit: 2 }, { limit: undefined, current: 7 })).toMatchObject({ broken: null });
  expect(await of("* ?", { rest: { current: 1 } }, { graphql: { current: 2 } })).toMatchObject({ judged: 0 });
  expect((await of("* ?", { rest: { current: 1 } }, { rest: { current: 2 } })).broken).toBe(
    `1: rest current 2, as in the other run; rest current 1; ${differ}`,
  );
  expect((await of("* ?", { graphql: { current: 1 } }, { graphql: { current: 2 } })).broken).toBe(
    `1: graphql current 2, as in the other run; graphql current 1; ${differ}`,
  );
});
