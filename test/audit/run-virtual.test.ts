// An audit in virtual time: it calls as some callers, ends early, and takes some calls for its own.
import { describe, expect, test } from "vitest";
import type { Experiment } from "../../src/audit/experiment.ts";
import { audit, planned } from "../../src/audit/run.ts";
import {
  type Answer,
  broken,
  kept,
  type Shot,
  Unexercised,
  unexercised,
  windowRolled,
} from "../../src/audit/step.ts";
import { BodyBytes, type Raw } from "../../src/audit/wires.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { auditedRules, experimentsOf } from "./virtual.ts";

const unanswered = ({ sentMs, receivedMs }: Raw, error = "gone"): Raw => ({
  ...{ sentMs, receivedMs, error, status: 0, headers: {}, body: "" },
});
const statesOf = ({ result }: Awaited<ReturnType<typeof auditedRules>>) =>
  result.rows.map(({ name, state, why }) => [name, state, why]);
const lostIn = (trace: string): number => JSON.parse(trace.slice(0, trace.indexOf("\n"))).lost;
const gentle = { experiments: experimentsOf("cost-as-told other-user") };

describe("callers", () => {
  const rules = parseRules({});
  const named = (sizes: readonly number[]) => {
    const tokens = sizes.flatMap((size, group) =>
      Array.from({ length: size }, (_, user) => ({
        token: `${group}/${user}`,
        attributes: { organization: `o${group}`, user: `u${user}` },
      })),
    );
    const { lab } = planned({
      ...{ policy: policyOf(rules), rules, tokens, alone: true, spend: 1, maxMs: 1_000, timeoutMs: 1_000 },
      target: parseTarget("target", "http://127.0.0.1:4100"),
      experiments: [],
    });
    return lab.callers.map(({ name }) => name);
  };
  const of = (group: number, from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, at) => `o${group}/u${from + at}`);

  test.each([
    ["all of a few", [2, 1], [...of(0, 0, 2), ...of(1, 0, 1)]],
    [
      "three of each further organization first",
      [2, 5, 4],
      [...[...of(0, 0, 2), ...of(1, 0, 3), ...of(2, 0, 3)], ...[...of(1, 3, 5), ...of(2, 3, 4)]],
    ],
    ["24 at most", [30], of(0, 0, 24)],
    ["three of others beside many", [30, 9], [...of(0, 0, 21), ...of(1, 0, 3)]],
    ["as many of others as have room", [20, 3, 3, 9], [...of(0, 0, 20), ...of(1, 0, 3), ...of(2, 0, 1)]],
  ])("are %s", (_, sizes, names) => {
    expect(named(sizes)).toEqual(names);
  });
});

describe("an experiment", () => {
  /** Audits with one experiment, whose runs make so many looks each, or throw; the last one stands for all later ones. */
  const run = async (
    runs: readonly (number | Error | "rolled")[],
    more: Partial<Experiment> = {},
    options: Parameters<typeof auditedRules>[1] = {},
  ) => {
    let made = 0;
    const experiment: Experiment = {
      ...{
        name: "own",
        law: "conserved",
        section: "SPEC.md",
        promise: "it is kept",
        needs: "nothing",
        calls: 9,
      },
      lacks: (_lab, { operation }) => (operation === "rest" ? null : "another operation"),
      *run(lab, subject) {
        const looks = runs[Math.min(made, runs.length - 1)] as (typeof runs)[number];
        made += 1;
        if (looks === "rolled") return unexercised(windowRolled);
        if (looks instanceof Error) throw looks;
        const answers: Answer[] = [];
        while (answers.length < looks) answers.push(yield* lab.look(subject, subject.callers[0]));
        return looks === 0 ? kept : broken(answers, "none", `${looks} looks`);
      },
      ...more,
    };
    const { result } = await auditedRules(null, { experiments: [experiment], ...options });
    const [{ state, why, broken: found }] = result.rows as [(typeof result.rows)[number]];
    return {
      made,
      state,
      why,
      found: found.map(({ got, calls, isRepeated }) => [got, calls.length, isRepeated]),
    };
  };

  test("that finds something is made twice, and the finding of fewer answers is told", async () => {
    expect(await run([3, 1])).toMatchObject({ made: 2, state: "broken", found: [["1 looks", 1, true]] });
    expect(await run([1, 3])).toMatchObject({ made: 2, state: "broken", found: [["1 looks", 1, true]] });
    expect(await run([0])).toMatchObject({ made: 1, state: "kept", found: [] });
  });

  test("that finds something once is not believed", async () => {
    const once = { made: 2, state: "not exercised", found: [] };
    expect(await run([2, 0])).toMatchObject({
      ...once,
      why: "graphql: another operation; rest: seen once (2 looks), and not again",
    });
  });

  test("is tried again while its window rolls, or if another try may succeed", async () => {
    expect(await run(["rolled", "rolled", 0])).toMatchObject({ made: 3, state: "kept" });
    expect(await run([new Unexercised("busy", true), 0])).toMatchObject({ made: 2, state: "kept" });
    const never = await run(["rolled"]);
    expect(never).toMatchObject({ state: "not exercised" });
    expect(never.why).toContain("the window rolled");
    expect(await run([new Unexercised("too dear"), 0])).toMatchObject({ made: 1, state: "not exercised" });
    await expect(run([new RangeError("a mistake")])).rejects.toThrow("a mistake");
  });

  test("that finds something beside others is believed if no look tells of them", async () => {
    // After one call of each caller and one look of each run: it would show whether the count moves by itself.
    let calls = 0;
    const made = await run(
      [1],
      {},
      {
        alone: false,
        by: (send) => async (shot) => {
          const raw = await send(shot);
          calls += 1;
          return calls === 19 + 2 + 1 ? unanswered(raw) : raw;
        },
      },
    );
    expect([calls, made.state]).toEqual([19 + 2 + 1, "broken"]);
  });

  test("may judge all answers at the end; what it found before is told once", async () => {
    const judging = (got: string, looks: number) =>
      run([looks], { judge: (_lab, answers) => broken(answers.slice(0, 1), "none", got) });
    expect((await judging("something", 0)).found).toEqual([["something", 1, true]]);
    expect((await judging("2 looks", 2)).found).toEqual([["2 looks", 2, true]]);
    expect((await judging("others", 2)).found).toHaveLength(2);
    expect((await run([0], { judge: () => kept })).state).toBe("kept");
  });
});

describe("calls without an answer", () => {
  /** The first calls are those of the preflight: one a caller. */
  const withSilence = (isSilent: (calls: number) => boolean) => {
    let calls = -19;
    return auditedRules(null, {
      ...gentle,
      by: (send) => async (shot) => {
        const raw = await send(shot);
        calls += 1;
        return calls > 0 && isSilent(calls) ? unanswered(raw) : raw;
      },
    });
  };

  test("end an audit after six in a row", async () => {
    const made = await withSilence(() => true);
    const why = "interrupted: 6 calls in a row had no answer (gone)";
    expect(made.result.ended).toEqual({ stopped: "6 calls in a row had no answer (gone)" });
    expect(statesOf(made)).toContainEqual(["other-user", "not exercised", why]);
    expect(made.result.calls).toBe(19 + 6);
  });

  test("do not end it where every sixth has one", async () => {
    expect((await withSilence((calls) => calls % 6 !== 0)).result.ended).toBe("whole");
  });
});

describe("an interruption", () => {
  const interrupted = (by: (shot: Shot) => boolean, isTold = true) => {
    const stop = new AbortController();
    return auditedRules(null, {
      experiments: experimentsOf("burst-of-a-caller twin-pipelined cost-as-told race-at-the-limit"),
      signal: stop.signal,
      by: (send) => (shot) => {
        if (!by(shot)) return send(shot);
        if (isTold) stop.abort();
        return Promise.reject(new Error("the call was given up"));
      },
    });
  };
  const second = (): (() => boolean) => {
    let calls = 0;
    return () => ++calls === 19 + 2;
  };

  test("keeps what was found, says that the rest was not tried, and counts calls of which nobody heard", async () => {
    const made = await interrupted(second());
    expect(made.result.ended).toBe("interrupted");
    expect(new Set(made.result.rows.map(({ why }) => why))).toContain("interrupted");
    expect(made.result.rows.filter(({ state }) => state === "broken")).toEqual([]);
    expect(made.result.calls).toBe(19 + 1);
    expect(lostIn(made.trace)).toBe(1);
  });

  test("is told from a failure, which is thrown", async () => {
    await expect(interrupted(second(), false)).rejects.toThrow("the call was given up");
  });

  test("ends a wait", async () => {
    const stop = new AbortController();
    const made = await auditedRules(
      null,
      {
        experiments: experimentsOf("pause-then-status-then-call"),
        signal: stop.signal,
        by: (send, clock) => {
          const { sleep } = clock;
          Object.assign(clock, {
            sleep: (ms: number, signal: AbortSignal | undefined) => {
              if (ms < 500) return sleep(ms, signal);
              stop.abort();
              return Promise.reject(new Error("aborted"));
            },
          });
          return send;
        },
      },
      { semantics: { anchor: "first-request" } },
    );
    expect(made.result.ended).toBe("interrupted");
    expect(lostIn(made.trace)).toBe(0);
  });
});

test("what has no time left is not tried", async () => {
  const made = await auditedRules(null, { ...gentle, maxMs: 1 });
  expect(statesOf(made).slice(0, 2)).toEqual([
    ["cost-as-told", "not exercised", "no time is left"],
    ["other-user", "not exercised", "no time is left"],
  ]);
});

describe("somebody else", () => {
  /** Makes the latest call that costs something again and again, as the same caller: at most five times between two calls. */
  const beside = (alone: boolean) =>
    auditedRules(null, {
      ...{ experiments: experimentsOf("cost-as-told"), alone },
      by: (send, clock) => {
        let latest: Shot | null = null;
        let heardMs = clock.now();
        return async (shot) => {
          const times = Math.min(5, Math.ceil((clock.now() - heardMs + 1) / 200));
          for (let time = 0; latest !== null && time < times; time++) await send(latest);
          if (shot.operation !== "status") latest = shot;
          const raw = await send(shot);
          heardMs = clock.now();
          return raw;
        };
      },
    });

  test("is not taken for the deployment", async () => {
    const why = "somebody else uses these quotas: --alone says that nobody does";
    expect(statesOf(await beside(false))[0]).toEqual(["cost-as-told", "not exercised", why]);
  });

  test("is, where the audit is said to be alone", async () => {
    expect(statesOf(await beside(true))[0]?.[1]).toBe("broken");
  });

  test("is not who charges twice", async () => {
    const made = await auditedRules("double-count", {
      experiments: experimentsOf("cost-as-told"),
      alone: false,
    });
    expect(statesOf(made)[0]?.[1]).toBe("broken");
  });
});

test("each task is told as it begins and as it ends, and the trace begins with what it is of", async () => {
  const told: string[] = [];
  const { trace } = await auditedRules(null, {
    experiments: experimentsOf("other-user twin-head query-by-get"),
    onProgress: (doing, done, tasks) => void told.push(`${doing}: ${done} of ${tasks}`),
    onFinding: ({ experiment, subject }, { state }) =>
      void told.push(`${experiment.name}, ${subject.operation}: ${state}`),
  });
  expect(told.toSorted()).toEqual([
    "other-user, graphql: 1 of 4",
    "other-user, graphql: kept",
    "other-user, rest: 0 of 4",
    "other-user, rest: kept",
    "query-by-get, graphql: 3 of 4",
    "query-by-get, graphql: kept",
    "twin-head, rest: 2 of 4",
    "twin-head, rest: kept",
  ]);
  const { policy: _, ...header } = JSON.parse(trace.slice(0, trace.indexOf("\n")));
  expect(header).toEqual({
    ...{ format: "spillway-trace", version: 2, source: "other", scenario: "audit", seed: null },
    ...{ target: "http://127.0.0.1:4100", startedAt: Date.UTC(2026, 0, 5, 10, 0, 1, 300) },
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    ...{ complete: true, lost: 0 },
  });
});

test("a body is taken up to a MiB, chunk by chunk", () => {
  const bytes = new BodyBytes();
  const half = new Uint8Array(1 << 19);
  expect([bytes.add(half), bytes.add(half), bytes.add(new Uint8Array(1))]).toEqual([true, true, false]);
  const whole = new BodyBytes();
  expect(whole.add(new Uint8Array((1 << 20) + 1))).toBe(false);
});

test("wires are closed where the target serves no caller, or fails, and at the end of an audit", async () => {
  const rules = parseRules({});
  const tokens = ["ann", "bob"].map((user) => ({ token: user, attributes: { organization: "acme", user } }));
  const closedAfter = async (send: (shot: Shot) => Promise<Raw>): Promise<number> => {
    let closed = 0;
    const close = async (): Promise<void> => {
      closed += 1;
    };
    const made = audit({
      ...{ policy: policyOf(rules), rules, tokens, experiments: [] },
      ...{ alone: true, spend: 1, maxMs: 1_000, timeoutMs: 1_000 },
      target: parseTarget("target", "http://127.0.0.1:4100"),
      wires: { send, sendAll: async () => [], close },
      clock: { now: () => 0, wait: async () => {} } as never,
    });
    await made.catch(() => {});
    return closed;
  };
  // A refusal is of a caller who is known.
  const raw: Raw = { sentMs: 0, receivedMs: 1, status: 429, headers: {}, body: "{}", error: null };
  expect(await closedAfter(async () => raw)).toBe(1);
  expect(await closedAfter(async () => unanswered(raw))).toBe(1);
  expect(
    await closedAfter(async () => {
      throw new Error("the wires are cut");
    }),
  ).toBe(1);
  // The audit begins anew without the caller who is not served.
  const unknown = { ...raw, status: 401 };
  expect(await closedAfter(async ({ caller }) => (caller?.name === "acme/bob" ? unknown : raw))).toBe(2);
});
