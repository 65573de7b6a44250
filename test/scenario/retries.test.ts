import { describe, expect, test } from "vitest";
import { ABSENT, type RefusalPolicy } from "../../src/scenario/client.ts";
import {
  exponential,
  fixed,
  none,
  pipelinesQuery,
  rest,
  retryAfter,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { type AnswerShown, Rig } from "./rig.ts";

const NOW = 1_000_000;

/** A refusal answered at NOW: how long the policy waits from there, or `null` where it gives the call up. */
function waits(policy: RefusalPolicy, shown: AnswerShown, call = rest("/v2/user"), seed = 1): number | null {
  const rig = new Rig(worker({ calls: [{ call }], think: "1h" }), policy, seed);
  const [next] = rig.answer(rig.only(rig.start(NOW - 20)), NOW, { status: 429, ...shown });
  return next === undefined || next.attempt === 0 ? null : next.atMs - NOW;
}

test("none gives up: the behaviour goes on as after any answer", () => {
  const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }], think: "3s" }), none());
  const [next] = rig.answer(rig.only(rig.start(0)), 50, { status: 429 });
  expect(next).toMatchObject({ atMs: 3_050, attempt: 0, wantedMs: 3_050 });
});

describe("waitReset", () => {
  const organizationOnly = {
    limit: 200,
    remaining: 0,
    reset: 12,
    userLimit: 50,
    userRemaining: 9,
    userReset: 40,
  };
  const userOnly = { limit: 200, remaining: 70, reset: 12, userLimit: 50, userRemaining: 0, userReset: 40 };
  const both = { limit: 200, remaining: 0, reset: 12, userLimit: 50, userRemaining: 0, userReset: 40 };
  const neither = { limit: 200, remaining: 5, reset: 12, userLimit: 50, userRemaining: 5, userReset: 40 };

  test.each([
    ["organization", "the organization's window refused", organizationOnly, 12_000],
    ["organization", "the user's window refused: it waits for the wrong one", userOnly, 12_000],
    ["both", "the organization's window refused", organizationOnly, 12_000],
    ["both", "the user's window refused", userOnly, 40_000],
    ["both", "both lack room: the later reset", both, 40_000],
    ["both", "neither shows that it lacks room: the later reset", neither, 40_000],
  ] as const)("of %s: %s", (of, _, shown, expected) => {
    expect(waits(waitReset({ of }), shown)).toBe(expected);
  });

  test("room is held against the call's cost", () => {
    const shown = {
      limit: 20_000,
      remaining: 52,
      reset: 7,
      userLimit: 5_000,
      userRemaining: 53,
      userReset: 90,
    };
    expect(waits(waitReset({ of: "both" }), shown, pipelinesQuery(50))).toBe(7_000);
  });

  test("gives up where no reset is shown", () => {
    expect(waits(waitReset({ of: "organization" }), {})).toBe(null);
    expect(waits(waitReset({ of: "both" }), {})).toBe(null);
  });

  // It costs 53 points.
  test.each([
    ["gives up a call above the organization's limit", { limit: 52, remaining: 1 }, null],
    ["gives up a call above the user's", { userLimit: 52, userRemaining: 1 }, null],
    ["waits for one of just the limits", { limit: 53, userLimit: 53 }, 40_000],
    [
      "waits where the organization's window is used up, and tells no more",
      { limit: 52, remaining: 0 },
      12_000,
    ],
    ["waits where the user's is", { limit: 52, remaining: 60, userRemaining: 0 }, 40_000],
    ["waits where no limit is shown", { limit: ABSENT, userLimit: ABSENT }, 40_000],
  ])("%s", (_, changes, expected) => {
    const shown = { limit: 99, remaining: 60, reset: 12, userLimit: 99, userRemaining: 60, userReset: 40 };
    expect(waits(waitReset({ of: "both" }), { ...shown, ...changes }, pipelinesQuery(50))).toBe(expected);
  });

  test("waits 0 s where 0 is shown (reset: floor)", () => {
    expect(waits(waitReset({ of: "organization" }), { ...both, reset: 0 })).toBe(0);
  });

  test("jitter comes on top, within its bounds, and by the client's own draws", () => {
    const policy = waitReset({ of: "organization", jitter: { least: 500, most: "2s" } });
    const drawn = Array.from({ length: 50 }, (_, seed) => waits(policy, both, rest("/v2/user"), seed) ?? 0);
    for (const ms of drawn) expect(ms >= 12_500 && ms <= 14_000).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(40);
  });

  test.each([
    ["least", { least: "20s" }, 20_000],
    ["most", { most: "5s" }, 5_000],
    ["neither", { least: "1s", most: "1m" }, 12_000],
  ])("the wait is kept within `least` and `most`: %s", (_, bounds, expected) => {
    expect(waits(waitReset({ of: "organization", ...bounds }), both)).toBe(expected);
  });

  test("counted from the whole second that the answer fell in, if so asked", () => {
    const rig = new Rig(
      worker({ calls: [{ call: rest("/v2/user") }] }),
      waitReset({ of: "organization", from: "second" }),
    );
    const call = rig.only(rig.start(0));
    expect(rig.answer(call, 5_730, { status: 429, ...both })).toMatchObject([{ atMs: 17_000 }]);
    expect(rig.answer(call, 5_730, { status: 429, ...both, reset: 0 })).toMatchObject([{ atMs: 5_730 }]);
  });

  test("jitter comes on top of `most`", () => {
    expect(waits(waitReset({ of: "organization", most: "5s", jitter: 300 }), both)).toBe(5_300);
  });

  test("`fallback` is waited where no reset is shown, and only there", () => {
    expect(waits(waitReset({ of: "both", fallback: "10s" }), {})).toBe(10_000);
    expect(waits(waitReset({ of: "both", fallback: "10s" }), both)).toBe(40_000);
  });

  test("a wait that would pass the `deadline` is not begun", () => {
    // The call was wanted 20 ms before its answer.
    expect(waits(waitReset({ of: "organization", deadline: 12_020 }), both)).toBe(12_000);
    expect(waits(waitReset({ of: "organization", deadline: 12_019 }), both)).toBe(null);
  });

  test("`attempts` counts the first one", () => {
    const rig = new Rig(
      worker({ calls: [{ call: rest("/v2/user") }] }),
      waitReset({ of: "both", attempts: 2 }),
    );
    const retry = rig.only(rig.answer(rig.only(rig.start(0)), 10, { status: 429, ...both }));
    expect(retry.attempt).toBe(1);
    expect(rig.answer(retry, 50_000, { status: 429, ...both })).toMatchObject([{ attempt: 0 }]);
  });

  describe("a cost above a limit", () => {
    const call = pipelinesQuery(200);
    const shown = {
      limit: 20_000,
      remaining: 900,
      reset: 7,
      userLimit: 150,
      userRemaining: 150,
      userReset: 9,
    };

    test("is given up: waiting is hopeless", () => {
      expect(waits(waitReset({ of: "both" }), shown, call)).toBe(null);
      expect(waits(waitReset({ of: "organization" }), shown, call)).toBe(null);
    });

    test("is waited for while a window is used up: who charges afterwards lets it through then", () => {
      expect(waits(waitReset({ of: "both" }), { ...shown, userRemaining: 0 }, call)).toBe(9_000);
    });

    test("is unknown where the headers did not come", () => {
      const { userLimit, userRemaining, userReset, ...organization } = shown;
      expect(waits(waitReset({ of: "organization" }), { ...organization, limit: 150 }, call)).toBe(7_000);
    });
  });
});

describe("fixed", () => {
  test("waits the same however often, and draws from a span", () => {
    expect(waits(fixed({ wait: "3s" }), { reset: 50, retryAfter: 9 })).toBe(3_000);
    const drawn = Array.from({ length: 60 }, (_, seed) =>
      waits(fixed({ wait: { least: 10, most: 12 } }), {}, rest("/v2/user"), seed),
    );
    expect(new Set(drawn)).toEqual(new Set([10, 11, 12]));
  });
});

describe("retryAfter", () => {
  test.each([
    ["what the header says", {}, { retryAfter: 7, reset: 50 }, 7_000],
    ["nothing, where it says 0", {}, { retryAfter: 0 }, 0],
    ["no longer than `most`, and the jitter on top", { most: "5s", jitter: 250 }, { retryAfter: 7 }, 5_250],
    ["the fallback where it does not come", { fallback: "2s" }, { reset: 50 }, 2_000],
    ["not at all where there is no fallback either", {}, { reset: 50 }, null],
  ])("waits %s", (_, options, shown, expected) => {
    expect(waits(retryAfter(options), shown)).toBe(expected);
  });
});

describe("exponential", () => {
  /** Returns the policy's waits after each of the first n refusals. */
  function delays(policy: RefusalPolicy, n: number, seed = 1): number[] {
    const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }] }), policy, seed);
    let call = rig.only(rig.start(0));
    const found: number[] = [];
    for (let nowMs = 10; found.length < n; nowMs = call.atMs + 10) {
      call = rig.only(rig.answer(call, nowMs, { status: 429 }));
      if (call.attempt === 0) break;
      found.push(call.atMs - nowMs);
    }
    return found;
  }

  test.each([
    ["doubling", { first: "1s", most: "1h" }, [1_000, 2_000, 4_000, 8_000, 16_000]],
    ["up to `most`", { first: "1s", factor: 3, most: "20s" }, [1_000, 3_000, 9_000, 20_000, 20_000]],
    ["fractions are cut off", { first: 5, factor: 1.5, most: "1h" }, [5, 7, 11, 16, 25]],
    ["constant", { first: 250, factor: 1, most: "1h" }, [250, 250, 250, 250, 250]],
    ["a `first` above `most`", { first: "1m", most: "1s" }, [1_000, 1_000, 1_000, 1_000, 1_000]],
    ["three attempts in all", { first: 1, most: 9, attempts: 3 }, [1, 2]],
  ])("%s", (_, options, expected) => {
    expect(delays(exponential(options), 5)).toEqual(expected);
  });

  test("full jitter draws from 0 to the wait, both ends included", () => {
    const policy = exponential({ first: 2, factor: 1, most: 2, jitter: "full" });
    expect(new Set(delays(policy, 60))).toEqual(new Set([0, 1, 2]));
  });

  test.each([
    ["equal", [1, 2]],
    ["half", [1, 2]],
    ["decorrelated", [2, 3, 4, 5]],
  ] as const)("%s jitter stays within its bounds, and reaches all of them", (jitter, expected) => {
    const most = jitter === "decorrelated" ? 5 : 2;
    const policy = exponential({ first: 2, factor: 1, most, jitter });
    expect([...new Set(delays(policy, 200))].sort()).toEqual(expected);
  });

  test("half jitter is 50 % to either side, below `most`", () => {
    const drawn = Array.from({ length: 300 }, (_, seed) => {
      const [ms = 0] = delays(exponential({ first: 100, most: "1h", jitter: "half" }), 1, seed);
      return ms;
    });
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(50);
    expect(Math.min(...drawn)).toBeLessThan(55);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(150);
    expect(Math.max(...drawn)).toBeGreaterThan(145);
  });

  test("decorrelated jitter grows by what was waited last, not by the attempt", () => {
    for (let seed = 0; seed < 50; seed++) {
      const found = delays(exponential({ first: 100, most: "1h", jitter: "decorrelated" }), 8, seed);
      expect(found).toHaveLength(8);
      let before = 0;
      for (const ms of found) {
        expect(ms).toBeGreaterThanOrEqual(100);
        expect(ms).toBeLessThanOrEqual(Math.max(100, before * 3));
        before = ms;
      }
    }
  });

  test("gives up at its deadline", () => {
    expect(delays(exponential({ first: "1s", most: "1h", deadline: "8s" }), 9)).toEqual([
      1_000, 2_000, 4_000,
    ]);
  });

  test("however many refusals, the wait stays `most`", () => {
    expect(delays(exponential({ first: 1, factor: 100, most: "1s" }), 2_000).at(-1)).toBe(1_000);
  });
});

describe("calls without an answer", () => {
  const silent: AnswerShown = { status: 0 };
  const failed: AnswerShown = { status: 503 };

  test.each([
    ["fixed", fixed({ wait: "2s" })],
    ["exponential", exponential({ first: "1s", most: "8s" })],
    ["waitReset", waitReset({ of: "both", fallback: "3s" })],
    ["retryAfter", retryAfter({ fallback: "3s" })],
  ])("%s leaves them to the behaviour, as it always did", (_, policy) => {
    expect(waits(policy, silent)).toBeNull();
    expect(waits(policy, failed)).toBeNull();
  });

  test.each([
    ["fixed", fixed({ wait: "2s", unanswered: true }), 2_000],
    ["exponential", exponential({ first: "1s", most: "8s", unanswered: true }), 1_000],
    ["waitReset, which sees no reset", waitReset({ of: "both", fallback: "3s", unanswered: true }), 3_000],
    ["retryAfter, which sees none", retryAfter({ fallback: "4s", unanswered: true }), 4_000],
    ["waitReset without a fallback", waitReset({ of: "both", unanswered: true }), null],
  ])("`unanswered` tries them again: %s", (_, policy, expected) => {
    expect(waits(policy, silent)).toBe(expected);
    expect(waits(policy, failed)).toBe(expected);
    expect(waits(policy, { status: 404 })).toBeNull();
    expect(waits(policy, { status: 200 })).toBeNull();
  });

  test("a 503 that says when to come back is believed", () => {
    expect(waits(retryAfter({ unanswered: true }), { status: 503, retryAfter: 7 })).toBe(7_000);
  });

  test("attempts and deadline bound them as they bound refusals", () => {
    const policy = fixed({ wait: "2s", unanswered: true, attempts: 2 });
    const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }], think: "1h" }), policy);
    const [second] = rig.answer(rig.only(rig.start(0)), 20, silent);
    expect(second).toMatchObject({ attempt: 1, atMs: 2_020 });
    expect(second === undefined ? [] : rig.answer(second, 2_040, silent)).toMatchObject([{ attempt: 0 }]);
  });

  test("it is yes or no", () => {
    expect(() => fixed({ wait: 1, unanswered: "always" as unknown as boolean })).toThrow(
      /fixed\.unanswered: got "always"/,
    );
  });
});

test("waits may be spread as they were measured", () => {
  const policy = fixed({ wait: { quantiles: [100, 200, 900] } });
  const seen = Array.from({ length: 400 }, (_, seed) => waits(policy, {}, undefined, seed) ?? Number.NaN);
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...seen)).toBeLessThanOrEqual(900);
  // Half of them are below 200, with a standard deviation of 2.5 %.
  const below = seen.filter((ms) => ms < 200).length / seen.length;
  expect(Math.abs(below - 0.5)).toBeLessThan(0.1);
});
