// Works through jobs one after another: call, wait for the answer, think, call again (a closed loop).
import { type Behaviour, type CallTemplate, type ClientRecord, STARTED } from "../client.ts";
import { type DurationSpan, Mistakes } from "../mistakes.ts";
import { below, between } from "../random.ts";

/** A call and how often it is chosen: `weight` of the sum of all weights, whole numbers. */
export interface WeightedCall {
  readonly call: CallTemplate;
  /** 1 where it is left out. */
  readonly weight?: number;
}

export interface WorkerOptions {
  readonly calls: readonly WeightedCall[];
  /** From an answer to the next call; constant, or uniform over whole milliseconds. None where it is left out. */
  readonly think?: DurationSpan;
  /** How many calls it makes, each counted once however often it is retried; no bound where it is left out. */
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
  mistakes.members("worker", options, ["calls", "think", "jobs"]);
  const weights = checkedWeights(options.calls, mistakes);
  const think = mistakes.span("worker.think", options.think ?? 0);
  const jobs = mistakes.whole(
    "worker.jobs",
    options.jobs ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
  mistakes.finish("this worker cannot be made");
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const choose = (record: ClientRecord): number => {
    let ticket = weights.length === 1 ? 0 : below(record, total);
    let index = 0;
    for (const weight of weights) {
      if (ticket < weight) break;
      ticket -= weight;
      index += 1;
    }
    return index;
  };
  return {
    name: "worker",
    calls: options.calls.map(({ call }) => call),
    inFlightMost: 1,
    start: () => ({ done: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) return out.send(choose(record), event.nowMs);
      record.done += 1;
      if (record.done >= jobs) return out.stop();
      const pause = think.most === 0 ? 0 : between(record, think.least, think.most);
      out.send(choose(record), event.nowMs + pause);
    },
  };
}

function checkedWeights(calls: unknown, mistakes: Mistakes): number[] {
  if (!Array.isArray(calls) || calls.length === 0) {
    mistakes.add("worker.calls", calls, "a list of {call, weight}, at least one");
    return [1];
  }
  return calls.map((entry: unknown, index) => {
    const path = `worker.calls.${index}`;
    if (!mistakes.members(path, entry, ["call", "weight"])) return 1;
    mistakes.call(`${path}.call`, entry["call"]);
    return mistakes.whole(`${path}.weight`, entry["weight"] ?? 1, 1, 1_000_000);
  });
}
