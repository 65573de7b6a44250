// Marks by hand, what one answer says about one window, and the window that they are judged in.
import { TraceTime } from "../../src/verify/clock.ts";
import type { CountsInput } from "../../src/verify/counts-input.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { type QuotaName, rulesQuota } from "../../src/verify/quota-name.ts";
import { type Charging, type Terms, termsOf } from "../../src/verify/terms.ts";

/** Clocks of whole milliseconds, without an error. */
export const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 0 });

export interface GivenWindow extends Partial<Omit<CountsInput, "setting" | "terms">> {
  readonly name?: QuotaName;
  readonly charging?: Charging;
  /** Charging of refused calls, if it is known. */
  readonly refused?: Terms["refused"];
  /** Takes the faults that answers show by themselves. */
  readonly ruledIn?: string[];
}

/** A window of ann's, limit 10, seen from its start with all calls, but for what is given. */
export function countsInput(given: GivenWindow = {}): CountsInput {
  const {
    name = rulesQuota("acme", "ann", "rest"),
    charging = "at-decision",
    refused = null,
    ruledIn = [],
    ...facts
  } = given;
  const terms = { ...termsOf(null, name.scope), charging, refused };
  const docket = {
    clues: { ruledIn: { add: (fault: string) => void ruledIn.push(fault) } },
    takesPicture: false,
  };
  const setting = { name, terms, time, startedBy: 0, givesBack: true, docket };
  const seen = { fromZero: true, complete: true, settled: true, openedBy: 0, certainFrom: 0 };
  return { setting, terms, marks: [], others: [], limit: 10, previous: null, ...seen, ...facts };
}

/** An admitted call of one point that is told count 1 of 10, but for what is given; it is received when it is sent. */
export const markOf = (given: Partial<Mark> = {}): Mark => ({
  line: 2,
  sent: 0,
  received: given.sent ?? 0,
  role: "admitted",
  refusedBy: null,
  cost: 1,
  asked: 1,
  actual: null,
  sure: true,
  limit: 10,
  count: 1,
  clamped: false,
  reset: 60,
  resetAt: null,
  echoesUser: false,
  end: { from: 0, to: 0 },
  least: 1,
  most: 1,
  held: 1,
  ...given,
});
