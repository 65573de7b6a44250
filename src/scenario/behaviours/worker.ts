// Works through jobs one after another: call, wait for the answer, think, call again (a closed loop).
import { type Behaviour, type ClientRecord, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type Spread, type SpreadInput } from "../spread.ts";
import { atOnceMost, isPaces, nextPace, type PacesInput, parsePaces } from "./paces.ts";
import { thinkMs } from "./think.ts";
import { type Calls, choiceOf } from "./weighted-calls.ts";

export interface WorkerOptions {
  readonly calls: Calls;
  /**
   * Time from an answer to the next call: constant, or at random in whole milliseconds. It may also be pauses of
   * several paces, of which each decides what comes next. Default: none.
   */
  readonly think?: SpreadInput | PacesInput;
  /** Number of calls at once, up to 1,000. The worker thinks when all of them are answered. Default: 1. */
  readonly atOnce?: SpreadInput;
  /** Number of calls that the client makes, however often each is retried. Default: no bound. */
  readonly jobs?: number;
}

type WorkerRecord = {
  /** Number of calls answered or given up. */
  done: number;
  /** Number of calls on the way. */
  open: number;
};

/** Record of a worker with paces. Others lack these numbers, which would take 16 bytes a client. */
type PacedRecord = WorkerRecord & {
  /** Place of the last pause's pace; -1 before the first pause. */
  pace: number;
  /** Number of pauses of that pace still to come. */
  paceLeft: number;
};

/**
 * Makes one call at a time, or several at once, each chosen at random by weight. The first comes at the client's start,
 * the next `think` after each answer or refusal given up. The client ends after `jobs` calls, or when its paces end.
 */
export function worker(options: WorkerOptions): Behaviour<WorkerRecord> {
  const mistakes = new Mistakes();
  mistakes.options("worker", options, ["calls", "think", "atOnce", "jobs"]);
  const { calls, choose } = choiceOf("worker.calls", options.calls, mistakes);
  const think = isPaces(options.think)
    ? parsePaces("worker.think", options.think, mistakes)
    : parseSpread("worker.think", options.think ?? 0, mistakes);
  const atOnce = parseSpread("worker.atOnce", options.atOnce ?? 1, mistakes, 1, atOnceMost);
  const jobs = mistakes.most("worker.jobs", options.jobs);
  mistakes.finish("this worker cannot be made");
  const sizes = [atOnce, ...("paces" in think ? think.paces.flatMap((pace) => pace.atOnce ?? []) : [])];

  /** Draws the next pause, ms; `null` if nothing follows. */
  const pauseMs = (record: ClientRecord<WorkerRecord>): number | null => {
    if (!("paces" in think)) return thinkMs(record, think);
    const paced = record as ClientRecord<PacedRecord>;
    const again = paced.paceLeft > 0;
    if (!again) paced.pace = nextPace(record, think.paces[paced.pace]?.next ?? think.first);
    const pace = think.paces[paced.pace];
    if (pace === undefined) return null;
    paced.paceLeft = (again ? paced.paceLeft : drawSpread(record, pace.times)) - 1;
    return drawSpread(record, pace.think);
  };
  const sizeOf = (record: WorkerRecord): Spread =>
    ("paces" in think ? think.paces[(record as PacedRecord).pace]?.atOnce : null) ?? atOnce;

  return {
    name: "worker",
    calls,
    inFlightMost: Math.min(jobs, Math.max(...sizes.map(mostOf))),
    start: () => ("paces" in think ? { done: 0, open: 0, pace: -1, paceLeft: 0 } : { done: 0, open: 0 }),
    next(record, event, out) {
      let atMs = event.nowMs;
      if (event.kind !== STARTED) {
        record.done += 1;
        record.open -= 1;
        if (record.open > 0) return;
        const pause = record.done >= jobs ? null : pauseMs(record);
        if (pause === null) return out.stop();
        atMs += pause;
      }
      record.open = Math.min(jobs - record.done, drawSpread(record, sizeOf(record)));
      for (let call = 0; call < record.open; call++) out.send(choose(record), atMs);
    },
  };
}

/** Returns the greatest draw of a spread. */
function mostOf(spread: Spread): number {
  if (!("shape" in spread)) return spread.most;
  return spread.shape === "lognormal" ? spread.mostMs : (spread.quantilesMs.at(-1) as number);
}
