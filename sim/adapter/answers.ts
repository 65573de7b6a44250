// Answers made of what a limiter says, if it sends none of its own: headers of the windows that it shows (SPEC.md §5),
// and `null` for the others.
import type { PartialDecision, PartialReadings, WindowReading } from "../../src/engine/adapter.ts";
import { resetSeconds } from "../../src/engine/limiter.ts";
import { quotaNames } from "../../src/policy/names.ts";
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  scopes,
  semanticsOf,
  userLimit,
} from "../../src/rules/rules.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { isoSecond, partialRefusal } from "../../src/wire/bodies.ts";
import { REFUSED } from "../../src/wire/outcome.ts";
import type { AnswerParts, SimulatedCaller } from "../deployment.ts";

export type AdapterStatus = { readonly [S in Scope]?: Partial<WindowReading> };

/** Values that headers show of one window; all `null` if the limiter shows nothing. */
interface Shown {
  readonly limit: number | null;
  readonly current: number | null;
  readonly remaining: number | null;
  readonly reset: number | null;
}

const nothing: Shown = { limit: null, current: null, remaining: null, reset: null };

export class PartialAnswers {
  readonly #rules: Rules;
  readonly #isKeyed: boolean;

  /** @param isKeyed true if a status shows the user's window, and there is no organization's window */
  constructor(rules: Rules, isKeyed: boolean) {
    this.#rules = rules;
    this.#isKeyed = isKeyed;
  }

  /** Returns an answer that no quota counts, to a call that the limiter was not asked about. */
  untouched(caller: SimulatedCaller, call: CallTemplate, status: number): AnswerParts {
    const answer = this.#answer(caller, call, {}, status, 0);
    return { ...answer, kind: "other", cost: null, scopeName: null, userScopeName: null };
  }

  ofAdmitted(
    caller: SimulatedCaller,
    call: CallTemplate,
    readings: PartialReadings,
    nowMs: number,
  ): AnswerParts {
    return this.#answer(caller, call, readings, 200, nowMs);
  }

  ofDecision(
    caller: SimulatedCaller,
    call: CallTemplate,
    decision: PartialDecision,
    nowMs: number,
  ): AnswerParts {
    if (decision.admitted) return this.ofAdmitted(caller, call, decision, nowMs);
    const answer = this.#answer(caller, call, decision, REFUSED, nowMs);
    const { refusedBy = null } = decision;
    if (refusedBy === null) return answer;
    const window = this.#shown(caller, call.scope, refusedBy, decision[refusedBy], nowMs);
    if (window.reset !== null && semanticsOf(this.#rules, call.scope).retryAfter)
      answer.retryAfter = window.reset;
    return { ...answer, refusal: partialRefusal(call.scope, refusedBy, window) };
  }

  /** Answers a status call: headers of REST, and the organization's body (SPEC.md §4). By key there is no such body. */
  ofStatus(caller: SimulatedCaller, call: CallTemplate, status: AdapterStatus, nowMs: number): AnswerParts {
    const readings = this.#isKeyed ? { user: status.rest } : { organization: status.rest };
    const answer = { ...this.ofAdmitted(caller, call, readings, nowMs), cost: null };
    if (this.#isKeyed) return answer;
    const body = scopes.map((scope) => {
      const reading = status[scope];
      const { limit, current, reset } = this.#shown(caller, scope, "organization", reading, nowMs);
      const at = reading?.resetAtMs;
      const resetAt = at === undefined || at === null ? {} : { reset_at: isoSecond(at) };
      const { enforced } = reading ?? {};
      return [scope, { limit, current, reset, ...resetAt, ...(enforced === undefined ? {} : { enforced }) }];
    });
    return { ...answer, body: Object.fromEntries(body) };
  }

  #answer(
    caller: SimulatedCaller,
    call: CallTemplate,
    readings: PartialReadings,
    status: number,
    nowMs: number,
  ): AnswerParts {
    const { scope, kind, cost } = call;
    const broad = this.#shown(caller, scope, "organization", readings.organization, nowMs);
    const narrow = this.#shown(caller, scope, "user", readings.user, nowMs);
    return {
      org: caller.organization,
      user: caller.user,
      scope,
      kind,
      cost,
      status,
      // The windows that decided are known, even if nothing is shown of them: such an answer surely counts.
      scopeName: this.#isKeyed ? null : quotaNames[scope].organization,
      limit: broad.limit,
      remaining: broad.remaining,
      reset: broad.reset,
      userScopeName: quotaNames[scope].user,
      userLimit: narrow.limit,
      userRemaining: narrow.remaining,
      userReset: narrow.reset,
    };
  }

  /** Returns the shown values of a window, and those that follow by the rules: a count also tells what is left. */
  #shown(
    { organization, user }: SimulatedCaller,
    scope: Scope,
    owner: Owner,
    reading: Partial<WindowReading> | null | undefined,
    nowMs: number,
  ): Shown {
    const { limit: told, current, remaining, reset, resetAtMs } = reading ?? {};
    const least = [told, current, remaining, reset, resetAtMs].some((value) => value != null);
    if (!least) return nothing;
    const ruled =
      owner === "organization"
        ? organizationLimit(this.#rules, organization, scope)
        : userLimit(this.#rules, organization, user, scope);
    const limit = told ?? ruled.limit;
    const semantics = semanticsOf(this.#rules, scope);
    const left = current == null ? null : limit - current;
    const shownLeft = left === null || semantics.remaining === "signed" ? left : Math.max(0, left);
    const seconds = resetAtMs == null ? null : resetSeconds(resetAtMs, nowMs, semantics.reset);
    return {
      limit,
      current: current ?? null,
      remaining: remaining ?? shownLeft,
      reset: reset ?? seconds,
    };
  }
}
