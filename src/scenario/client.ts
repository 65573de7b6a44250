// The client model: a state machine without clock or I/O. It is told what happened, and says what to send and when. It
// is written once: the simulator drives it in virtual time, k6 in real time.
//
// `next(record, event, out)` changes its own record (plain numbers) and fills `out`. Records, events and outs are
// reused: no object is made per event.
import type { Scope } from "../rules/rules.ts";
import { isFailure, isRefusal } from "../wire/outcome.ts";
import { Draws, next32, type RandomState, seedRandom } from "./random.ts";

/** One kind of call that a client makes. `callPath` and `callQuery` (calls.ts) fill in `:org` and `:page`. */
export interface CallTemplate {
  /** Short name for reports and k6's metrics: `pipelines`. */
  readonly name: string;
  readonly scope: Scope;
  readonly kind: "call" | "status";
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** 1 for REST under rules, requested points for GraphQL, 0 for status. */
  readonly cost: number;
  /** Points charged in the end; equal to `cost` for REST under rules. */
  readonly actual: number;
  /** GraphQL query that has this cost. */
  readonly query?: string;
  /** Headers of this call beside the token's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of pages in the simulator. Absent: there is always a next page. */
  readonly lastPage?: number;
}

/** Memory of a client. A behaviour adds all of its own numbers at the client's start. */
export type ClientRecord<Own extends Record<string, number> = Record<string, number>> = RandomState & Own;

/** Kind of a client's first event: the client may begin. */
export const STARTED = 0;
/** Kind of the event that a call has its answer, or was given up with `event.status` 0. */
export const ANSWERED = 1;

/** Value of a header that did not come, or is no integer. */
export const ABSENT = -1;

/** Event that a client is told of. Each driver reuses one object: read it, do not keep it. */
export interface ClientEvent {
  kind: typeof STARTED | typeof ANSWERED;
  /** Time of the answer on the client's clock, ms since the epoch. */
  nowMs: number;
  /** End of the run, ms since the epoch. The driver drops what is due then or later. */
  endMs: number;
  /** Index of the answered call among the behaviour's `calls`. */
  template: number;
  /**
   * Units that the answered call asks of the window in `limit`: 1 for REST, requested points for GraphQL, 0 for status.
   * Under a policy, as its operation uses that quota.
   */
  cost: number;
  /** The same for the window in `userLimit`. */
  userCost: number;
  /** Page that was asked for; 0 for calls without pages. */
  page: number;
  /** True if the answer says that a next page exists. */
  hasNextPage: boolean;
  attempt: number;
  /** Time at which this call was first due, ms since the epoch. */
  wantedMs: number;
  /** Delay that the refusal policy chose last for this call, ms; 0 at first. */
  delayMs: number;
  /** HTTP status; 0 if no answer came. */
  status: number;
  /** Requests or points, and seconds for resets, as the headers show them; `ABSENT` if they do not. */
  limit: number;
  remaining: number;
  reset: number;
  userLimit: number;
  userRemaining: number;
  userReset: number;
  retryAfter: number;
}

/** Returns an event that says that the client may begin. A driver makes one and fills it in again and again. */
export function createEvent(): ClientEvent {
  return {
    kind: STARTED,
    nowMs: 0,
    endMs: 0,
    template: 0,
    cost: 0,
    userCost: 0,
    page: 0,
    hasNextPage: false,
    attempt: 0,
    wantedMs: 0,
    delayMs: 0,
    status: 0,
    limit: ABSENT,
    remaining: ABSENT,
    reset: ABSENT,
    userLimit: ABSENT,
    userRemaining: ABSENT,
    userReset: ABSENT,
    retryAfter: ABSENT,
  };
}

/** Call that a client asks for. */
export interface PlannedCall {
  /** Time to send it on the client's clock, ms since the epoch. Past times mean now, but not before the start. */
  atMs: number;
  template: number;
  page: number;
  attempt: number;
  wantedMs: number;
  delayMs: number;
}

/** Greatest number of calls that a client may have planned or on the way at once. */
export const inFlightBound = 100_000;

/** Wishes of a client: no, one or several calls, or its own end. Each driver reuses one object. */
export class ClientOut {
  readonly calls: PlannedCall[] = [];
  /** Number of valid `calls`; the others are left from earlier events. */
  count = 0;
  stopped = false;

  /** Empties the wishes before the next event. */
  clear(): void {
    this.count = 0;
    this.stopped = false;
  }

  /**
   * Asks for a first attempt, due at `atMs`.
   * @throws RangeError at more than `inFlightBound` calls at one event, which surely have no end
   */
  send(template: number, atMs: number, page = 0): void {
    this.#push(template, atMs, page, 0, atMs, 0);
  }

  /** Asks for the answered call once more, at `atMs`. */
  retry(event: ClientEvent, atMs: number): void {
    const delayMs = Math.max(0, atMs - event.nowMs);
    this.#push(event.template, atMs, event.page, event.attempt + 1, event.wantedMs, delayMs);
  }

  /**
   * Ends the client: it is told nothing more, so it plans nothing more. Calls that it has planned before, in this `out`
   * too, are still sent and recorded.
   */
  stop(): void {
    this.stopped = true;
  }

  #push(
    template: number,
    atMs: number,
    page: number,
    attempt: number,
    wantedMs: number,
    delayMs: number,
  ): void {
    const slot = this.calls[this.count];
    if (this.count >= inFlightBound)
      throw new RangeError(`more than ${inFlightBound} calls at the same instant, as if without end`);
    this.count += 1;
    if (slot === undefined) {
      this.calls.push({ atMs, template, page, attempt, wantedMs, delayMs });
      return;
    }
    slot.atMs = atMs;
    slot.template = template;
    slot.page = page;
    slot.attempt = attempt;
    slot.wantedMs = wantedMs;
    slot.delayMs = delayMs;
  }
}

/** Reaction of a client to answers that were not refused, or whose refusal policy gave up. */
export interface Behaviour<Own extends Record<string, number> = Record<string, number>> {
  readonly name: string;
  readonly calls: readonly CallTemplate[];
  /** Greatest number of calls that one client has planned or on the way at once, waiting retries included. */
  readonly inFlightMost: number;
  /**
   * Returns all of the behaviour's own numbers at the start: the record's shape never changes later.
   * @param seed the run's seed, for draws that clients share
   * @param userSeed a seed for draws that clients of one user share
   * @param before the client's numbers at the end of its session before, if there was one
   */
  start(seed: number, userSeed: number, before?: Own): Own;
  next(record: ClientRecord<Own>, event: ClientEvent, out: ClientOut): void;
}

/** First stream of users' draws. They lie after those of populations and before those of events (wakes.ts). */
const userStream = 0x7fff_0000;
const users = new Draws();

/** Classes of records by the names of their own numbers, and by behaviour. */
const byNames = new Map<string, typeof Draws>();
const byBehaviour = new WeakMap<object, typeof Draws>();

/**
 * Returns the class of a behaviour's records. A class leaves room for the numbers that its first objects got. With one
 * class for all, those of later behaviours would lie apart, in a second object.
 */
function recordClass(behaviour: Behaviour, own: Record<string, number>): typeof Draws {
  const known = byBehaviour.get(behaviour);
  if (known !== undefined) return known;
  const names = Object.keys(own).join();
  const made = byNames.get(names) ?? class extends Draws {};
  byNames.set(names, made);
  byBehaviour.set(behaviour, made);
  return made;
}

/**
 * Returns a client's record at its start.
 * @param population its place among the scenario's populations, from 0, which is its stream of draws
 * @param index its place in the population, from 0
 * @param user its user's place among those of the population, from 0
 */
export function startRecord(
  behaviour: Behaviour,
  seed: number,
  population: number,
  index: number,
  user = index,
): ClientRecord {
  seedRandom(users, seed, userStream - population, user);
  const own = behaviour.start(seed, next32(users));
  const record = Object.assign(new (recordClass(behaviour, own))(), own);
  seedRandom(record, seed, population, index);
  return record;
}

/** Reaction of a client to a refused call: the time of the next try, or `GIVE_UP`. Pure except for `record`'s draws. */
export interface RefusalPolicy {
  readonly name: string;
  /**
   * True if the policy also decides about calls without an answer (status 0) and failed ones (5xx). Most of these show
   * no headers. Otherwise the behaviour goes on after them as after any other answer.
   */
  readonly unanswered?: boolean;
  /** Returns ms since the epoch, at least `event.nowMs`, or `GIVE_UP`. */
  retryAt(record: ClientRecord, event: ClientEvent): number;
}

export const GIVE_UP = -1;

/** Tells whether a refusal policy decides about the answer. */
function isDecidedBy({ unanswered }: RefusalPolicy, { kind, status }: ClientEvent): boolean {
  if (kind !== ANSWERED) return false;
  return isRefusal(status) || (unanswered === true && isFailure(status));
}

/**
 * Makes one step of a client. Refusals go to the policy first; the behaviour sees those that the policy gives up.
 * @throws RangeError if the policy's delay is negative; whatever policy and behaviour throw
 */
export function step(
  behaviour: Behaviour,
  onRefused: RefusalPolicy,
  record: ClientRecord,
  event: ClientEvent,
  out: ClientOut,
): void {
  out.clear();
  if (isDecidedBy(onRefused, event)) {
    const atMs = onRefused.retryAt(record, event);
    if (atMs !== GIVE_UP) {
      if (atMs < event.nowMs)
        throw new RangeError(
          `${onRefused.name} asks for a retry ${event.nowMs - atMs} ms before the answer, a negative delay`,
        );
      out.retry(event, atMs);
      return;
    }
  }
  behaviour.next(record, event, out);
}
