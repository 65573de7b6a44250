// Admitted calls that cost more than a limit: no enforced window can ever have room for them (SPEC.md §2.7). They are
// kept until it is known whether limits were enforced.
import { nounOf } from "../rules/words.ts";
import type { TraceCall } from "../trace/record.ts";
import type { HeaderValue } from "../wire/fields.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { QuotaName } from "./quota-name.ts";

const keptMost = 1000;

interface Oversize {
  readonly line: number;
  readonly span: Span;
  readonly cost: number;
  readonly limit: number;
}

/** Calls that cost more than a limit, for one group of counts. */
export class OversizeCalls {
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #calls: Oversize[] = [];

  constructor(name: QuotaName, time: TraceTime) {
    this.#name = name;
    this.#time = time;
  }

  /**
   * Adds a call that was surely admitted and counted, under terms by which its cost has to fit.
   * @param limits limits that the cost had to fit, as far as they are known
   */
  add(
    line: number,
    { cost, sent, received }: Pick<TraceCall, "cost" | "sent" | "received">,
    limits: readonly HeaderValue[],
  ): void {
    const limit = Math.min(...limits.filter((each) => typeof each === "number"));
    if (cost === null || cost <= limit || this.#calls.length >= keptMost) return;
    this.#calls.push({ line, span: this.#time.within(sent, received), cost, limit });
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    const found = this.#calls.filter(({ span }) => enforcement.throughout(span.from, span.to) === true);
    const [first] = found;
    if (first === undefined) return;
    docket.clues.ruledIn.add("cost-over-limit-admitted");
    docket.accuse({
      law: "refusal-justified",
      breach: "above a limit",
      suspects: ["cost-over-limit-admitted"],
      ...this.#name.told,
      window: null,
      count: found.length,
      lines: [first.line],
      explanation: `line ${first.line} asked for ${first.cost} ${nounOf(first.cost, this.#name.unit)}, more than its limit of ${first.limit} can ever hold, and was let through while limits were enforced`,
    });
  }
}
