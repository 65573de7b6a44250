// Limiters with one bug each, most of them bugs that real ones have shipped, by the law that they break. Each
// is the tiny limiter with one method wrong.
import type { Asked, Call, PartialDecision, WindowReading } from "../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import type { Owner, Rules } from "../../src/rules/rules.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";
import { TinyLimiter, type TinyWindow } from "./tiny-limiter.ts";

type Kind = new (rules: Rules, from?: unknown) => TinyLimiter;

/** Shows readings that are wrong in one way, and decides rightly. */
const showing = (
  change: (reading: WindowReading, owner: Owner, nowMs: number) => Partial<WindowReading>,
): Kind =>
  class extends TinyLimiter {
    override read(call: Call, owner: Owner, nowMs: number): WindowReading {
      const reading = super.read(call, owner, nowMs);
      return { ...reading, ...change(reading, owner, nowMs) };
    }
  };

/** Sends answers that are wrong in one way, and decides and reads rightly. */
const sending = (change: (answer: HttpAnswer, asked: Asked) => HttpAnswer): Kind =>
  class extends TinyLimiter {
    override answer(asked: Asked, nowMs: number): HttpAnswer | null {
      const answer = super.answer(asked, nowMs);
      return answer === null ? null : change(answer, asked);
    }
  };

const withHeaders = (answer: HttpAnswer, change: HttpAnswer["headers"]): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...change },
});

class OneExtra extends TinyLimiter {
  override hasRoom(call: Call, owner: Owner, window: TinyWindow): boolean {
    return window.count < this.limitOf(call, owner).limit + 1;
  }
}

/** Holds all to the usual limits, also those with limits of their own. */
class OwnLimitsIgnored extends TinyLimiter {
  override limitOf({ scope }: Call, owner: Owner) {
    const { limit, windowSeconds } = this.rules[owner][scope];
    return { limit, lengthMs: windowSeconds * 1000 };
  }
}

/** Compares counts of REST requests as text, in which 2 is more than 10. */
class ComparedAsText extends TinyLimiter {
  override hasRoom(call: Call, owner: Owner, window: TinyWindow): boolean {
    if (call.scope === "graphql") return super.hasRoom(call, owner, window);
    return window.count < 1 || String(window.count + 1) <= String(this.limitOf(call, owner).limit);
  }
}

/** Joins names without a separator. */
class JoinedNames extends TinyLimiter {
  override keyOf({ organization, user, scope }: Call, owner: Owner): string {
    return owner === "organization" ? `${scope} ${organization}` : `${scope} user ${organization}${user}`;
  }
}

class CaseIgnored extends TinyLimiter {
  override keyOf(call: Call, owner: Owner): string {
    return super.keyOf(call, owner).toLowerCase();
  }
}

/** Keeps windows in a plain object, in which `constructor` is a function: its counts are no numbers. */
class PlainObject extends TinyLimiter {
  override window(call: Call, owner: Owner, nowMs: number): TinyWindow {
    return call[owner] in {}
      ? { seenMs: nowMs, resetAtMs: nowMs + 1000, count: Number.NaN }
      : super.window(call, owner, nowMs);
  }
}

class CostOverLimitAdmitted extends TinyLimiter {
  override hasRoom(call: Call, owner: Owner, window: TinyWindow): boolean {
    return super.hasRoom(call, owner, window) || call.cost > this.limitOf(call, owner).limit;
  }
}

class DoubleCount extends TinyLimiter {
  override charge(call: Call, owner: Owner, nowMs: number): void {
    super.charge(call, owner, nowMs);
    super.charge(call, owner, nowMs);
  }
}

class CostIgnored extends TinyLimiter {
  override costOf(): number {
    return 1;
  }
}

/** Counts in 32 bits. */
class Overflow extends TinyLimiter {
  override charge(call: Call, owner: Owner, nowMs: number): void {
    super.charge(call, owner, nowMs);
    const window = this.window(call, owner, nowMs);
    window.count >>>= 0;
  }
}

class GivesBackTooLate extends TinyLimiter {
  override settle(reservation: unknown, actual: number, nowMs: number) {
    const { call } = reservation as { call: Call };
    for (const owner of ["organization", "user"] as const)
      this.window(call, owner, nowMs).count -= call.cost - actual;
    return this.readings(call, nowMs);
  }
}

class StatusCharged extends TinyLimiter {
  override status(organization: string, nowMs: number) {
    const status = super.status(organization, nowMs);
    this.charge({ organization, user: "", scope: "rest", cost: 1 }, "organization", nowMs);
    return status;
  }
}

/** Each status reading looks like traffic, and so keeps an idle window alive. */
class ImmortalByPolling extends TinyLimiter {
  override status(organization: string, nowMs: number) {
    const window = this.windows.get(`rest ${organization}`);
    if (window !== undefined && window.count > 0 && window.resetAtMs > nowMs) window.resetAtMs += 1000;
    return super.status(organization, nowMs);
  }
}

class StatusMovesTheClock extends TinyLimiter {
  override status(organization: string, nowMs: number) {
    this.window({ organization, user: "", scope: "rest", cost: 1 }, "organization", nowMs);
    return super.status(organization, nowMs);
  }
}

class RefusedCounted extends TinyLimiter {
  override onRefusal(call: Call, refusedBy: Owner, nowMs: number): void {
    this.charge(call, refusedBy, nowMs);
  }
}

class NarrowDrainsBroad extends TinyLimiter {
  override onRefusal(call: Call, refusedBy: Owner, nowMs: number): void {
    if (refusedBy === "user") this.charge(call, "organization", nowMs);
  }
}

class OneShort extends TinyLimiter {
  override hasRoom(call: Call, owner: Owner, window: TinyWindow): boolean {
    return window.count + call.cost < this.limitOf(call, owner).limit;
  }
}

class WrongUserKey extends TinyLimiter {
  override keyOf(call: Call, owner: Owner): string {
    return super.keyOf({ ...call, user: "the proxy" }, owner);
  }
}

class UserAcrossOrganizations extends TinyLimiter {
  override keyOf(call: Call, owner: Owner): string {
    return owner === "user" ? super.keyOf({ ...call, organization: "" }, owner) : super.keyOf(call, owner);
  }
}

class ScopesMixed extends TinyLimiter {
  override keyOf(call: Call, owner: Owner): string {
    return super.keyOf({ ...call, scope: "rest" }, owner);
  }
}

/** One timer clears every key, at its own time. */
class ResetAllSweep extends TinyLimiter {
  override decide(call: Call, nowMs: number): PartialDecision {
    if (nowMs % 3000 === 0) for (const window of this.windows.values()) window.count = 0;
    return super.decide(call, nowMs);
  }
}

class NewResetOldCount extends TinyLimiter {
  override roll(window: TinyWindow, lengthMs: number): void {
    if (window.seenMs >= window.resetAtMs) window.resetAtMs = this.endOf(window.seenMs, lengthMs);
  }
}

class BoundaryInclusive extends TinyLimiter {
  override roll(window: TinyWindow, lengthMs: number): void {
    if (window.seenMs > window.resetAtMs) super.roll(window, lengthMs);
  }
}

class RearmedPerHit extends TinyLimiter {
  override charge(call: Call, owner: Owner, nowMs: number): void {
    super.charge(call, owner, nowMs);
    const window = this.window(call, owner, nowMs);
    window.resetAtMs = window.seenMs + this.limitOf(call, owner).lengthMs;
  }
}

class UnenforcedRefuses extends TinyLimiter {
  override mayRefuse(): boolean {
    return true;
  }
}

class UnenforcedForgets extends TinyLimiter {
  override charge(call: Call, owner: Owner, nowMs: number): void {
    if (this.mayRefuse(call)) super.charge(call, owner, nowMs);
  }
}

/** Windows counted from midnight: one of 7 s does not divide a day. */
class CountedFromMidnight extends TinyLimiter {
  override endOf(nowMs: number, lengthMs: number): number {
    const midnight = nowMs - (nowMs % 86_400_000);
    return midnight + super.endOf(nowMs - midnight, lengthMs);
  }
}

/** Seconds in 32 bits: the window's end wraps in 2038. */
class Seconds32 extends TinyLimiter {
  override endOf(nowMs: number, lengthMs: number): number {
    return ((super.endOf(nowMs, lengthMs) / 1000) | 0) * 1000;
  }
}

class RollsBack extends TinyLimiter {
  override clock(_window: TinyWindow, nowMs: number): number {
    return nowMs;
  }

  override roll(window: TinyWindow, lengthMs: number): void {
    const resetAtMs = this.endOf(window.seenMs, lengthMs);
    if (resetAtMs !== window.resetAtMs) window.count = 0;
    window.resetAtMs = resetAtMs;
  }
}

class SweepForgetsTheClock extends TinyLimiter {
  override sweep(nowMs: number): void {
    for (const [key, { resetAtMs }] of this.windows) if (resetAtMs <= nowMs) this.windows.delete(key);
  }
}

/** A timer and the clock both roll the window, so that it rolls twice in its length. */
class DoubleRoll extends TinyLimiter {
  override window(call: Call, owner: Owner, nowMs: number): TinyWindow {
    const before = this.windows.get(this.keyOf(call, owner))?.seenMs ?? 0;
    const window = super.window(call, owner, nowMs);
    const half = this.limitOf(call, owner).lengthMs / 2;
    if (Math.floor(before / half) !== Math.floor(window.seenMs / half)) window.count = 0;
    return window;
  }
}

class SnapshotForgetsUsers extends TinyLimiter {
  override snapshot(): unknown {
    return {
      floorMs: this.floorMs,
      windows: [...this.windows].filter(([key]) => !key.includes("/")),
      enforced: [...this.enforced],
    };
  }
}

class SnapshotForgetsEnforced extends TinyLimiter {
  override snapshot(): unknown {
    return { floorMs: this.floorMs, windows: [...this.windows], enforced: [] };
  }
}

class SnapshotForgetsTheFloor extends TinyLimiter {
  override snapshot(): unknown {
    return { floorMs: 0, windows: [...this.windows], enforced: [...this.enforced] };
  }
}

/** The organization's window refuses, the user's is blamed. */
class WrongWindowNamed extends TinyLimiter {
  override decide(call: Call, nowMs: number): PartialDecision {
    const decision = super.decide(call, nowMs);
    return decision.refusedBy === "organization" ? { ...decision, refusedBy: "user" } : decision;
  }
}

const userHeadersAsOrganization = sending((answer) =>
  withHeaders(answer, {
    "RateLimit-Remaining": answer.headers["RateLimit-User-Remaining"],
    "RateLimit-Limit": answer.headers["RateLimit-User-Limit"],
    "RateLimit-Reset": answer.headers["RateLimit-User-Reset"],
  }),
);

/** Every law, and the limiters that it must catch; `ops` bounds the operations of the shrunk counterexample. */
export const brokenLimiters: readonly { law: LimiterLawName; fault: string; Kind: Kind; ops: number }[] = [
  { law: "bounded", fault: "one-extra", Kind: OneExtra, ops: 2 },
  { law: "bounded", fault: "cost-over-limit-admitted", Kind: CostOverLimitAdmitted, ops: 1 },
  {
    law: "bounded",
    fault: "negative-count",
    Kind: showing(({ current }) => ({ current: -current })),
    ops: 1,
  },
  { law: "bounded", fault: "own-limits-ignored", Kind: OwnLimitsIgnored, ops: 2 },
  { law: "conserved", fault: "double-count", Kind: DoubleCount, ops: 1 },
  { law: "conserved", fault: "cost-ignored", Kind: CostIgnored, ops: 1 },
  { law: "conserved", fault: "overflow", Kind: Overflow, ops: 1 },
  { law: "conserved", fault: "status-charged", Kind: StatusCharged, ops: 2 },
  { law: "conserved", fault: "gives-back-too-late", Kind: GivesBackTooLate, ops: 5 },
  {
    law: "remaining-agrees",
    fault: "remaining-unclamped",
    Kind: showing(({ limit, current }) => ({ remaining: limit - current })),
    ops: 3,
  },
  {
    law: "reset-agrees",
    fault: "reset-truncated",
    Kind: showing(({ reset, resetAtMs }, _, nowMs) => ({
      reset: Math.min(reset, Math.floor((resetAtMs - nowMs) / 1000)),
    })),
    ops: 3,
  },
  {
    law: "reset-agrees",
    fault: "reset-in-ms",
    Kind: showing(({ reset }) => ({ reset: reset * 1000 })),
    ops: 1,
  },
  {
    law: "reset-agrees",
    fault: "reset-epoch",
    Kind: showing(({ resetAtMs }) => ({ reset: resetAtMs / 1000 })),
    ops: 1,
  },
  { law: "reset-agrees", fault: "reset-zero", Kind: showing(({ reset }) => ({ reset: reset - 1 })), ops: 1 },
  {
    law: "reset-agrees",
    fault: "reset-at-drifts",
    Kind: showing(({ reset }, _, nowMs) => ({ resetAtMs: nowMs + reset * 1000 })),
    ops: 2,
  },
  {
    law: "reset-agrees",
    fault: "reset-disagrees",
    Kind: showing(({ resetAtMs }) => ({ resetAtMs: resetAtMs + 64_000 })),
    ops: 1,
  },
  { law: "status-free", fault: "status-charged", Kind: StatusCharged, ops: 2 },
  { law: "status-free", fault: "immortal-by-polling", Kind: ImmortalByPolling, ops: 3 },
  { law: "status-free", fault: "status-moves-the-clock", Kind: StatusMovesTheClock, ops: 4 },
  { law: "all-or-nothing", fault: "refused-counted", Kind: RefusedCounted, ops: 2 },
  { law: "all-or-nothing", fault: "narrow-drains-broad", Kind: NarrowDrainsBroad, ops: 3 },
  { law: "refusal-justified", fault: "one-short", Kind: OneShort, ops: 1 },
  { law: "refusal-justified", fault: "one-extra", Kind: OneExtra, ops: 2 },
  { law: "refusal-justified", fault: "compared-as-text", Kind: ComparedAsText, ops: 10 },
  { law: "refusal-justified", fault: "plain-object", Kind: PlainObject, ops: 2 },
  { law: "refusal-justified", fault: "cost-over-limit-admitted", Kind: CostOverLimitAdmitted, ops: 1 },
  { law: "isolated", fault: "wrong-user-key", Kind: WrongUserKey, ops: 4 },
  { law: "isolated", fault: "joined-names", Kind: JoinedNames, ops: 2 },
  { law: "isolated", fault: "case-ignored", Kind: CaseIgnored, ops: 2 },
  { law: "isolated", fault: "user-across-organizations", Kind: UserAcrossOrganizations, ops: 2 },
  { law: "isolated", fault: "scopes-mixed", Kind: ScopesMixed, ops: 2 },
  { law: "monotone", fault: "reset-all-sweep", Kind: ResetAllSweep, ops: 5 },
  { law: "monotone", fault: "new-reset-old-count", Kind: NewResetOldCount, ops: 2 },
  { law: "recovers", fault: "lost-expiry", Kind: NewResetOldCount, ops: 3 },
  { law: "recovers", fault: "boundary-inclusive", Kind: BoundaryInclusive, ops: 2 },
  { law: "recovers", fault: "rearmed-per-hit", Kind: RearmedPerHit, ops: 6 },
  { law: "unenforced-never-refuses", fault: "unenforced-refuses", Kind: UnenforcedRefuses, ops: 3 },
  { law: "unenforced-never-refuses", fault: "unenforced-forgets", Kind: UnenforcedForgets, ops: 2 },
  { law: "time-translates", fault: "counted-from-midnight", Kind: CountedFromMidnight, ops: 3 },
  { law: "time-translates", fault: "seconds-in-32-bits", Kind: Seconds32, ops: 1 },
  { law: "never-rolls-back", fault: "rolls-back", Kind: RollsBack, ops: 3 },
  { law: "never-rolls-back", fault: "sweep-forgets-the-clock", Kind: SweepForgetsTheClock, ops: 7 },
  { law: "twice-at-most", fault: "double-roll", Kind: DoubleRoll, ops: 5 },
  { law: "snapshot-equals", fault: "snapshot-forgets-users", Kind: SnapshotForgetsUsers, ops: 3 },
  { law: "snapshot-equals", fault: "snapshot-forgets-enforced", Kind: SnapshotForgetsEnforced, ops: 3 },
  { law: "snapshot-equals", fault: "snapshot-forgets-the-floor", Kind: SnapshotForgetsTheFloor, ops: 4 },
  {
    law: "headers-present",
    fault: "headers-missing-on-429",
    Kind: sending((answer) => (answer.status === 429 ? { ...answer, headers: {} } : answer)),
    ops: 2,
  },
  {
    law: "headers-present",
    fault: "headers-missing-on-status",
    Kind: sending((answer, { kind }) => (kind === "status" ? { ...answer, headers: {} } : answer)),
    ops: 1,
  },
  {
    law: "headers-present",
    fault: "wrong-scope-header",
    Kind: sending((answer) => withHeaders(answer, { "RateLimit-User-Scope": "rest" })),
    ops: 1,
  },
  {
    law: "headers-present",
    fault: "doubled-header",
    Kind: sending((answer) => withHeaders(answer, { "RateLimit-Limit": "5, 5" })),
    ops: 1,
  },
  { law: "limit-agrees", fault: "limit-off", Kind: showing(({ limit }) => ({ limit: limit + 1 })), ops: 1 },
  { law: "limit-agrees", fault: "headers-of-the-other-window", Kind: userHeadersAsOrganization, ops: 2 },
  { law: "limit-agrees", fault: "own-limits-ignored", Kind: OwnLimitsIgnored, ops: 1 },
  { law: "refusal-agrees", fault: "wrong-window-named", Kind: WrongWindowNamed, ops: 3 },
  { law: "refusal-agrees", fault: "remaining-of-laxer-window", Kind: userHeadersAsOrganization, ops: 2 },
  {
    law: "refusal-agrees",
    fault: "stale-body",
    Kind: sending((answer) =>
      answer.status === 429 ? { ...answer, body: { ...(answer.body as object), current: 0 } } : answer,
    ),
    ops: 2,
  },
  { law: "honest-wait", fault: "boundary-inclusive", Kind: BoundaryInclusive, ops: 2 },
  { law: "honest-wait", fault: "lost-expiry", Kind: NewResetOldCount, ops: 2 },
  { law: "rate-bound", fault: "one-extra", Kind: OneExtra, ops: 2 },
  { law: "rate-bound", fault: "cost-ignored", Kind: CostIgnored, ops: 3 },
  { law: "give-back", fault: "refused-counted", Kind: RefusedCounted, ops: 2 },
  { law: "give-back", fault: "narrow-drains-broad", Kind: NarrowDrainsBroad, ops: 4 },
];
