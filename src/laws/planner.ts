// Turns random intents ("a call of exactly what is left, 1 ms before the window ends") into a concrete script.
// fast-check drops or simplifies intents, and the rest are planned anew. So a shrunk script still stands at its
// window's edge.
//
// The planner guesses which calls are admitted. A wrong guess only makes a script less pointed: this file does
// not decide what a limiter should answer.
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  semanticsOf,
  userLimit,
} from "../rules/rules.ts";
import { algorithmOf, type CallOp, type LedgerTerms, type Op, type ScriptNames } from "./script.ts";

/** Time of an operation, relative to the previous operation and to the edges of its windows. */
export type Move<W = Owner> =
  | { readonly to: "stay" }
  | { readonly to: "later"; readonly ms: number }
  | { readonly to: "second" }
  | { readonly to: "half"; readonly owner: W }
  /** Move to the end of the open window, or 1 ms before or after it. */
  | { readonly to: "edge"; readonly owner: W; readonly offsetMs: number }
  /** Move by the whole seconds that a client would wait for the window's end, if `reset` is rounded up. */
  | { readonly to: "wait"; readonly owner: W }
  | { readonly to: "beyond"; readonly owner: W; readonly windows: number }
  | { readonly to: "back"; readonly ms: number }
  /** Move back to the instant at which the open window opened, or 1 ms before or after it. */
  | { readonly to: "reopen"; readonly owner: W; readonly offsetMs: number };

/** The windows or buckets to which moves are relative; all in ms. */
interface Edges<W> {
  lengthMs(of: W): number;
  endMs(of: W): number;
}

/** Returns the time of an operation after a move, ms, 0 or later. */
export function movedMs<W>(move: Move<W>, now: number, isFirst: boolean, edges: Edges<W>): number {
  // The first operation has no earlier one to step back from.
  if (isFirst && (move.to === "back" || move.to === "reopen")) return now;
  switch (move.to) {
    case "stay":
      return now;
    case "later":
      return now + move.ms;
    case "second":
      return now - (now % 1000) + 1000;
    case "half":
      return now + Math.floor(edges.lengthMs(move.owner) / 2);
    case "edge":
      return Math.max(now, edges.endMs(move.owner) + move.offsetMs);
    case "wait":
      return now + Math.max(0, Math.ceil((edges.endMs(move.owner) - now) / 1000) * 1000);
    case "beyond":
      return now + edges.lengthMs(move.owner) * move.windows;
    case "back":
      return Math.max(0, now - move.ms);
    case "reopen": {
      const opened = edges.endMs(move.owner) - edges.lengthMs(move.owner);
      return Math.max(0, Math.min(now, opened + move.offsetMs));
    }
  }
}

/** Part of its cost that a completed call uses. */
export type Part = "all" | "most" | "half" | "none";

export const partOf = (cost: number, part: Part): number =>
  ({ all: cost, most: Math.max(0, cost - 1), half: Math.floor(cost / 2), none: 0 })[part];

/** Points of a GraphQL call, or number of REST calls at one instant. */
export interface Amount<F = "user" | "organization"> {
  readonly of: "points" | "room" | F;
  readonly points: number;
  /** Points added to the limit or the room that `of` names. */
  readonly plus: number;
}

/** Acts that name no caller. */
export type PlainAct =
  | { readonly do: "settle"; readonly which: number; readonly actual: Part }
  | { readonly do: "sweep" }
  | { readonly do: "snapshot" };

/** Act of an intent. Its numbers pick among the callers, or calls under way, that exist when it is planned. */
export type Act =
  | {
      readonly do: "call";
      readonly organization: number;
      readonly user: number;
      readonly scope: Scope;
      readonly amount: Amount;
    }
  | PlainAct
  | { readonly do: "status"; readonly organization: number; readonly user: number }
  | {
      readonly do: "enforce";
      readonly organization: number;
      readonly scope: Scope;
      readonly enforced: boolean;
    };

export interface Intent {
  readonly move: Move;
  readonly act: Act;
}

/** Caller and scope to whose windows an operation's time is relative. */
interface Target {
  readonly organization: string;
  readonly user: string;
  readonly scope: Scope;
}

interface Guess {
  untilMs: number | null;
  count: number;
}

/** Greatest number of calls in a script, even if its bursts aim at large limits. */
export const callsMost = 400;

export const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

class Planner {
  readonly ops: Op[] = [];
  readonly #rules: Rules;
  readonly #opensToMs: number;
  readonly #isFromStart: boolean;
  readonly #costLeast: number;
  /** Owners whose windows a call touches; with a limiter by key the user only. */
  readonly #owners: readonly Owner[];
  /** True if all calls are under way until they complete, not only GraphQL calls. */
  readonly #allUnderWay: boolean;
  readonly #world: ScriptNames;
  readonly #guesses = new Map<string, Guess>();
  readonly #inFlight: CallOp[] = [];
  #calls = 0;
  #nowMs: number;
  /** Latest time so far, ms, by which windows are guessed. */
  #clockMs: number;
  #last: Target;

  constructor(terms: LedgerTerms, world: ScriptNames, startMs: number) {
    const { rules, opensToMs = 1000, keyed = false, fromStart = false } = terms;
    this.#allUnderWay = algorithmOf(terms) === "concurrency";
    // SPEC.md allows calls that cost 0; most limiters by key take these for a mistake.
    this.#costLeast = keyed ? 1 : 0;
    this.#owners = keyed ? ["user"] : ["organization", "user"];
    this.#rules = rules;
    this.#opensToMs = opensToMs;
    this.#isFromStart = fromStart;
    this.#world = world;
    this.#nowMs = startMs;
    this.#clockMs = startMs;
    this.#last = { organization: pick(world.organizations, 0), user: pick(world.users, 0), scope: "rest" };
  }

  take({ move, act }: Intent): void {
    const settled =
      act.do === "settle" ? this.#inFlight[act.which % Math.max(1, this.#inFlight.length)] : undefined;
    if (act.do === "settle" && settled === undefined) return;
    const target = settled ?? this.#targetOf(act);
    this.#nowMs = movedMs(move, this.#nowMs, this.ops.length === 0, {
      lengthMs: (owner) => this.#limit(target, owner).windowSeconds * 1000,
      endMs: (owner) => this.#endOf(target, owner),
    });
    this.#clockMs = Math.max(this.#clockMs, this.#nowMs);
    this.#last = target;
    this.#plan(act, target, settled);
  }

  #targetOf(act: Act): Target {
    const { organizations, users, usersOf } = this.#world;
    if (act.do !== "call" && act.do !== "status" && act.do !== "enforce") return this.#last;
    const organization = pick(organizations, act.organization);
    if (act.do === "enforce") return { ...this.#last, organization, scope: act.scope };
    const user = pick(usersOf?.[organization] ?? users, act.user);
    return { organization, user, scope: act.do === "call" ? act.scope : this.#last.scope };
  }

  #plan(act: Act, target: Target, settled: CallOp | undefined): void {
    const atMs = this.#nowMs;
    const { organization, user, scope } = target;
    if (act.do === "call") this.#call(target, act.amount);
    else if (act.do === "settle" && settled !== undefined) this.#settle(settled, act.actual);
    else if (act.do === "status") this.ops.push({ do: "status", atMs, organization, user });
    else if (act.do === "enforce")
      this.ops.push({ do: "enforce", atMs, organization, scope, enforced: act.enforced });
    else if (act.do === "sweep") this.ops.push({ do: "sweep", atMs });
    else if (act.do === "snapshot") this.ops.push({ do: "snapshot", atMs });
  }

  #call(target: Target, amount: Amount): void {
    const graphql = target.scope === "graphql";
    const points = this.#resolve(amount, target);
    const cost = graphql ? Math.max(this.#costLeast, points) : 1;
    const times = graphql ? 1 : Math.max(1, points);
    for (let n = 0; n < times && this.#calls < callsMost; n++) {
      const op: CallOp = { do: "call", atMs: this.#nowMs, id: this.#calls, ...target, cost };
      this.#calls += 1;
      this.ops.push(op);
      const admitted = this.#guessAdmitted(target, cost);
      if (this.#allUnderWay || (graphql && admitted)) this.#inFlight.push(op);
      // Only completed postpaid calls count, so most complete at once; else no window would fill.
      if (admitted && amount.plus <= 0 && this.#isPostpaid(target)) this.#settle(op, "all");
    }
  }

  #isPostpaid({ scope }: Target): boolean {
    return scope === "graphql" && semanticsOf(this.#rules, scope).graphqlCharge === "postpaid";
  }

  #resolve({ of, points, plus }: Amount, target: Target): number {
    if (of === "points") return points;
    if (of === "room") return Math.min(...this.#owners.map((owner) => this.#room(target, owner))) + plus;
    return this.#limit(target, of).limit + plus;
  }

  #settle(call: CallOp, part: Part): void {
    this.#inFlight.splice(this.#inFlight.indexOf(call), 1);
    this.ops.push({ do: "settle", atMs: this.#nowMs, id: call.id, actual: partOf(call.cost, part) });
  }

  /** Tells whether an owner is an organization with windows of its own. If only users have windows, it has none. */
  #isOrganization(owner: Owner): boolean {
    return owner === "organization" && this.#owners.includes(owner);
  }

  #limit({ organization, user, scope }: Target, owner: Owner) {
    return this.#isOrganization(owner)
      ? organizationLimit(this.#rules, organization, scope)
      : userLimit(this.#rules, organization, user, scope);
  }

  #guess({ organization, user, scope }: Target, owner: Owner): Guess {
    const name = JSON.stringify([scope, organization, this.#isOrganization(owner) ? null : user]);
    let guess = this.#guesses.get(name);
    if (guess === undefined || (guess.untilMs !== null && guess.untilMs <= this.#clockMs)) {
      guess = { untilMs: null, count: 0 };
      this.#guesses.set(name, guess);
    }
    return guess;
  }

  #room(target: Target, owner: Owner): number {
    return this.#limit(target, owner).limit - this.#guess(target, owner).count;
  }

  #guessAdmitted(target: Target, cost: number): boolean {
    const needed = this.#isPostpaid(target) ? 1 : cost;
    if (this.#owners.some((owner) => needed > this.#room(target, owner))) return false;
    for (const owner of this.#owners) {
      const guess = this.#guess(target, owner);
      guess.count += cost;
      guess.untilMs ??= this.#endOf(target, owner);
    }
    return true;
  }

  /** Returns the end of the open window, ms, or of a window that would open now. */
  #endOf(target: Target, owner: Owner): number {
    const { untilMs } = this.#guess(target, owner);
    if (untilMs !== null) return untilMs;
    const lengthMs = this.#limit(target, owner).windowSeconds * 1000;
    const gridMs = this.#isFromStart ? (this.ops[0]?.atMs ?? this.#clockMs) : 0;
    const isGrid = this.#isFromStart || semanticsOf(this.#rules, target.scope).anchor === "epoch";
    const sinceMs = (this.#clockMs - gridMs) % (isGrid ? lengthMs : this.#opensToMs);
    return this.#clockMs - sinceMs + lengthMs;
  }
}

/** Plans a sequence of intents. The same intents under the same rules give the same operations. */
export function planned(
  terms: LedgerTerms,
  world: ScriptNames,
  startMs: number,
  intents: readonly Intent[],
): Op[] {
  const planner = new Planner(terms, world, startMs);
  for (const intent of intents) planner.take(intent);
  return planner.ops;
}
