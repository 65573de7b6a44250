// The interesting states of a deployment, and how often traces reached them. A swarm reports them, since worlds that
// never fill a window find and prove nothing. They are read off the trace, as any judge could.
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  scopes,
  semanticsOf,
  userLimit,
} from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { readRefusal, readStatus } from "../../src/wire/bodies.ts";
import { integerOf as integer } from "../../src/wire/fields.ts";
import { isRefusal } from "../../src/wire/outcome.ts";

export const stateWords = {
  "refused-by-user-alone": "a refusal where the user's window alone lacked room",
  "refused-by-organization-alone": "a refusal where the organization's window alone lacked room",
  "refused-by-both": "a refusal where both windows lacked room",
  "filled-exactly": "a call that filled a window exactly to its limit",
  "cost-above-limit": "a call that no window could ever hold, refused",
  "oversized-query": "a query of too many points, refused before any window was asked",
  "reset-in-flight": "a call on its way while its window ended",
  "give-back-after-edge": "a query with points to give back, on its way while its window ended",
  "retry-in-next-window": "a retry that was sent once the window that had refused it was over",
  "admitted-after-refusal": "a retry that was let through",
  "status-of-full-window": "a status reading of a window with nothing left",
  "unenforced-past-limit": "a window that passed its limit while it was not enforced",
  "refusals-counted-past-limit": "a window that refused calls took past its limit",
  "overshoot-on-completion": "a window that a query's completion took past its limit",
  "user-refusal-charged-to-organization":
    "a user's refusal where such refusals drain the organization's window",
  "windows-out-of-step": "an answer whose two windows of one length end at different times",
  "no-answer": "a call without an answer",
  "unanswered-but-charged": "a call without an answer that was charged, by a gap in its user's counts",
  overloaded: "a 503 of what stands before the limiter",
} as const;

export type StateName = keyof typeof stateWords;
export const stateNames = Object.keys(stateWords) as readonly StateName[];

/** Last reading of a user's REST window, and the calls since then. */
interface Followed {
  readonly remaining: number;
  /** Time until which the window surely lasts, ms since the epoch. */
  readonly untilMs: number;
  answered: number;
  unanswered: number;
}

const refusing: Readonly<Record<string, StateName>> = {
  "true true": "refused-by-both",
  "true false": "refused-by-organization-alone",
  "false true": "refused-by-user-alone",
};

export class StateWatch {
  readonly #rules: Rules;
  readonly #counts: Map<StateName, number>;
  /** End of the window that refused a client last, until which it was told to wait, ms since the epoch. */
  readonly #refusedUntil = new Map<string, number>();
  readonly #followed = new Map<string, Followed>();

  /** @param counts gets the counts added */
  constructor(rules: Rules, counts: Map<StateName, number>) {
    this.#rules = rules;
    this.#counts = counts;
  }

  add(call: TraceCall): void {
    if (call.status === 0) this.#count("no-answer");
    else if (call.status === 503) this.#count("overloaded");
    else if (call.kind === "status") this.#status(call);
    else if (call.kind === "other") this.#other(call);
    else if (isRefusal(call.status)) this.#refused(call);
    else this.#admitted(call);
    this.#follow(call);
  }

  #count(state: StateName): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + 1);
  }

  #other({ scope, status, actual }: TraceCall): void {
    if (scope === "graphql" && status === 200 && actual === 0) this.#count("oversized-query");
  }

  #refused(call: TraceCall): void {
    const { scope, remaining, userRemaining, received, reset, userReset } = call;
    const cost = call.cost ?? 1;
    const [broad, narrow] = [integer(remaining), integer(userRemaining)];
    const isPostpaid = scope === "graphql" && semanticsOf(this.#rules, scope).graphqlCharge === "postpaid";
    const needed = isPostpaid ? 1 : cost;
    const [byBroad, byNarrow] = [broad !== null && broad < needed, narrow !== null && narrow < needed];
    const state = refusing[`${byBroad} ${byNarrow}`];
    if (state !== undefined) this.#count(state);
    if (this.#limits(call).some((limit) => limit < cost)) this.#count("cost-above-limit");
    const { refused, refusedByUser } = semanticsOf(this.#rules, scope);
    const said = readRefusal(call.refusal);
    if (refused === "counted" && (said.current ?? 0) > (said.limit ?? Number.POSITIVE_INFINITY))
      this.#count("refusals-counted-past-limit");
    if (refusedByUser === "charges-organization" && byNarrow && !byBroad)
      this.#count("user-refusal-charged-to-organization");
    const seconds = Math.max(byBroad ? (integer(reset) ?? 0) : 0, byNarrow ? (integer(userReset) ?? 0) : 0);
    this.#refusedUntil.set(call.client, received + seconds * 1000);
  }

  #admitted(call: TraceCall): void {
    const { scope, remaining, userRemaining, reset, userReset } = call;
    const left = [integer(remaining), integer(userRemaining)];
    if (left.includes(0)) this.#count("filled-exactly");
    if (this.#overshoots(call)) this.#count("overshoot-on-completion");
    if ((call.attempt ?? 0) > 0) this.#retried(call);
    if (this.#endedMeanwhile(call)) {
      this.#count("reset-in-flight");
      const { graphqlCharge } = semanticsOf(this.#rules, scope);
      const givesBack = scope === "graphql" && graphqlCharge === "reserved";
      const { cost } = call;
      if (givesBack && cost !== null && (call.actual ?? cost) < cost) this.#count("give-back-after-edge");
    }
    const [broad, narrow] = this.#lengths(call);
    if (broad === narrow && integer(reset) !== null && integer(reset) !== integer(userReset))
      this.#count("windows-out-of-step");
  }

  #retried({ client, sent }: TraceCall): void {
    this.#count("admitted-after-refusal");
    if (sent >= (this.#refusedUntil.get(client) ?? Number.POSITIVE_INFINITY))
      this.#count("retry-in-next-window");
  }

  #status({ org, body }: TraceCall): void {
    for (const scope of scopes) {
      const { current: count, limit } = readStatus(body, scope);
      if (count === null || limit === null) continue;
      const { enforced } = organizationLimit(this.#rules, org, scope);
      if (count >= limit) this.#count("status-of-full-window");
      if (count <= limit) continue;
      if (!enforced) this.#count("unenforced-past-limit");
      else if (this.#mayOvershoot(scope)) this.#count("overshoot-on-completion");
    }
  }

  /** Tells whether only completed queries can take an enforced window past its limit. */
  #mayOvershoot(scope: Scope): boolean {
    const { graphqlCharge, refused, refusedByUser } = semanticsOf(this.#rules, scope);
    const isSpared = refused === "uncounted" && refusedByUser === "charges-nothing";
    return scope === "graphql" && graphqlCharge === "postpaid" && isSpared;
  }

  /** Tells whether a count below 0 shows an overshoot. */
  #overshoots({ org, scope, remaining, userRemaining }: TraceCall): boolean {
    if (!this.#mayOvershoot(scope) || !organizationLimit(this.#rules, org, scope).enforced) return false;
    return [remaining, userRemaining].some((left) => (integer(left) ?? 0) < 0);
  }

  /** Tells whether a window on the epoch's grid ended between sending and receipt. */
  #endedMeanwhile(call: TraceCall): boolean {
    if (semanticsOf(this.#rules, call.scope).anchor !== "epoch") return false;
    return this.#lengths(call).some((ms) => Math.floor(call.sent / ms) < Math.floor(call.received / ms));
  }

  #windows({ org, user, scope }: TraceCall) {
    const of = (owner: Owner) =>
      owner === "organization"
        ? organizationLimit(this.#rules, org, scope)
        : userLimit(this.#rules, org, user ?? "", scope);
    return [of("organization"), of("user")] as const;
  }

  #limits(call: TraceCall): number[] {
    return this.#windows(call).map(({ limit }) => limit);
  }

  /** Returns the lengths of both windows, ms, the organization's first. */
  #lengths(call: TraceCall): readonly [number, number] {
    const [broad, narrow] = this.#windows(call);
    return [broad.windowSeconds * 1000, narrow.windowSeconds * 1000];
  }

  /** Follows a user's counts. A gap that answered calls do not explain was a call without an answer. */
  #follow(call: TraceCall): void {
    if (call.scope !== "rest" || call.kind !== "call") return;
    const name = JSON.stringify([call.org, call.user]);
    const known = this.#followed.get(name);
    if (call.status === 0) {
      if (known !== undefined) known.unanswered += 1;
      return;
    }
    const [remaining, reset] = [integer(call.userRemaining), integer(call.userReset)];
    if (known !== undefined) known.answered += 1;
    if (remaining === null || reset === null) return;
    const isSame = known !== undefined && call.received < known.untilMs;
    if (isSame && known.unanswered > 0 && known.remaining - remaining > known.answered)
      this.#count("unanswered-but-charged");
    if (isSame && known.unanswered === 0) return;
    const untilMs = call.sent + (reset - 1) * 1000;
    this.#followed.set(name, { remaining, untilMs, answered: 0, unanswered: 0 });
  }
}

/** Number of times that each state was reached. */
export type StateCounts = Readonly<Record<StateName, number>>;

export const countsOf = (counts: ReadonlyMap<StateName, number>): StateCounts =>
  Object.fromEntries(stateNames.map((name) => [name, counts.get(name) ?? 0])) as StateCounts;
