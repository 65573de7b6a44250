// A second limiter, written from SPEC.md in the simplest way and for the default semantics alone. It shows
// that the laws hold of more than our engine, and each of its methods is a place to break it (broken-limiters).
import type {
  Asked,
  Call,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
  WindowReading,
} from "../../src/engine/adapter.ts";
import { type Owner, organizationLimit, type Rules, type Scope, userLimit } from "../../src/rules/rules.ts";
import { type HttpAnswer, headers } from "../../src/wire/answer.ts";
import { refusalBody } from "../../src/wire/bodies.ts";

export interface TinyWindow {
  seenMs: number;
  resetAtMs: number;
  count: number;
}

interface TinyReservation {
  readonly call: Call;
  readonly resetAtMs: Readonly<Record<Owner, number>>;
}

interface TinySnapshot {
  readonly floorMs: number;
  readonly windows: readonly [string, TinyWindow][];
  readonly enforced: readonly [string, boolean][];
}

const owners: readonly Owner[] = ["organization", "user"];

export class TinyLimiter implements LimiterAdapter {
  readonly rules: Rules;
  floorMs = 0;
  windows = new Map<string, TinyWindow>();
  enforced = new Map<string, boolean>();

  constructor(rules: Rules, from?: unknown) {
    this.rules = rules;
    if (from !== undefined) this.remember(from as TinySnapshot);
  }

  keyOf({ organization, user, scope }: Call, owner: Owner): string {
    return owner === "organization" ? `${scope} ${organization}` : `${scope} ${organization}/${user}`;
  }

  limitOf({ organization, user, scope }: Call, owner: Owner): { limit: number; lengthMs: number } {
    const { limit, windowSeconds } =
      owner === "organization"
        ? organizationLimit(this.rules, organization, scope)
        : userLimit(this.rules, organization, user, scope);
    return { limit, lengthMs: windowSeconds * 1000 };
  }

  isEnforced(organization: string, scope: Scope): boolean {
    const set = this.enforced.get(`${scope} ${organization}`);
    return set ?? organizationLimit(this.rules, organization, scope).enforced;
  }

  /** The end of the window that holds an instant. */
  endOf(nowMs: number, lengthMs: number): number {
    return nowMs - (nowMs % lengthMs) + lengthMs;
  }

  /** The time that counts for a window. */
  clock(window: TinyWindow, nowMs: number): number {
    return Math.max(nowMs, window.seenMs, this.floorMs);
  }

  /** The open window of a call, rolled if it is over. */
  window(call: Call, owner: Owner, nowMs: number): TinyWindow {
    const key = this.keyOf(call, owner);
    const { lengthMs } = this.limitOf(call, owner);
    const window = this.windows.get(key) ?? { seenMs: 0, resetAtMs: 0, count: 0 };
    this.windows.set(key, window);
    window.seenMs = this.clock(window, nowMs);
    this.roll(window, lengthMs);
    return window;
  }

  roll(window: TinyWindow, lengthMs: number): void {
    if (window.seenMs < window.resetAtMs) return;
    window.count = 0;
    window.resetAtMs = this.endOf(window.seenMs, lengthMs);
  }

  hasRoom(call: Call, owner: Owner, window: TinyWindow): boolean {
    return window.count + this.costOf(call) <= this.limitOf(call, owner).limit;
  }

  costOf({ cost }: Call): number {
    return cost;
  }

  mayRefuse(call: Call): boolean {
    return this.isEnforced(call.organization, call.scope);
  }

  refusedBy(call: Call, nowMs: number): Owner | null {
    if (!this.mayRefuse(call)) return null;
    return owners.find((owner) => !this.hasRoom(call, owner, this.window(call, owner, nowMs))) ?? null;
  }

  charge(call: Call, owner: Owner, nowMs: number): void {
    this.window(call, owner, nowMs).count += this.costOf(call);
  }

  decide(call: Call, nowMs: number): PartialDecision {
    for (const owner of owners) this.window(call, owner, nowMs);
    const refusedBy = this.refusedBy(call, nowMs);
    if (refusedBy === null) for (const owner of owners) this.charge(call, owner, nowMs);
    else this.onRefusal(call, refusedBy, nowMs);
    const readings = this.readings(call, nowMs);
    const resetAtMs = {
      organization: this.window(call, "organization", nowMs).resetAtMs,
      user: this.window(call, "user", nowMs).resetAtMs,
    };
    const reservation: TinyReservation | null =
      refusedBy === null && call.scope === "graphql" ? { call, resetAtMs } : null;
    return { admitted: refusedBy === null, refusedBy, ...readings, reservation };
  }

  onRefusal(_call: Call, _refusedBy: Owner, _nowMs: number): void {}

  settle(reservation: unknown, actual: number, nowMs: number): PartialReadings {
    const { call, resetAtMs } = reservation as TinyReservation;
    for (const owner of owners) {
      const window = this.window(call, owner, nowMs);
      if (window.resetAtMs === resetAtMs[owner]) window.count -= call.cost - actual;
    }
    return this.readings(call, nowMs);
  }

  readings(call: Call, nowMs: number): { organization: WindowReading; user: WindowReading } {
    return {
      organization: this.read(call, "organization", nowMs),
      user: this.read(call, "user", nowMs),
    };
  }

  read(call: Call, owner: Owner, nowMs: number): WindowReading {
    const known = this.windows.get(this.keyOf(call, owner)) ?? { seenMs: 0, resetAtMs: 0, count: 0 };
    const window = { ...known, seenMs: this.clock(known, nowMs) };
    const { limit, lengthMs } = this.limitOf(call, owner);
    this.roll(window, lengthMs);
    return {
      limit,
      current: window.count,
      remaining: Math.max(0, limit - window.count),
      reset: Math.ceil((window.resetAtMs - window.seenMs) / 1000),
      resetAtMs: window.resetAtMs,
      enforced: this.isEnforced(call.organization, call.scope),
    };
  }

  status(organization: string, nowMs: number): { rest: WindowReading; graphql: WindowReading } {
    const call = { organization, user: "", cost: 0 };
    return {
      rest: this.read({ ...call, scope: "rest" }, "organization", nowMs),
      graphql: this.read({ ...call, scope: "graphql" }, "organization", nowMs),
    };
  }

  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    this.enforced.set(`${scope} ${organization}`, enforced);
  }

  sweep(nowMs: number): void {
    this.floorMs = Math.max(this.floorMs, nowMs);
    for (const [key, { resetAtMs, seenMs }] of this.windows)
      if (resetAtMs <= this.floorMs && seenMs <= this.floorMs) this.windows.delete(key);
  }

  snapshot(): unknown {
    return { floorMs: this.floorMs, windows: [...this.windows], enforced: [...this.enforced] };
  }

  remember({ floorMs, windows, enforced }: TinySnapshot): void {
    this.floorMs = floorMs;
    this.windows = new Map(windows);
    this.enforced = new Map(enforced);
  }

  answer(asked: Asked, nowMs: number): HttpAnswer | null {
    if (asked.kind === "status") {
      const call: Call = { organization: asked.organization, user: asked.user, scope: "rest", cost: 0 };
      return { status: 200, headers: headers("rest", this.readings(call, nowMs)) };
    }
    const { scope } = asked.call;
    const said = asked.said as { organization: WindowReading; user: WindowReading };
    const sent = headers(scope, said);
    if (asked.kind === "completion") return { status: 200, headers: sent };
    const { admitted, refusedBy } = asked.said;
    if (admitted) return scope === "graphql" ? null : { status: 200, headers: sent };
    return { status: 429, headers: sent, body: refusalBody(scope, refusedBy ?? "organization", said) };
  }
}

/** The default semantics and no other. */
const oneDialect: NonNullable<LimiterFactory["semantics"]> = {
  anchor: ["epoch"],
  refused: ["uncounted"],
  refusedByUser: ["charges-nothing"],
  graphqlCharge: ["reserved"],
  remaining: ["clamped"],
  reset: ["ceil"],
  userEnforced: ["with-organization"],
};

/** A factory of one kind of tiny limiter, whole or broken. */
export function tinyFactory(
  name: string,
  Kind: new (rules: Rules, from?: unknown) => TinyLimiter = TinyLimiter,
): LimiterFactory {
  return {
    name,
    algorithm: "fixed-window",
    claims: "all",
    semantics: oneDialect,
    create: (rules) => new Kind(rules),
    restore: (rules, snapshot) => new Kind(rules, snapshot),
  };
}
