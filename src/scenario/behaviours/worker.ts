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
   * From an answer to the next call; the same each time, or at random, whole milliseconds; or pauses of several paces, of
   * which each says what comes next. None where it is left out.
   */
  readonly think?: SpreadInput | PacesInput;
  /** Number of calls at once, up to 1,000; it thinks when all of them are answered. 1 where it is left out. */
  readonly atOnce?: SpreadInput;
  /** Number of calls that it makes, each counted once however often it is retried; no bound where it is left out. */
  readonly jobs?: number;
}

type WorkerRecord = {
  /** Calls answered or given up. */
  done: number;
  /** Calls on the way. */
  open: number;
  /** Place of the last pause's pace; -1 before the first pause. */
  pace: number;
  /** Number of pauses of that pace still to come. */
  paceLeft: number;
};

/**
 * One call at a time, or some at once, each chosen at random by weight: the first at the client's start, the next `think`
 * after each answer (or refusal given up). After `jobs` calls the client is over, and where its paces say so.
 */
export function worker(options: WorkerOptions): Behaviour<WorkerRecord> {
  const mistakes = new Mistakes();
  mistakes.options("worker", options, ["calls", "think", "atOnce", "jobs"]);
  const { calls, choose } = choiceOf("worker.calls", options.calls, mistakes);
  const think = isPaces(options.think)
    ? parsePaces("worker.think", options.think, mistakes)
    : parseSpread("worker.think", options.think ?? 0, mistakes);
  const atOnce = parseSpread("worker.atOnce", options.atOnce ?? 1, mistakes, 1, atOnceMost);
  const jobs = mistakes.whole(
    "worker.jobs",
    options.jobs ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
  mistakes.finish("this worker cannot be made");
  const sizes = [atOnce, ...("paces" in think ? think.paces.flatMap((pace) => pace.atOnce ?? []) : [])];

  /** Draws the next pause, ms; `null` where nothing follows. */
  const pauseMs = (record: ClientRecord<WorkerRecord>): number | null => {
    if (!("paces" in think)) return thinkMs(record, think);
    const again = record.paceLeft > 0;
    if (!again) record.pace = nextPace(record, think.paces[record.pace]?.next ?? think.first);
    const pace = think.paces[record.pace];
    if (pace === undefined) return null;
    record.paceLeft = (again ? record.paceLeft : drawSpread(record, pace.times)) - 1;
    return drawSpread(record, pace.think);
  };
  const sizeOf = ({ pace }: WorkerRecord): Spread =>
    ("paces" in think ? think.paces[pace]?.atOnce : null) ?? atOnce;

  return {
    name: "worker",
    calls,
    inFlightMost: Math.min(jobs, Math.max(...sizes.map(mostOf))),
    start: () => ({ done: 0, open: 0, pace: -1, paceLeft: 0 }),
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

/** The greatest draw. */
function mostOf(spread: Spread): number {
  if (!("shape" in spread)) return spread.most;
  return spread.shape === "lognormal" ? spread.mostMs : (spread.quantilesMs.at(-1) as number);
}
