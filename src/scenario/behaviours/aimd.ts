// Finds its rate by trying: a little faster after each answer, much slower after each refusal, as TCP does with its
// window (additive increase, multiplicative decrease). Failures and missing answers count as refusals: TCP, too, takes
// a loss for a sign of overload.
import { isFailure, isRefusal } from "../../wire/outcome.ts";
import { type Behaviour, type CallTemplate, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";

export interface AimdOptions {
  readonly call: CallTemplate;
  /** Rate at the start, calls a minute. */
  readonly start: number;
  /** Calls a minute that each answer adds. Default: 1. */
  readonly increase?: number;
  /** Share of the rate that is left after a refusal, a failure or no answer, above 0 and below 1. Default: 0.5. */
  readonly decrease?: number;
  /** Bounds of the rate, calls a minute. Default: 1 to 60,000. */
  readonly least?: number;
  readonly most?: number;
}

const isRate = (callsPerMinute: number): boolean => callsPerMinute > 0 && callsPerMinute <= 6_000_000;

type AimdRecord = {
  /** Rate, calls a minute. */
  rate: number;
};

/**
 * Makes one call at a time, `60 s / rate` after each answer. The rate falls after a refusal that `onRefused` gives up
 * (give it `none()`), a 5xx or no answer. The same call is then made again after the longer pause.
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
