// Many calls at once: a build that fans out, a cron job, a page that loads its twenty widgets.
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { nextTick } from "../ticks.ts";

export interface BurstOptions {
  readonly call: CallTemplate;
  /** Number of calls at once, 1 to 10,000. */
  readonly size: number;
  /** Time between bursts, counted from the client's start. Default: one burst only. */
  readonly every?: Duration;
}

type BurstRecord = {
  /** Number of calls of the current burst that are not answered yet. */
  open: number;
  /** Time at which the current burst was due, ms since the epoch. */
  dueMs: number;
};

/**
 * Makes `size` calls at the client's start, and again at each tick of `every`. A burst begins only after all calls of
 * the previous one were answered or given up; ticks that pass meanwhile are missed. Without `every` the client ends
 * after its burst.
 */
export function burst(options: BurstOptions): Behaviour<BurstRecord> {
  const mistakes = new Mistakes();
  mistakes.options("burst", options, ["call", "size", "every"]);
  const { call, every } = options;
  mistakes.call("burst.call", call);
  const size = mistakes.whole("burst.size", options.size, 1, 10_000);
  const everyMs = every === undefined ? null : mistakes.duration("burst.every", every, 1);
  mistakes.finish("this burst cannot be made");
  return {
    name: "burst",
    calls: [call],
    inFlightMost: size,
    start: () => ({ open: 0, dueMs: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) record.dueMs = event.nowMs;
      else {
        record.open -= 1;
        if (record.open > 0) return;
        if (everyMs === null) return out.stop();
        record.dueMs = nextTick(record.dueMs, everyMs, event.nowMs);
      }
      for (let n = 0; n < size; n++) out.send(0, record.dueMs);
      record.open = size;
    },
  };
}
