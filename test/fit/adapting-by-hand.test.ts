// A pace that adapts, found from jobs whose pauses follow a known one.
import { describe, expect, test } from "vitest";
import { type AdaptFit, adaptOf } from "../../sim/fit/adapting.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Sessions } from "../../sim/fit/sessions.ts";
import { SortedSample } from "../../sim/fit/statistics.ts";
import { ln } from "../../src/scenario/elementary.ts";

interface Pace {
  readonly decrease: number;
  readonly increase: number;
  readonly least: number;
}

interface Made {
  /** Pauses and waits at full pace, ms, which take turns. */
  readonly pauses?: readonly number[];
  readonly waits?: readonly number[];
  /** False if no refused job follows another one. */
  readonly volleys?: boolean;
  /** Number of jobs that are refused twice. */
  readonly twice?: number;
}

const usual = [900, 1_100, 950, 1_050, 1_000];

/** Forty sessions of forty jobs. In ten of them one job is refused; in ten others, four are, one after the other. */
function made(
  { decrease, increase, least }: Pace,
  { pauses = usual, waits = usual, volleys = true, twice = 0 }: Made = {},
) {
  let [atMs, share, slowest, step, waited] = [0, 1, 1, 0, 0];
  const call = (status: number): RecordedCall => {
    const startMs = atMs;
    atMs += 10;
    return { atMs: startMs, wantedMs: startMs, endMs: atMs, status } as RecordedCall;
  };
  const slower = (): void => {
    share = Math.max(least, share * decrease);
    slowest = Math.min(slowest, share);
  };
  const jobs: RecordedJob[] = [];
  const pausesMs: number[] = [];
  for (let session = 0; session < 40; session++) {
    for (let place = 0; place < 40; place++) {
      const refused =
        session % 4 === 1 && volleys
          ? place >= 20 && place < 24
          : session % (volleys ? 4 : 1) === 0 && place === 20;
      const job = new RecordedJob(call(refused ? 429 : 200));
      if (refused) {
        slower();
        job.attempts = waited < twice ? 3 : 2;
        if (job.attempts === 3) slower();
        atMs += (waits[waited++ % waits.length] as number) / share;
        job.last = call(200);
      }
      jobs.push(job);
      if (place === 39) break;
      const pauseMs = (pauses[step++ % pauses.length] as number) / share;
      pausesMs.push(pauseMs);
      atMs += pauseMs;
      share = Math.min(1, share + (increase * pauseMs) / 60_000);
    }
    atMs += 10_000_000;
  }
  const profile = {
    caller: { user: "ann" },
    jobs,
    runs: jobs,
    refused: waited,
    pausesMs,
  } as unknown as Profile;
  const cut = { sessions: Array(40).fill({ spells: 40 }), pausesMs } as unknown as Sessions;
  return { profile, cut, slowest };
}

function found(pace: Pace, more?: Made): AdaptFit | null {
  const { profile, cut } = made(pace, more);
  return adaptOf([profile], [cut], 5);
}

const half: Pace = { decrease: 0.5, increase: 0.1, least: 0.1 };

describe("a pace that adapts", () => {
  test.each<[Pace]>([
    [half],
    [{ decrease: 0.62, increase: 0.03, least: 0.2 }],
    [{ decrease: 0.3, increase: 0.1, least: 0.1 }],
    [{ decrease: 0.7, increase: 1, least: 0.3 }],
  ])("of %j is found", (pace) => {
    expect(found(pace)?.adapt).toEqual({ ...pace, waits: true });
  });

  test("slows down by each refusal of a job", () => {
    expect(found(half, { twice: 10 })?.adapt).toEqual({ ...half, waits: true });
  });

  test("has pauses as they are at full pace", () => {
    const { think } = found(half) as AdaptFit;
    expect(think.kind === "quantiles" && new Set(think.quantiles)).toEqual(
      new Set([900, 950, 1_000, 1_050, 1_100]),
    );
  });

  test("is no slower than callers ever were", () => {
    const { slowest } = made(half, { volleys: false });
    expect(slowest).toBeGreaterThan(2 * half.least);
    const least = Number(slowest.toPrecision(2));
    expect(found(half, { volleys: false })?.adapt).toEqual({ ...half, least, waits: true });
  });

  test("is found by callers who were refused; others have the same pauses at full pace", () => {
    const { profile, cut } = made(half);
    const calm = made({ ...half, decrease: 1 }, { pauses: [10, 100_000] });
    const never = { ...calm.profile, jobs: calm.profile.jobs.map(({ last }) => new RecordedJob(last)) };
    const all = [{ ...never, runs: never.jobs, refused: 0 } as unknown as Profile, profile];
    expect(adaptOf(all, [calm.cut, cut], 5)?.adapt).toMatchObject(half);
  });

  test("is none of calls made together, nor if refusals leave more than two thirds of the pace", () => {
    const { profile, cut } = made(half);
    expect(adaptOf([{ ...profile, runs: profile.runs.slice(1) }], [cut], 5)).toBeNull();
    expect(found({ ...half, decrease: 0.67 }, { volleys: false, pauses: [1_000] })).toBeNull();
  });

  test("explains half of the scatter of pauses, or there is none", () => {
    const scatter = (values: readonly number[]): number =>
      new SortedSample(values.map((value) => ln(value))).deviation ** 2;
    const left = ([short, long]: readonly [number, number]): number => {
      const { pausesMs } = made(half, { pauses: [short, long] }).profile;
      return (
        scatter(
          Array(pausesMs.length / 2)
            .fill([short, long])
            .flat(),
        ) / scatter(pausesMs)
      );
    };
    const [within, beyond] = [
      [700, 1_400],
      [650, 1_500],
    ] as const;
    expect(left(within)).toBeLessThan(0.5);
    expect(left(within)).toBeGreaterThan(0.4);
    expect(found(half, { pauses: within })).not.toBeNull();
    expect(left(beyond)).toBeGreaterThan(0.5);
    expect(left(beyond)).toBeLessThan(0.6);
    expect(found(half, { pauses: beyond })).toBeNull();
  });
});

describe("refused calls wait at the pace", () => {
  const waitsLike = (of: (ms: number) => number, twice = 0): boolean | undefined =>
    found(half, { waits: usual.map(of), twice })?.adapt.waits;

  test("if at full pace they wait about as long as calls pause", () => {
    expect([0.7, 1.4, 0.6, 1.6].map((factor) => waitsLike((ms) => factor * ms))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test("if their waits scatter less than twice as much as pauses", () => {
    const scattered = (times: number) => (ms: number) => 1_000 * (ms / 1_000) ** Math.sqrt(times);
    expect([1.9, 2.1].map((times) => waitsLike(scattered(times)))).toEqual([true, false]);
  });

  test("if thirty or more tell", () => {
    expect([20, 21].map((twice) => waitsLike((ms) => ms, twice))).toEqual([true, false]);
  });
});
