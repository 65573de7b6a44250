// The short way through the judge, for what most calls are: answered, with all eight headers, right by every law that
// one answer can show. Such a call leaves a mark in each of its two windows and nothing else, and goes there from the
// columns of its batch without an object of its own. It takes no call that `AnswerLaws` would accuse, and any that it
// does not take goes the long way: what is said of a trace never depends on which way a call went.
import type { Owner, Scope } from "../rules/rules.ts";
import { type CallBatch, has, scopeNames } from "../trace/batch.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { AmountsTally } from "./amounts.ts";
import { resetLeast } from "./answer-laws.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import { addAll } from "./evidence.ts";
import { type CallRole, chargeOf, type Mark } from "./mark.ts";
import { NONE } from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";
import type { Owned } from "./quotas.ts";
import type { Terms } from "./terms.ts";
import type { UnenforcedRefusals } from "./unenforced-refusals.ts";

/** Quotas that the calls of one user of one organization go to, by rules that are known. */
export interface JudgedRoute extends Readonly<Record<Owner, Owned>> {
  readonly refusals: UnenforcedRefusals;
}

/** Places of a route's numbers: its organization and user by name, its quotas, and its place among all. */
const ORG = 0;
const USER = 1;
const ORG_QUOTA = 2;
const USER_QUOTA = 3;
const PLACE = 4;
/** The kinds of answers that went the long way once, bit by bit: what they show at all is noted there. */
const NOTED = 5;
const ROUTE = 8;

/** What a refusal says (`CallBatch.saidLimit`); `NaN` for what it does not. */
interface Refusal {
  by: Owner | null;
  limit: number;
  reset: number;
  current: number;
}

const needed = has.user | has.cost | has.headers;
/** The laws that each of these calls tests by both of its readings. */
const answerLaws = ["headers-present", "limit-agrees", "remaining-agrees", "reset-agrees"] as const;

export class PlainCalls {
  readonly #terms: readonly [Terms, Terms];
  readonly #time: TraceTime;
  readonly #docket: Docket;
  readonly #amounts: AmountsTally;
  readonly #find: (org: string, user: string, scope: Scope) => JudgedRoute;
  readonly #open: OpenWindows;
  /** By client and scope, `ROUTE` numbers each: a client is one user of one organization nearly always. */
  #routes = new Int32Array(1024 * ROUTE).fill(NONE);
  readonly #refusalsOf: UnenforcedRefusals[] = [];
  /** By the quota's number. */
  readonly #owned: Owned[] = [];
  readonly #said: Refusal = { by: null, limit: Number.NaN, reset: Number.NaN, current: Number.NaN };
  readonly #mark = new ReusedMark();
  /** Calls that went this way, the refusals among them, and those that named a window. */
  readonly #slackMs: number;
  #calls = 0;
  #refused = 0;
  #named = 0;

  /** @param find what a route leads to */
  constructor(
    terms: Readonly<Record<Scope, Terms>>,
    time: TraceTime,
    docket: Docket,
    amounts: AmountsTally,
    open: OpenWindows,
    find: (org: string, user: string, scope: Scope) => JudgedRoute,
  ) {
    this.#terms = [terms.rest, terms.graphql];
    this.#time = time;
    this.#docket = docket;
    this.#amounts = amounts;
    this.#open = open;
    this.#slackMs = time.slackMs;
    this.#find = find;
  }

  /** @returns `false` where this call has to go the long way */
  add(batch: CallBatch, row: number): boolean {
    const bits = batch.has[row] ?? 0;
    if ((bits & (needed | has.odd)) !== needed || batch.kind[row] !== 0) return false;
    const scope = batch.scope[row] === 0 ? 0 : 1;
    const status = batch.status[row] ?? 0;
    const isRefused = isRefusal(status);
    if (!isRefused && !isSurelyCounted(scope, status)) return false;
    const route = this.#route(batch, row, scope);
    const terms = this.#terms[scope];
    const organization = this.#routes[route + ORG_QUOTA] ?? 0;
    const user = this.#routes[route + USER_QUOTA] ?? 0;
    const limit = batch.limit[row] ?? 0;
    const remaining = batch.remaining[row] ?? 0;
    const reset = batch.reset[row] ?? 0;
    const userLimit = batch.userLimit[row] ?? 0;
    const userRemaining = batch.userRemaining[row] ?? 0;
    const userReset = batch.userReset[row] ?? 0;
    const cost = batch.cost[row] ?? 0;
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
    const kind = 1 << (refusal === null ? 0 : refusal.by === null ? 1 : refusal.by === "user" ? 2 : 3);
    const noted = this.#routes[route + NOTED] ?? 0;
    if ((noted & kind) === 0) {
      this.#routes[route + NOTED] = noted | kind;
      return false;
    }
    this.#calls += 1;
    if (refusal !== null) this.#refused += 1;
    if (refusal !== null && refusal.by !== null) this.#named += 1;
    const mark = this.#mark;
    const sent = batch.sent[row] ?? 0;
    const received = batch.received[row] ?? 0;
    mark.line = batch.line[row] ?? 0;
    mark.sent = Math.min(sent, received);
    mark.received = Math.max(sent, received);
    mark.role = refusal === null ? "admitted" : "refused";
    mark.refusedBy = refusal === null ? null : refusal.by;
    mark.cost = cost;
    mark.asked = cost;
    mark.actual = (bits & has.actual) === 0 ? null : (batch.actual[row] ?? 0);
    mark.sure = refusal === null;
    this.#amounts.call(scopeNames[scope] ?? "rest", mark);
    if (refusal !== null)
      this.#refusalsOf[this.#routes[route + PLACE] ?? 0]?.add(mark.line, sent, received, refusal.by);
    this.#read(organization, "organization", limit, remaining, reset, refusal, sent, received, terms);
    this.#read(user, "user", userLimit, userRemaining, userReset, refusal, sent, received, terms);
    return true;
  }

  /** Adds the evidence of all calls that went this way to that of the others. */
  finish(): void {
    const { evidence } = this.#docket;
    const both = { readings: 2 * this.#calls, refusals: this.#refused, windows: 0, resets: 0 };
    for (const law of answerLaws) addAll(evidence[law], both);
    addAll(evidence["refusal-justified"], { ...both, readings: 2 * this.#refused });
    addAll(evidence["refusal-agrees"], { ...both, readings: this.#named, refusals: this.#named });
  }

  #read(
    quota: number,
    owner: Owner,
    limit: number,
    remaining: number,
    reset: number,
    refusal: Refusal | null,
    sent: number,
    received: number,
    terms: Terms,
  ): void {
    const mark = this.#mark;
    const isEnd = remaining === 0 && terms.remaining !== "signed";
    const shown = isEnd && refusal !== null && refusal.by === owner ? refusal.current : Number.NaN;
    const isExact = Number.isSafeInteger(shown) && shown >= limit;
    this.#docket.clues.reset(this.#open.isWhole(quota, reset));
    mark.limit = limit;
    mark.count = isExact ? shown : limit - remaining;
    mark.clamped = isEnd && !isExact;
    mark.reset = reset;
    this.#time.windowEnd(sent, received, reset, terms.reset, mark.end);
    const { least, most, held } = chargeOf(mark, owner, terms);
    mark.least = least;
    mark.most = most;
    mark.held = held;
    if (!this.#open.take(quota, mark, this.#slackMs)) this.#owned[quota]?.quota.add(mark);
    if (refusal === null && least > 0) this.#owned[quota]?.totals?.add(mark.line, sent, received, least);
  }

  /** Tells whether no law speaks against these headers. */
  #isRight(quota: number, limit: number, remaining: number, reset: number, resetLeast: number): boolean {
    return (
      remaining >= 0 && remaining <= limit && reset >= resetLeast && this.#open.shows(quota, limit, reset)
    );
  }

  /** @returns where a call's route stands in `#routes` */
  #route(batch: CallBatch, row: number, scope: 0 | 1): number {
    const at = (2 * (batch.client[row] ?? 0) + scope) * ROUTE;
    const org = batch.org[row] ?? 0;
    const user = batch.user[row] ?? 0;
    if (this.#routes[at + ORG] === org && this.#routes[at + USER] === user) return at;
    if (at >= this.#routes.length) {
      const routes = new Int32Array(2 * at).fill(NONE);
      routes.set(this.#routes);
      this.#routes = routes;
    }
    const { names } = batch;
    const found = this.#find(names.text(org), names.text(user), scopeNames[scope] ?? "rest");
    const [own, users] = [found.organization.quota.number, found.user.quota.number];
    this.#owned[own] = found.organization;
    this.#owned[users] = found.user;
    this.#routes.set([org, user, own, users, this.#refusalsOf.push(found.refusals) - 1, 0], at);
    return at;
  }

  /** What a refusal says, in one object for all of them. */
  #refusal(batch: CallBatch, row: number): Refusal {
    const said = this.#said;
    const isSaid = batch.is(row, has.refusal);
    const by = isSaid ? batch.refusedBy[row] : 0;
    said.by = by === 1 ? "organization" : by === 2 ? "user" : null;
    said.limit = isSaid ? (batch.saidLimit[row] ?? Number.NaN) : Number.NaN;
    said.reset = isSaid ? (batch.saidReset[row] ?? Number.NaN) : Number.NaN;
    said.current = isSaid ? (batch.saidCurrent[row] ?? Number.NaN) : Number.NaN;
    return said;
  }
}

function isSurelyCounted(scope: 0 | 1, status: number): boolean {
  if (scope === 1) return status === 200;
  return status >= 100 && status < 500 && status !== 401 && status !== 403;
}

/** True if no law speaks against a refusal: a window that lacks room refused, and its body agrees with its headers. */
function isJustified(
  { by, limit: saidLimit, reset: saidReset, current }: Refusal,
  terms: Terms,
  cost: number,
  limit: number,
  remaining: number,
  reset: number,
  userLimit: number,
  userRemaining: number,
  userReset: number,
): boolean {
  const room = terms.charging === "postpaid" ? 1 : Math.max(1, cost);
  if (by === null) return remaining < room || userRemaining < room;
  const ownLimit = by === "user" ? userLimit : limit;
  const ownRemaining = by === "user" ? userRemaining : remaining;
  const ownReset = by === "user" ? userReset : reset;
  // If both lack room, one answer does not say whose window is to be named.
  if (by === "user" && remaining < room) return false;
  return (
    ownRemaining < room &&
    (Number.isNaN(saidLimit) || saidLimit === ownLimit) &&
    (Number.isNaN(saidReset) || Math.abs(saidReset - ownReset) <= 1) &&
    (Number.isNaN(current) ||
      (Math.max(0, ownLimit - current) === ownRemaining &&
        (current <= ownLimit || terms.remaining === "clamped") &&
        (terms.refused !== "counted" || current > ownLimit)))
  );
}

/** One mark for all calls; whoever keeps marks keeps what they say (`MarkRows`). */
class ReusedMark implements Mark {
  line = 0;
  sent = 0;
  received = 0;
  role: CallRole = "admitted";
  refusedBy: Owner | null = null;
  cost = 0;
  asked = 0;
  actual: number | null = null;
  sure = true;
  limit = 0;
  count = 0;
  clamped = false;
  reset = 0;
  readonly resetAt = null;
  readonly echoesUser = false;
  readonly end = { from: 0, to: 0 };
  least = 0;
  most = 0;
  held = 0;
}
