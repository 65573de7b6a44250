// Clues: what the whole trace says about causes that no single window does, for the names of violations. Each is a
// pattern in words, and weighs a fault up or down; none accuses.
import type { Scope } from "../rules/rules.ts";
import type { Span } from "./clock.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Suspect } from "./suspects.ts";

const phasesMost = 20;
const quotasMost = 500;

const keyOf = ({ told }: QuotaName): string => JSON.stringify(told);

export class Clues {
  /** Windows that began with the count of the one before, by owner; users' that began anew; and anew after one that had not. */
  readonly #carried = { organization: 0, user: 0 };
  #anewUsers = 0;
  #recovered = 0;
  /** After a window opened, when counts began again from nothing, by quota and window. */
  readonly #restarts = new Map<string, Map<number, readonly Span[]>>();
  #datesOnGrid = 0;
  #datesOffGrid = 0;
  /** Windows with points that no call explains, by owner and by scope; windows of organizations. */
  readonly #unexplained = { organization: 0, user: 0 };
  #organizationWindows = 0;
  readonly #unexplainedIn: Record<Scope, number> = { rest: 0, graphql: 0 };
  #underCharged = false;
  /** Breaches that answers show by themselves. */
  readonly #ruledIn = new Set<Suspect>();
  /** Values that answers contradict. */
  readonly #ruledOut = new Set<Suspect>();
  /** Status bodies beside their caller's own count, and those that show another. */
  #bodies = 0;
  #othersCounts = 0;
  #jumps = 0;
  #fullResets = 0;
  #resets = 0;

  /** A window after another: whether it began with that one's count, and whether that had, too. */
  window({ owner }: QuotaName, carried: boolean, carriedBefore: boolean): void {
    if (carried) this.#carried[owner] += 1;
    else {
      if (owner === "user") this.#anewUsers += 1;
      if (carriedBefore) this.#recovered += 1;
    }
  }

  /** When a window's count began again from nothing, on the clients' clock. */
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

  /** Number of status bodies whose `reset_at` lay on the rules' grid, and beside it. */
  dates(onGrid: number, offGrid: number): void {
    this.#datesOnGrid += onGrid;
    this.#datesOffGrid += offGrid;
  }

  /** Jumps of the target's clock, by its status bodies. */
  jumps(count: number): void {
    this.#jumps += count;
  }

  /** The count that a status body shows, and the caller's own, where its headers show it. */
  statusBody(count: number, own: number | null): void {
    if (count > 0) this.#ruledOut.add("status-pristine");
    if (own === null) return;
    this.#bodies += 1;
    if (own !== count) this.#othersCounts += 1;
  }

  /** A window whose counts were judged. */
  counts({ owner }: QuotaName): void {
    if (owner === "organization") this.#organizationWindows += 1;
  }

  /** A window with points that no call explains. */
  unexplained({ owner, scope }: QuotaName): void {
    this.#unexplained[owner] += 1;
    this.#unexplainedIn[scope] += 1;
  }

  /** A `reset`, and whether it was the whole window's length. */
  reset(isFull: boolean): void {
    this.#resets += 1;
    if (isFull) this.#fullResets += 1;
  }

  /** A fault that an answer shows by itself. */
  rulesIn(name: Suspect): void {
    this.#ruledIn.add(name);
  }

  /** A call of more than one point that was told a count below its own charge. */
  underCharged(scope: Scope): void {
    if (scope === "graphql") this.#underCharged = true;
  }

  get #unexplainedTotal(): number {
    return this.#unexplained.organization + this.#unexplained.user;
  }

  get #carriedTotal(): number {
    return this.#carried.organization + this.#carried.user;
  }

  /** A fault that an answer contradicts. */
  rulesOut(name: Suspect): void {
    this.#ruledOut.add(name);
  }

  /** Returns the weight of all of this for a fault; 1 where it says nothing. */
  weight(name: string): number {
    return (this.#ruledOut.has(name as Suspect) ? 0.2 : 1) * this.#patterns(name);
  }

  #patterns(name: string): number {
    switch (name) {
      case "lost-expiry":
      case "immortal-by-polling":
      case "new-reset-old-count":
        return this.#carry(name);
      case "double-roll":
      case "reset-all-sweep":
        return this.#restart(name);
      case "two-interleaved-windows":
        // Ends that stay on the grid are one clock's windows, read by another.
        return this.#datesOffGrid === 0 && this.#datesOnGrid > 0 ? 0.4 : 1;
      case "skewed-nodes":
        return this.#datesOffGrid > 0 ? 0.4 : this.#datesOnGrid > 0 && this.#jumps > 1 ? 3 : 1;
      case "per-instance-counters":
        // One clock tells every process's windows.
        return this.#jumps > 1 || this.#datesOffGrid > 0 ? 0.4 : 1;
      case "status-shares-user":
        return this.#othersCounts > 0.2 * this.#bodies ? 0.3 : 1.3;
      case "wrong-user-key":
        return this.#strangers();
      case "status-charged":
        // Status calls are REST's: points of GraphQL that no call explains are others'.
        return this.#unexplainedIn.graphql > 0 ? 0.4 : 1;
      case "cost-ignored":
        return this.#underCharged ? 2.5 : 1;
      case "cost-over-limit-admitted":
        return this.#underCharged ? 0.3 : this.#ruledIn.has(name) ? 3 : 1;
      case "double-count":
      case "refused-counted":
        return this.#ruledIn.has(name) ? 1.8 : 1;
      case "reset-in-ms":
        return this.#ruledIn.has(name) ? 4 : 1;
      case "scopes-mixed":
        // Others' points come in the course of windows, and not with their start.
        if (this.#unexplainedTotal > 0 && this.#carriedTotal >= 0.7 * this.#unexplainedTotal) return 0.3;
        return this.#unexplainedIn.graphql > 0 && this.#unexplainedIn.rest > 0 ? 1.5 : 1;
      case "organization-off-grid":
        // A clock of one scope alone makes its reset_at jump against the other's.
        return this.#jumps > 0 ? 0.2 : this.#datesOnGrid > 0 ? 2 : 1;
      case "refusal-names-user":
        // Charges that no call explains may have filled the organization's window.
        return this.#unexplained.organization > 0 ? 0.2 : 1;
      case "reset-zero":
        // A window that opened shows its whole length, unless all seconds are cut.
        return this.#showsFull ? 2.5 : 1;
      case "reset-truncated":
        return this.#showsFull ? 0.4 : 1;
      default:
        return 1;
    }
  }

  get #showsFull(): boolean {
    return this.#fullResets > 0.002 * this.#resets;
  }

  /**
   * Counts that outlive their window: for ever once a key lost its expiry; now and then where a roll forgets them; and
   * only an organization's where polls of its status do it.
   */
  #carry(name: "lost-expiry" | "immortal-by-polling" | "new-reset-old-count"): number {
    const { organization, user } = this.#carried;
    if (organization + user === 0) return 1;
    if (this.#onlyUsers) return 0.3;
    const usersSpared = user === 0 && this.#anewUsers >= 4 && organization >= 2;
    if (name === "immortal-by-polling") return usersSpared ? 4 : 0.5;
    if (usersSpared) return 0.6;
    if (name === "lost-expiry") return this.#recovered > 0 ? 0.3 : 1.5;
    return this.#recovered > 0 ? 1.6 : 0.8;
  }

  /** A key's own timer goes off at one share of each window of its; a sweep has a course of its own. */
  #restart(name: "double-roll" | "reset-all-sweep"): number {
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
    const own = unlike / (alike + unlike) < 0.1;
    return own === (name === "double-roll") ? 2 : 0.4;
  }

  get #onlyUsers(): boolean {
    return (
      this.#unexplained.user > 0 && this.#unexplained.organization === 0 && this.#organizationWindows >= 2
    );
  }

  /** Users who share a key find points of others in their windows, while the organization's add up. */
  #strangers(): number {
    const { organization, user } = this.#unexplained;
    if (user === 0) return 0.3;
    if (this.#onlyUsers) return 3;
    return organization > 0 ? 0.5 : 1;
  }
}
