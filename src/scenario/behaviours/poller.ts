// Asks the same thing again and again, as dashboards and watchers do.
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { nextTick } from "../ticks.ts";

export interface PollerOptions {
  readonly every: Duration;
  readonly call: CallTemplate;
}

/**
 * Makes one call at the client's start, and one at every tick of `every` from there. Only one call is open at a time.
 * Ticks are missed while a call has no answer or waits for a retry. The next call then comes at the first tick at or
 * after the answer. A call is wanted at its tick.
 */
export function poller(options: PollerOptions): Behaviour {
  const mistakes = new Mistakes();
  mistakes.options("poller", options, ["every", "call"]);
  const everyMs = mistakes.duration("poller.every", options.every, 1);
  mistakes.call("poller.call", options.call);
  mistakes.finish("this poller cannot be made");
  return {
    name: "poller",
    calls: [options.call],
    inFlightMost: 1,
    start: () => ({}),
    next(_record, event, out) {
      out.send(0, event.kind === STARTED ? event.nowMs : nextTick(event.wantedMs, everyMs, event.nowMs));
    },
  };
}
