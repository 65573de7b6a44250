// Windows of a policy that lie on a grid, or follow a calendar: one that an admitted call was charged to ends where the
// policy says, by the target's own clock. A reset that is an instant of that clock shows it, whatever the clock reads.
import { calendarWindow } from "../policy/calendar.ts";
import type { FixedWindow } from "../policy/policy.ts";
import type { GridJudge } from "./count.ts";
import type { Docket } from "./docket.ts";
import type { QuotaName } from "./quota-name.ts";

/** Greatest distance from the grid that is no breach, ms: a rounded clock and a rounded rest may add up to it. */
const slackMs = 2000;

export class PolicyGrid implements GridJudge {
  readonly #name: QuotaName;
  readonly #rule: FixedWindow;
  #lastMs = Number.NaN;
  #first: { readonly line: number; readonly endMs: number } | null = null;
  #count = 0;

  /** @param rule not anchored at first requests */
  constructor(name: QuotaName, rule: FixedWindow) {
    this.#name = name;
    this.#rule = rule;
  }

  /** Checks a shown end. @param gridMs unit in which it is shown, ms */
  observe(line: number, endMs: number, gridMs: number): void {
    // Most answers show the end that the one before showed.
    if (endMs === this.#lastMs) return;
    this.#lastMs = endMs;
    if (this.#beside(endMs) <= slackMs + gridMs) return;
    this.#first ??= { line, endMs };
    this.#count += 1;
  }

  /** Returns the distance to the nearest end of a window, ms. */
  #beside(endMs: number): number {
    const { anchor, windowSeconds } = this.#rule;
    if (typeof anchor === "object" && "calendar" in anchor) {
      const { opensAt, endsAt } = calendarWindow(anchor.calendar, anchor.zone, endMs);
      return Math.min(endMs - opensAt, endsAt - endMs);
    }
    const since = (endMs - (typeof anchor === "object" ? anchor.offsetMs : 0)) % (windowSeconds * 1000);
    return Math.min(since, windowSeconds * 1000 - since);
  }

  finish(docket: Docket): void {
    if (this.#first === null) return;
    const { line, endMs } = this.#first;
    const { anchor, windowSeconds } = this.#rule;
    const window =
      typeof anchor === "object" && "calendar" in anchor
        ? `${anchor.calendar} in ${anchor.zone}`
        : `window of ${windowSeconds} s`;
    docket.accuse({
      law: "reset-agrees",
      breach: "off the grid",
      suspects: ["organization-off-grid", "reset-disagrees", "reset-at-drifts"],
      ...this.#name.told,
      window: null,
      count: this.#count,
      lines: [line],
      explanation: `line ${line} shows a reset at ${new Date(endMs).toISOString()}, at which no ${window} ends, by the policy`,
    });
  }
}
