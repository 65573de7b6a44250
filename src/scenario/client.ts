// The client model: a state machine without clock or I/O. It is told what happened and says what to send
// when. The simulator drives it in virtual time, k6 in real time; it is written once.
//
// `next(record, event, out)` changes its own record (plain numbers) and fills `out`. Records, events and outs
// are reused: no object is made per event.
import type { Scope } from "../rules/rules.ts";
import { isFailure, isRefusal } from "../wire/outcome.ts";
import { Draws, next32, type RandomState, seedRandom } from "./random.ts";

/** One kind of call that a client makes; `callPath` and `callQuery` (calls.ts) fill in `:org` and `:page`. */
export interface CallTemplate {
  /** Short, for reports and k6's metrics: `pipelines`. */
  readonly name: string;
  readonly scope: Scope;
  readonly kind: "call" | "status";
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** 1 for REST under rules, requested points for GraphQL, 0 for status. */
  readonly cost: number;
  /** Points charged in the end; equal to `cost` for REST. */
  readonly actual: number;
  /** The GraphQL query that has this cost. */
  readonly query?: string;
  /** Headers of this call's own, beside the token's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of pages in the simulator. Absent: there is always a next one. */
  readonly lastPage?: number;
}

/** Memory of every client. A behaviour adds numbers of its own, all of them at its start. */
export type ClientRecord<Own extends Record<string, number> = Record<string, number>> = RandomState & Own;

/** The client's first event: it may begin. */
export const STARTED = 0;
/** A call has its answer, or was given up; `event.status` is 0 then. */
export const ANSWERED = 1;

/** Nothing was shown: a header that did not come, or is no integer. */
export const ABSENT = -1;

/** Event that a client is told of. One object a driver, reused: read it, do not keep it. */
export interface ClientEvent {
  kind: typeof STARTED | typeof ANSWERED;
  /** The client's clock, ms since the epoch: the instant of the answer. */
  nowMs: number;
  /** When the run ends, ms since the epoch; what is due at that instant or later is dropped by the driver. */
  endMs: number;
  /** Which of the behaviour's `calls` was answered. */
  template: number;
  /** Cost of the answered call: 1 for REST, requested points for GraphQL, 0 for status. */
  cost: number;
  /** The page that was asked for; 0 where pages make no sense. */
  page: number;
  /** True if the answer says that a next page exists. */
  hasNextPage: boolean;
  attempt: number;
  /** When this call was first due. */
  wantedMs: number;
  /** The delay that the refusal policy chose last for this call; 0 at first. */
  delayMs: number;
  /** HTTP status; 0 where no answer came. */
  status: number;
  /** Seconds, points or requests as the headers show them, `ABSENT` where they do not. */
  limit: number;
  remaining: number;
  reset: number;
  userLimit: number;
  userRemaining: number;
  userReset: number;
  retryAfter: number;
}

/** An event that says that the client may begin; a driver makes one and fills it in again and again. */
export function createEvent(): ClientEvent {
  return {
    kind: STARTED,
    nowMs: 0,
    endMs: 0,
    template: 0,
    cost: 0,
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

/** A call that a client asks for. */
export interface PlannedCall {
  /** When to send it, ms since the epoch on the client's clock. The past means now, back to the run's start. */
  atMs: number;
  template: number;
  page: number;
  attempt: number;
  wantedMs: number;
  delayMs: number;
}

/** The most calls that a client may have planned or on the way at once. */
export const inFlightBound = 100_000;

/** Wishes of a client: no, one or several calls, or its own end. One object a driver, reused. */
export class ClientOut {
  readonly calls: PlannedCall[] = [];
  /** Number of `calls` that are meant; the others are left from earlier events. */
  count = 0;
  stopped = false;

  /** Empties it before the next event. */
  clear(): void {
    this.count = 0;
    this.stopped = false;
  }

  /**
   * Asks for a first attempt, due at `atMs`.
   * @throws RangeError at so many calls at a time that there is surely no end to them
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
   * The client is over: it is told nothing more, so it plans nothing more. What it has planned before, in this
   * `out` too, is still sent and recorded.
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

/** Reaction of a client to answers that were not refused (or whose policy gave up). */
export interface Behaviour<Own extends Record<string, number> = Record<string, number>> {
  readonly name: string;
  readonly calls: readonly CallTemplate[];
  /** The most calls that one client has planned or on the way at once, those that wait to be retried included. */
  readonly inFlightMost: number;
  /**
   * The behaviour's own numbers at the start, all of them: the record's shape never changes later.
   * @param seed the run's, for draws that clients share
   * @param userSeed for draws that clients of one user share
   */
  start(seed: number, userSeed: number): Own;
  next(record: ClientRecord<Own>, event: ClientEvent, out: ClientOut): void;
}

/** Streams of users lie beyond those of populations, and before those of events (wakes.ts). */
const userStream = 0x7fff_0000;
const users = new Draws();

/**
 * A client's record at its start.
 * @param population its place among the scenario's populations, from 0: its stream of draws
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
  const record = Object.assign(new Draws(), behaviour.start(seed, next32(users)));
  seedRandom(record, seed, population, index);
  return record;
}

/** Reaction of a client to a refused call: the time of the next try, or `GIVE_UP`. Pure but for `record`'s draws. */
export interface RefusalPolicy {
  readonly name: string;
  /**
   * It decides about calls without an answer (status 0) and those that failed (5xx), too, most of which show no
   * headers; where it is left out, the behaviour goes on after them as after any other answer.
   */
  readonly unanswered?: boolean;
  /** Returns ms since the epoch, no less than `event.nowMs`, or `GIVE_UP`. */
  retryAt(record: ClientRecord, event: ClientEvent): number;
}

export const GIVE_UP = -1;

/** Tells whether a refusal policy decides about the answer. */
function isDecidedBy({ unanswered }: RefusalPolicy, { kind, status }: ClientEvent): boolean {
  if (kind !== ANSWERED) return false;
  return isRefusal(status) || (unanswered === true && isFailure(status));
}

/**
 * One step of a client: refusals go to the policy first; what it gives up, the behaviour sees.
 * @throws RangeError where the policy's delay is negative; whatever policy and behaviour throw
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
