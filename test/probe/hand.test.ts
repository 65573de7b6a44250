// The hands of probes: what they may use, what they tell meanwhile, and when they stop.
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import { contact } from "../../src/probe/contact.ts";
import { Hand, type HandOptions, Stopped } from "../../src/probe/hand.ts";
import { PolicySession } from "../../src/probe/policy-session.ts";
import { get, ownPipelines } from "../../src/probe/queries.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { caller, policyOf } from "./parcels.ts";
import { isStatus, scripted } from "./scripted.ts";

const allowance = { calls: 2, points: 0, statusCalls: 1, waitMs: 100 };

describe("a hand", () => {
  const hand = (more: Partial<HandOptions> = {}) => {
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);
    return { slept, hand: new Hand({ allowance, now: () => 5_000, sleep, ...more }) };
  };

  test("waits within its allowance, and not at all beyond it", async () => {
    const { hand: one, slept } = hand();
    expect(await one.wait(101)).toBe(false);
    expect(await one.wait(60)).toBe(true);
    expect(await one.wait(-7)).toBe(true);
    expect(await one.wait(41)).toBe(false);
    expect(await one.wait(40)).toBe(true);
    expect(slept).toEqual([60, 40]);
    expect([one.used.waitMs, one.left]).toEqual([100, { calls: 2, points: 0, statusCalls: 1, waitMs: 0 }]);
    await one.pause(3);
    await one.pause(0);
    expect([slept.length, one.left.waitMs]).toEqual([3, 0]);
  });

  test("tells what it does, and until when", () => {
    const told: unknown[] = [];
    const { hand: one } = hand({ onProgress: (progress) => told.push(progress) });
    one.say("looking");
    one.used.calls = 2;
    one.say("waiting", 40);
    expect(told).toEqual([
      { doing: "looking", untilMs: null, calls: 0, statusCalls: 0, waitLeftMs: 100 },
      { doing: "waiting", untilMs: 5_040, calls: 2, statusCalls: 0, waitLeftMs: 100 },
    ]);
  });

  test("ends whole, stopped, interrupted or by an error", async () => {
    const end = new AbortController();
    const { hand: one, slept } = hand({ signal: end.signal });
    const failing = (error: Error) => one.ended(() => Promise.reject(error));
    expect(await one.ended(async () => {})).toBe("whole");
    expect(await failing(new Stopped("enough"))).toEqual({ stopped: "enough" });
    await expect(failing(new TypeError("odd"))).rejects.toThrow("odd");
    end.abort();
    expect(await one.ended(() => one.pause(1))).toBe("interrupted");
    expect(slept).toEqual([]);
    await expect(failing(new SpillwayError("USAGE", "wrong"))).rejects.toThrow("wrong");
  });

  test("that is interrupted while it sleeps does not go on", async () => {
    const end = new AbortController();
    const { hand: one } = hand({ signal: end.signal, sleep: async () => end.abort() });
    await expect(one.pause(1)).rejects.toThrow(/abort/);
  });
});

describe("a hand by a policy", () => {
  /** Statuses of the answers, the last one again and again; 0 for none. */
  const answering = (statuses: readonly number[], more: object = {}) => {
    let asked = 0;
    return new PolicySession({
      ...{ policy: policyOf({}), target: "http://127.0.0.1:1", caller, now: () => 5_000 },
      allowance: { calls: 20, points: 0, statusCalls: 20, waitMs: 0, ...more },
      send: async () => {
        const status = statuses[Math.min(asked, statuses.length - 1)] ?? 200;
        asked += 1;
        if (status === 0) throw new NoAnswer("ECONNRESET");
        return { status, headers: {}, body: "{}" };
      },
    });
  };
  const calling = async (statuses: readonly number[]) => {
    const session = answering(statuses);
    try {
      for (let call = 0; call < 8; call++) await session.call("look");
      return session.calls.length;
    } catch (error) {
      if (error instanceof Stopped) return [session.calls.length, error.message];
      if (!(error instanceof SpillwayError)) throw error;
      return [session.calls.length, error.code, error.problems[0]?.got, error.hint];
    }
  };

  test("makes as many calls as it may, and reads the status as often as it may", async () => {
    const session = answering([200], { calls: 2, statusCalls: 1 });
    expect(session.hasStatus).toBe(true);
    const made = [await session.call("look"), await session.call("nothing"), await session.call("write")];
    expect(made.map((call) => call?.operation)).toEqual(["look", undefined, "write"]);
    expect(await session.call("look")).toBeNull();
    expect((await session.status())?.operation).toBe("status");
    expect(await session.status()).toBeNull();
    expect(session.used).toEqual({ calls: 2, points: 0, statusCalls: 1, waitMs: 0 });
    expect(session.calls.map(({ call }) => call)).toEqual([0, 1, 2]);
  });

  test("goes on after refusals, what is unchanged, and fewer than four failures in a row", async () => {
    expect(await calling([429])).toBe(8);
    expect(await calling([304])).toBe(8);
    expect(await calling([200, 503, 503, 503, 200, 0, 503, 0, 200])).toBe(8);
  });

  test.each<[string, number[], unknown]>([
    ["four failures in a row", [200, 503, 0, 503, 503], [5, "call 5 (look) was answered 503"]],
    ["a redirect", [200, 302], [2, "call 2 (look) was answered 302"]],
    ["a token that is no longer known", [200, 401], [2, "call 2 (look) was answered 401"]],
  ])("stops at %s", async (_, statuses, ended) => {
    expect(await calling(statuses)).toEqual(ended);
  });

  test.each<[number, string, string]>([
    [401, "401", "is this a token of this target?"],
    [404, "404", "is this the API's address, and its policy?"],
    [0, "ECONNRESET", "is this the API's address, and its policy?"],
  ])("says of a first answer of %d that nothing answers there", async (status, got, hint) => {
    expect(await calling([status])).toEqual([1, "TARGET_UNREACHABLE", got, hint]);
  });
});

describe("a hand by rules", () => {
  /** Makes calls, the first of the status, that are answered so; 0 is none. Returns their number, and why it stopped. */
  const ended = async (statuses: readonly number[], isStatusAlone = false) => {
    const { session } = scripted((_, number) => {
      const status = statuses[number - 1] ?? 200;
      if (status === 0) throw new NoAnswer("timeout");
      return { status };
    });
    const act = () => (isStatusAlone ? session.status() : session.act(get("/a")));
    try {
      await session.status();
      while (session.calls.length < statuses.length) await act();
      return session.calls.length;
    } catch (error) {
      if (error instanceof Stopped) return [session.calls.length, error.message];
      throw error;
    }
  };
  const failing = (times: number): number[] => new Array(times).fill(503);

  test("goes on after failures that are few, and after the limiter's own answers", async () => {
    expect(await ended([200, ...failing(11), 200, 0, 200, 0])).toBe(16);
    expect(await ended([200, 403, 404, 429, 299, 400])).toBe(6);
  });

  test("spends points and calls to the last, and no more", async () => {
    const { session } = scripted(() => ({}), { calls: 2, points: 106 });
    const query = ownPipelines("acme", 50);
    expect(session.affords({ ...query, points: 107 })).toBe(false);
    const made = [await session.act({ ...query, points: 54 }), await session.act({ ...query, points: 53 })];
    expect(made.map((call) => call?.points)).toEqual([54, undefined]);
    expect((await session.act({ ...query, points: 52 }))?.number).toBe(2);
    expect(await session.act(get("/a"))).toBeNull();
    expect(session.used).toEqual({ calls: 2, points: 106, statusCalls: 0, waitMs: 0 });
  });

  test("reads a status again after failures, up to six times, but not after silence", async () => {
    const pauses = async (statuses: readonly number[], allowed = 20) => {
      const { session, waited } = scripted(
        (_, number) => {
          const status = statuses[number - 1] ?? 200;
          if (status === 0) throw new NoAnswer("timeout");
          return { status };
        },
        { statusCalls: allowed },
      );
      return [(await session.status())?.status, session.used.statusCalls, waited];
    };
    expect(await pauses([])).toEqual([200, 1, []]);
    expect(await pauses([503, 503, 404])).toEqual([404, 3, [200, 200]]);
    expect(await pauses(failing(5))).toEqual([200, 6, [200, 200, 200, 200, 200]]);
    expect(await pauses(failing(6))).toEqual([undefined, 6, [200, 200, 200, 200, 200, 200]]);
    expect(await pauses([503, 503], 2)).toEqual([undefined, 2, [200, 200]]);
    expect(await pauses([0, 503, 0])).toEqual([200, 4, [200, 200, 200]]);
    expect(await pauses([503, 0, 0])).toEqual([undefined, 3, [200, 200]]);
  });

  test("forgets all calls but the last", async () => {
    const { session } = scripted(() => ({}));
    for (let call = 0; call < 5; call++) await session.status();
    const kept = (keep: number): number[] => {
      session.forget(keep);
      return session.calls.map(({ number }) => number);
    };
    expect([kept(6), kept(5), kept(2), kept(3)]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
      [4, 5],
      [4, 5],
    ]);
  });

  test.each<[string, number[], string, boolean?]>([
    [
      "12 failures",
      [200, ...failing(12)],
      "12 calls in a row were answered 503, the last was call 13 (GET /a)",
    ],
    ["silence", [200, 0, 0], "2 calls in a row had no answer, the last was call 3 (GET /a): timeout"],
    ["401", [200, 401], "call 2 (GET /a) was answered 401: the token is no longer taken"],
    ["300", [200, 300], "call 2 (GET /a) was answered 300, a redirect: none is followed"],
    ["399", [200, 399], "call 2 (GET /a) was answered 399, a redirect: none is followed"],
    [
      "no answer 304, which is no redirect",
      [200, 304, 401],
      "call 3 (GET /a) was answered 401: the token is no longer taken",
    ],
    ["404", [200, 404], "call 2 (GET status) was answered 404, where earlier ones were answered 200", true],
    ["429", [200, 429], "call 2 (GET status) was answered 429, where earlier ones were answered 200", true],
  ])("stops at %s", async (_, statuses, why, isStatusAlone) => {
    expect(await ended(statuses, isStatusAlone)).toEqual([statuses.length, why]);
  });
});

describe("the first contact", () => {
  const made = async (answers: Parameters<typeof scripted>[0], options: object = {}) => {
    const { session } = scripted(answers, options);
    const ended = await contact(session).then(
      ({ number }) => number,
      ({ problems }: SpillwayError) => problems[0]?.got,
    );
    return [ended, session.calls.length];
  };

  test("is a status that is read, by a second reading too", async () => {
    expect(await made(() => ({}))).toEqual([1, 1]);
    expect(await made((_, number) => ({ status: number < 6 ? 503 : 200 }))).toEqual([6, 6]);
    expect(await made((_, number) => ({ status: number < 12 ? 503 : 200 }))).toEqual([12, 12]);
    expect(await made(() => ({ status: 503 }))).toEqual(["503, again and again", 12]);
  });

  test("asks nothing where no call is allowed, and asks for the status alone", async () => {
    expect(await made(() => ({}), { statusCalls: 0 })).toEqual(["no call was allowed", 0]);
    const { session, asked } = scripted(() => ({ status: 404 }));
    await expect(contact(session)).rejects.toMatchObject({ code: "TARGET_UNREACHABLE" });
    expect([asked.length, asked.every(isStatus)]).toEqual([1, true]);
  });
});
