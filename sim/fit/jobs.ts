// Calls → jobs: a first attempt with its retries. A trace says which calls are retries; in a log a call that follows
// a refusal of its kind may be one, and `profile.ts` decides which reading explains the log better.
import { ABSENT } from "../../src/scenario/client.ts";
import { isFailure, isRefusal } from "../../src/wire/outcome.ts";
import type { Limits } from "./limits.ts";
import type { RecordedCall, RefusalSaid } from "./recorded-call.ts";
import type { RecordedCaller } from "./recording.ts";
import type { FittedSpan } from "./spread.ts";

/** A call with its retries. */
export class RecordedJob {
  readonly first: RecordedCall;
  last: RecordedCall;
  /** Calls so far. */
  attempts = 1;
  /** Number of jobs: a job is a spell of its own. */
  readonly jobs = 1;

  constructor(call: RecordedCall) {
    this.first = call;
    this.last = call;
  }

  /** When it was wanted, ms since the epoch. */
  get startMs(): number {
    return this.first.wantedMs;
  }

  /** When its last answer was there. */
  get endMs(): number {
    return this.last.endMs;
  }

  get key(): string {
    return this.first.kind.key;
  }
}

/** One refusal that was followed by another attempt; resets as it showed them, or as the rules' grid has them. */
export interface RetrySample extends RefusalSaid {
  /** From the refusal's arrival to the next attempt. */
  readonly waitMs: number;
  /** When the refusal arrived, ms since the epoch. */
  readonly nowMs: number;
  /** Of the refused call, from 0. */
  readonly attempt: number;
  /** Wait before this attempt, ms. 0 for a first one. */
  readonly beforeMs: number;
  readonly cost: number;
}

export interface Jobs {
  /** In the order of `startMs`. */
  readonly jobs: readonly RecordedJob[];
  readonly retries: readonly RetrySample[];
}

export const isRefused = (call: RecordedCall): boolean => isRefusal(call.status);

/** No answer, or a server's mistake: a call that is tried again though nobody refused it. */
const isFailed = ({ status }: RecordedCall): boolean => isFailure(status);

/** A call that follows a failed one this soon is its retry, ms. */
export const atOnceMs = 1_000;

/** Tells what failed. A log in which no call has a status shows no failure. */
const failuresOf = ({ calls }: RecordedCaller): ((call: RecordedCall) => boolean) =>
  calls.some(({ status }) => status !== 0) ? isFailed : () => false;

/** The jobs of a caller whose attempts are numbered. */
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
    const waiting = call.attempt > 0 ? open.get(openName(call, call.attempt)) : undefined;
    // Of several that were refused, the first: a volley's retries come in the order of its refusals, give or take.
    const index = waiting?.findIndex(({ endMs }) => endMs <= call.atMs) ?? -1;
    const [job] = index < 0 || waiting === undefined ? [] : waiting.splice(index, 1);
    keep(job === undefined ? book.begin(call) : book.retry(job, call));
  }
  return book.finish();
}

const openName = (call: RecordedCall, attempt: number): string =>
  `${call.wantedMs} ${call.kind.key} ${attempt}`;

/**
 * The jobs of a caller whose attempts nobody numbered.
 * @param retries true to take a call after a refusal of its kind for a retry
 */
export function jobsGuessed(caller: RecordedCaller, limits: Limits, retries: boolean): Jobs {
  const book = new JobBook(caller, limits);
  const isFailed = failuresOf(caller);
  /** Jobs that may be tried again, in the order of their refusals: of calls at once several are. */
  let open: RecordedJob[] = [];
  for (const call of caller.calls) {
    const again = open.find(
      ({ key, endMs, last }) =>
        key === call.kind.key && endMs <= call.atMs && (isRefused(last) || call.atMs - endMs <= atOnceMs),
    );
    // Who does something else first does not come back to what was refused.
    open = open.filter((job) => (again === undefined ? job.endMs > call.atMs : job !== again));
    const job = again === undefined ? book.begin(call) : book.retry(again, call);
    if ((retries && isRefused(call)) || isFailed(call)) open.push(job);
  }
  return book.finish();
}

/** Tries again come this soon after the reset, ms, where many call under one name; at other times no more come than usual. */
const soonMs = 5_000;
const otherTimeMs = 20_000;
/** Fewer refusals tell nothing, nor does it if fewer of them are followed by a call more than usual. */
const refusalsLeast = 10;
const againLeast = 0.5;

/**
 * The jobs of a caller who stands for many: which of its calls are tries again nobody knows, but those that wait for a
 * reset come together then.
 * @returns `null` where no more calls come after resets than at other times
 */
export function jobsAtResets(caller: RecordedCaller, limits: Limits): Jobs | null {
  const refusals = caller.calls.filter(isRefused).length;
  if (refusals < refusalsLeast) return null;
  const found = triedLater(caller, limits, 0);
  const usual = triedLater(caller, limits, otherTimeMs).retries.length;
  return found.retries.length - usual >= againLeast * (refusals - usual) ? found : null;
}

/** Takes the first calls after the reset, or so long after it, for tries of those that were refused before. */
const triedLater = (caller: RecordedCaller, limits: Limits, laterMs: number): Jobs =>
  jobsWithin(caller, limits, ({ nowMs }, resetMs) => {
    const least = resetMs === null ? null : resetMs + laterMs - nowMs;
    return least === null ? null : { least, most: least + soonMs - 1 };
  });

/**
 * The jobs of a caller who tries what was refused again within a span of time, ms from the refusal on: of several that
 * are due, the one whose span ends first. What is not tried in its span is given up.
 * @param spanAfter `null`: it is not tried again
 */
export function jobsWithin(
  caller: RecordedCaller,
  limits: Limits,
  spanAfter: (refusal: RetrySample, resetMs: number | null) => FittedSpan | null,
): Jobs {
  const book = new JobBook(caller, limits);
  const isFailed = failuresOf(caller);
  let open: { readonly job: RecordedJob; readonly fromMs: number; readonly untilMs: number }[] = [];
  for (const call of caller.calls) {
    open = open.filter(({ untilMs }) => call.atMs <= untilMs);
    const [again = null] = open
      .filter(({ job, fromMs }) => job.key === call.kind.key && fromMs <= call.atMs)
      .sort((one, other) => one.untilMs - other.untilMs);
    open = open.filter((each) => each !== again);
    const job = again === null ? book.begin(call) : book.retry(again.job, call);
    let span = isFailed(call) ? { least: 0, most: atOnceMs } : null;
    if (isRefused(call)) span = spanAfter(book.sampleOf(job, 0), book.resetOf(call));
    if (span !== null) open.push({ job, fromMs: call.endMs + span.least, untilMs: call.endMs + span.most });
  }
  return book.finish();
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
    // Upon a failure nobody says when to come again.
    if (isRefused(job.last)) this.#retries.push(this.sampleOf(job, call.atMs - job.last.endMs));
    job.attempts += 1;
    job.last = call;
    return job;
  }

  /** What is known of a job's last refusal, and of a wait after it. */
  sampleOf({ attempts, last }: RecordedJob, waitMs: number): RetrySample {
    const before = this.#retries.at(-1);
    return {
      waitMs,
      nowMs: last.endMs,
      attempt: attempts - 1,
      beforeMs: attempts > 1 && before !== undefined ? before.waitMs : 0,
      cost: last.kind.cost,
      ...this.#saidBy(last),
    };
  }

  /** Returns the headers of a refusal. If it had none, returns those of windows on the epoch's grid (SPEC.md §3). */
  #saidBy({ said, kind: { operation }, atMs, endMs }: RecordedCall): RefusalSaid {
    if (said !== null && (said.reset !== ABSENT || said.userReset !== ABSENT)) return said;
    const resets = this.#limits.resetsAt(this.#caller, operation, (atMs + endMs) / 2000);
    return { remaining: ABSENT, userRemaining: ABSENT, ...resets, retryAfter: said?.retryAfter ?? ABSENT };
  }

  /** When the windows of a refused call are over, ms since the epoch; `null` where nobody knows. */
  resetOf(call: RecordedCall): number | null {
    const { reset, userReset } = this.#saidBy(call);
    const seconds = Math.max(reset, userReset);
    return seconds < 0 ? null : 1000 * Math.floor((call.atMs + call.endMs) / 2000 + seconds);
  }

  finish(): Jobs {
    return { jobs: this.#jobs.sort((a, b) => a.startMs - b.startMs), retries: this.#retries };
  }
}
