// Amounts of wrong, beside yes or no: what was admitted above limits and refused below them, and how old readings
// were. All of it is a lower bound: it adds up what accused windows surely hold.
import { type Owner, type Scope, scopes } from "../rules/rules.ts";
import type { QuotaOwner, RulesOwner, Whose } from "../trace/whose.ts";
import type { AmountsCounter } from "./docket.ts";
import type { Counted } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Standing } from "./standing.ts";
import type { Amounts, WindowAmounts } from "./verdict.ts";

const windowsMost = 100;

/** The windows that are off, the worst ones. */
class WorstWindows {
  stalenessMs: number | null = null;
  #windows: WindowAmounts[] = [];

  add({ told }: QuotaName, { deferral, overshoot }: Standing): void {
    const { admitted, refused, points, overAdmitted, wronglyRefused, stalenessMs } = overshoot;
    if (stalenessMs !== null) this.stalenessMs = Math.max(this.stalenessMs ?? 0, stalenessMs);
    if (overAdmitted === 0 && wronglyRefused === 0 && stalenessMs === null) return;
    const { window, limit } = deferral;
    const overAdmission = points === 0 ? 0 : overAdmitted / points;
    const amounts = { admitted, refused, overAdmitted, overAdmission, wronglyRefused, stalenessMs };
    this.#windows.push({ ...told, window, limit, ...amounts });
    if (this.#windows.length >= 2 * windowsMost) this.worst();
  }

  /** The worst first. */
  worst(): readonly WindowAmounts[] {
    const badness = ({ overAdmission, wronglyRefused, refused }: WindowAmounts): number =>
      overAdmission + wronglyRefused / Math.max(1, refused);
    this.#windows.sort((a, b) => badness(b) - badness(a) || (b.stalenessMs ?? 0) - (a.stalenessMs ?? 0));
    this.#windows = this.#windows.slice(0, windowsMost);
    return this.#windows;
  }
}

/** Sums of one scope's windows of one kind of owner, or of one quota's windows: no call is in two of them. */
interface Sum {
  overAdmitted: number;
  wronglyRefused: number;
}

const nothing = (): Sum => ({ overAdmitted: 0, wronglyRefused: 0 });

function addTo(sum: Sum, { overshoot }: Standing): void {
  sum.overAdmitted += overshoot.overAdmitted;
  sum.wronglyRefused += overshoot.wronglyRefused;
}

/** Points that a call was charged in the end; all it asked for where its answer does not say. */
const pointsOf = ({ asked, actual }: Pick<Counted, "asked" | "actual">): number =>
  actual ?? (Number.isFinite(asked) ? asked : 0);

const shareOf = (over: number, points: number): number => (points === 0 ? 0 : Math.min(1, over / points));

interface ScopeSums extends Readonly<Record<Owner, Sum>> {
  admitted: number;
  refused: number;
  points: number;
  needless: number;
}

const noCalls = (): ScopeSums => ({
  admitted: 0,
  refused: 0,
  points: 0,
  needless: 0,
  organization: nothing(),
  user: nothing(),
});

/** Amounts by the rules of version 1: each call uses an organization's and a user's window of one scope. */
export class AmountsTally implements AmountsCounter {
  readonly #scopes: Readonly<Record<Scope, ScopeSums>> = { rest: noCalls(), graphql: noCalls() };
  readonly #windows = new WorstWindows();

  /** An answered call. */
  call(scope: Scope, counted: Counted): void {
    const sums = this.#scopes[scope];
    if (counted.asked === 0) return;
    if (counted.role === "refused") sums.refused += 1;
    else {
      sums.admitted += 1;
      sums.points += pointsOf(counted);
    }
  }

  /** Answered calls that asked for something, and the points that those were charged that were let through. */
  calls(scope: Scope, admitted: number, refused: number, points: number): void {
    const sums = this.#scopes[scope];
    sums.admitted += admitted;
    sums.refused += refused;
    sums.points += points;
  }

  add(name: QuotaName, standing: Standing): void {
    addTo(this.#scopes[name.scope][name.owner], standing);
    this.#windows.add(name, standing);
  }

  needless(whose: Whose, count: number): void {
    this.#scopes[(whose as RulesOwner).scope].needless += count;
  }

  result(): Amounts & { readonly windows: readonly WindowAmounts[] } {
    const windows = this.#windows.worst();
    const total = { admitted: 0, refused: 0, overAdmitted: 0, overAdmission: 0, wronglyRefused: 0 };
    for (const scope of scopes) {
      const { admitted, refused, points, needless, organization, user } = this.#scopes[scope];
      // A call above both limits is one call: the larger sum is sure.
      const over = Math.max(organization.overAdmitted, user.overAdmitted);
      total.admitted += admitted;
      total.refused += refused;
      total.overAdmitted += over;
      total.overAdmission = Math.max(total.overAdmission, shareOf(over, points));
      total.wronglyRefused += Math.max(needless, organization.wronglyRefused + user.wronglyRefused);
    }
    return { ...total, stalenessMs: this.#windows.stalenessMs, windows };
  }
}

interface QuotaSums extends Sum {
  points: number;
  needless: number;
}

/** Amounts by the quotas of a policy: a call may use any of them, so that the worst quota's sums are sure. */
export class QuotaAmounts implements AmountsCounter {
  readonly #quotas = new Map<string, QuotaSums>();
  readonly #windows = new WorstWindows();
  admitted = 0;
  refused = 0;

  /** A call that was let through and used a quota. */
  charge(quota: string, counted: Pick<Counted, "asked" | "actual">): void {
    this.#of(quota).points += pointsOf(counted);
  }

  add(name: QuotaName, standing: Standing): void {
    addTo(this.#of((name.told as QuotaOwner).quota), standing);
    this.#windows.add(name, standing);
  }

  needless(whose: Whose, count: number): void {
    this.#of((whose as QuotaOwner).quota).needless += count;
  }

  #of(quota: string): QuotaSums {
    const known = this.#quotas.get(quota) ?? { ...nothing(), points: 0, needless: 0 };
    this.#quotas.set(quota, known);
    return known;
  }

  result(): Amounts & { readonly windows: readonly WindowAmounts[] } {
    const windows = this.#windows.worst();
    const total = { overAdmitted: 0, overAdmission: 0, wronglyRefused: 0 };
    for (const { overAdmitted, wronglyRefused, points, needless } of this.#quotas.values()) {
      total.overAdmitted = Math.max(total.overAdmitted, overAdmitted);
      total.overAdmission = Math.max(total.overAdmission, shareOf(overAdmitted, points));
      total.wronglyRefused = Math.max(total.wronglyRefused, needless, wronglyRefused);
    }
    const { admitted, refused } = this;
    return { admitted, refused, ...total, stalenessMs: this.#windows.stalenessMs, windows };
  }
}
