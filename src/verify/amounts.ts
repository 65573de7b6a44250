// Amounts beside the verdict: points admitted above limits, calls refused wrongly, and the age of old readings. All are
// lower bounds: they add up what accused windows surely hold.
import type { Owner } from "../rules/rules.ts";
import type { Whose } from "../trace/whose.ts";
import type { Counted } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Standing } from "./standing.ts";
import type { Amounts, WindowAmounts } from "./verdict.ts";

const windowsMost = 100;

/** The windows that are furthest off. */
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

  /** Returns the windows that are furthest off, the worst first. */
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

/** Sums over the windows of one kind. A call is in at most one window of each owner. */
interface KindSums extends Readonly<Record<Owner, Sum>> {
  points: number;
  needless: number;
}

/** Returns the points that a call was charged in the end; its cost if the answer does not show them. */
const pointsOf = ({ asked, actual }: Pick<Counted, "asked" | "actual">): number =>
  actual ?? (Number.isFinite(asked) ? asked : 0);

/** Returns the kind of a window: its scope by rules, its quota by a policy. */
const kindOf = (whose: Whose): string => ("quota" in whose ? whose.quota : whose.scope);

export class AmountsTally {
  /** Number of admitted calls that used a quota, and of refused ones. */
  admitted = 0;
  refused = 0;
  readonly #kinds = new Map<string, KindSums>();
  readonly #windows = new WorstWindows();
  readonly #isOneEach: boolean;

  /** @param isOneEach true if each call uses one kind, so that kinds add up; otherwise only the largest sum is sure */
  constructor(isOneEach = true) {
    this.#isOneEach = isOneEach;
  }

  /** Adds an answered call that uses windows of one kind alone. */
  call(kind: string, counted: Counted): void {
    if (counted.asked === 0) return;
    if (counted.role === "refused") this.calls(kind, 0, 1, 0);
    else this.calls(kind, 1, 0, pointsOf(counted));
  }

  /** Adds numbers of answered calls that asked for something, and the points charged to the admitted ones. */
  calls(kind: string, admitted: number, refused: number, points: number): void {
    this.admitted += admitted;
    this.refused += refused;
    this.#of(kind).points += points;
  }

  /** Adds the points of an admitted call that used windows of this kind, among others. */
  charge(kind: string, counted: Pick<Counted, "asked" | "actual">): void {
    this.#of(kind).points += pointsOf(counted);
  }

  add({ told, owner }: QuotaName, standing: Standing): void {
    const sum = this.#of(kindOf(told))[owner];
    sum.overAdmitted += standing.overshoot.overAdmitted;
    sum.wronglyRefused += standing.overshoot.wronglyRefused;
    this.#windows.add(told, standing);
  }

  /** Adds refusals whose own headers show room. */
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
      // A call above both limits is one call, so that only the larger sum is sure.
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
