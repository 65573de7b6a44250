// What was found in windows, until the end of the trace: only then is it known whether limits were enforced all
// the while, and which calls without a known outcome may explain points that nothing else does.
import type { Span } from "./clock.ts";
import type { Enforcement } from "./enforcement.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import { type Unexplained, Unknowns } from "./unknowns.ts";
import type { CountsResult } from "./window-counts.ts";

export interface Deferral {
  /** From the earliest that the window can have opened to the latest that it can have ended. */
  readonly span: Span;
  readonly window: { readonly opensAt: number; readonly endsAt: number };
  readonly found: CountsResult;
}

export class Deferrals {
  readonly unknowns = new Unknowns();
  readonly #setting: QuotaSetting;
  readonly #deferrals: Deferral[] = [];
  #gapsExcused = false;

  constructor(setting: QuotaSetting) {
    this.#setting = setting;
  }

  excuseGaps(): void {
    this.#gapsExcused = true;
  }

  add(deferral: Deferral): void {
    const { enforced, otherwise } = deferral.found;
    if (enforced.length > 0 || otherwise.length > 0) this.#deferrals.push(deferral);
  }

  /** Accuses what no unknown call and no change of enforcement explains. */
  resolve(enforcement: Enforcement, lost: Unexplained): void {
    const { docket, name } = this.#setting;
    const total = { points: 0, calls: 0 };
    for (const { span, window, found } of this.#deferrals) {
      const standing = enforcement.throughout(span.from, span.to) === true ? found.enforced : found.otherwise;
      for (const { unexplained, ...suspicion } of standing)
        if (unexplained === null || !this.#explains(unexplained, span, lost, total))
          docket.accuse({ ...suspicion, org: name.org, user: name.user, scope: name.scope, window });
    }
  }

  /**
   * Whether unknown calls may explain this: those that were under way in this window, and, since each is charged
   * once, all that were sent by then for all gaps up to then.
   */
  #explains(
    gap: Unexplained,
    span: Span,
    lost: Unexplained,
    total: { points: number; calls: number },
  ): boolean {
    if (this.#gapsExcused) return true;
    total.points += gap.points;
    total.calls += gap.calls;
    const covers = (needed: Unexplained, by: Unexplained): boolean =>
      needed.points <= by.points + lost.points && needed.calls <= by.calls + lost.calls;
    return (
      covers(gap, this.unknowns.within(span)) &&
      covers(total, this.unknowns.within({ from: Number.NEGATIVE_INFINITY, to: span.to }))
    );
  }
}
