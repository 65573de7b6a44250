// A job: the body of a verb, done in a thread of its own with the user's code.
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { PlaceOf } from "../engine/limiter-failure.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** Things that a job works with, beside its task. */
export interface JobContext {
  /** `null` if no scenario was named. */
  readonly scenario: Scenario | null;
  /** `null` if no adapter was named. */
  readonly limiter: JobLimiter | null;
  /** State of Ctrl-C, in shared memory: a loop that never yields sees it, too. */
  readonly signal: { readonly aborted: boolean };
}

/** A user's limiter, or one by a policy if its file was asked for that. */
export interface JobLimiter<F = LimiterFactory> {
  readonly factory: F;
  /** Clock that its code reads. */
  readonly clock: LimiterClock;
  /** Finds its file and line in a stack of its bundle. */
  readonly placeOf?: PlaceOf;
}

/** A job. Task, events and result are plain data, which passes from thread to thread. */
export type Job<Task, Event, Result> = (
  task: Task,
  context: JobContext,
) => AsyncGenerator<Event, Result, undefined>;
