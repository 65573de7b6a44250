// The short way through the judge, for most calls: answered, with all eight headers, and right by every law of one
// answer. Such a call only leaves a mark in each of its two windows. Its marks are made from the columns of its batch,
// without an object. A call that `RulesAnswers` would accuse is not taken. It goes the long way, as do all calls that
// are not taken. The verdict never depends on the way.
import type { Owner, Scope } from "../rules/rules.ts";
import { type CallBatch, has, scopeNames } from "../trace/batch.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { AmountsTally } from "./amounts.ts";
import { neededRoom, noteLimit } from "./answer-laws.ts";
import type { TraceTime } from "./clock.ts";
import type { CountKind, JudgedCount } from "./count.ts";
import type { Docket } from "./docket.ts";
import { addAll } from "./evidence.ts";
import type { Judging } from "./judging.ts";
import { isCountedStatus } from "./mark.ts";
import {
  ACTUAL,
  BITS,
  CLAMPED,
  COST,
  COUNT,
  END_FROM,
  END_TO,
  HELD,
  LIMIT,
  LINE,
  NONE,
  RECEIVED,
  RESET,
  SENT,
} from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";
import { type Charges, chargesOf, kindOf } from "./plain-charges.ts";
import type { Quotas } from "./quotas.ts";
import { resetLeast, type Terms } from "./terms.ts";
import type { UnenforcedRefusals } from "./unenforced-refusals.ts";

/** Places of a route's numbers: its organization and user by name, its quotas, and its index in `#refusalsOf`. */
const ORG = 0;
const USER = 1;
const ORG_QUOTA = 2;
const USER_QUOTA = 3;
const PLACE = 4;
/** Place of a flag: 1 once it is noted that answers show the limits of the rules. */
const NOTED = 5;
const ROUTE = 8;

/** Numbers in a refusal's body (`CallBatch.saidLimit`), and its `Retry-After`; `NaN` for those that are missing. */
interface Refusal {
  by: Owner | null;
  limit: number;
  reset: number;
  current: number;
  wait: number;
}

/** Greatest whole number of a mark's row. */
const wholeMost = 0x7fff_ffff;
const needed = has.user | has.cost | has.headers;
/** Laws that each of these calls tests by both of its readings. */
const answerLaws = ["headers-present", "limit-agrees", "remaining-agrees", "reset-agrees"] as const;

export class PlainCalls {
  readonly #terms: readonly [Terms, Terms];
  readonly #time: TraceTime;
  readonly #docket: Docket;
  readonly #amounts: AmountsTally;
  readonly #quotas: Quotas;
  readonly #open: OpenWindows;
  /** Routes by client and scope, `ROUTE` numbers each. A client is nearly always one user of one organization. */
  #routes = new Int32Array(1024 * ROUTE).fill(NONE);
  readonly #refusalsOf: UnenforcedRefusals[] = [];
  /** Counts by the quota's number. */
  readonly #counts: JudgedCount[] = [];
  readonly #said: Refusal = {
    by: null,
    limit: Number.NaN,
    reset: Number.NaN,
    current: Number.NaN,
    wait: Number.NaN,
  };
  readonly #slackMs: number;
  readonly #charges: Charges;
  readonly #end = { from: 0, to: 0 };
  /** Number of calls that went the short way, of refusals among them, and of refusals that named a window. */
  #calls = 0;
  #refused = 0;
  #named = 0;
  /** Numbers by scope, for calls that asked for something: admitted and refused calls, points of the admitted ones. */
  readonly #admittedOf = [0, 0];
  readonly #refusedOf = [0, 0];
  readonly #pointsOf = [0, 0];

  /** @param kinds the scopes' kinds of counts, by known rules */
  constructor(
    { rest, graphql }: Readonly<Record<Scope, CountKind>>,
    { time, docket, amounts, counts: { open } }: Judging,
    quotas: Quotas,
  ) {
    this.#terms = [rest.terms, graphql.terms];
    this.#time = time;
    this.#docket = docket;
    this.#amounts = amounts;
    this.#open = open;
    this.#slackMs = time.slackMs;
    this.#quotas = quotas;
    this.#charges = chargesOf(this.#terms);
  }

  /** Adds a call. @returns `false` if it has to go the long way */
  add(batch: CallBatch, row: number): boolean {
    const bits = batch.has[row] as number;
    if ((bits & (needed | has.odd)) !== needed || batch.kind[row] !== 0) return false;
    const scope = batch.scope[row] === 0 ? 0 : 1;
    const status = batch.status[row] as number;
    const isRefused = isRefusal(status);
    if (!isRefused && (status === 0 || !isCountedStatus(scope === 1, status))) return false;
    const route = this.#route(batch, row, scope);
    const terms = this.#terms[scope];
    const organization = this.#routes[route + ORG_QUOTA] as number;
    const user = this.#routes[route + USER_QUOTA] as number;
    const limit = batch.limit[row] as number;
    const remaining = batch.remaining[row] as number;
    const reset = batch.reset[row] as number;
    const userLimit = batch.userLimit[row] as number;
    const userRemaining = batch.userRemaining[row] as number;
    const userReset = batch.userReset[row] as number;
    const cost = batch.cost[row] as number;
    const least = resetLeast(terms);
    if (!this.#isRight(organization, limit, remaining, reset, least)) return false;
    if (!this.#isRight(user, userLimit, userRemaining, userReset, least)) return false;
    let refusal: Refusal | null = null;
    if (!isRefused && (cost > limit || cost > userLimit)) return false;
    if (isRefused) {
      refusal = this.#refusal(batch, row);
      if (!isJustified(refusal, terms, cost, limit, remaining, reset, userLimit, userRemaining, userReset))
        return false;
    }
    const line = batch.line[row] as number;
    if (line > wholeMost || (refusal !== null && refusal.current > wholeMost)) return false;
    const kind = kindOf(refusal !== null, refusal === null ? null : refusal.by);
    if (this.#routes[route + NOTED] === 0) this.#noteRight(route);
    this.#calls += 1;
    if (refusal !== null) this.#refused += 1;
    if (refusal !== null && refusal.by !== null) this.#named += 1;
    const sent = batch.sent[row] as number;
    const received = batch.received[row] as number;
    const hasActual = (bits & has.actual) !== 0;
    const actual = hasActual ? (batch.actual[row] as number) : 0;
    if (cost > 0 && refusal === null)
      this.#pointsOf[scope] = (this.#pointsOf[scope] as number) + (hasActual ? actual : cost);
    if (cost > 0) {
      const counts = refusal === null ? this.#admittedOf : this.#refusedOf;
      counts[scope] = (counts[scope] as number) + 1;
    }
    if (refusal !== null)
      this.#refusalsOf[this.#routes[route + PLACE] as number]?.add(line, sent, received, refusal.by);
    // These numbers stay the same while the quotas read the mark.
    const { given, givenWholes } = this.#open.rows;
    given[SENT] = Math.min(sent, received);
    given[RECEIVED] = Math.max(sent, received);
    givenWholes[LINE] = line;
    givenWholes[COST] = cost;
    givenWholes[ACTUAL] = actual;
    const charge = 4 * (4 * scope + kind) + (hasActual ? 2 : 0);
    this.#read(organization, "organization", charge, limit, remaining, reset, refusal, sent, received, terms);
    this.#read(user, "user", charge + 1, userLimit, userRemaining, userReset, refusal, sent, received, terms);
    return true;
  }

  #noteRight(route: number): void {
    for (const quota of this.#routes.subarray(route + ORG_QUOTA, route + USER_QUOTA + 1)) {
      const count = this.#counts[quota];
      if (count !== undefined) noteLimit(count.limits, true, this.#docket);
    }
    this.#routes[route + NOTED] = 1;
  }

  /** Adds the evidence of all calls that went the short way to that of the others. */
  finish(): void {
    const { evidence } = this.#docket;
    const both = { readings: 2 * this.#calls, refusals: this.#refused, windows: 0, resets: 0 };
    for (const law of answerLaws) addAll(evidence[law], both);
    addAll(evidence["refusal-justified"], { ...both, readings: 2 * this.#refused });
    addAll(evidence["refusal-agrees"], { ...both, readings: this.#named, refusals: this.#named });
    for (const [at, scope] of scopeNames.entries())
      this.#amounts.calls(
        scope,
        this.#admittedOf[at] as number,
        this.#refusedOf[at] as number,
        this.#pointsOf[at] as number,
      );
  }

  /** @param charge index of the call's charge in `Charges` */
  #read(
    quota: number,
    owner: Owner,
    charge: number,
    limit: number,
    remaining: number,
    reset: number,
    refusal: Refusal | null,
    sent: number,
    received: number,
    terms: Terms,
  ): void {
    const { given, givenWholes } = this.#open.rows;
    const isEnd = remaining === 0 && terms.remaining !== "signed";
    const shown = isEnd && refusal !== null && refusal.by === owner ? refusal.current : Number.NaN;
    const isExact = Number.isSafeInteger(shown) && shown >= limit;
    this.#docket.clues.reset(this.#open.isWhole(quota, reset), reset);
    givenWholes[LIMIT] = limit;
    givenWholes[COUNT] = isExact ? shown : limit - remaining;
    givenWholes[RESET] = reset;
    const end = this.#end;
    this.#time.windowEnd(sent, received, reset, terms.reset, end);
    given[END_FROM] = end.from;
    given[END_TO] = end.to;
    const held = this.#charges.held[charge] as number;
    givenWholes[HELD] = held === NONE ? 0 : (givenWholes[held] as number);
    givenWholes[BITS] = (this.#charges.bits[charge] as number) | (isEnd && !isExact ? CLAMPED : 0);
    if (!this.#open.take(quota, this.#slackMs)) this.#counts[quota]?.quota.add(this.#open.rows.givenMark);
  }

  /** Tells whether these headers break no law. */
  #isRight(quota: number, limit: number, remaining: number, reset: number, resetLeast: number): boolean {
    return (
      remaining >= 0 && remaining <= limit && reset >= resetLeast && this.#open.shows(quota, limit, reset)
    );
  }

  /** @returns place of a call's route in `#routes` */
  #route(batch: CallBatch, row: number, scope: 0 | 1): number {
    const at = (2 * (batch.client[row] as number) + scope) * ROUTE;
    const org = batch.org[row] as number;
    const user = batch.user[row] as number;
    if (this.#routes[at + ORG] === org && this.#routes[at + USER] === user) return at;
    if (at >= this.#routes.length) {
      const routes = new Int32Array(2 * at).fill(NONE);
      routes.set(this.#routes);
      this.#routes = routes;
    }
    const { names } = batch;
    const [orgName, userName] = [names.text(org), names.text(user)];
    const scopeName = scopeNames[scope] ?? "rest";
    const own = this.#quotas.organization(orgName)[scopeName];
    const users = this.#quotas.user(orgName, userName, scopeName, own);
    const [{ number }, { number: usersNumber }] = [own.organization.quota, users.quota];
    this.#counts[number] = own.organization;
    this.#counts[usersNumber] = users;
    const place = this.#refusalsOf.push(own.group.refusals) - 1;
    this.#routes.set([org, user, number, usersNumber, place, 0], at);
    return at;
  }

  /** Returns the numbers of a refusal, in one object that is used again. */
  #refusal(batch: CallBatch, row: number): Refusal {
    const said = this.#said;
    const isSaid = batch.is(row, has.refusal);
    const by = isSaid ? batch.refusedBy[row] : 0;
    said.by = by === 1 ? "organization" : by === 2 ? "user" : null;
    said.limit = isSaid ? (batch.saidLimit[row] as number) : Number.NaN;
    said.reset = isSaid ? (batch.saidReset[row] as number) : Number.NaN;
    said.current = isSaid ? (batch.saidCurrent[row] as number) : Number.NaN;
    said.wait = batch.is(row, has.retryAfter) ? (batch.retryAfter[row] as number) : Number.NaN;
    return said;
  }
}

/** Tells whether a refusal breaks no law: its window lacks room; its body and its wait agree with its headers. */
function isJustified(
  { by, limit: saidLimit, reset: saidReset, current, wait }: Refusal,
  terms: Terms,
  cost: number,
  limit: number,
  remaining: number,
  reset: number,
  userLimit: number,
  userRemaining: number,
  userReset: number,
): boolean {
  const room = neededRoom(cost, terms.charging === "postpaid");
  if (by === null) return remaining < room || userRemaining < room;
  const ownLimit = by === "user" ? userLimit : limit;
  const ownRemaining = by === "user" ? userRemaining : remaining;
  const ownReset = by === "user" ? userReset : reset;
  // If both windows lack room, one answer does not settle which has to be named.
  if (by === "user" && remaining < room) return false;
  return (
    ownRemaining < room &&
    (Number.isNaN(saidLimit) || saidLimit === ownLimit) &&
    (Number.isNaN(saidReset) || Math.abs(saidReset - ownReset) <= 1) &&
    (Number.isNaN(wait) || Math.abs(wait - ownReset) <= 1) &&
    (Number.isNaN(current) ||
      (Math.max(0, ownLimit - current) === ownRemaining &&
        (current <= ownLimit || terms.remaining === "clamped") &&
        (terms.refused !== "counted" || current > ownLimit)))
  );
}
