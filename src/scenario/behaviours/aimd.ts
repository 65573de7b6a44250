// Finds its rate by trying: a little faster after each answer, much slower after each refusal, as TCP does with
// its window (additive increase, multiplicative decrease). Silence and failures are as bad as refusals: TCP, too, takes
// what is lost for too much.
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";

export interface AimdOptions {
  readonly call: CallTemplate;
  /** Calls a minute at the start. */
  readonly start: number;
  /** Calls a minute added by each answer; 1 where it is left out. */
  readonly increase?: number;
  /** What a refusal, a failure or silence leaves of the rate, above 0 and below 1; 0.5 where it is left out. */
  readonly decrease?: number;
  /** Calls a minute, never fewer and never more; 1 and 60,000 where they are left out. */
  readonly least?: number;
  readonly most?: number;
}

type AimdRecord = {
  /** Calls a minute. */
  rate: number;
};

/**
 * One call at a time, `60 s / rate` after each answer. A refusal that `onRefused` gives up (give it `none()`), a 5xx or no
 * answer lowers the rate, and the same call is made again after that longer pause.
 */
export function aimd(options: AimdOptions): Behaviour<AimdRecord> {
  const mistakes = new Mistakes();
  mistakes.members("aimd", options, ["call", "start", "increase", "decrease", "least", "most"]);
  const { call, start, increase = 1, decrease = 0.5, least = 1, most = 60_000 } = options;
  mistakes.call("aimd.call", call);
  for (const [name, value] of Object.entries({ start, least, most }))
    if (!(value > 0 && value <= 6_000_000))
      mistakes.add(`aimd.${name}`, value, "calls a minute, above 0 and at most 6,000,000");
  if (!(increase >= 0 && Number.isFinite(increase)))
    mistakes.add("aimd.increase", increase, "calls a minute, 0 or more");
  if (!(decrease > 0 && decrease < 1)) mistakes.add("aimd.decrease", decrease, "a share above 0 and below 1");
  if (most < least) mistakes.add("aimd.most", most, "no less than aimd.least");
  mistakes.finish("this client cannot be made");
  const within = (rate: number): number => Math.min(most, Math.max(least, rate));
  return {
    name: "aimd",
    calls: [call],
    inFlightMost: 1,
    start: () => ({ rate: within(start) }),
    next(record, event, out) {
      if (event.kind === STARTED) return out.send(0, event.nowMs);
      const failed = event.status === 429 || event.status === 0 || event.status >= 500;
      record.rate = within(failed ? record.rate * decrease : record.rate + increase);
      const atMs = event.nowMs + Math.ceil(60_000 / record.rate);
      if (failed) out.retry(event, atMs);
      else out.send(0, atMs);
    },
  };
}
