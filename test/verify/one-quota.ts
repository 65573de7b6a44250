// One count, judged by marks that are set: windows of a minute, by clocks that count milliseconds and may be 5 ms wrong.
import { parseRules } from "../../src/rules/parse.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { TraceTime } from "../../src/verify/clock.ts";
import { Docket } from "../../src/verify/docket.ts";
import { EnforcedEvidence } from "../../src/verify/enforced-evidence.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { Hypotheses } from "../../src/verify/hypotheses.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import { JudgedQuota } from "../../src/verify/quota.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { QuotaSetting } from "../../src/verify/quota-setting.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import { WindowColumns } from "../../src/verify/window-columns.ts";
import { markOf } from "./marks.ts";

export const minute = 60_000;
const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 5 });
export const user = rulesQuota("acme", "ann", "rest");

export interface Given extends Partial<Omit<QuotaSetting, "terms">> {
  readonly terms?: Partial<Terms>;
}
export function quotaOf({ terms = {}, ...given }: Given = {}) {
  const own = { ...termsOf(parseRules({}), "rest"), ...terms };
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  const enforcement = new Enforcement(true);
  const hypotheses = new Hypotheses("rest", own);
  const quota = new JudgedQuota({
    ...{ name: user, terms: own, hypotheses, shapes: null, time, windowMs: minute, windowMsMost: minute },
    ...{ phase: null, startedBy: 0, givesBack: false, complete: true, enforcement, totals: null, docket },
    ...{ enforced: new EnforcedEvidence(enforcement), open: new OpenWindows(), columns: new WindowColumns() },
    ...given,
  });
  /** Verdict on all windows, once they are over. */
  const verdict = () => {
    quota.finish();
    const [only] = hypotheses.left;
    if (only !== undefined)
      quota.deferrals.accuse(quota.deferrals.standing(only, enforcement, { points: 0, calls: 0 }));
    return docket.verdict({ records: 0, windows: 0, voidReason: () => null, inferred: null });
  };
  return { quota, docket, verdict, said: () => verdict().violations.map(({ explanation }) => explanation) };
}
export type Made = ReturnType<typeof quotaOf>;

/** A call's mark, so many seconds after the start, of the window that ends at a minute; the end is known to 1 s. */
export const shown = (second: number, count: number, given: Partial<Mark> = {}): Mark => {
  const sent = 1000 * second;
  const ends = minute * (Math.floor(second / 60) + 1);
  return markOf({
    ...{ line: second, sent, received: sent + 10, count, reset: Math.floor((ends - sent) / 1000) },
    ...{ end: { from: ends - 500, to: ends + 500 }, ...given },
  });
};
export const add = ({ quota }: Made, ...marks: readonly Mark[]): void => {
  for (const mark of marks) quota.add(mark);
};
export const status = {
  role: "status",
  asked: 0,
  cost: null,
  sure: false,
  least: 0,
  most: 0,
  held: 0,
} as const;
