// Works through jobs one after another: call, wait for the answer, think, call again (a closed loop).
import { type Behaviour, type ClientRecord, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type Spread, type SpreadInput } from "../spread.ts";
import { type AdaptInput, AdaptivePace, type AdaptRecord } from "./adapt.ts";
import { atOnceMost, isPaces, nextPace, type Paces, type PacesInput, parsePaces } from "./paces.ts";
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
  /**
   * Adapts the pace: pauses grow by refusals and shrink with time, also from one session to the next. A refusal that
   * `onRefused` gives up (give it `none()`), a 5xx and no answer are made again after the longer pause. It goes with
   * one call at a time, and with pauses of one pace. Default: the pace is fixed.
   */
  readonly adapt?: AdaptInput;
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

/** Record of a worker that adapts its pace. */
type AdaptingRecord = WorkerRecord & AdaptRecord;

/**
 * Makes one call at a time, or several at once, each chosen at random by weight. The first comes at the client's start,
 * the next `think` after each answer or refusal given up. The client ends after `jobs` calls, or when its paces end.
 */
export function worker(options: WorkerOptions): Behaviour<WorkerRecord> {
  const mistakes = new Mistakes();
  mistakes.options("worker", options, ["calls", "think", "atOnce", "jobs", "adapt"]);
  const { calls, choose } = choiceOf("worker.calls", options.calls, mistakes);
  const think = isPaces(options.think)
    ? parsePaces("worker.think", options.think, mistakes)
    : parseSpread("worker.think", options.think ?? 0, mistakes);
  const atOnce = parseSpread("worker.atOnce", options.atOnce ?? 1, mistakes, 1, atOnceMost);
  const jobs = mistakes.most("worker.jobs", options.jobs);
  const adapt = adaptOf(options, think, mistakes);
  mistakes.finish("this worker cannot be made");
  const sizes = [atOnce, ...("paces" in think ? think.paces.flatMap((pace) => pace.atOnce ?? []) : [])];

  /** Draws the next pause, ms; `null` if nothing follows. */
  const pauseMs = (record: ClientRecord<WorkerRecord>): number | null => {
    if (adapt !== null) return adapt.pauseMs(record as ClientRecord<AdaptingRecord>);
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
    start: (_seed, _userSeed, before) => ({
      ...{ done: 0, open: 0 },
      ...("paces" in think ? { pace: -1, paceLeft: 0 } : null),
      ...adapt?.start(before as AdaptingRecord | undefined),
    }),
    next(record, event, out) {
      let atMs = event.nowMs;
      if (event.kind !== STARTED) {
        const adapting = record as ClientRecord<AdaptingRecord>;
        if (adapt?.isSlowedBy(adapting, event) === true)
          return out.retry(event, atMs + adapt.waitMs(adapting));
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

/** Checks the option `adapt`, which goes with one call at a time and plain pauses; `null` if it is absent. */
function adaptOf(
  { adapt, atOnce, think: given }: WorkerOptions,
  think: Spread | Paces,
  mistakes: Mistakes,
): AdaptivePace | null {
  if (adapt === undefined) return null;
  if (atOnce !== undefined) mistakes.add("worker.atOnce", atOnce, "nothing beside adapt");
  const isPlain = !("paces" in think) && ("shape" in think || think.most > 0);
  if (!isPlain) mistakes.add("worker.think", given, "a time above 0, or a spread, beside adapt");
  return new AdaptivePace("worker.adapt", adapt, isPlain ? think : { least: 0, most: 0 }, mistakes);
}

/** Returns the greatest draw of a spread. */
function mostOf(spread: Spread): number {
  if (!("shape" in spread)) return spread.most;
  return spread.shape === "lognormal" ? spread.mostMs : (spread.quantilesMs.at(-1) as number);
}
