// A job: the body of a verb, done in a thread of its own with the user's code.
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** Things that a job works with, beside its task. */
export interface JobContext {
  /** `null` where no scenario was named. */
  readonly scenario: Scenario | null;
  /** `null` where no adapter was named. */
  readonly limiter: JobLimiter | null;
  /** Ctrl-C. It is shared memory: a loop that leaves no turn to anything sees it, too. */
  readonly signal: { readonly aborted: boolean };
}

/** A limiter of the user's; by a policy where its file was asked for one. */
export interface JobLimiter<F = LimiterFactory> {
  readonly factory: F;
  /** The clock that its code reads. */
  readonly clock: LimiterClock;
}

/** Task, events and result are plain data: they pass from thread to thread. */
export type Job<Task, Event, Result> = (
  task: Task,
  context: JobContext,
) => AsyncGenerator<Event, Result, undefined>;
