// Reactions of a population to refusals and failures, each with its reason: from callers that are set.
import { describe, expect, test } from "vitest";
import type { RetrySample } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import { attemptsOf, failedWaitOf, retryOf } from "../../sim/fit/reaction.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { ABSENT } from "../../src/scenario/client.ts";

const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));
const profile = (members: object): Profile =>
  ({ jobs: [], retries: [], pace: { kind: "pause" }, ...members }) as unknown as Profile;
/** A job of one attempt or more, which ends as it began. */
const job = (startMs: number, attempts: number, status = 200) => ({
  ...{ startMs, endMs: startMs, attempts },
  last: { status },
});

describe("attempts", () => {
  const of = (...jobs: ReturnType<typeof job>[]): number | null => attemptsOf([profile({ jobs })]);
  test.each<[string, [number, number, number?][], number | null]>([
    [
      "two were given up after three, and none had more",
      [
        [0, 3, 429],
        [1, 3, 429],
        [2, 1],
      ],
      3,
    ],
    [
      "one was given up",
      [
        [0, 3, 429],
        [1, 3],
        [2, 1],
      ],
      null,
    ],
    [
      "the last one may yet be tried again",
      [
        [0, 3, 429],
        [1, 3, 429],
      ],
      3,
    ],
    [
      "calls that are never tried again have no number",
      [
        [0, 1, 429],
        [1, 1, 429],
        [2, 1],
      ],
      null,
    ],
    [
      "two attempts are a number",
      [
        [0, 2, 429],
        [1, 2, 429],
        [2, 1],
      ],
      2,
    ],
    [
      "another had more",
      [
        [0, 3, 429],
        [1, 3, 429],
        [2, 4],
        [3, 1],
      ],
      null,
    ],
    [
      "four in five had them all",
      [
        [0, 3, 429],
        [1, 3, 429],
        [2, 3, 429],
        [3, 3, 429],
        [4, 2, 429],
        [5, 1],
      ],
      3,
    ],
    [
      "one in five seems to have had twice as many",
      [
        [0, 3, 429],
        [1, 3, 429],
        [2, 3, 429],
        [3, 3, 429],
        [4, 6, 429],
        [5, 1],
      ],
      3,
    ],
    [
      "fewer had",
      [
        [0, 3, 429],
        [1, 3, 429],
        [2, 3, 429],
        [3, 2, 429],
        [5, 1],
      ],
      null,
    ],
  ])("%s", (_, jobs, attempts) => {
    expect(of(...jobs.map((one) => job(...one)))).toBe(attempts);
  });

  test("one that ends after its caller's last call is not known to be given up", () => {
    const late = { ...job(0, 3, 429), endMs: 100 };
    expect(of(late, { ...late, startMs: 1 }, job(99, 1))).toBeNull();
    expect(of(late, { ...late, startMs: 1 }, job(100, 1))).toBe(3);
    expect(attemptsOf([])).toBeNull();
  });
});

describe("failed calls", () => {
  /** Failures of 10 ms, and what followed each after so many ms: another attempt of the same kind, or so. */
  const waitAfter = (waits: readonly number[], more: object = {}, again = waits.length) => {
    const calls = waits.flatMap((waitMs, index) => {
      const atMs = 100_000 * index;
      const kind = { key: "rest" };
      return [
        { atMs, endMs: atMs + 10, status: 503, attempt: ABSENT, kind },
        {
          ...{ atMs: atMs + 10 + waitMs, endMs: atMs + 20 + waitMs, status: 200, attempt: ABSENT, kind },
          ...(index < again ? more : { kind: { key: "other" } }),
        },
      ];
    });
    return failedWaitOf([profile({ caller: { calls } })]);
  };
  test("are sent again after the median of their waits", () => {
    expect(waitAfter([100, 200, 300, 400, 500])).toBe(300);
    expect(waitAfter([100, 200, 300, 400])).toBeNull();
    expect(waitAfter([0, 0, 0, 0, 0])).toBe(0);
    expect(waitAfter([100, 200, 301, 400, 500, 600])).toBe(301);
  });

  test("within a second where attempts are not numbered, at any time where they are", () => {
    expect(waitAfter(many(5, () => 1000))).toBe(1000);
    expect(waitAfter(many(5, () => 1001))).toBeNull();
    expect(
      waitAfter(
        many(5, () => 5000),
        { attempt: 1 },
      ),
    ).toBe(5000);
    expect(
      waitAfter(
        many(5, () => 500),
        { attempt: 0 },
      ),
    ).toBeNull();
    expect(waitAfter(many(5, () => -5))).toBeNull();
  });

  test("where half of them are, by the same kind of call", () => {
    expect(
      waitAfter(
        many(6, () => 100),
        {},
        3,
      ),
    ).toBe(100);
    expect(
      waitAfter(
        many(7, () => 100),
        {},
        3,
      ),
    ).toBeNull();
  });
});

describe("a reaction", () => {
  const knowing = { knowsAttempts: true, resolutionMs: 1 } as unknown as Recording;
  const log = { knowsAttempts: false, resolutionMs: 1 } as unknown as Recording;
  const waits = (count: number, more: (index: number) => Partial<RetrySample>) =>
    many(count, (index) => ({
      ...{ waitMs: 0, nowMs: 0, attempt: 0, beforeMs: 0, cost: 1, userCost: 1 },
      ...{ remaining: ABSENT, reset: ABSENT, userRemaining: ABSENT, userReset: ABSENT, retryAfter: ABSENT },
      ...more(index),
    }));
  const said = (profiles: Profile[], recording = knowing, refused = 40) => {
    const { retry, guess, why } = retryOf(profiles, recording, refused);
    return [retry.kind, guess !== null, why];
  };
  const fixed = (count = 40): Profile => profile({ retries: waits(count, () => ({ waitMs: 2000 })) });

  test("is unknown where none was refused, or nothing is seen after it", () => {
    expect(said([fixed()], knowing, 0)).toEqual([
      ...["unknown", false, "none was refused: what they would do is unknown, none is assumed"],
    ]);
    const last = profile({ jobs: [job(0, 1), job(1, 1, 429)] });
    expect(said([last])).toEqual([
      "unknown",
      false,
      "nothing was seen after a refusal: what they do then is unknown, none is assumed",
    ]);
  });

  test("is none where calls went on", () => {
    const jobs = [job(0, 1, 429), job(1, 1)];
    expect(said([profile({ jobs })])).toEqual([
      ...["none", false, "none of 40 refused calls was tried again"],
    ]);
    // A log does not say which calls are retries.
    expect(said([profile({ jobs })], log)).toEqual([
      ...["none", false, "what came after 40 refusals may have come anyway: none is taken to be tried again"],
    ]);
  });

  test("cannot be told of a log of calls that overlap by chance", () => {
    const why =
      "which calls were tried again after 40 refusals cannot be told from those that come anyway: none is assumed";
    const chance = profile({ pace: { kind: "chance" } });
    expect(said([chance, chance], log)).toEqual(["unknown", false, why]);
    expect(said([profile({ pace: { kind: "visits" } })], log)).toEqual(["unknown", false, why]);
    expect(said([profile({ pace: { kind: "chance" }, retries: fixed().retries })], log)[0]).toBe("fixed");
    expect(said([chance], knowing)[2]).not.toBe(why);
    expect(said([chance, fixed()], log)[2]).not.toBe(why);
  });

  test.each<[string, Profile, string]>([
    ["a wait", fixed(), "40 of 40 attempts after a refusal came 2s after it"],
    [
      "no wait",
      profile({ retries: waits(40, () => ({ waitMs: 0 })) }),
      "40 of 40 attempts after a refusal came at once",
    ],
    [
      "Retry-After",
      profile({
        retries: waits(40, (index) => ({ waitMs: 1000 + 1000 * (index % 4), retryAfter: 1 + (index % 4) })),
      }),
      "40 of 40 attempts after a refusal came when Retry-After said",
    ],
    [
      "Retry-After and a while",
      profile({
        retries: waits(40, (index) => ({
          ...{ waitMs: 1000 + 1000 * (index % 4) + 25 * index, retryAfter: 1 + (index % 4) },
        })),
      }),
      "40 of 40 attempts after a refusal came 0ms to 1s after what Retry-After said",
    ],
    [
      "the reset",
      profile({
        retries: waits(40, (index) => ({
          ...{ waitMs: 1000 + 1000 * (index % 4), reset: 1 + (index % 4), userReset: 30 },
          ...{ remaining: 0, userRemaining: 5, nowMs: 137 * index },
        })),
      }),
      "40 of 40 attempts after a refusal came at the reset",
    ],
    [
      "waits that grow",
      profile({
        retries: waits(40, (index) => ({
          waitMs: [1000, 2000, 4000, 4000][index % 4] as number,
          attempt: index % 4,
        })),
      }),
      "40 of 40 attempts after a refusal came after waits that grow from 1s, at most 4s",
    ],
  ])("is said: %s", (_, one, why) => {
    expect(said([one])[2]).toBe(why);
  });

  test("is none where usual pauses are as likely", () => {
    const pauses = many(60, (index) => ({ ...job(2010 * index, 1), endMs: 2010 * index + 10 }));
    const usual = profile({ jobs: pauses, retries: waits(40, () => ({ waitMs: 2000 })) });
    expect(said([usual], log)).toEqual([
      "none",
      false,
      "what came after 40 refusals may have come anyway: none is taken to be tried again",
    ]);
    expect(said([usual], knowing)[0]).toBe("fixed");
  });
});
