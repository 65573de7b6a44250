// Groups calls into jobs: a first attempt with its retries. A trace says which calls are retries. In a log a call that
// follows a refusal of its kind may be a retry. `profile.ts` decides which reading explains the log better.
import { ABSENT } from "../../src/scenario/client.ts";
import { isFailure, isRefusal } from "../../src/wire/outcome.ts";
import type { Limits } from "./limits.ts";
import type { RecordedCall, RefusalSaid } from "./recorded-call.ts";
import type { RecordedCaller } from "./recording.ts";
import type { FittedSpan } from "./spread.ts";
import { sumOf } from "./statistics.ts";

/** A call with its retries. It is a spell and a run by itself, too. */
export class RecordedJob {
  readonly first: RecordedCall;
  last: RecordedCall;
  /** Number of calls so far. */
  attempts = 1;

  constructor(call: RecordedCall) {
    this.first = call;
    this.last = call;
  }

  /** Instant at which the job was wanted, ms since the epoch. */
  get startMs(): number {
    return this.first.wantedMs;
  }

  /** Arrival of the last answer, ms since the epoch. */
  get endMs(): number {
    return this.last.endMs;
  }

  get key(): string {
    return this.first.kind.key;
  }

  get refused(): boolean {
    return isRefused(this.last);
  }

  /** Number of jobs in this spell. */
  get jobs(): number {
    return 1;
  }

  get firstEndMs(): number {
    return this.first.endMs;
  }

  get together(): number {
    return 1;
  }

  get open(): number {
    return 1;
  }
}

/** A refusal that another attempt followed, with the resets that it showed, or else those of the rules' grid. */
export interface RetrySample extends Required<RefusalSaid> {
  /** Time from the refusal's arrival to the next attempt, ms. */
  readonly waitMs: number;
  /** Arrival of the refusal, ms since the epoch. */
  readonly nowMs: number;
  /** Number of the refused attempt, from 0. */
  readonly attempt: number;
  /** Wait before this attempt, ms. 0 for a first one. */
  readonly beforeMs: number;
}

export interface Jobs {
  /** Jobs in the order of `startMs`. */
  readonly jobs: readonly RecordedJob[];
  readonly retries: readonly RetrySample[];
}

export const isRefused = (call: RecordedCall): boolean => isRefusal(call.status);

/** Tells whether a call had no answer, or a server's error: it is tried again though nobody refused it. */
export const isFailed = ({ status }: RecordedCall): boolean => isFailure(status);

/** Longest time from a failure to its retry, ms. */
export const atOnceMs = 1_000;

/** Returns a test for failed calls. A log in which no call has a status shows no failure. */
export const failuresOf = ({ calls }: RecordedCaller): ((call: RecordedCall) => boolean) =>
  calls.some(({ status }) => status !== 0) ? isFailed : () => false;

/** Returns the jobs of a caller whose attempts are numbered. */
export function jobsRecorded(caller: RecordedCaller, limits: Limits): Jobs {
  const book = new JobBook(caller, limits);
  const open = new Map<string, RecordedJob[]>();
  const keep = (job: RecordedJob): void => {
    if (!isRefused(job.last) && !isFailed(job.last)) return;
    const name = openName(job.last, job.attempts);
    const others = open.get(name);
    if (others === undefined) open.set(name, [job]);
    else others.push(job);
  };
  for (const call of caller.calls) {
    const waiting = (call.attempt >= 1 ? open.get(openName(call, call.attempt)) : null) ?? [];
    // The first of several refused jobs is taken: a volley's retries come roughly in the order of its refusals.
    const index = waiting.findIndex(({ endMs }) => endMs <= call.atMs);
    const [job] = index < 0 ? [] : waiting.splice(index, 1);
    keep(job === undefined ? book.begin(call) : book.retry(job, call));
  }
  return book.finish();
}

const openName = (call: RecordedCall, attempt: number): string =>
  `${call.wantedMs} ${call.kind.key} ${attempt}`;

/**
 * Returns the jobs of a caller whose attempts nobody numbered.
 * @param attemptsMost number of attempts after which a refused call is given up: 1 if no call is a retry of a refused one
 */
export function jobsGuessed(caller: RecordedCaller, limits: Limits, attemptsMost: number): Jobs {
  const book = new JobBook(caller, limits);
  const isFailed = failuresOf(caller);
  /** Jobs that may be tried again, in the order of their refusals; several if calls were made at once. */
  let open: RecordedJob[] = [];
  for (const call of caller.calls) {
    const again = open.find(
      ({ key, endMs, last }) =>
        key === call.kind.key && endMs <= call.atMs && (isRefused(last) || call.atMs - endMs <= atOnceMs),
    );
    // A caller that does something else first does not come back to a refused call.
    open = open.filter((job) => (again === undefined ? job.endMs > call.atMs : job !== again));
    const job = again === undefined ? book.begin(call) : book.retry(again, call);
    if ((isRefused(call) && job.attempts < attemptsMost) || isFailed(call)) open.push(job);
  }
  return book.finish();
}

/** Span after a reset for retries under a shared name, ms; and delay of the span that shows the usual number. */
const soonMs = 5_000;
const otherTimeMs = 20_000;
/** Least refusals, and least share of them with a call more than usual at the reset, that show retries. */
const refusalsLeast = 10;
const againLeast = 0.5;

/** Finds the jobs of one caller who stands for many, as `jobsAtResetsOf` does. */
export const jobsAtResets = (caller: RecordedCaller, limits: Limits): Jobs | null =>
  jobsAtResetsOf([caller], limits)?.[0] ?? null;

/**
 * Finds the jobs of callers whose calls overlap. Nobody knows which of their calls are retries, but retries that wait for
 * a reset come together then.
 * @returns `null` if hardly more calls come after resets than at other times
 */
export function jobsAtResetsOf(callers: readonly RecordedCaller[], limits: Limits): readonly Jobs[] | null {
  const refusals = sumOf(callers.map(({ calls }) => calls.filter(isRefused).length));
  if (refusals < refusalsLeast) return null;
  const laterBy = (laterMs: number): readonly Jobs[] =>
    callers.map((caller) => triedLater(caller, limits, laterMs));
  const retriesOf = (all: readonly Jobs[]): number => sumOf(all.map(({ retries }) => retries.length));
  const found = laterBy(0);
  const usual = retriesOf(laterBy(otherTimeMs));
  return retriesOf(found) - usual >= againLeast * (refusals - usual) ? found : null;
}

/** Takes the first calls from `laterMs` after the reset on for retries of the calls that were refused before. */
const triedLater = (caller: RecordedCaller, limits: Limits, laterMs: number): Jobs =>
  jobsWithin(caller, limits, ({ nowMs }, resetMs) => {
    const least = resetMs === null ? null : resetMs + laterMs - nowMs;
    return least === null ? null : { least, most: least + soonMs - 1 };
  });

/**
 * Returns the jobs of a caller who retries refused calls within a span of time, ms from the refusal on. Of several jobs
 * that are due, a call retries the one whose span ends first. A job that is not retried in its span is given up.
 * @param spanAfter returns the span for retries of a refused call; `null`: it is not tried again
 * @param isLoop true if one loop makes all calls: it gives up a refused call once it makes another one
 */
export function jobsWithin(
  caller: RecordedCaller,
  limits: Limits,
  spanAfter: (refusal: RetrySample, resetMs: number | null) => FittedSpan | null,
  isLoop = false,
): Jobs {
  const book = new JobBook(caller, limits);
  const isFailed = failuresOf(caller);
  let open: Due[] = [];
  for (const call of caller.calls) {
    let again: Due | null = null;
    for (const due of open)
      if (due.job.key === call.kind.key && due.fromMs <= call.atMs && call.atMs <= due.untilMs)
        again = again === null || due.untilMs < again.untilMs ? due : again;
    if (open.length > 0) open = isLoop ? [] : open.filter((due) => due !== again && call.atMs <= due.untilMs);
    const job = again === null ? book.begin(call) : book.retry(again.job, call);
    let span = isFailed(call) ? { least: 0, most: atOnceMs } : null;
    if (isRefused(call)) {
      const refusal = book.sampleOf(job, 0);
      span = spanAfter(refusal, resetOf(call, refusal));
    }
    if (span !== null) open.push({ job, fromMs: call.endMs + span.least, untilMs: call.endMs + span.most });
  }
  return book.finish();
}

/** A job that may be retried, and the span in which a call retries it. */
interface Due {
  readonly job: RecordedJob;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns when the windows of a refused call end, ms since the epoch; `null` if unknown. */
function resetOf({ atMs, endMs }: RecordedCall, { reset, userReset }: RefusalSaid): number | null {
  const seconds = Math.max(reset, userReset);
  return seconds < 0 ? null : 1000 * Math.floor((atMs + endMs) / 2000 + seconds);
}

class JobBook {
  readonly #caller: RecordedCaller;
  readonly #limits: Limits;
  readonly #jobs: RecordedJob[] = [];
  readonly #retries: RetrySample[] = [];

  constructor(caller: RecordedCaller, limits: Limits) {
    this.#caller = caller;
    this.#limits = limits;
  }

  begin(call: RecordedCall): RecordedJob {
    const job = new RecordedJob(call);
    this.#jobs.push(job);
    return job;
  }

  retry(job: RecordedJob, call: RecordedCall): RecordedJob {
    // A failure does not say when to come again.
    if (isRefused(job.last)) this.#retries.push(this.sampleOf(job, call.atMs - job.last.endMs));
    job.attempts += 1;
    job.last = call;
    return job;
  }

  /** Returns what is known of a job's last refusal, with the wait after it. */
  sampleOf({ attempts, last }: RecordedJob, waitMs: number): RetrySample {
    const before = this.#retries.at(-1);
    const { cost: declared } = last.kind;
    const said = this.#saidBy(last);
    const {
      cost = declared,
      userCost = declared,
      remaining,
      userRemaining,
      reset,
      userReset,
      retryAfter,
    } = said;
    return {
      waitMs,
      nowMs: last.endMs,
      attempt: attempts - 1,
      beforeMs: attempts > 1 && before !== undefined ? before.waitMs : 0,
      cost,
      userCost,
      remaining,
      userRemaining,
      reset,
      userReset,
      retryAfter,
    };
  }

  /** Returns the headers of a refusal. If it had none, returns those of windows on the epoch's grid (SPEC.md §3). */
  #saidBy({ said, kind: { operation }, atMs, endMs }: RecordedCall): RefusalSaid {
    if (said !== null && (said.reset !== ABSENT || said.userReset !== ABSENT)) return said;
    const { reset, userReset } = this.#limits.resetsAt(this.#caller, operation, (atMs + endMs) / 2000);
    const retryAfter = said?.retryAfter ?? ABSENT;
    return { remaining: ABSENT, userRemaining: ABSENT, reset, userReset, retryAfter };
  }

  finish(): Jobs {
    return { jobs: this.#jobs.sort((a, b) => a.startMs - b.startMs), retries: this.#retries };
  }
}
