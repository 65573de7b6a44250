// Jobs are done in a thread of their own, with the user's code: the bodies of verbs. A job is loaded where it runs.
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { Scenario } from "../scenario/scenario.ts";

const jobs = {
  check: async () => (await import("./check-job.ts")).checkJob,
  interleavings: async () => (await import("./check-job.ts")).interleavingsJob,
  load: async () => (await import("./load-job.ts")).loadJob,
  measure: async () => (await import("./simulate-job.ts")).measureJob,
  plan: async () => (await import("./plan-job.ts")).planJob,
  simulate: async () => (await import("./simulate-job.ts")).simulateJob,
  swarm: async () => (await import("./swarm-job.ts")).swarmJob,
};

/** Things that a job works with, beside its task. */
export interface JobContext {
  /** `null` where no scenario was named. */
  readonly scenario: Scenario | null;
  /** `null` where no adapter was named. */
  readonly limiter: JobLimiter | null;
  /** Ctrl-C. It is shared memory: a loop that leaves no turn to anything sees it, too. */
  readonly signal: { readonly aborted: boolean };
}

/** A limiter of the user's. */
export interface JobLimiter {
  readonly factory: LimiterFactory;
  /** The clock that its code reads. */
  readonly clock: LimiterClock;
}

/** Task, events and result are plain data: they pass from thread to thread. */
export type Job<Task, Event, Result> = (
  task: Task,
  context: JobContext,
) => AsyncGenerator<Event, Result, undefined>;

type Jobs = { readonly [N in keyof typeof jobs]: Awaited<ReturnType<(typeof jobs)[N]>> };

export type JobName = keyof Jobs;
export type TaskOf<N extends JobName> = Parameters<Jobs[N]>[0];
export type EventOf<N extends JobName> =
  ReturnType<Jobs[N]> extends AsyncGenerator<infer Event, unknown, undefined> ? Event : never;
export type ResultOf<N extends JobName> =
  ReturnType<Jobs[N]> extends AsyncGenerator<unknown, infer Result, undefined> ? Result : never;

/** A job by its name, whatever its task is. */
export const jobNamed = (name: JobName): Promise<Job<never, unknown, unknown>> => jobs[name]();
