// The reaction of callers to a refusal. Every policy that can be written in a scenario says, for each refusal, in which
// span of time the next attempt comes, and that it is uniform there; so the policy under which the attempts that were
// seen are likeliest can be told: the one that needs the narrowest spans, with a price on what it leaves to be chosen.
import { exp, ln } from "../../src/scenario/elementary.ts";
import type { RetrySample } from "./jobs.ts";
import { announcedWaitMs, expectedSpan, type FittedRetry, type Jitter } from "./policies.ts";
import { spanOf } from "./spread.ts";
import { roundestWithin, SortedSample } from "./statistics.ts";

export interface RetryGuess {
  readonly retry: FittedRetry;
  /** Mean of -ln(likelihood) a refusal, with the price of what was chosen: smaller is better. */
  readonly score: number;
  /** The share of the attempts that came in the span that the policy says. */
  readonly explained: number;
  /** Other policies that say the same spans, and so explain them as well. */
  readonly alike: readonly FittedRetry["kind"][];
}

/** An attempt outside of its span may have come at any instant of ten minutes, once in a hundred times. */
export const strayCost = ln(600_000) + ln(100);
const samplesMost = 4_000;
/** A parameter costs half the logarithm of how many are fitted to (Schwarz), and more where these are few. */
const priceLeast = 1.5;
/** Likelier by so much, as logarithm, is no chance: spans that are a quarter narrower; of few attempts, much narrower. */
export const marginOf = (attempts: number): number => 0.3 + 6 / attempts;

interface Candidate {
  readonly retry: FittedRetry;
  /** Number of parameters that were chosen to fit. */
  readonly parameters: number;
}

/**
 * The policy that explains best what came after refusals, the first of those that do equally well.
 * @param slackMs lateness that an attempt may have by itself: the clock's resolution, and a generator's delay
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
    // Waits may be the usual pauses. That is the simpler reading, and it is taken if it gives nearly the same spans.
    const cost = samples.reduce((sum, { waitMs }) => sum + usual.cost(waitMs), 0) / samples.length;
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

/** A wait without a cap would be so many times the longest that was seen: the cap was met. */
const capSeen = 1.2;

/** If nobody was seen to wait at the cap, two more waits grow before one is assumed. */
function uncapped(retry: FittedRetry, samples: readonly RetrySample[]): FittedRetry {
  if (retry.kind !== "exponential" || retry.jitter === "decorrelated") return retry;
  const last = samples.reduce((most, { attempt }) => Math.max(most, attempt), 0);
  const longest = retry.first * exp(last * ln(retry.factor));
  return longest > capSeen * retry.most
    ? retry
    : { ...retry, most: Math.round(longest * retry.factor * retry.factor) };
}

/** Pauses of a caller after calls that were not refused. Between equal shares of them, any length is as likely. */
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

  /** -ln(likelihood) of a pause. */
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

/** The share of the attempts that came where a policy says. */
export function explainedBy(retry: FittedRetry, samples: readonly RetrySample[], slackMs: number): number {
  return judged({ retry, parameters: 0 }, samples, slackMs).explained;
}

/** -ln(likelihood) of all attempts that come as a policy says. */
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
    // A few ms are a timer's, not a policy's.
    return [{ least: 0, most: 0 }, spanOf(late, slackMs)].map((jitter) => {
      const parameters = jitter.most === 0 ? 0 : jitter.least === 0 ? 1 : 2;
      return { retry: { ...policy, jitter }, parameters: parameters + rare };
    });
  });
}

function fixedWait(samples: readonly RetrySample[], slackMs: number): Candidate {
  const wait = spanOf(
    samples.map(({ waitMs }) => waitMs),
    slackMs,
  );
  return { retry: { kind: "fixed", wait }, parameters: wait.least === wait.most ? 1 : 2 };
}

/** Estimates, from the waits of one attempt, the wait that they were drawn from. */
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
  if ((groups[0]?.count ?? 0) === 0 || (groups[1]?.count ?? 0) === 0) return [];
  const longest = Math.max(...groups.map(({ most }) => most));
  const drawn = (["none", "equal", "full", "half"] as const).flatMap((jitter) =>
    growing(groups, jitter, longest, slackMs),
  );
  return [...drawn, decorrelated(samples, longest, slackMs)];
}

function growing(
  groups: readonly SortedSample[],
  jitter: Exclude<Jitter, "decorrelated">,
  longest: number,
  slackMs: number,
): Candidate[] {
  const waits = groups.map(drawnFrom[jitter]);
  // A mean of n uniform draws is off by a third of the span over the root of n; a wait without jitter hardly at all.
  const doubt = (index: number): number =>
    slackMs +
    (jitter === "none" ? 0 : (waits[index] as number) / Math.sqrt(3 * (groups[index] as SortedSample).count));
  const [w0 = 1, w1 = 1] = waits;
  const first = Math.max(1, roundestWithin(Math.max(1, w0 - doubt(0)), w0 + doubt(0)));
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

/** The cap that the longest wait speaks of: it lies at the upper end of its span. */
function capOf(jitter: Jitter, longest: number, slackMs: number): number {
  return jitter === "none"
    ? roundestWithin(Math.max(1, longest - slackMs), longest + slackMs)
    : roundestWithin(longest, longest * 1.1 + slackMs);
}

function decorrelated(samples: readonly RetrySample[], longest: number, slackMs: number): Candidate {
  const least = new SortedSample(samples.map(({ waitMs }) => waitMs)).least;
  const first = Math.max(1, roundestWithin(Math.max(1, least * 0.9 - slackMs), Math.max(1, least)));
  const most = Math.max(first, capOf("decorrelated", longest, slackMs));
  return { retry: { kind: "exponential", first, factor: 2, most, jitter: "decorrelated" }, parameters: 2 };
}
