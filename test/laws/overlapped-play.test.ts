// Calls that overlap, as they are played: which go together, when each starts, what closes a script, when the clock moves.
// And the seam between them: which steps wait for their turn, and what a chained call of a store comes to.
import { describe, expect, test } from "vitest";
import type { Round } from "../../src/laws/orders.ts";
import {
  aloneText,
  type Drawn,
  type OverlapKit,
  playOverlapping,
  schedulerOf,
} from "../../src/laws/overlapped-play.ts";
import type { LawKind } from "../../src/laws/script.ts";
import { Weave } from "../../src/laws/weave.ts";

interface Kind extends LawKind {
  readonly answered: { readonly op: LawKind["call"]; readonly nowMs: number; readonly admitted: boolean };
}

/** A limiter that admits so many calls, and tells the time of each. */
function kitOf(limit: number, log: string[] = []): OverlapKit<Kind> {
  return {
    windowMs: (_: Kind["script"], { cost }: Kind["call"]) => 1_000 * cost,
    isAdmitted: ({ admitted }: Kind["answered"]) => admitted,
    bare: (answered: Kind["answered"], moved: boolean) => ({ ...answered, bare: moved ? "moved" : "counts" }),
    player: async (_: Kind["script"], seam: Weave) => {
      let [used, nowMs] = [0, 0];
      return {
        setNow: async (ms: number) => {
          nowMs = ms;
          log.push(`now ${ms}`);
        },
        call: async (op: Kind["call"]) => {
          await seam.pause(`asks for ${op.cost}`);
          used += op.cost;
          log.push(`call ${op.id}`);
          return { op, nowMs, admitted: used <= limit };
        },
        close: async () => void log.push("closed"),
      };
    },
  } as unknown as OverlapKit<Kind>;
}

const call = (id: number, atMs: number, cost = 1) => ({ do: "call", id, atMs, cost }) as const;
const drawnOf = (ops: readonly Kind["op"][], more: Partial<Drawn<Kind>> = {}): Drawn<Kind> => ({
  script: { startMs: 0, pick: 0, ops },
  ...{ overlap: 3, staggered: 0, ticks: [], tickMs: 0, weave: 0 },
  ...more,
});
async function played(kit: OverlapKit<Kind>, drawn: Drawn<Kind>): Promise<Round<Kind>[]> {
  const rounds: Round<Kind>[] = [];
  await playOverlapping(kit, drawn, schedulerOf(1), rounds);
  return rounds;
}
const idsOf = (rounds: readonly Round<Kind>[]) =>
  rounds.map(({ events }) => events.map(({ op }) => op.id).toSorted((a, b) => a - b));

describe("calls", () => {
  const ops = [
    call(0, 5),
    call(1, 5),
    call(2, 5),
    call(3, 5),
    { do: "status", atMs: 5 },
    call(4, 5),
    call(5, 9),
  ];

  test("of one instant go together, so many at a time", async () => {
    const rounds = await played(kitOf(6), drawnOf(ops));
    expect(idsOf(rounds)).toEqual([[0, 1, 2], [3, 4], [5], [6]]);
    expect(rounds.map(({ atMs, untilMs }) => [atMs, untilMs])).toEqual([
      [5, 5],
      [5, 5],
      [9, 9],
      [9, 9],
    ]);
  });

  test("that overlapped show no counts, and one alone does", async () => {
    const [together, , alone] = await played(kitOf(6), drawnOf(ops));
    expect(together?.events.map((event) => ("bare" in event ? event.bare : null))).toEqual(
      Array(3).fill("counts"),
    );
    expect(alone?.events).toEqual([{ op: call(5, 9), nowMs: 9, admitted: true }]);
  });

  test("are closed by calls of one unit each until one is refused, at most twelve", async () => {
    const closing = (await played(kitOf(9), drawnOf([call(0, 5, 4), call(1, 7, 2)]))).slice(2);
    expect(closing.flatMap(({ events }) => events)).toEqual(
      [2, 3, 4, 5].map((id) => ({ op: { ...call(id, 7), id }, nowMs: 7, admitted: id < 5 })),
    );
    expect(idsOf(await played(kitOf(99), drawnOf([call(0, 0)])))).toEqual(
      Array.from({ length: 13 }, (_, id) => [id]),
    );
    expect(await played(kitOf(9), drawnOf([{ do: "status", atMs: 0 }], { tickMs: 1 }))).toEqual([]);
  });

  test("come one after the other where they are played alone", async () => {
    const [rounds, log]: [string[][], string[]] = [[], []];
    rounds.push(...JSON.parse(await aloneText(kitOf(3, log), drawnOf(ops).script)));
    expect(rounds.map(({ length }) => length)).toEqual(Array(7).fill(1));
    expect(log.filter((line) => !line.startsWith("now"))).toEqual([
      ...Array.from({ length: 7 }, (_, id) => `call ${id}`),
      "closed",
    ]);
  });

  test("start at once, or each in its turn where the round's bit is set", async () => {
    const startsOf = async (staggered: number) =>
      (await played(kitOf(99), drawnOf([call(0, 1), call(1, 1), call(2, 2), call(3, 2)], { staggered })))
        .slice(0, 2)
        .map(({ steps }) => steps.filter((step) => step.endsWith("arrives")).length);
    expect(await startsOf(0)).toEqual([0, 0]);
    expect(await startsOf(1)).toEqual([2, 0]);
    expect(await startsOf(2)).toEqual([0, 2]);
  });

  test("of the ninth round have the first round's bit again", async () => {
    const nine = Array.from({ length: 9 }, (_, at) => call(at, at));
    const rounds = await played(kitOf(99), drawnOf(nine, { staggered: 1 }));
    const staggered = rounds.flatMap(({ steps }, at) =>
      steps.some((step) => step.endsWith("arrives")) ? [at] : [],
    );
    expect(staggered).toEqual([0, 8]);
  });

  test("have a clock that moves before a step, and much later one call more", async () => {
    const log: string[] = [];
    const rounds = await played(
      kitOf(2, log),
      drawnOf([call(0, 10), call(1, 10), call(2, 15)], { ticks: [2], tickMs: 50 }),
    );
    expect(rounds.map(({ atMs, untilMs }) => [atMs, untilMs])).toEqual([
      [10, 60],
      [60, 60],
      [60, 60],
      [2_060, 2_060],
    ]);
    expect(rounds[0]?.steps).toHaveLength(3);
    expect(rounds[0]?.steps[1]).toBe("50 ms pass");
    expect(rounds[0]?.events.every((event) => "bare" in event && event.bare === "moved")).toBe(true);
    expect(rounds.at(-1)?.events).toEqual([{ op: call(15, 2_060), nowMs: 2_060, admitted: false }]);
    expect(log.at(-1)).toBe("closed");
  });

  test("leave a closed limiter where one fails", async () => {
    const log: string[] = [];
    const kit = kitOf(1, log);
    const failing = {
      ...kit,
      isAdmitted: () => {
        throw new Error("down");
      },
    };
    await expect(played(failing, drawnOf([call(0, 0)]))).rejects.toThrow("down");
    expect(log.at(-1)).toBe("closed");
  });
});

describe("a store", () => {
  const store = {
    prefix: "p:",
    counts: new Map<string, number>(),
    async incr(key: string) {
      const count = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, count);
      return count;
    },
    emit: (name: string) => `sent ${name}`,
    multi() {
      const asked: string[] = [];
      const chain = {
        incr: (key: string) => {
          asked.push(key);
          return chain;
        },
        exec: () => asked.map((key) => `${key}: 1`),
      };
      return chain;
    },
    fails: () => Promise.reject(new Error("gone")),
  };
  /** Works on the store while calls overlap. */
  const overlapped = async <T>(
    work: (woven: typeof store) => Promise<T>,
  ): Promise<{ result: T | undefined; steps: string[] }> => {
    const weave = new Weave(schedulerOf(3));
    const woven = weave.over(store);
    const [result] = await weave.overlap([{ id: 7, run: () => work(woven) }], true);
    return { result, steps: weave.steps };
  };

  test("has its members, and its calls run at once where none overlap", async () => {
    const weave = new Weave(schedulerOf(3));
    const woven = weave.over({ ...store, counts: new Map<string, number>() });
    expect([woven.prefix, woven.constructor, await woven.incr("a")]).toEqual(["p:", Object, 1]);
    await weave.pause();
    expect(weave.steps).toEqual([]);
  });

  test("lets each call wait for its turn, with its arguments in a few words", async () => {
    const long = "k".repeat(60);
    const { result, steps } = await overlapped(async (woven) => [
      await woven.incr("a"),
      await woven.incr(long),
      woven.emit("done"),
      await (woven.incr as (...words: unknown[]) => Promise<number>)("a", () => 1, undefined, { n: 1 }),
    ]);
    expect(result).toEqual([1, 1, "sent done", 2]);
    expect(steps).toEqual([
      'call 7: incr("a")',
      `call 7: incr("${"k".repeat(39)}...)`,
      'call 7: incr("a", function, undefined, {"n":1})',
    ]);
  });

  test("takes chained calls before the first has run, as one step", async () => {
    const { result, steps } = await overlapped(async (woven) => {
      const chain = woven.multi() as unknown as { incr(key: string): { exec(): Promise<string[]> } };
      return chain.incr("a").exec();
    });
    expect(result).toEqual(["a: 1"]);
    expect(steps).toEqual(["call 7: multi()"]);
  });

  test("says which method there is none of, and passes errors on to who awaits them", async () => {
    const none = overlapped(async (woven) =>
      (woven.incr("x") as unknown as { exec(): Promise<void> }).exec(),
    );
    await expect(none).rejects.toThrow("exec is no method of what the store gave");
    const handled = await overlapped(async (woven) => woven.fails().catch(({ message }: Error) => message));
    expect(handled.result).toBe("gone");
    const last: string[] = [];
    const ended = await overlapped(async (woven) => woven.incr("y").finally(() => void last.push("over")));
    expect([ended.result, last]).toEqual([1, ["over"]]);
    expect((await overlapped(async (woven) => String(woven.incr("z")))).result).toBe("[object Promise]");
  });
});

test("a clock moves once, and steps of nobody have no number", async () => {
  const weave = new Weave(schedulerOf(5));
  let ticks = 0;
  weave.tickBefore(1, "a second passes", async () => {
    ticks += 1;
  });
  const run = async (): Promise<void> => {
    await weave.pause();
    await weave.pause("thinks");
  };
  await weave.overlap([{ id: 1, run }], true);
  expect([ticks, weave.steps]).toEqual([1, ["a second passes", "call 1: pause", "call 1: thinks"]]);
});

test("a step is its own call's, also behind a store whose answers come at once from a socket", async () => {
  const weave = new Weave(schedulerOf(5));
  const answers: (() => void)[] = [];
  const store = weave.over({
    get: (_: string) =>
      new Promise<void>((resolve) => {
        answers.push(resolve);
        if (answers.length !== 2) return;
        const both = answers.splice(0);
        setImmediate(() => {
          for (const answer of both) answer();
        });
      }),
  });
  const runs = ["ann", "bob"].map((key, id) => ({
    id,
    run: async () => {
      await store.get(key);
      await store.get(key);
    },
  }));
  await weave.overlap(runs, true);
  expect(weave.steps.toSorted()).toEqual([
    'call 0: get("ann")',
    'call 0: get("ann")',
    'call 1: get("bob")',
    'call 1: get("bob")',
  ]);
});
