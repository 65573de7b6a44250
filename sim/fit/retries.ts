// The reaction of callers to a refusal. For each refusal, every policy of a scenario gives a span of time in which the
// next attempt comes, uniformly. So the likeliest policy for the recorded attempts can be found: it needs the narrowest
// spans. Each parameter that was fitted adds to its cost.
import { exp, ln } from "../../src/scenario/elementary.ts";
import { isRefused, type Jobs, type RecordedJob, type RetrySample } from "./jobs.ts";
import { announcedWaitMs, expectedSpan, type FittedRetry, type Jitter } from "./policies.ts";
import { type FittedSpan, spanOf } from "./spread.ts";
import { roundestWithin, SortedSample, sumOf } from "./statistics.ts";

export interface RetryGuess {
  readonly retry: FittedRetry;
  /** Mean of -ln(likelihood) per refusal, plus the price of fitted parameters; less is better. */
  readonly score: number;
  /** Share of the attempts that came within the policy's spans. */
  readonly explained: number;
  /** Kinds of other policies that explain the attempts as well. */
  readonly alike: readonly FittedRetry["kind"][];
  /** True if the calls while a window was full showed it (`shut.ts`). */
  readonly whileShut?: true;
  /** Most attempts of a call, if `shut.ts` found where callers give up. */
  readonly attempts?: number | null;
}

/** Cost of an attempt outside its span: one in a hundred comes at any instant of ten minutes. */
export const strayCost = ln(600_000) + ln(100);
const samplesMost = 4_000;
/** Price that a parameter has beside half the logarithm of the number of attempts (Schwarz); weighs if these are few. */
const priceLeast = 1.5;
/** Returns the least gain in cost that is not chance: spans a quarter narrower, or far narrower for few attempts. */
export const marginOf = (attempts: number): number => 0.3 + 6 / attempts;

interface Candidate {
  readonly retry: FittedRetry;
  /** Number of fitted parameters. */
  readonly parameters: number;
}

/**
 * Returns the policy that best explains what came after refusals; of equally good ones, the first.
 * @param slackMs lateness without meaning, ms: the clock's resolution, and a generator's delay
 * @param usual pauses without any policy; `null` if attempts are numbered
 */
export function guessRetry(
  given: readonly RetrySample[],
  slackMs: number,
  usual: UsualPauses | null,
): RetryGuess | null {
  const step = Math.ceil(given.length / samplesMost);
  const samples = step <= 1 ? given : given.filter((_, index) => index % step === 0);
  if (samples.length === 0) return null;
  const candidates = [
    ...resets(samples, slackMs),
    fixedWait(samples, slackMs),
    ...exponentials(samples, slackMs),
  ];
  const guesses = candidates.map((candidate) => judged(candidate, samples, slackMs));
  const best = guesses.reduce((first, other) => (other.score < first.score - 1e-9 ? other : first));
  if (usual !== null) {
    // Waits may just be the usual pauses. This simpler reading is taken if it explains the waits nearly as well.
    const cost = sumOf(samples.map(({ waitMs }) => usual.cost(waitMs))) / samples.length;
    if (cost < best.score + marginOf(samples.length))
      return { retry: { kind: "none" }, score: cost, explained: 1, alike: [] };
  }
  const near = guesses.filter(
    ({ score, retry }) => score - best.score < 2 / samples.length && retry.kind !== best.retry.kind,
  );
  return {
    ...best,
    retry: uncapped(best.retry, samples),
    alike: [...new Set(near.map(({ retry }) => retry.kind))],
  };
}

/** Ratio of the longest uncapped wait to the fitted cap above which callers were seen to wait at the cap. */
const capSeen = 1.2;

/** Raises a cap that no wait reached: two more waits grow before the cap. */
function uncapped(retry: FittedRetry, samples: readonly RetrySample[]): FittedRetry {
  if (retry.kind !== "exponential" || retry.jitter === "decorrelated") return retry;
  const last = samples.reduce((most, { attempt }) => Math.max(most, attempt), 0);
  const longest = retry.first * exp(last * ln(retry.factor));
  return longest > capSeen * retry.most
    ? retry
    : { ...retry, most: Math.round(longest * retry.factor * retry.factor) };
}

/** Distribution of the pauses after calls that were not refused: uniform between quantiles at equal shares. */
export class UsualPauses {
  readonly #ends: readonly number[];
  readonly #slackMs: number;

  constructor(pausesMs: readonly number[], slackMs: number) {
    const sample = new SortedSample(pausesMs);
    const parts = Math.max(1, Math.min(20, Math.floor(sample.count / 5)));
    const { least, most } = spanOf(pausesMs, slackMs);
    const inner = Array.from({ length: parts - 1 }, (_, index) => sample.quantile((index + 1) / parts));
    this.#ends =
      sample.count === 0
        ? [0, 600_000]
        : [Math.min(least, sample.least), ...inner, Math.max(most, sample.most)];
    this.#slackMs = slackMs;
  }

  /** Returns -ln(likelihood) of a pause. */
  cost(pauseMs: number): number {
    const slackMs = this.#slackMs;
    const parts = this.#ends.length - 1;
    let likelihood = 0;
    for (let part = 0; part < parts; part++) {
      const [from, to] = [this.#ends[part] as number, this.#ends[part + 1] as number];
      if (pauseMs >= from - slackMs && pauseMs <= to + slackMs)
        likelihood += 1 / (parts * (to - from + 1 + 2 * slackMs));
    }
    return likelihood === 0 ? strayCost : Math.min(strayCost, -ln(likelihood));
  }
}

/** Number of pauses beyond which quantiles hardly improve. */
const pausesMost = 20_000;

/** Number of jobs before a job among which the answer that it follows is looked for. */
const lookedBack = 32;

/**
 * Collects callers' pauses after admitted calls; takes a regular sample if there are very many. A job follows the last
 * answer before it: if calls overlap, the job before it may still be open.
 */
export function usualPauses(profiles: readonly Pick<Jobs, "jobs">[], slackMs: number): UsualPauses {
  const all = sumOf(profiles.map(({ jobs }) => jobs.length));
  const step = Math.max(1, Math.floor(all / pausesMost));
  const pauses: number[] = [];
  for (const { jobs } of profiles)
    for (let index = 1; index < jobs.length; index += step) {
      const { startMs } = jobs[index] as RecordedJob;
      let job: RecordedJob | undefined;
      for (let place = Math.max(0, index - lookedBack); place < index; place++) {
        const other = jobs[place] as RecordedJob;
        if (other.endMs <= startMs + slackMs && (job === undefined || other.endMs > job.endMs)) job = other;
      }
      if (job !== undefined && !isRefused(job.last)) pauses.push(startMs - job.endMs);
    }
  return new UsualPauses(pauses, slackMs);
}

/** Returns the share of the attempts that came within a policy's spans. */
export function explainedBy(retry: FittedRetry, samples: readonly RetrySample[], slackMs: number): number {
  return judged({ retry, parameters: 0 }, samples, slackMs).explained;
}

/** Returns -ln(likelihood) of all attempts under a policy. */
export const costBy = (retry: FittedRetry, samples: readonly RetrySample[], slackMs: number): number =>
  samples.length === 0 ? 0 : samples.length * judged({ retry, parameters: 0 }, samples, slackMs).score;

function judged(
  { retry, parameters }: Candidate,
  samples: readonly RetrySample[],
  slackMs: number,
): RetryGuess {
  let cost = parameters * (priceLeast + ln(samples.length + 1) / 2);
  let inside = 0;
  for (const sample of samples) {
    const span = expectedSpan(retry, sample);
    const hit =
      span !== null && sample.waitMs >= span.least - slackMs && sample.waitMs <= span.most + slackMs;
    if (hit) inside += 1;
    cost += hit ? ln(span.most - span.least + 1 + 2 * slackMs) : strayCost;
  }
  return { retry, score: cost / samples.length, explained: inside / samples.length, alike: [] };
}

function resets(samples: readonly RetrySample[], slackMs: number): Candidate[] {
  const announced = [
    { kind: "waitReset", of: "both", from: "answer" },
    { kind: "waitReset", of: "both", from: "second" },
    { kind: "waitReset", of: "organization", from: "answer" },
    { kind: "waitReset", of: "organization", from: "second" },
    { kind: "retryAfter" },
  ] as const;
  return announced.flatMap((policy) => {
    const late = samples.flatMap((sample) => {
      const saidMs = announcedWaitMs(policy, sample);
      return saidMs === null ? [] : [sample.waitMs - saidMs];
    });
    if (late.length < 0.9 * samples.length || new SortedSample(late).quantile(0.1) < -2 * slackMs) return [];
    const rare = policy.kind === "waitReset" && policy.from === "second" ? 0.5 : 0;
    // Jitter of a few ms is a timer's, not a policy's, so no jitter is a candidate, too.
    const spans = [{ least: 0, most: 0 }, spanOf(late, slackMs), ...spanWithoutStray(late, slackMs)];
    return spans.map((jitter) => {
      const parameters = jitter.most === 0 ? 0 : jitter.least === 0 ? 1 : 2;
      return { retry: { ...policy, jitter }, parameters: parameters + rare };
    });
  });
}

/** Least number of values of which one may be a stray, and its least distance from the others, in spans of these. */
const fewLeast = 5;
const strayLeast = 9;

/** Returns the span without the latest value, if that is a stray: of few values, `spanOf` leaves none out. */
function spanWithoutStray(values: readonly number[], slackMs: number): FittedSpan[] {
  if (values.length < fewLeast) return [];
  const [latest = 0, ...others] = values.toSorted((one, other) => other - one);
  const span = spanOf(others, slackMs);
  return latest - span.most > strayLeast * (span.most - span.least + slackMs) ? [span] : [];
}

function fixedWait(samples: readonly RetrySample[], slackMs: number): Candidate {
  const wait = spanOf(
    samples.map(({ waitMs }) => waitMs),
    slackMs,
  );
  return { retry: { kind: "fixed", wait }, parameters: wait.least === wait.most ? 1 : 2 };
}

/** Estimates the wait before jitter from the waits of one attempt. */
const drawnFrom: Readonly<Record<Exclude<Jitter, "decorrelated">, (waits: SortedSample) => number>> = {
  none: ({ median }) => median,
  equal: ({ mean }) => (mean * 4) / 3,
  full: ({ mean }) => mean * 2,
  half: ({ mean }) => mean,
};

function exponentials(samples: readonly RetrySample[], slackMs: number): Candidate[] {
  const byAttempt: number[][] = [];
  for (const { attempt, waitMs } of samples) {
    byAttempt[attempt] ??= [];
    byAttempt[attempt]?.push(waitMs);
  }
  const groups = [...byAttempt].map((waits) => new SortedSample(waits ?? []));
  if (byAttempt[0] === undefined || byAttempt[1] === undefined) return [];
  const longest = Math.max(...groups.map(({ most }) => most));
  const drawn = (["none", "equal", "full", "half"] as const).flatMap((jitter) =>
    growing(groups, jitter, longest, slackMs),
  );
  return [...drawn, decorrelated(samples, longest, slackMs)];
}

/** Returns the first wait, ms: the roundest within a span, and 1 at least. A call may come before a refusal's answer. */
const firstOf = (least: number, most: number): number =>
  roundestWithin(Math.max(1, least), Math.max(1, most));

function growing(
  groups: readonly SortedSample[],
  jitter: Exclude<Jitter, "decorrelated">,
  longest: number,
  slackMs: number,
): Candidate[] {
  const waits = groups.map(drawnFrom[jitter]);
  // The mean of n uniform draws errs by the span over the root of 12 n. A wait without jitter hardly errs.
  const doubt = (index: number): number =>
    slackMs +
    (jitter === "none" ? 0 : (waits[index] as number) / Math.sqrt(3 * (groups[index] as SortedSample).count));
  const [w0 = 1, w1 = 1] = waits;
  const first = firstOf(w0 - doubt(0), w0 + doubt(0));
  const measured = Math.max(1, Math.round((w1 / Math.max(1, w0)) * 10) / 10);
  const factors = [...new Set([2, 1.5, 3, measured])].filter((factor) => factor > 1 && factor <= 100);
  const mosts = [...new Set([capOf(jitter, longest, slackMs), Math.ceil(longest)])];
  return factors.flatMap((factor) =>
    mosts.map((most) => ({
      retry: { kind: "exponential" as const, first, factor, most: Math.max(first, most), jitter },
      parameters: 3,
    })),
  );
}

/** Estimates the cap from the longest wait, which lies near the upper end of its span. */
function capOf(jitter: Jitter, longest: number, slackMs: number): number {
  return jitter === "none"
    ? roundestWithin(Math.max(1, longest - slackMs), longest + slackMs)
    : roundestWithin(longest, longest * 1.1 + slackMs);
}

function decorrelated(samples: readonly RetrySample[], longest: number, slackMs: number): Candidate {
  const least = new SortedSample(samples.map(({ waitMs }) => waitMs)).least;
  const first = firstOf(least * 0.9 - slackMs, least);
  const most = Math.max(first, capOf("decorrelated", longest, slackMs));
  return { retry: { kind: "exponential", first, factor: 2, most, jitter: "decorrelated" }, parameters: 2 };
}
