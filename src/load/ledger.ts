// The answers to one client, recorded as they come: the line of each, what the client is told of it, and its faults.
// Both drivers keep one ledger for each client, so that their traces and checks are the same.

import { quotaNames } from "../policy/names.ts";
import { type Rules, semanticsOf } from "../rules/rules.ts";
import type { CallTemplate, ClientEvent, PlannedCall } from "../scenario/client.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";
import { readRefusal } from "../wire/bodies.ts";
import { headerNames, type WindowHeaders } from "../wire/fields.ts";
import { isRefusal, REFUSED } from "../wire/outcome.ts";
import { type RawAnswer, TraceableAnswer, tell } from "./answer.ts";
import { callLine, type LineParts, lineParts } from "./call-line.ts";
import { type Caller, isAlone } from "./callers.ts";
import { LoneOrganization } from "./lone-organization.ts";
import { mayBePlain, readPlain } from "./plain-answer.ts";
import { type HeaderBounds, headerBounds, headerFault, LoneUser } from "./response-checks.ts";

/** Facts of its run that a ledger needs. */
export interface LedgerSettings {
  readonly scenario: Scenario;
  /** True if others use the same quotas. */
  readonly shared: boolean;
  /** Users of each population. */
  readonly callers: readonly (readonly Caller[])[];
}

/** Facts that all answers to one kind of call share. */
interface LedgerEntry {
  readonly template: CallTemplate;
  readonly line: LineParts;
  readonly bounds: HeaderBounds;
  readonly mayBePlain: boolean;
}

/** One kind of call of one client, whose answers are recorded one by one. */
export interface LedgerPage {
  readonly template: CallTemplate;
  /**
   * Records an answer, and fills in `event`.
   * @param call the client's running number of the call, from 0
   * @returns the answer's line
   */
  take(
    call: number,
    planned: Readonly<PlannedCall>,
    answer: RawAnswer,
    sentMs: number,
    receivedMs: number,
    event: ClientEvent,
  ): string;
}

/** Answers to one client, under rules or a policy. */
export interface AnswerLedger {
  /** Name of the check that the last answer fails; `null` if it fails none. */
  readonly fault: string | null;
  /** True if the last answer is a refusal, whatever its status. */
  readonly isRefusal: boolean;
  /** True if the last answer is to a call that quotas count. */
  readonly isCounted: boolean;
  page(template: CallTemplate): LedgerPage;
}

export class Ledger implements AnswerLedger {
  fault: string | null = null;
  isRefusal = false;
  isCounted = true;
  readonly #settings: LedgerSettings;
  readonly #name: string;
  readonly #caller: Caller;
  readonly #lone: LoneUser | null;
  /** Checks of a client alone in its organization. They see more than those of one that is alone only as its user. */
  readonly #alone: LoneOrganization | null;
  readonly #answer = new TraceableAnswer();

  /** @param name `population/index` */
  constructor(settings: LedgerSettings, population: Population, name: string, caller: Caller) {
    this.#settings = settings;
    this.#name = name;
    this.#caller = caller;
    const { scenario, shared, callers } = settings;
    const { organization, user } = caller;
    const isInTurn = population.behaviour.inFlightMost === 1 && !shared;
    this.#alone =
      isInTurn && isAlone(scenario, callers, population, organization)
        ? new LoneOrganization(scenario.rules, organization, user)
        : null;
    this.#lone = isInTurn && population.user === "each" && this.#alone === null ? new LoneUser() : null;
  }

  page(template: CallTemplate): LedgerPage {
    const entry = this.#entry(template);
    return {
      template,
      take: (call, planned, answer, sentMs, receivedMs, event) =>
        this.#take(entry, call, planned, answer, sentMs, receivedMs, event),
    };
  }

  #entry(template: CallTemplate): LedgerEntry {
    const { organization, user } = this.#caller;
    return {
      template,
      line: lineParts(this.#name, organization, user, template),
      bounds: headerBounds(this.#settings.scenario.rules, organization, user, template.scope),
      mayBePlain: this.#alone === null && mayBePlain(template),
    };
  }

  /**
   * Records an answer: fills in `event`, `fault`, `isRefusal` and `isCounted`.
   * @param call the client's running number of the call, from 0
   * @returns the answer's line
   */
  #take(
    entry: LedgerEntry,
    call: number,
    planned: Readonly<PlannedCall>,
    response: RawAnswer,
    sentMs: number,
    receivedMs: number,
    event: ClientEvent,
  ): string {
    const { template, bounds } = entry;
    let line = entry.mayBePlain
      ? readPlain(response, entry.line, bounds, call, planned, sentMs, receivedMs, event)
      : null;
    let fault: string | null = null;
    event.cost = template.cost;
    event.userCost = template.cost;
    this.isCounted = true;
    if (line === null) {
      const answer = this.#answer;
      answer.read(template, response, sentMs, receivedMs, this.#caller.token);
      tell(event, answer);
      line = callLine(entry.line, call, planned, answer);
      const { token } = this.#caller;
      if (token !== "" && line.includes(token)) {
        answer.conceal(token);
        line = callLine(entry.line, call, planned, answer);
      }
      const { rules } = this.#settings.scenario;
      fault = headerFault(answer, bounds) ?? refusalFault(template, answer, rules);
      if (this.#alone !== null) {
        const found = this.#alone.answered(template, answer);
        fault ??= found;
      }
      this.isCounted = answer.kind === "call" && answer.status !== 0;
    }
    if (this.#lone !== null) {
      const found = this.#lone.answered(template, event);
      fault ??= found;
    }
    this.isRefusal = event.status === REFUSED;
    this.fault = fault;
    return line;
  }
}

// Checks of a refusal by itself, even if others call. Its headers and its body come from one decision, so they must
// agree. Some window must have lacked the room (SPEC.md §5-§7).

/** Returns the mistake in a 429, or `null`; other answers have no such mistake. */
export function refusalFault(
  template: CallTemplate,
  answer: TraceableAnswer,
  rules: Rules | null,
): string | null {
  if (!isRefusal(answer.status)) return null;
  if (template.kind === "status") return "status-free: a status call was refused";
  const { organization, user } = answer;
  const cost = leastRoom(template, answer, rules);
  if (hasRoom(organization, cost) && hasRoom(user, cost))
    return "refusal-justified: refused, and neither window lacks room";
  return template.scope === "rest" ? bodyFault(answer) : null;
}

/**
 * Returns the remaining points with which no window may refuse: the call's cost. Under `postpaid` it is 1, since only
 * an empty window refuses. If refusals are counted, the headers show even less than the decision saw.
 */
function leastRoom(
  { scope, cost }: CallTemplate,
  { requested }: TraceableAnswer,
  rules: Rules | null,
): number {
  if (scope === "rest") return 1;
  if (rules !== null && semanticsOf(rules, scope).graphqlCharge === "postpaid") return 1;
  return Math.max(1, typeof requested === "number" ? requested : cost);
}

const hasRoom = ({ remaining }: WindowHeaders, cost: number): boolean =>
  typeof remaining === "number" && remaining >= cost;

/** Returns the mistake in REST's body, which describes the window that refused, by that window's headers. */
function bodyFault({ organization, user, body, retryAfter }: TraceableAnswer): string | null {
  if (typeof body !== "object" || body === null) return null;
  const { scope, limit, current, reset } = readRefusal(body);
  const { rest } = quotaNames;
  const window = scope === rest.organization ? organization : scope === rest.user ? user : null;
  if (window === null) return "refusal-agrees: the refusal names no window of this call";
  if (typeof window.limit !== "number" || typeof window.remaining !== "number") return null;
  if (window.remaining > 0) return "refusal-agrees: the refusal names a window that has room";
  if (limit !== window.limit) return "refusal-agrees: limit differs between body and headers";
  if (reset !== window.reset) return "refusal-agrees: reset differs between body and headers";
  if (retryAfter !== null && retryAfter !== window.reset)
    return `refusal-agrees: ${headerNames.retryAfter} is not the reset of the window that refused`;
  const left = current === null ? Number.NaN : Math.max(0, window.limit - current);
  if (left !== Math.max(0, window.remaining))
    return "refusal-agrees: current and remaining differ between body and headers";
  return null;
}
