// Calls that count, and windows meanwhile, from answers that are set.
import { describe, expect, test } from "vitest";
import { isQuiet, quiet, statusCounting, trial, tryCounting } from "../../src/probe/counting.ts";
import { badQuery, get } from "../../src/probe/queries.ts";
import { look, waitForEnd, waitForEnds, waitForUserEnd } from "../../src/probe/watch.ts";
import { type Answers, isStatus, type Shown, scripted } from "./scripted.ts";

const action = get("/v2/user");
const expectation = { name: "getCounted", statuses: [200], words: "GET" } as const;

/** A target whose counts move by so many: with a call, and with each reading of the status; of either window. */
function moving(
  call: readonly [organization: number, user: number],
  reading: readonly [organization: number, user: number] = [0, 0],
  more: (number: number) => Partial<Shown> = () => ({}),
): Answers {
  let [organization, user] = [100, 50];
  return (ask, number) => {
    const [ofOrganization, ofUser] = isStatus(ask) ? reading : call;
    organization -= ofOrganization;
    user -= ofUser;
    return { organization: [100, organization], user: [50, user], ...more(number) };
  };
}

/** Returns the findings after a number of status readings. */
async function counting(answers: Answers, readings = 6, options: Parameters<typeof scripted>[1] = {}) {
  const { session, asked } = scripted(answers, options);
  for (let reading = 0; reading < readings; reading++) await session.status();
  const before = asked.length;
  const { value, confidence, evidence, needs } = await tryCounting(session, action, expectation);
  const calls = asked.slice(before).filter((ask) => !isStatus(ask)).length;
  return { calls, said: [value, confidence, evidence.replace(/ at [\d:.]+/g, ""), needs] };
}

describe("a kind of call", () => {
  test("counts where both windows move each time, and stand otherwise", async () => {
    expect(await counting(moving([1, 1]))).toEqual({
      calls: 2,
      said: [
        true,
        "certain",
        "call 7 (GET, 200) between calls 6 and 8 moved the organization's count by 1 and the user's by 1, and so in all 2 trials",
        null,
      ],
    });
  });

  test("is told by its own calls, and by the readings around them", async () => {
    const { session } = scripted(moving([1, 1]));
    for (let reading = 0; reading < 6; reading++) await session.status();
    expect((await tryCounting(session, action, expectation)).calls).toEqual([6, 7, 8, 9, 10]);
  });

  test("does not count where one trial moves nothing", async () => {
    expect(await counting(moving([0, 0]))).toEqual({
      calls: 1,
      said: [
        false,
        "certain",
        "call 7 (GET, 200) between calls 6 and 8 moved the organization's count by 0 and the user's by 0",
        null,
      ],
    });
    // The organization's count alone moved: that was somebody else.
    expect((await counting(moving([1, 0]))).said.slice(0, 2)).toEqual([false, "certain"]);
  });

  test("is not called free if its own answer shows the charge that a stale status lacks", async () => {
    const stale: Answers = (ask) => ({ organization: [100, 100], user: [50, isStatus(ask) ? 50 : 49] });
    expect((await counting(stale)).said.slice(0, 3)).toEqual([
      ...[null, "not seen", "its trials contradict each other"],
    ]);
  });

  test("is not told by a charge in the user's window alone, nor by a count that falls", async () => {
    expect(await counting(moving([0, 1]))).toEqual({
      calls: 4,
      said: [null, "not seen", "its trials contradict each other", "a quieter time"],
    });
    expect((await counting(moving([-1, 1]))).said[2]).toBe("its trials contradict each other");
  });

  test("is told by the user's window where others call beside it, and by the organization's where that is not shown", async () => {
    let [calls, used] = [0, 0];
    const beside: Answers = (ask) => {
      if (!isStatus(ask)) {
        calls += 1;
        used += calls;
      }
      return { organization: [100, 100 - used], user: [50, 50 - calls] };
    };
    expect(await counting(beside)).toEqual({
      calls: 2,
      said: [
        true,
        "certain",
        "call 7 (GET, 200) between calls 6 and 8 moved the organization's count by 1 and the user's by 1, and so in all 2 trials",
        null,
      ],
    });
    expect((await counting(moving([1, 1], [0, 0], () => ({ user: null })))).said).toEqual([
      ...[true, "certain"],
      "call 7 (GET, 200) between calls 6 and 8 moved the organization's count by 1, and so in all 2 trials",
      null,
    ]);
  });

  test("takes five pairs of quiet readings to be certain", async () => {
    // Six readings are five pairs; three are two, and no trial adds one.
    expect((await counting(moving([1, 1]), 3)).said).toEqual([
      null,
      "not seen",
      "the counts also moved between 0 of 2 pairs of readings with no call in between",
      "a quieter time, or a token that nobody else uses",
    ]);
    expect((await counting(moving([1, 1]), 5)).said[0]).toBeNull();
  });

  test("is told beside readings that count themselves", async () => {
    expect((await counting(moving([1, 1], [1, 1]), 13)).said.slice(0, 2)).toEqual([true, "certain"]);
    expect((await counting(moving([0, 0], [1, 1]), 13)).said.slice(0, 2)).toEqual([false, "certain"]);
    // Five or eleven pairs may be a caller who comes as often as the probe looks.
    for (const readings of [6, 12])
      for (const own of [0, 1])
        expect((await counting(moving([own, own], [1, 1]), readings)).said.slice(0, 2)).toEqual([
          null,
          "not seen",
        ]);
    // Two of one reading are others': no base.
    expect((await counting(moving([1, 1], [2, 1]), 13)).said[0]).toBeNull();
  });

  test("is likely where others move the counts in a third of readings at most", async () => {
    // Others call with each n-th reading of the first nine: eight pairs.
    const every = (n: number): Answers => {
      let [used, readings] = [0, 0];
      return (ask) => {
        if (!isStatus(ask) || (++readings <= 9 && readings > 1 && readings % n === 0)) used += 1;
        return { organization: [100, 100 - used], user: [50, 50 - used] };
      };
    };
    // Of eight pairs two, at readings 4 and 8.
    expect((await counting(every(4), 9)).said.slice(0, 2)).toEqual([true, "likely"]);
    // Three of eight: at 3, 6 and 9.
    expect((await counting(every(3), 9)).said).toEqual([
      null,
      "not seen",
      "the counts also moved between 3 of 8 pairs of readings with no call in between",
      "a quieter time, or a token that nobody else uses",
    ]);
  });

  test("of another status is none", async () => {
    const answers = moving([1, 1]);
    const other: Answers = (ask, number, nowMs) => ({
      ...answers(ask, number, nowMs),
      ...(isStatus(ask) ? {} : { status: 404 }),
    });
    expect((await counting(other)).said).toEqual([
      null,
      "not seen",
      "call 7 (GET /v2/user) was answered 404, not 200",
      "a token with every scope, a target that has this resource",
    ]);
  });

  test("that fails tells nothing; nor does one for which no call is left", async () => {
    const answers = moving([1, 1]);
    const failing: Answers = (ask, number, nowMs) => ({
      ...answers(ask, number, nowMs),
      ...(isStatus(ask) ? {} : { status: 503 }),
    });
    expect(await counting(failing)).toEqual({
      calls: 4,
      said: [null, "not seen", "none of 4 trials fell within one window", "a larger --budget"],
    });
    expect((await counting(answers, 6, { calls: 0 })).said[2]).toBe("no call was left for it");
    expect((await counting(moving([1, 1]), 6, { calls: 1 })).calls).toBe(1);
  });
});

test("a query of an unknown field takes none of the points that are allowed", async () => {
  const { session } = scripted(moving([0, 0]), { points: 0 });
  expect(await session.act(badQuery)).not.toBeNull();
  expect(session.used.points).toBe(0);
});

describe("a trial", () => {
  test("reads before, unless that was just done, and after", async () => {
    const { session } = scripted(moving([1, 1]));
    await trial(session, action);
    await trial(session, action);
    expect(session.calls.map(({ what }) => what)).toEqual([
      ...["GET status", "GET /v2/user", "GET status", "GET /v2/user", "GET status"],
    ]);
  });

  const of = async (shown: readonly Shown[]) => {
    const { session } = scripted((_, number) => shown[number - 1] ?? {});
    const made = await trial(session, action);
    if (made === null) return null;
    const { organization, user, isUserClamped, hadRoom } = made;
    return { organization, user, isUserClamped, hadRoom };
  };
  const ms = Date.UTC(2026, 0, 2, 3, 4);

  test.each<[string, Shown[], object]>([
    [
      "of one window",
      [{}, {}, { organization: [100, 98], user: [50, 47] }],
      { organization: 2, user: 3, isUserClamped: false, hadRoom: true },
    ],
    [
      "of a window that ended",
      [{}, {}, { resetAtMs: ms + 60_000 }],
      { organization: null, user: 0, hadRoom: true },
    ],
    ["of another limit", [{}, {}, { organization: [90, 90] }], { organization: null }],
    [
      "of an idle window that moved with the clock",
      [{}, {}, { resetAtMs: ms + 29_000, organization: [100, 99] }],
      { organization: 1 },
    ],
    [
      "of one that moved by all that was left of it",
      [{}, {}, { resetAtMs: ms + 30_000 }],
      { organization: null },
    ],
    ["of one that moved back", [{}, {}, { resetAtMs: ms - 1000 }], { organization: null }],
    [
      "of a used one that moved",
      [{ organization: [100, 99] }, {}, { resetAtMs: ms + 1000 }],
      { organization: null },
    ],
    [
      "of a user with nothing left",
      [{ user: [50, 0] }, {}, { user: [50, 0] }],
      { user: null, hadRoom: false, isUserClamped: true },
    ],
    [
      "of an organization with nothing left",
      [{ organization: [100, 0] }, {}, { organization: [100, 0] }],
      { organization: 0, hadRoom: false },
    ],
    ["of a user with one call left", [{ user: [50, 1] }, {}, { user: [50, 0] }], { user: 1, hadRoom: true }],
    [
      "of a call that failed",
      [{}, { status: 503 }, { organization: [100, 99], user: [50, 49] }],
      { organization: null, user: null, isUserClamped: false, hadRoom: true },
    ],
    [
      "of one that shows 0 then",
      [{ user: [50, 2] }, {}, { user: [50, 0] }],
      { user: 2, isUserClamped: true, hadRoom: true },
    ],
    ["of a user whose limit changed", [{}, {}, { user: [40, 39] }], { user: null }],
    ["of a user that is not shown", [{ user: null }, {}, {}], { user: null, hadRoom: false }],
  ])("%s", async (_, shown, expected) => {
    expect(await of(shown)).toMatchObject(expected);
  });

  test("of the user's window ends with its reset, less a second, unless it ends with the organization's", async () => {
    const within = async (reset: number, tripMs: number, hidden = false) => {
      const { session } = scripted(
        (_, number) => ({
          reset,
          ...(number === 3 ? { user: [50, 49], ...(hidden && { resetAtMs: ms + 60_000 }) } : {}),
        }),
        { tripMs },
      );
      return (await trial(session, action))?.user;
    };
    // Three calls of so many ms.
    expect(await within(2, 333, true)).toBe(1);
    expect(await within(2, 334, true)).toBeNull();
    expect(await within(2, 334)).toBe(1);
  });
});

describe("readings alone", () => {
  const readings = async (answers: Answers, count: number) => {
    const { session } = scripted(answers);
    for (let reading = 0; reading < count; reading++) await session.status();
    return session;
  };

  test("show what they count, and how much else moves", async () => {
    const { calls } = await readings(moving([0, 0], [1, 1]), 13);
    expect(quiet(calls, "rest")).toMatchObject({ pairs: 12, base: 1, organization: 0, user: 0, none: [] });
    expect(isQuiet(quiet(calls, "rest"))).toBe(true);
    expect(isQuiet(quiet(calls.slice(1), "rest"))).toBe(false);
    // Eleven pairs are no rule.
    expect(quiet(calls.slice(1), "rest")).toMatchObject({ pairs: 11, base: 0, organization: 11, user: 11 });
    // Of GraphQL nothing moved: its user's window is in no status. Five pairs tell how quiet it is.
    const few = calls.slice(0, 6);
    expect(quiet(few, "graphql")).toMatchObject({ pairs: 5, base: 0, organization: 0, user: 0 });
    expect(quiet(few, "graphql").none).toHaveLength(5);
    expect([isQuiet(quiet(few, "graphql")), isQuiet(quiet(few.slice(1), "graphql"))]).toEqual([true, false]);
  });

  test("of full windows show nothing", async () => {
    const full = await readings(() => ({ organization: [100, 0] }), 3);
    expect(quiet(full.calls, "rest").pairs).toBe(0);
    const ofUser = await readings(() => ({ user: [50, 0] }), 3);
    expect(quiet(ofUser.calls, "rest").pairs).toBe(0);
    expect(quiet(ofUser.calls, "graphql").pairs).toBe(2);
    const one = await readings(() => ({ organization: [100, 1], user: [50, 1] }), 3);
    expect(quiet(one.calls, "rest").pairs).toBe(2);
  });

  test("tell whether they count", async () => {
    const said = (session: Awaited<ReturnType<typeof readings>>) => {
      const { value, confidence, evidence, calls } = statusCounting(session.calls, "rest");
      return [value, confidence, evidence, calls];
    };
    expect(said(await readings(moving([0, 0]), 3))).toEqual([
      ...[false, "certain", "calls 1 and 2 show the same counts, and so do 2 of 2 such pairs", [1, 2]],
    ]);
    expect(said(await readings(moving([0, 0], [1, 1]), 13)).slice(0, 3)).toEqual([
      ...[true, "certain", "each of 12 status calls moved the counts of the organization and the user by 1"],
    ]);
    expect(said(await readings(moving([0, 0], [2, 1]), 6)).slice(0, 3)).toEqual([
      ...[null, "not seen", "between status calls the counts moved 5 times out of 5"],
    ]);
  });
});

describe("watching", () => {
  /** Windows of 10 s on the grid of the clock, with so many used. */
  const grid =
    (used: number): Answers =>
    (_, __, nowMs) => {
      const resetAtMs = Math.ceil((nowMs + 1) / 10_000) * 10_000;
      return { organization: [100, 100 - used], reset: Math.ceil((resetAtMs - nowMs) / 1000), resetAtMs };
    };

  test("looks on for a little over three seconds, or until no status is left", async () => {
    const { session, waited } = scripted(grid(1));
    await look(session);
    expect(waited).toEqual([230, 270, 310, 190, 260, 240, 280, 220, 290, 250, 210, 300, 230]);
    expect(session.calls).toHaveLength(13);
    const few = scripted(grid(1), { statusCalls: 2 });
    await look(few.session);
    expect(few.waited).toEqual([230, 270, 310]);
    expect(few.said.map(({ doing }) => doing)).toEqual(new Array(3).fill("looking on: free status calls"));
  });

  test("waits for a window's end, and looks closely around it", async () => {
    const { session, waited, said } = scripted(grid(1));
    await session.status();
    expect(await waitForEnd(session, "rest")).toBe(true);
    // It ends 10 s after 0, at the soonest 9 s after the reading: 150 ms before that it is looked at, each 90 ms.
    const [first, ...polls] = waited;
    expect(first).toBe(9_000 - 10 - 150);
    expect(polls.slice(-5)).toEqual([160, 230, 250, 240, 270]);
    expect(polls.slice(0, -5)).toEqual(new Array(polls.length - 5).fill(90));
    // It is answered each 100 ms, from 8,860 to 10,060.
    expect(polls.length - 5).toBe(12);
    expect([...new Set(said.map(({ doing }) => doing))]).toEqual([
      ...["waiting for the rest window to end", "watching the rest window end"],
    ]);
    expect(session.used.waitMs).toBe(8_840 + 12 * 90);
  });

  test("waits for no window that is idle, too far, or unknown", async () => {
    const nobody = scripted(grid(1));
    expect(await waitForEnd(nobody.session, "rest")).toBe(false);
    const idle = scripted(grid(0));
    await idle.session.status();
    expect(await waitForEnd(idle.session, "rest")).toBe(false);
    const far = scripted(grid(1), { waitMs: 5_000 });
    await far.session.status();
    expect(await waitForEnd(far.session, "rest")).toBe(false);
    expect(far.waited).toEqual([]);
  });

  test("waits for an idle window that stood still for a second", async () => {
    const { session } = scripted(grid(0));
    await session.status();
    await session.pause(1_010);
    await session.status();
    expect(await waitForEnd(session, "rest")).toBe(true);
    const short = scripted(grid(0));
    await short.session.status();
    await short.session.pause(990);
    await short.session.status();
    expect(await waitForEnd(short.session, "rest")).toBe(false);
  });

  test("gives up a second after a window should have ended", async () => {
    const stuck = Date.UTC(2026, 0, 2, 3, 4);
    const { session, waited } = scripted((_, __, nowMs) => ({
      organization: [100, 99],
      ...{ resetAtMs: stuck, reset: Math.max(0, Math.ceil((stuck - nowMs) / 1000)) },
    }));
    await session.status();
    expect(await waitForEnd(session, "rest")).toBe(false);
    expect(waited.slice(-5)).toEqual([160, 230, 250, 240, 270]);
    // It said 30 s, at 10 ms: it is watched from 28,850 to 32,010, each 100 ms.
    expect(waited.slice(0, -5)).toEqual([28_840, ...new Array<number>(32).fill(90)]);
  });

  test("reads the user's window on both sides of an end", async () => {
    const { session, waited, asked, said } = scripted(() => ({ reset: 4 }));
    await session.status();
    expect(await waitForUserEnd(session, "rest")).toBe(true);
    expect(waited).toEqual([5_050, 330]);
    expect(said.map(({ doing, untilMs }) => [doing, untilMs])).toEqual([
      ["waiting for the user's rest window to end", session.calls[0] && session.calls[0].receivedMs + 5_050],
    ]);
    expect(asked).toHaveLength(3);
    const short = scripted(() => ({ reset: 4 }), { waitMs: 5_049 });
    await short.session.status();
    expect(await waitForUserEnd(short.session, "rest")).toBe(false);
    expect(await waitForUserEnd(short.session, "graphql")).toBe(false);
    expect(short.asked).toHaveLength(1);
  });

  test("sees a window of each scope end, the sooner one first, each once", async () => {
    const { session, said } = scripted(grid(1));
    await session.status();
    await waitForEnds(session);
    // GraphQL's window says 200 s: too far for 90 s.
    const waits = said.filter(({ doing }) => doing.startsWith("waiting"));
    expect(waits.map(({ doing }) => doing)).toEqual(["waiting for the rest window to end"]);
    expect(waits[0]?.waitLeftMs).toBe(90_000);
    await waitForEnds(session);
    expect(said.filter(({ doing }) => doing.startsWith("waiting"))).toHaveLength(1);
  });
});
