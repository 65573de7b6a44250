// Jobs that queue up in front of a few workers. A job's wait counts from its arrival, not from the time when a worker
// is free for it.
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";

export interface QueueOptions {
  readonly call: CallTemplate;
  /** Time between two jobs, from the client's start. Default: all jobs are there at once. */
  readonly every?: Duration;
  /** Number of jobs in all. Default: no bound, which needs `every`. */
  readonly jobs?: number;
  /** Greatest number of calls on the way at once, 1 to 1,000. */
  readonly workers: number;
}

type QueueRecord = {
  /** Time of the first job, ms since the epoch. */
  startMs: number;
  /** Number of jobs that a worker has taken. */
  taken: number;
  /** Number of workers that are busy, or wait for their next job. */
  open: number;
};

/** Serves jobs first in, first out. The client ends after its last job. */
export function queue(options: QueueOptions): Behaviour<QueueRecord> {
  const mistakes = new Mistakes();
  mistakes.options("queue", options, ["call", "every", "jobs", "workers"]);
  const { call, every } = options;
  mistakes.call("queue.call", call);
  const everyMs = every === undefined ? 0 : mistakes.duration("queue.every", every, 1);
  const workers = mistakes.whole("queue.workers", options.workers, 1, 1_000);
  if (every === undefined && options.jobs === undefined)
    mistakes.add("queue.jobs", options.jobs, "a number of jobs, or queue.every");
  const jobs = mistakes.most("queue.jobs", options.jobs);
  mistakes.finish("this queue cannot be made");
  return {
    name: "queue",
    calls: [call],
    inFlightMost: workers,
    start: () => ({ startMs: 0, taken: 0, open: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) record.startMs = event.nowMs;
      else record.open -= 1;
      while (record.open < workers && record.taken < jobs) {
        out.send(0, record.startMs + record.taken * everyMs);
        record.taken += 1;
        record.open += 1;
      }
      if (record.open === 0) out.stop();
    },
  };
}
