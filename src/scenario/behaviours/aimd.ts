// Finds its rate by trying: a little faster after each answer, much slower after each refusal, as TCP does with
// its window (additive increase, multiplicative decrease). Silence and failures are as bad as refusals: TCP, too, takes
// what is lost for too much.
import { isFailure, isRefusal } from "../../wire/outcome.ts";
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";

export interface AimdOptions {
  readonly call: CallTemplate;
  /** Calls a minute at the start. */
  readonly start: number;
  /** Calls a minute added by each answer; 1 where it is left out. */
  readonly increase?: number;
  /** Share of the rate that a refusal, a failure or silence leaves, above 0 and below 1; 0.5 where it is left out. */
  readonly decrease?: number;
  /** Calls a minute, never fewer and never more; 1 and 60,000 where they are left out. */
  readonly least?: number;
  readonly most?: number;
}

const isRate = (callsPerMinute: number): boolean => callsPerMinute > 0 && callsPerMinute <= 6_000_000;

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
  mistakes.options("aimd", options, ["call", "start", "increase", "decrease", "least", "most"]);
  const { call } = options;
  mistakes.call("aimd.call", call);
  const rate = (name: "start" | "least" | "most", otherwise?: number): number =>
    mistakes.number(
      `aimd.${name}`,
      options[name] ?? otherwise,
      isRate,
      "calls a minute, above 0 and at most 6,000,000",
    );
  const start = rate("start");
  const least = rate("least", 1);
  const most = rate("most", 60_000);
  const increase = mistakes.number(
    "aimd.increase",
    options.increase ?? 1,
    (step) => step >= 0,
    "calls a minute, 0 or more",
  );
  const decrease = mistakes.number(
    "aimd.decrease",
    options.decrease ?? 0.5,
    (left) => left > 0 && left < 1,
    "a share above 0 and below 1",
  );
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
      const failed = isRefusal(event.status) || isFailure(event.status);
      record.rate = within(failed ? record.rate * decrease : record.rate + increase);
      const atMs = event.nowMs + Math.ceil(60_000 / record.rate);
      if (failed) out.retry(event, atMs);
      else out.send(0, atMs);
    },
  };
}
