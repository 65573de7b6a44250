// Amounts of wrong, beside yes or no: what was admitted above limits and refused below them, and how old readings
// were. All of it is a lower bound: it adds up what accused windows surely hold.
import type { Owner } from "../rules/rules.ts";
import type { Whose } from "../trace/whose.ts";
import type { Counted } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Standing } from "./standing.ts";
import type { Amounts, WindowAmounts } from "./verdict.ts";

const windowsMost = 100;

/** The windows that are off, the worst ones. */
class WorstWindows {
  stalenessMs: number | null = null;
  #windows: WindowAmounts[] = [];

  add(told: Whose, { deferral, overshoot }: Standing): void {
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

interface Sum {
  overAdmitted: number;
  wronglyRefused: number;
}

/** Sums of the windows of one kind: no call is in two windows of one owner. */
interface KindSums extends Readonly<Record<Owner, Sum>> {
  /** Points that were let through. */
  points: number;
  needless: number;
}

/** Points that a call was charged in the end; all it asked for where its answer does not say. */
const pointsOf = ({ asked, actual }: Pick<Counted, "asked" | "actual">): number =>
  actual ?? (Number.isFinite(asked) ? asked : 0);

/** One scope's windows of the rules are of one kind, and one quota's of a policy. */
const kindOf = (whose: Whose): string => ("quota" in whose ? whose.quota : whose.scope);

/** Amounts by kinds of windows. */
export class AmountsTally {
  /** Calls that were let through and used a quota, and those that were refused. */
  admitted = 0;
  refused = 0;
  readonly #kinds = new Map<string, KindSums>();
  readonly #windows = new WorstWindows();
  readonly #isOneEach: boolean;

  /** @param isOneEach true if a call uses one kind alone, so that kinds add up; else the worst one's sums are sure */
  constructor(isOneEach = true) {
    this.#isOneEach = isOneEach;
  }

  /** An answered call that uses windows of one kind alone. */
  call(kind: string, counted: Counted): void {
    if (counted.asked === 0) return;
    if (counted.role === "refused") this.calls(kind, 0, 1, 0);
    else this.calls(kind, 1, 0, pointsOf(counted));
  }

  /** Answered calls that asked for something, and the points that those were charged that were let through. */
  calls(kind: string, admitted: number, refused: number, points: number): void {
    this.admitted += admitted;
    this.refused += refused;
    this.#of(kind).points += points;
  }

  /** A call that was let through and used windows of this kind, among others. */
  charge(kind: string, counted: Pick<Counted, "asked" | "actual">): void {
    this.#of(kind).points += pointsOf(counted);
  }

  /** An accused window. */
  add({ told, owner }: QuotaName, standing: Standing): void {
    const sum = this.#of(kindOf(told))[owner];
    sum.overAdmitted += standing.overshoot.overAdmitted;
    sum.wronglyRefused += standing.overshoot.wronglyRefused;
    this.#windows.add(told, standing);
  }

  /** Refusals whose own headers show that there was room. */
  needless(whose: Whose, count: number): void {
    this.#of(kindOf(whose)).needless += count;
  }

  #of(kind: string): KindSums {
    let sums = this.#kinds.get(kind);
    if (sums === undefined) {
      const nothing = (): Sum => ({ overAdmitted: 0, wronglyRefused: 0 });
      sums = { points: 0, needless: 0, organization: nothing(), user: nothing() };
      this.#kinds.set(kind, sums);
    }
    return sums;
  }

  result(): Amounts & { readonly windows: readonly WindowAmounts[] } {
    const windows = this.#windows.worst();
    const both = (a: number, b: number): number => (this.#isOneEach ? a + b : Math.max(a, b));
    const total = { overAdmitted: 0, overAdmission: 0, wronglyRefused: 0 };
    for (const { points, needless, organization, user } of this.#kinds.values()) {
      // A call above both limits is one call: the larger sum is sure.
      const over = Math.max(organization.overAdmitted, user.overAdmitted);
      const wrongly = Math.max(needless, organization.wronglyRefused + user.wronglyRefused);
      total.overAdmitted = both(total.overAdmitted, over);
      total.overAdmission = Math.max(total.overAdmission, points === 0 ? 0 : Math.min(1, over / points));
      total.wronglyRefused = both(total.wronglyRefused, wrongly);
    }
    const { admitted, refused } = this;
    return { admitted, refused, ...total, stalenessMs: this.#windows.stalenessMs, windows };
  }
}
