// Amounts of wrong, beside yes or no: what was admitted above limits and refused below them, and how old readings
// were. All of it is a lower bound: it adds up what accused windows surely hold.
import type { Scope } from "../rules/rules.ts";
import type { Standing } from "./deferrals.ts";
import type { Counted } from "./mark.ts";
import type { QuotaName } from "./quota-setting.ts";
import type { Amounts, WindowAmounts } from "./verdict.ts";

const windowsMost = 100;

/** What one scope's windows of one kind of owner add up to: no call is in two of them. */
interface Sum {
  overAdmitted: number;
  wronglyRefused: number;
}

interface ScopeSums {
  admitted: number;
  refused: number;
  points: number;
  readonly organization: Sum;
  readonly user: Sum;
}

const nothing = (): ScopeSums => ({
  admitted: 0,
  refused: 0,
  points: 0,
  organization: { overAdmitted: 0, wronglyRefused: 0 },
  user: { overAdmitted: 0, wronglyRefused: 0 },
});

export class AmountsTally {
  readonly #scopes: Readonly<Record<Scope, ScopeSums>> = { rest: nothing(), graphql: nothing() };
  #stalenessMs: number | null = null;
  /** The worst first. */
  #windows: WindowAmounts[] = [];

  /** An answered call. */
  call(scope: Scope, { role, asked, actual }: Counted): void {
    const sums = this.#scopes[scope];
    if (asked === 0) return;
    if (role === "refused") sums.refused += 1;
    else {
      sums.admitted += 1;
      sums.points += actual ?? (Number.isFinite(asked) ? asked : 0);
    }
  }

  /** An accused window. */
  add({ org, user, scope, owner }: QuotaName, { deferral, overshoot }: Standing): void {
    const { admitted, refused, points, overAdmitted, wronglyRefused, stalenessMs } = overshoot;
    const sum = this.#scopes[scope][owner];
    sum.overAdmitted += overAdmitted;
    sum.wronglyRefused += wronglyRefused;
    if (stalenessMs !== null) this.#stalenessMs = Math.max(this.#stalenessMs ?? 0, stalenessMs);
    if (overAdmitted === 0 && wronglyRefused === 0 && stalenessMs === null) return;
    const { window, limit } = deferral;
    const overAdmission = points === 0 ? 0 : overAdmitted / points;
    const about = { org, user, scope, window, limit };
    this.#windows.push({
      ...about,
      admitted,
      refused,
      overAdmitted,
      overAdmission,
      wronglyRefused,
      stalenessMs,
    });
    if (this.#windows.length >= 2 * windowsMost) this.#prune();
  }

  #prune(): void {
    const badness = ({ overAdmission, wronglyRefused, refused }: WindowAmounts): number =>
      overAdmission + wronglyRefused / Math.max(1, refused);
    this.#windows.sort((a, b) => badness(b) - badness(a) || (b.stalenessMs ?? 0) - (a.stalenessMs ?? 0));
    this.#windows = this.#windows.slice(0, windowsMost);
  }

  /**
   * @param needless refusals whose own headers show that there was room, by scope
   */
  result(
    needless: Readonly<Record<Scope, number>>,
  ): Amounts & { readonly windows: readonly WindowAmounts[] } {
    this.#prune();
    const total = { admitted: 0, refused: 0, overAdmitted: 0, overAdmission: 0, wronglyRefused: 0 };
    for (const scope of ["rest", "graphql"] as const) {
      const { admitted, refused, points, organization, user } = this.#scopes[scope];
      // A call above both limits is one call: the larger sum is sure.
      const over = Math.max(organization.overAdmitted, user.overAdmitted);
      total.admitted += admitted;
      total.refused += refused;
      total.overAdmitted += over;
      total.overAdmission = Math.max(total.overAdmission, points === 0 ? 0 : Math.min(1, over / points));
      total.wronglyRefused += Math.max(needless[scope], organization.wronglyRefused + user.wronglyRefused);
    }
    return { ...total, stalenessMs: this.#stalenessMs, windows: this.#windows };
  }
}
