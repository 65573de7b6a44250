// Works through jobs one after another: call, wait for the answer, think, call again (a closed loop).
import { type Behaviour, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { parseSpread, type SpreadInput } from "../spread.ts";
import { thinkMs } from "./think.ts";
import { choiceOf, type WeightedCall } from "./weighted-calls.ts";

export interface WorkerOptions {
  readonly calls: readonly WeightedCall[];
  /** From an answer to the next call; the same each time, or at random, whole milliseconds. None where it is left out. */
  readonly think?: SpreadInput;
  /** Number of calls that it makes, each counted once however often it is retried; no bound where it is left out. */
  readonly jobs?: number;
}

type WorkerRecord = {
  /** Calls answered or given up. */
  done: number;
};

/**
 * One call at a time, chosen at random by weight: the first at the client's start, the next `think` after each
 * answer (or refusal given up). After `jobs` calls the client is over.
 */
export function worker(options: WorkerOptions): Behaviour<WorkerRecord> {
  const mistakes = new Mistakes();
  mistakes.options("worker", options, ["calls", "think", "jobs"]);
  const { calls, choose } = choiceOf("worker.calls", options.calls, mistakes);
  const think = parseSpread("worker.think", options.think ?? 0, mistakes);
  const jobs = mistakes.whole(
    "worker.jobs",
    options.jobs ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
  mistakes.finish("this worker cannot be made");
  return {
    name: "worker",
    calls,
    inFlightMost: 1,
    start: () => ({ done: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) return out.send(choose(record), event.nowMs);
      record.done += 1;
      if (record.done >= jobs) return out.stop();
      const pause = thinkMs(record, think);
      out.send(choose(record), event.nowMs + pause);
    },
  };
}
