// Histories: what clients did, played against a deployment in true time, and the trace that they would have
// written. The deployment's clock is off and drifts, generators' clocks err, calls overlap, get lost, time out and
// come late; the trace shows only what FORMAT.md says a trace shows.
import type { Call, Decision, Readings, Reservation, Status } from "../../src/engine/adapter.ts";
import { quotaNames } from "../../src/policy/names.ts";
import { type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { CallKind, Lost, TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { refusalBody, statusBody } from "../../src/wire/bodies.ts";
import { bare } from "./traces.ts";

/** Limiter that answers: a right one, or one that is wrong on purpose. Times are the target's own, whole ms. */
export interface Target {
  decide(call: Call, nowMs: number, context: Context): Decision;
  settle(reservation: Reservation, actual: number, nowMs: number): Readings;
  status(organization: string, nowMs: number, context: Context): Status;
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings;
  setEnforced(organization: string, scope: Scope, enforced: boolean): void;
}

/** Facts that a wrong limiter may go by beside the call. */
export interface Context {
  /** Number of the deployment's process that answers. */
  readonly instance: number;
  /** The caller. */
  readonly user: string;
  /** When the call reached the process, on the target's clock: it may have thought about it since. */
  readonly arrivedMs: number;
}

/** Fate of a call's line. */
export type Fate =
  | "answered"
  /** The client gave up after `back`; the call is decided or not. */
  | "timeout"
  | "timeout-undecided"
  /** Something between answered with a bare 502. */
  | "bad-gateway"
  /** The resource failed after the call was counted. */
  | "failed"
  /** No line, but counted in `lost`. */
  | "lost"
  /** No line, and the trace does not say so: it is not complete. */
  | "unseen";

export interface Plan {
  /** True ms after the history's start. */
  readonly sentMs: number;
  readonly client: number;
  readonly org: string;
  readonly user: string;
  readonly scope: Scope;
  readonly kind: CallKind;
  readonly cost: number;
  readonly actual: number;
  /** True if the trace knows the points charged in the end. */
  readonly showsActual: boolean;
  readonly toDecisionMs: number;
  readonly workMs: number;
  readonly backMs: number;
  /** Ms after the headers at which each scope of a status body is read, in that order. */
  readonly bodyMs?: Readonly<Record<Scope, number>>;
  readonly fate: Fate;
  /** True if the trace knows the user. */
  readonly anonymous: boolean;
  readonly instance: number;
  /** Delay with which the line is written, beyond the order of `received`. */
  readonly lateMs: number;
}

export interface Flip {
  readonly atMs: number;
  readonly org: string;
  readonly scope: Scope;
  readonly lookMs?: number;
}

export interface World {
  readonly rules: Rules;
  /** True time at which the history starts, ms since the epoch. */
  readonly epochMs: number;
  /** The trace begins so long after the history. */
  readonly startMs: number;
  readonly resolutionMs: number;
  readonly errorMs: number;
  /** The target's clock: constant, and in millionths. */
  readonly offsetMs: number;
  readonly driftPpm: number;
  readonly showsRules: boolean;
  readonly lostByQuota: boolean;
  /** Instants at which an organization's scope is switched, each between two status calls, `lookMs` away. */
  readonly flips: readonly Flip[];
  readonly plans: readonly Plan[];
}

export interface History {
  readonly header: TraceHeader;
  readonly lines: readonly TraceLine[];
}

interface Event {
  readonly atMs: number;
  /** Of events at one instant, any order is a legal one; this is the one that happened. */
  readonly order: number;
  run(): void;
}

/** Plays the plans in true time. */
export function play(world: World, target: Target): History {
  return new Play(world, target).run();
}

class Play {
  readonly #world: World;
  readonly #target: Target;
  readonly #events: Event[] = [];
  readonly #calls: { call: TraceCall; lateMs: number; decidedMs: number }[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #enforced = new Map<string, boolean>();
  readonly #lost: { org: string; scope: Scope; count: number }[] = [];

  constructor(world: World, target: Target) {
    this.#world = world;
    this.#target = target;
  }

  run(): History {
    for (const [index, plan] of this.#world.plans.entries()) this.#plan(plan, index);
    for (const flip of this.#world.flips) this.#flip(flip);
    // Completions are added while others run, always later ones.
    for (let next = this.#events[0]; next !== undefined; next = this.#events[0]) {
      this.#events.shift();
      next.run();
    }
    const started = this.#recorded(this.#world.startMs, 0);
    const kept = this.#calls.filter(
      // Every call decided since the start is in the trace; of earlier ones only what was still under way.
      ({ call, decidedMs }) => decidedMs >= this.#world.startMs || call.received >= started,
    );
    kept.sort((a, b) => a.call.received + a.lateMs - (b.call.received + b.lateMs));
    return {
      header: this.#header(started),
      lines: kept.map(({ call }, index) => ({ line: index + 2, call })),
    };
  }

  #header(startedAt: number): TraceHeader {
    const { resolutionMs, errorMs, showsRules, rules, plans } = this.#world;
    return {
      format: "spillway-trace",
      version: 1,
      source: "other",
      scenario: null,
      seed: null,
      target: null,
      startedAt,
      clock: { kind: resolutionMs === 0 ? "virtual" : "wall", resolutionMs, errorMs },
      rules: showsRules ? rules : null,
      complete: !plans.some(({ fate }) => fate === "unseen"),
      lost: this.#lostCalls(),
    };
  }

  #lostCalls(): Lost {
    return this.#world.lostByQuota ? this.#lost : this.#lost.reduce((sum, { count }) => sum + count, 0);
  }

  /** A client's reading of true time. */
  #recorded(atMs: number, client: number): number {
    const { resolutionMs, errorMs, epochMs } = this.#world;
    const errors = [0, 1, -1, 0.5].map((share) => share * errorMs);
    const read = epochMs + atMs + (errors[client % errors.length] ?? 0);
    return resolutionMs === 0 ? read : Math.floor(read / resolutionMs) * resolutionMs;
  }

  /** The target's reading of true time; its nodes are apart by at most `errorMs`. */
  #target_(atMs: number, instance: number): number {
    const { epochMs, offsetMs, driftPpm, errorMs } = this.#world;
    return Math.floor(epochMs + offsetMs + atMs * (1 + driftPpm * 1e-6) + (instance % 2) * errorMs);
  }

  #at(atMs: number, order: number, run: () => void): void {
    const at = this.#events.findIndex(
      (event) => event.atMs > atMs || (event.atMs === atMs && event.order > order),
    );
    this.#events.splice(at === -1 ? this.#events.length : at, 0, { atMs, order, run });
  }

  #plan(plan: Plan, index: number): void {
    const decidedAt = plan.sentMs + plan.toDecisionMs;
    // Ties are broken differently for different calls.
    const order = (index * 7919) % 101;
    if (plan.fate === "timeout-undecided") this.#record(plan, null, plan.sentMs);
    else this.#at(decidedAt, order, () => this.#decide(plan, decidedAt, order));
  }

  #decide(plan: Plan, decidedAt: number, order: number): void {
    const now = this.#target_(decidedAt, plan.instance);
    const context: Context = {
      instance: plan.instance,
      user: plan.user,
      arrivedMs: this.#target_(plan.sentMs, plan.instance),
    };
    if (plan.kind !== "call") {
      this.#answerFree(plan, decidedAt, order, context);
      return;
    }
    const call = { organization: plan.org, user: plan.user, scope: plan.scope, cost: plan.cost };
    const decision = this.#target.decide(call, now, context);
    const answer: Partial<TraceCall> = decision.admitted
      ? { status: 200 }
      : this.#refused(plan.scope, decision);
    if (decision.reservation === null || plan.scope === "rest") {
      this.#record(plan, { ...answer, ...shown(plan.scope, decision) }, decidedAt);
      return;
    }
    const { reservation } = decision;
    const completesAt = decidedAt + plan.workMs;
    const prepaid = this.#world.rules.semantics.graphqlCharge.graphql === "prepaid";
    this.#at(completesAt, order, () => {
      const settled = this.#target.settle(
        reservation,
        plan.actual,
        this.#target_(completesAt, plan.instance),
      );
      const readings = prepaid ? decision : settled;
      const actual = plan.showsActual ? { actual: plan.actual } : {};
      this.#record(plan, { ...answer, ...shown(plan.scope, readings), ...actual }, decidedAt);
    });
  }

  #refused(scope: Scope, decision: Decision): Partial<TraceCall> {
    const refusedBy = decision.refusedBy ?? "organization";
    const refusal = refusalBody(scope, refusedBy, decision);
    if (!this.#world.rules.semantics.retryAfter[scope]) return { status: 429, refusal };
    return { status: 429, retryAfter: decision[refusedBy].reset, refusal };
  }

  /** A status call, or an answer that no quota counts. Its headers, and each scope of its body, have instants of their own. */
  #answerFree(plan: Plan, atMs: number, order: number, context: Context): void {
    const { kind, org, user, scope, bodyMs = { rest: 0, graphql: 0 } } = plan;
    const clock = (laterMs: number): number => this.#target_(atMs + laterMs, plan.instance);
    const headers = shown(scope, this.#target.readings(org, user, scope, clock(0)));
    if (kind === "other") {
      this.#record(plan, { status: 403, ...headers }, atMs);
      return;
    }
    const body: Partial<Record<Scope, unknown>> = {};
    const read = (part: Scope): void => {
      body[part] = statusBody(this.#target.status(org, clock(bodyMs[part]), context)).scopes[part];
    };
    const last = Math.max(bodyMs.rest, bodyMs.graphql);
    for (const part of scopes)
      if (bodyMs[part] === 0) read(part);
      else this.#at(atMs + bodyMs[part], order, () => read(part));
    const record = (): void =>
      this.#record(plan, { status: 200, ...headers, body: { rest: body.rest, graphql: body.graphql } }, atMs);
    if (last === 0) record();
    else this.#at(atMs + last, order + 0.5, record);
  }

  #record(plan: Plan, answer: Partial<TraceCall> | null, decidedMs: number): void {
    const client = `clients/${plan.client}`;
    const number = this.#numbers.get(client) ?? 0;
    this.#numbers.set(client, number + 1);
    if (plan.fate === "unseen") return;
    if (plan.fate === "lost") {
      if (decidedMs >= this.#world.startMs) this.#lose(plan);
      return;
    }
    const work = plan.kind === "call" && plan.scope === "graphql" && answer?.status === 200 ? plan.workMs : 0;
    const read = plan.kind === "status" ? Math.max(plan.bodyMs?.rest ?? 0, plan.bodyMs?.graphql ?? 0) : 0;
    const gaveUp = plan.fate === "timeout" || plan.fate === "timeout-undecided";
    const receivedMs = plan.sentMs + (gaveUp ? 0 : plan.toDecisionMs + work + read) + plan.backMs;
    const call: TraceCall = {
      sent: this.#recorded(plan.sentMs, plan.client),
      received: this.#recorded(receivedMs, plan.client),
      client,
      call: number,
      org: plan.org,
      user: plan.anonymous ? null : plan.user,
      scope: plan.scope,
      kind: plan.kind,
      cost: plan.kind === "call" ? plan.cost : null,
      status: 0,
      ...bare,
      ...this.#visible(plan, answer),
    };
    this.#calls.push({ call, lateMs: plan.lateMs, decidedMs });
  }

  #visible({ fate }: Plan, answer: Partial<TraceCall> | null): Partial<TraceCall> {
    if (answer === null || fate === "timeout" || fate === "timeout-undecided") return { error: "timeout" };
    if (fate === "bad-gateway") return { status: 502 };
    return fate === "failed" && answer.status === 200 ? { ...answer, status: 500 } : answer;
  }

  #lose({ org, scope }: Plan): void {
    const entry = this.#lost.find((each) => each.org === org && each.scope === scope);
    if (entry === undefined) this.#lost.push({ org, scope, count: 1 });
    else entry.count += 1;
  }

  #flip({ atMs, org, scope, lookMs = 0 }: Flip): void {
    const look = (sentMs: number, order: number): void =>
      this.#at(sentMs, order, () => {
        const plan: Plan = { ...watcher, sentMs, org, scope: "rest" };
        const arrivedMs = this.#target_(sentMs, 0);
        this.#answerFree(plan, sentMs, order, { instance: 0, user: plan.user, arrivedMs });
      });
    look(atMs - lookMs, 1000);
    this.#at(atMs, 1001, () => {
      const key = `${org} ${scope}`;
      const limit = {
        ...this.#world.rules.organization[scope],
        ...this.#world.rules.organizations[org]?.[scope],
      };
      const enforced = !(this.#enforced.get(key) ?? limit.enforced);
      this.#enforced.set(key, enforced);
      this.#target.setEnforced(org, scope, enforced);
    });
    look(atMs + lookMs, 1002);
  }
}

function shown(scope: Scope, { organization, user }: Readings): Partial<TraceCall> {
  return {
    scopeName: scope,
    limit: organization.limit,
    remaining: organization.remaining,
    reset: organization.reset,
    userScopeName: quotaNames[scope].user,
    userLimit: user.limit,
    userRemaining: user.remaining,
    userReset: user.reset,
  };
}

const watcher: Plan = {
  sentMs: 0,
  client: 0,
  org: "acme",
  user: "watcher",
  scope: "rest",
  kind: "status",
  cost: 0,
  actual: 0,
  showsActual: false,
  toDecisionMs: 0,
  workMs: 0,
  backMs: 0,
  fate: "answered",
  anonymous: false,
  instance: 0,
  lateMs: 0,
};

/** The history's trace as a file has it. */
export async function* bytesOf({ header, lines }: History): AsyncGenerator<Uint8Array> {
  const text = [encodeHeader(header), ...lines.map(({ call }) => encodeCall(call)), ""].join("\n");
  yield new TextEncoder().encode(text);
}

/** Lines are numbered by their place in the file, which a history that was cut need not be. */
export const numbered = ({ header, lines }: History): History => ({
  header,
  lines: lines.map(({ call }, index) => ({ line: index + 2, call })),
});
