// Clues: facts of the whole trace that speak for or against faults, beyond what one window shows. They weigh the names
// of violations up or down; none accuses.
import type { Scope } from "../rules/rules.ts";
import type { Span } from "./clock.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Suspect } from "./suspects.ts";

const phasesMost = 20;
const quotasMost = 500;

const keyOf = ({ told }: QuotaName): string => JSON.stringify(told);

export class Clues {
  /** Windows that began with the previous count, by owner; users' that began at 0; those at 0 after one with a count. */
  readonly #carried = { organization: 0, user: 0 };
  #anewUsers = 0;
  #recovered = 0;
  /** Times after a window's opening at which its count began again from 0, by quota and window. */
  readonly #restarts = new Map<string, Map<number, readonly Span[]>>();
  #datesOnGrid = 0;
  #datesOffGrid = 0;
  /** Windows with points that no call explains, of the narrowest quotas and of broader ones, and by scope; windows of the broader ones. */
  readonly #unexplained = { broader: 0, narrowest: 0 };
  #broaderWindows = 0;
  readonly #unexplainedIn: Record<Scope, number> = { rest: 0, graphql: 0 };
  #underCharged = false;
  /** Faults that one answer shows by itself, and faults that one contradicts. */
  readonly ruledIn = new Set<Suspect>();
  readonly ruledOut = new Set<Suspect>();
  /** Status bodies whose headers show the caller's own count, and those that show a different count. */
  #bodies = 0;
  #othersCounts = 0;
  #jumps = 0;
  #fullResets = 0;
  #noResets = 0;
  #showsPast = false;
  #resets = 0;

  /** Notes whether a window began with the previous window's count, and whether the previous one had, too. */
  window({ owner }: QuotaName, carried: boolean, carriedBefore: boolean): void {
    if (carried) this.#carried[owner] += 1;
    else {
      if (owner === "user") this.#anewUsers += 1;
      if (carriedBefore) this.#recovered += 1;
    }
  }

  /** Notes when a window's count began again from 0, on the clients' clock. */
  restarts(name: QuotaName, opensAt: number, spans: readonly Span[]): void {
    const key = keyOf(name);
    let windows = this.#restarts.get(key);
    if (windows === undefined) {
      if (this.#restarts.size >= quotasMost) return;
      windows = new Map();
      this.#restarts.set(key, windows);
    }
    if (windows.size < phasesMost)
      windows.set(
        opensAt,
        spans.map(({ from, to }) => ({ from: from - opensAt, to: to - opensAt })),
      );
  }

  /** Adds numbers of status bodies whose `reset_at` lay on the rules' grid, and off it. */
  dates(onGrid: number, offGrid: number): void {
    this.#datesOnGrid += onGrid;
    this.#datesOffGrid += offGrid;
  }

  /** Adds jumps of the target's clock, as status bodies show them. */
  jumps(count: number): void {
    this.#jumps += count;
  }

  /** Notes the count that a status body shows, and the caller's own if its headers show it. */
  statusBody(count: number, own: number | null): void {
    if (count > 0) this.ruledOut.add("status-pristine");
    if (own === null) return;
    this.#bodies += 1;
    if (own !== count) this.#othersCounts += 1;
  }

  /** Notes a window whose counts were judged. */
  counts({ isNarrowest }: QuotaName): void {
    if (!isNarrowest) this.#broaderWindows += 1;
  }

  /** Notes a window with points that no call explains. */
  unexplained({ isNarrowest, scope }: QuotaName): void {
    this.#unexplained[isNarrowest ? "narrowest" : "broader"] += 1;
    this.#unexplainedIn[scope] += 1;
  }

  /** Notes a `reset`, in seconds, and whether it was the length of a whole window. */
  reset(isFull: boolean, seconds: number): void {
    this.#resets += 1;
    if (seconds === 0) this.#noResets += 1;
    if (seconds < 0) this.#showsPast = true;
    if (isFull) this.#fullResets += 1;
  }

  /** Notes a call of several points that was told a count below its own charge. */
  underCharged(scope: Scope): void {
    if (scope === "graphql") this.#underCharged = true;
  }

  /** Returns the weight of all clues for a fault; 1 if they say nothing. */
  weight(name: string): number {
    const fault = name as Suspect;
    return (this.ruledOut.has(fault) ? 0.2 : 1) * (this.#patterns[fault]?.() ?? 1);
  }

  /** Weights of the faults that patterns speak for or against. */
  readonly #patterns: Readonly<Partial<Record<Suspect, () => number>>> = {
    "lost-expiry": () => this.#carry(this.#recovered > 0 ? 0.3 : 1.5, 0.6),
    "new-reset-old-count": () => this.#carry(this.#recovered > 0 ? 1.6 : 0.8, 0.6),
    // Polls of an organization's status keep only the organization's counts alive.
    "immortal-by-polling": () => this.#carry(0.5, 4),
    "double-roll": () => this.#restart(true),
    "reset-all-sweep": () => this.#restart(false),
    // Ends on the grid speak for windows of one clock that other clocks read.
    "two-interleaved-windows": () => (this.#datesOffGrid === 0 && this.#datesOnGrid > 0 ? 0.4 : 1),
    "skewed-nodes": () => this.#skew(),
    // All processes share one clock, so that their windows cannot jump, and none has counted before the others.
    "per-instance-counters": () =>
      this.#jumps > 1 || this.#datesOffGrid > 0 || this.ruledIn.has("skewed-nodes") ? 0.4 : 1,
    "status-shares-user": () => (this.#othersCounts > 0.2 * this.#bodies ? 0.3 : 1.3),
    "wrong-user-key": () => this.#strangers(),
    // Status calls belong to REST: unexplained points of GraphQL have another cause.
    "status-charged": () => (this.#unexplainedIn.graphql > 0 ? 0.4 : 1),
    "cost-ignored": () => (this.#underCharged ? 2.5 : 1),
    "cost-over-limit-admitted": () =>
      this.#underCharged ? 0.3 : this.ruledIn.has("cost-over-limit-admitted") ? 3 : 1,
    "double-count": () => (this.ruledIn.has("double-count") ? 1.8 : 1),
    "refused-counted": () => (this.ruledIn.has("refused-counted") ? 1.8 : 1),
    "reset-in-ms": () => (this.ruledIn.has("reset-in-ms") ? 4 : 1),
    "window-slides": () => (this.ruledIn.has("window-slides") ? 2 : 1),
    "scopes-mixed": () => this.#mix(),
    // If one scope alone had another clock, its reset_at would jump against the other's.
    "organization-off-grid": () => (this.#jumps > 0 ? 0.2 : this.#datesOnGrid > 0 ? 2 : 1),
    // Unexplained charges may have filled the organization's window.
    "refusal-names-user": () => (this.#unexplained.broader > 0 ? 0.2 : 1),
    // A window that has just opened shows its whole length, unless all seconds are cut off.
    "reset-zero": () => (this.#isPast ? 0.2 : this.#showsFull ? 2.5 : 1),
    "reset-negative": () => (this.#isPast ? 2 : this.#noResets > 0 ? 0.2 : 1),
    "reset-truncated": () => (this.#showsFull ? 0.4 : 1),
  };

  #skew(): number {
    if (this.#datesOffGrid > 0) return 0.4;
    return (this.#datesOnGrid > 0 && this.#jumps > 1) || this.ruledIn.has("skewed-nodes") ? 3 : 1;
  }

  /** True if resets are past. Where they may not be negative, they are cut off at 0, so that most are. */
  get #isPast(): boolean {
    return this.#showsPast || this.#noResets > 0.5 * this.#resets;
  }

  get #showsFull(): boolean {
    return this.#fullResets > 0.002 * this.#resets;
  }

  /**
   * Weighs faults whose counts outlive their window: for ever after a lost expiry, sometimes after a faulty roll.
   * @param spared weight if only organizations' counts outlive it
   */
  #carry(usual: number, spared: number): number {
    const { organization, user } = this.#carried;
    if (organization + user === 0) return 1;
    if (this.#onlyUsers) return 0.3;
    return user === 0 && this.#anewUsers >= 4 && organization >= 2 ? spared : usual;
  }

  /** Weighs restarts of counts. A key's own timer fires at the same phase of every window; a sweep does not. */
  #restart(isOwn: boolean): number {
    let [alike, unlike] = [0, 0];
    for (const windows of this.#restarts.values()) {
      const common = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
      for (const spans of windows.values()) {
        const [first] = spans;
        if (first === undefined) continue;
        unlike += spans.length - 1;
        if (first.from <= common.to && first.to >= common.from) {
          if (Number.isFinite(common.to)) alike += 1;
          common.from = Math.max(common.from, first.from);
          common.to = Math.min(common.to, first.to);
        } else unlike += 1;
      }
    }
    if (alike + unlike < 2) return 1;
    return unlike / (alike + unlike) < 0.1 === isOwn ? 2 : 0.4;
  }

  get #onlyUsers(): boolean {
    return this.#unexplained.narrowest > 0 && this.#unexplained.broader === 0 && this.#broaderWindows >= 2;
  }

  /** Weighs a shared key: users find others' points in their windows, while the organization's counts add up. */
  #strangers(): number {
    const { broader, narrowest } = this.#unexplained;
    if (narrowest === 0) return 0.3;
    if (this.#onlyUsers) return 3;
    return broader > 0 ? 0.5 : 1;
  }

  /** Weighs mixed scopes: their points come in the course of windows, and not at their start. */
  #mix(): number {
    const unexplained = this.#unexplained.broader + this.#unexplained.narrowest;
    const carried = this.#carried.organization + this.#carried.user;
    if (unexplained > 0 && carried >= 0.7 * unexplained) return 0.3;
    return this.#unexplainedIn.graphql > 0 && this.#unexplainedIn.rest > 0 ? 1.5 : 1;
  }
}
