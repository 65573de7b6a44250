// What callers do after a refusal. Every policy that can be written in a scenario says, for each refusal, in which
// span of time the next attempt comes, and that it is uniform there; so the policy under which the attempts that were
// seen are likeliest can be told: the one that needs the narrowest spans, with a price on what it leaves to be chosen.
import { ln } from "../src/scenario/elementary.ts";
import type { RetrySample } from "./fit-jobs.ts";
import { type FittedSpan, spanOf } from "./fit-spread.ts";
import { roundestWithin, Sample } from "./fit-statistics.ts";

export type Jitter = "none" | "full" | "equal" | "half" | "decorrelated";

/** A policy, as `src/scenario/retries` makes it. */
export type FittedRetry =
  | { readonly kind: "unknown" }
  | { readonly kind: "none" }
  | {
      readonly kind: "waitReset";
      readonly of: "organization" | "both";
      readonly from: "answer" | "second";
      readonly jitter: FittedSpan;
    }
  | { readonly kind: "retryAfter"; readonly jitter: FittedSpan }
  | { readonly kind: "fixed"; readonly wait: FittedSpan }
  | {
      readonly kind: "exponential";
      readonly first: number;
      readonly factor: number;
      readonly most: number;
      readonly jitter: Jitter;
    };

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
const strayCost = ln(600_000) + ln(100);
const samplesMost = 4_000;
/** Spans that are a sixth narrower. */
const muchBetter = 0.15;

interface Candidate {
  readonly retry: FittedRetry;
  /** What was chosen to fit. */
  readonly parameters: number;
  /** Where the attempt is expected, ms from the refusal's arrival; `null` where the policy would give up. */
  span(sample: RetrySample): FittedSpan | null;
}

/**
 * The policy that explains best what came after refusals, the first of those that do equally well.
 * @param slackMs how late an attempt may be by itself: the clock's resolution, and a generator's delay
 * @param usual where the next call comes without any policy; `null` where attempts are numbered
 */
export function guessRetry(
  given: readonly RetrySample[],
  slackMs: number,
  usual: FittedSpan | null,
): RetryGuess | null {
  const step = Math.ceil(given.length / samplesMost);
  const samples = step <= 1 ? given : given.filter((_, index) => index % step === 0);
  if (samples.length === 0) return null;
  const candidates = [
    ...(usual === null ? [] : [{ retry: { kind: "none" } as const, parameters: 0, span: () => usual }]),
    ...resets(samples, slackMs),
    ...fixedWaits(samples, slackMs),
    ...exponentials(samples, slackMs),
  ];
  const guesses = candidates.map((candidate) => judged(candidate, samples, slackMs));
  let best: RetryGuess | null = null;
  for (const guess of guesses) if (best === null || guess.score < best.score - 1e-9) best = guess;
  if (best === null) return null;
  // What looks like waiting may be going on as ever: the simpler reading, where it says nearly the same spans.
  const goingOn = usual === null ? undefined : guesses[0];
  if (goingOn !== undefined && goingOn.score < best.score + muchBetter) return goingOn;
  const { score, retry } = best;
  const near = guesses.filter(
    (guess) => guess.score - score < 2 / samples.length && guess.retry.kind !== retry.kind,
  );
  return { ...best, alike: [...new Set(near.map((guess) => guess.retry.kind))] };
}

function judged(candidate: Candidate, samples: readonly RetrySample[], slackMs: number): RetryGuess {
  let cost = 0;
  let inside = 0;
  for (const sample of samples) {
    const span = candidate.span(sample);
    const hit =
      span !== null && sample.waitMs >= span.least - slackMs && sample.waitMs <= span.most + slackMs;
    if (hit) inside += 1;
    cost += hit ? ln(span.most - span.least + 1 + 2 * slackMs) : strayCost;
  }
  const price = (candidate.parameters * ln(samples.length + 1)) / 2;
  return {
    retry: candidate.retry,
    score: (cost + price) / samples.length,
    explained: inside / samples.length,
    alike: [],
  };
}

function resets(samples: readonly RetrySample[], slackMs: number): Candidate[] {
  const second = (from: "answer" | "second", { nowMs }: RetrySample): number =>
    from === "second" ? nowMs % 1000 : 0;
  const waits = (["both", "organization"] as const).flatMap((of) =>
    (["answer", "second"] as const).map((from) => ({
      make: (jitter: FittedSpan): FittedRetry => ({ kind: "waitReset", of, from, jitter }),
      base: (sample: RetrySample): number | null => {
        const seconds = of === "both" ? laterReset(sample) : sample.reset;
        return seconds < 0 ? null : Math.max(0, seconds * 1000 - second(from, sample));
      },
      extra: from === "second" ? 0.5 : 0,
    })),
  );
  const after = {
    make: (jitter: FittedSpan): FittedRetry => ({ kind: "retryAfter", jitter }),
    base: ({ retryAfter }: RetrySample): number | null => (retryAfter < 0 ? null : retryAfter * 1000),
    extra: 0,
  };
  return [...waits, after].flatMap(({ make, base, extra }) => {
    const late = samples.flatMap((sample) => {
      const from = base(sample);
      return from === null ? [] : [sample.waitMs - from];
    });
    if (late.length < 0.9 * samples.length || new Sample(late).quantile(0.1) < -2 * slackMs) return [];
    const jitter = spanOf(late, slackMs);
    return [
      {
        retry: make(jitter),
        parameters: extra + (jitter.most === 0 ? 0 : jitter.least === 0 ? 1 : 2),
        span(sample) {
          const from = base(sample);
          return from === null ? null : { least: from + jitter.least, most: from + jitter.most };
        },
      },
    ];
  });
}

/** As `waitReset({ of: "both" })` chooses: of the windows that lack room, the one that resets last. */
function laterReset({ cost, remaining, reset, userRemaining, userReset }: RetrySample): number {
  const organizationLacks = remaining < cost;
  const userLacks = userRemaining < cost;
  if (organizationLacks === userLacks) return Math.max(reset, userReset);
  return organizationLacks ? reset : userReset;
}

function fixedWaits(samples: readonly RetrySample[], slackMs: number): Candidate[] {
  const wait = spanOf(
    samples.map(({ waitMs }) => waitMs),
    slackMs,
  );
  return [{ retry: { kind: "fixed", wait }, parameters: wait.least === wait.most ? 1 : 2, span: () => wait }];
}

/** What an exponential wait of w ms is drawn from, and how the waits of one attempt tell w. */
const jitters: Readonly<
  Record<
    Exclude<Jitter, "decorrelated">,
    { span(w: number, most: number): FittedSpan; of(waits: Sample): number }
  >
> = {
  none: { span: (w) => ({ least: w, most: w }), of: (waits) => waits.median },
  equal: { span: (w) => ({ least: w / 2, most: w }), of: (waits) => (waits.mean * 4) / 3 },
  full: { span: (w) => ({ least: 0, most: w }), of: (waits) => waits.mean * 2 },
  half: { span: (w, most) => ({ least: w / 2, most: Math.min(most, w * 1.5) }), of: (waits) => waits.mean },
};

function exponentials(samples: readonly RetrySample[], slackMs: number): Candidate[] {
  const byAttempt: number[][] = [];
  for (const { attempt, waitMs } of samples) {
    byAttempt[attempt] ??= [];
    byAttempt[attempt]?.push(waitMs);
  }
  const groups = [...byAttempt].map((waits) => new Sample(waits ?? []));
  if ((groups[0]?.count ?? 0) === 0 || (groups[1]?.count ?? 0) === 0) return [];
  const longest = Math.max(...groups.map(({ most }) => most));
  const drawn = (["none", "equal", "full", "half"] as const).flatMap((jitter) =>
    growing(groups, jitter, longest, slackMs),
  );
  return [...drawn, decorrelated(samples, longest, slackMs)];
}

function growing(
  groups: readonly Sample[],
  jitter: Exclude<Jitter, "decorrelated">,
  longest: number,
  slackMs: number,
): Candidate[] {
  const { span, of } = jitters[jitter];
  const waits = groups.map(of);
  // A mean of n uniform draws is off by a third of the span over the root of n; a wait without jitter hardly at all.
  const doubt = (index: number): number =>
    slackMs + (jitter === "none" ? 0 : (waits[index] ?? 0) / Math.sqrt(3 * (groups[index]?.count ?? 1)));
  const [w0 = 1, w1 = 1] = waits;
  const first = Math.max(1, roundestWithin(Math.max(1, w0 - doubt(0)), w0 + doubt(0)));
  const measured = Math.max(1, Math.round((w1 / Math.max(1, w0)) * 10) / 10);
  const factors = [...new Set([2, 1.5, 3, measured])].filter((factor) => factor > 1 && factor <= 100);
  const mosts = [...new Set([capOf(jitter, longest, slackMs), Math.ceil(longest)])];
  return factors.flatMap((factor) =>
    mosts.map((most) => ({
      retry: { kind: "exponential" as const, first, factor, most: Math.max(first, most), jitter },
      parameters: 3,
      span({ attempt }: RetrySample): FittedSpan {
        return span(grown(first, factor, Math.max(first, most), attempt), most);
      },
    })),
  );
}

/** The cap that the longest wait speaks of: it lies at the upper end of its span. */
function capOf(jitter: Jitter, longest: number, slackMs: number): number {
  return jitter === "none"
    ? roundestWithin(Math.max(1, longest - slackMs), longest + slackMs)
    : roundestWithin(longest, longest * 1.1 + slackMs);
}

function grown(first: number, factor: number, most: number, times: number): number {
  let wait = first;
  for (let step = 0; step < times && wait < most; step++) wait *= factor;
  return Math.min(most, wait);
}

function decorrelated(samples: readonly RetrySample[], longest: number, slackMs: number): Candidate {
  const least = new Sample(samples.map(({ waitMs }) => waitMs)).least;
  const first = Math.max(1, roundestWithin(Math.max(1, least * 0.9 - slackMs), Math.max(1, least)));
  const most = Math.max(first, capOf("decorrelated", longest, slackMs));
  return {
    retry: { kind: "exponential", first, factor: 2, most, jitter: "decorrelated" },
    parameters: 2,
    span: ({ beforeMs }) => ({ least: first, most: Math.min(most, Math.max(first, beforeMs * 3)) }),
  };
}
