// Jobs that queue up in front of a few workers: a job's wait counts from when it came, not from when a worker
// was free for it.
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";

export interface QueueOptions {
  readonly call: CallTemplate;
  /** A job comes every so long, counted from the client's start; all are there at once where it is left out. */
  readonly every?: Duration;
  /** Number of jobs in all; no bound where it is left out (then `every` is needed). */
  readonly jobs?: number;
  /** Greatest number of calls on the way at once, 1 to 1,000. */
  readonly workers: number;
}

type QueueRecord = {
  /** When the first job came. */
  startMs: number;
  /** Jobs that a worker has taken. */
  taken: number;
  /** Workers that are busy, or wait for their next job. */
  open: number;
};

/** First in, first out. After its last job the client is over. */
export function queue(options: QueueOptions): Behaviour<QueueRecord> {
  const mistakes = new Mistakes();
  mistakes.options("queue", options, ["call", "every", "jobs", "workers"]);
  const { call, every } = options;
  mistakes.call("queue.call", call);
  const everyMs = every === undefined ? 0 : mistakes.duration("queue.every", every, 1);
  const workers = mistakes.whole("queue.workers", options.workers, 1, 1_000);
  if (every === undefined && options.jobs === undefined)
    mistakes.add("queue.jobs", options.jobs, "a number of jobs, or queue.every");
  const jobs = mistakes.whole(
    "queue.jobs",
    options.jobs ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
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
