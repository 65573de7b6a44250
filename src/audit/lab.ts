// Steps that all experiments share: looks at counts, and callers whose windows have room, or have none.

import type { Policy } from "../policy/policy.ts";
import { Book, risesOf, type SeenCount, seenIn } from "./book.ts";
import { Requests } from "./requests.ts";
import {
  type Answer,
  type AuditCaller,
  type AuditCallers,
  type ExperimentSteps,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

export interface LabOptions {
  readonly policy: Policy;
  readonly callers: AuditCallers;
  /** True if no other caller uses these quotas during the audit. */
  readonly alone: boolean;
  /** Share of each window that the audit may use, at most 1. */
  readonly spend: number;
  readonly isTls: boolean;
  /** Begin of the audit and end of its allowed time, ms since the epoch. */
  readonly beganMs: number;
  readonly untilMs: number;
}

export interface UnitsBetween {
  readonly least: number;
  readonly most: number;
}

/** Time that a window must still last, ms; a shorter one is left to its end. */
const shortMs = 700;
/** Number of calls at once if many are needed. */
const burst = 8;

export class Lab extends Requests {
  readonly book: Book;
  readonly alone: boolean;
  readonly spend: number;
  readonly isTls: boolean;
  /** Number of trials in a row in which no two looks surely showed one window. */
  unsure = 0;
  readonly beganMs: number;
  readonly #untilMs: number;
  /** Units that a plain call of an operation was charged, by `operation quota`. */
  readonly #plain = new Map<string, number>();
  /** Times at which a window of a quota without counts had surely begun, ms. All its windows lie on one grid. */
  readonly #begins = new Map<string, number>();
  /** Units that a rested quota without counts admits at once, by operation. */
  readonly #full = new Map<string, UnitsBetween>();
  /** Number of times in a row that a quota could not be brought to the desired level. */
  readonly #unfilled = new Map<string, number>();

  constructor(options: LabOptions) {
    super(options.policy, options.callers);
    this.alone = options.alone;
    this.spend = options.spend;
    this.isTls = options.isTls;
    this.beganMs = options.beganMs;
    this.#untilMs = options.untilMs;
    this.book = new Book(options.policy);
  }

  /** Returns why a subject's quota cannot be used up; `null` if it can. */
  lacksEmptying(subject: Subject): string | null {
    const [caller] = subject.callers;
    if (this.spend < 1) return "--spend leaves no window to be emptied";
    if (this.narrow(subject, caller) === null)
      return "no quota whose limit is known in calls, and whose count answers show";
    return this.callsToEmpty(subject, caller) === null ? "the quota is too large to empty in the time" : null;
  }

  *send(...shots: readonly Shot[]): ExperimentSteps<readonly Answer[]> {
    return (yield { shots, together: false }).answers;
  }

  *together(shots: readonly Shot[]): ExperimentSteps<readonly Answer[]> {
    return (yield { shots, together: true }).answers;
  }

  *one(shot: Shot): ExperimentSteps<Answer> {
    const [answer] = yield* this.send(shot);
    if (answer === undefined) throw new Unexercised("the call was not made");
    return answer;
  }

  *now(): ExperimentSteps<number> {
    return (yield { shots: [], together: false }).nowMs;
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** Waits until a time. @throws Unexercised if the audit ends before */
  *wait(untilMs: number): ExperimentSteps<void> {
    if (untilMs > this.#untilMs)
      throw new Unexercised("the wait is longer than the time that is left: --max-time");
    yield { untilMs };
  }

  /** Makes a plain call, and requires an answer that shows the subject's counts. */
  *look(subject: Subject, caller: AuditCaller): ExperimentSteps<Answer> {
    const answer = yield* this.one(this.shot(caller, subject.operation));
    if (answer.call.status === 0) throw new Unexercised(`a call had no answer (${answer.call.error})`, true);
    return answer;
  }

  /** Returns the units that a plain call is charged, as calls in a row show them; otherwise by the policy. */
  *plainCharge(subject: Subject, caller: AuditCaller, quota: string): ExperimentSteps<number> {
    const key = `${subject.operation} ${quota}`;
    const told = this.#toldCharge(subject, caller, quota);
    for (let attempt = 0; attempt < (told === null ? 5 : 2) && !this.#plain.has(key); attempt++) {
      const looks: Answer[] = [];
      for (let look = 0; look < 3; look++) looks.push(yield* this.look(subject, caller));
      for (const name of this.windows(subject, caller)) {
        const [rise = -1, same] = risesOf(looks, name, this.windowMs(name, caller));
        // Another experiment judges a call that seems to be free.
        const least = this.#toldCharge(subject, caller, name) === null ? 0 : 1;
        if (rise === same && rise >= least) this.#plain.set(`${subject.operation} ${name}`, rise);
      }
    }
    const plain = this.#plain.get(key) ?? told;
    if (plain === null)
      throw new Unexercised(`equal calls are not charged alike in ${quota}, so that no twin can be told`);
    this.#plain.set(key, plain);
    return plain;
  }

  /** Returns a time at which a window of a quota had surely begun; finds it once. */
  *windowBegin(quota: string, find: () => ExperimentSteps<number>): ExperimentSteps<number> {
    const known = this.#begins.get(quota) ?? (yield* find());
    this.#begins.set(quota, known);
    return known;
  }

  /** Returns the units that an operation's emptied quota admits after a rest; measures them once. */
  *fullQuota(operation: string, measure: () => ExperimentSteps<UnitsBetween>): ExperimentSteps<UnitsBetween> {
    const known = this.#full.get(operation) ?? (yield* measure());
    this.#full.set(operation, known);
    return known;
  }

  /** Returns the units that a plain call is charged by the policy; `null` if the answer decides them. */
  #toldCharge({ operation }: Subject, caller: AuditCaller, quota: string): number | null {
    const { uses = {}, samples = [] } = this.policy.operations[operation] ?? {};
    const cost = uses[quota] === "declared" ? samples[0]?.cost : uses[quota];
    return this.quota(quota, caller).charge.when === "admission" && typeof cost === "number" ? cost : null;
  }

  /**
   * Returns a subject's caller whose counts have room for `calls` plain calls, in windows that last for `ms`. Waits for
   * the next windows if there is none.
   */
  *pick(subject: Subject, calls: number, ms: number, isToEmpty = false): ExperimentSteps<AuditCaller> {
    const [first] = subject.callers;
    if (this.callsIn(subject, first) < calls + 1)
      throw new Unexercised("a window has too little room for it");
    // Without counts, the caller whose quotas have rested longest.
    if (this.windows(subject, first).length === 0)
      return subject.callers.reduce((one, other) =>
        this.#usedAt(subject, other) < this.#usedAt(subject, one) ? other : one,
      );
    for (let attempt = 0; attempt < 4; attempt++) {
      const nowMs = yield* this.now();
      for (const caller of subject.callers) {
        if (isToEmpty && this.wasEmptied(subject, caller, nowMs)) continue;
        if (this.#knows(subject, caller, nowMs) === false) yield* this.look(subject, caller);
        if (this.hasRoom(subject, caller, calls, ms, yield* this.now())) return caller;
      }
      yield* this.nextWindow(subject, subject.callers);
    }
    throw new Unexercised("no caller had room enough in a window");
  }

  /** Returns the number of plain calls for which a caller's windows have room. */
  callsIn(subject: Subject, caller: AuditCaller): number {
    return Math.min(...this.windows(subject, caller).map((name) => this.roomIn(subject, caller, name)));
  }

  /** Returns the number of plain calls for which one quota's window has room. */
  roomIn(subject: Subject, caller: AuditCaller, name: string): number {
    return Math.floor((this.limit(name, caller) * this.spend) / Math.max(1, this.#unitsOf(subject, name)));
  }

  /** Returns the units of a plain call in a quota, by the policy and the sample. */
  #unitsOf({ operation }: Subject, name: string): number {
    const { uses = {}, samples = [] } = this.policy.operations[operation] ?? {};
    const cost = uses[name];
    return typeof cost === "number" ? cost : (samples[0]?.cost ?? 1);
  }

  #usedAt({ quotas }: Subject, { attributes }: AuditCaller): number {
    return Math.max(...quotas.map((name) => this.book.usedAt(name, attributes) ?? 0));
  }

  wasEmptied(subject: Subject, caller: AuditCaller, nowMs: number): boolean {
    return subject.quotas.some((name) => this.book.wasEmptied(name, caller.attributes, nowMs));
  }

  #knows(subject: Subject, caller: AuditCaller, nowMs: number): boolean {
    return this.windows(subject, caller).every(
      (name) => this.book.current(name, caller.attributes, nowMs) !== null,
    );
  }

  /** Tells whether a caller's counts in these quotas have room for `calls` plain calls, in windows that last for `ms`. */
  hasRoom(
    subject: Subject,
    caller: AuditCaller,
    calls: number,
    ms: number,
    nowMs: number,
    quotas: readonly string[] = this.windows(subject, caller),
  ): boolean {
    return quotas.every((name) => {
      const seen = this.book.current(name, caller.attributes, nowMs);
      const end = this.book.endOf(name, caller.attributes, nowMs) ?? nowMs + ms;
      if (seen === null) return false;
      const left = seen.left - seen.limit * (1 - this.spend);
      const lengthMs = this.windowMs(name, caller);
      return left >= this.#unitsOf(subject, name) * calls && end - nowMs >= Math.min(ms, lengthMs / 2);
    });
  }

  /** Waits, without a call, until all windows that answers showed a caller are surely over. */
  *windowsOver(subject: Subject, caller: AuditCaller): ExperimentSteps<void> {
    const nowMs = yield* this.now();
    const ends = this.windows(subject, caller).map((name) => {
      const end = this.book.endOf(name, caller.attributes, nowMs);
      const most = this.book.latest(name, caller.attributes)?.end?.most ?? Number.NaN;
      const lengthMs = this.windowMs(name, caller);
      return end === null ? nowMs + lengthMs : most > end && most < end + lengthMs ? most : end + 1000;
    });
    yield* this.wait(Math.max(nowMs, ...ends) + 50);
  }

  /** Waits until the earliest window of these callers has surely ended. */
  *nextWindow(subject: Subject, callers: AuditCallers): ExperimentSteps<void> {
    const nowMs = yield* this.now();
    const ends = callers.flatMap((caller) =>
      this.windows(subject, caller).flatMap((name) => {
        const end = this.book.endOf(name, caller.attributes, nowMs);
        return end === null || end <= nowMs ? [] : [end];
      }),
    );
    // The end may come a second later than told, because whole seconds or rounding tell it.
    yield* this.wait(ends.length === 0 ? nowMs + 1000 : Math.min(...ends) + 300);
    if (ends.length === 0) return;
    const [caller] = callers;
    const endsTold = () =>
      this.windows(subject, caller).map((name) => this.book.latest(name, caller.attributes)?.end);
    for (let polls = 0; polls < 12; polls++) {
      const before = endsTold();
      yield* this.look(subject, caller);
      const after = endsTold();
      const isLater = after.map(
        (end, at) => end && end.least > (before[at]?.most ?? Number.POSITIVE_INFINITY),
      );
      if (isLater.every((is) => is) || after.some((end) => end == null)) return;
      yield* this.wait((yield* this.now()) + 200);
    }
  }

  /** Uses up a caller's narrow quota except for `leave` units. @returns its last reading */
  *fill(subject: Subject, caller: AuditCaller, quota: string, leave: number): ExperimentSteps<SeenCount> {
    const tries = this.#unfilled.get(quota) ?? 0;
    if (tries >= 3) throw new Unexercised(`${quota} could not be brought to ${leave} left`);
    const each = yield* this.plainCharge(subject, caller, quota);
    let seen = seenIn(yield* this.look(subject, caller), quota);
    for (let round = 0; round < 6; round++) {
      if (seen === null) throw new Unexercised(`answers do not show ${quota}`);
      if (each < 1) throw new Unexercised("plain calls are free");
      const due = Math.floor((seen.left - leave) / each) - 1;
      if (due < 0) break;
      for (let made = 0; made < due; made += burst) {
        const shots = Array.from({ length: Math.min(burst, due - made) }, () =>
          this.shot(caller, subject.operation),
        );
        const answers = yield* this.together(shots);
        if (answers.some(({ call }) => call.outcome === "refused")) break;
      }
      seen = seenIn(yield* this.look(subject, caller), quota);
    }
    if (seen === null || seen.left !== leave) {
      this.#unfilled.set(quota, tries + 1);
      throw new Unexercised(`${quota} could not be brought to ${leave} left`, tries < 2);
    }
    this.#unfilled.delete(quota);
    return seen;
  }

  /** Makes plain calls of a caller until one is refused. */
  *drain(subject: Subject, caller: AuditCaller): ExperimentSteps<readonly Answer[]> {
    const answers: Answer[] = [];
    const most = (this.callsToEmpty(subject, caller) ?? 0) + burst;
    while (answers.length < most) {
      const shots = Array.from({ length: burst }, () => this.shot(caller, subject.operation));
      const got = yield* this.together(shots);
      answers.push(...got);
      if (got.some(({ call }) => call.outcome === "refused" || call.status === 0)) break;
    }
    return answers;
  }

  /** Returns a caller whose narrow quota is used up, in a window that lasts for `ms`. */
  *emptied(
    subject: Subject,
    ms = shortMs,
  ): ExperimentSteps<{ readonly caller: AuditCaller; readonly quota: string; readonly seen: SeenCount }> {
    const nowMs = yield* this.now();
    for (const caller of subject.callers) {
      const quota = this.narrow(subject, caller);
      const seen = quota === null ? null : this.book.current(quota, caller.attributes, nowMs);
      if (quota === null || seen === null || seen.left > 0) continue;
      if ((this.book.endOf(quota, caller.attributes, nowMs) as number) - nowMs >= ms)
        return { caller, quota, seen };
    }
    const caller = yield* this.pick(subject, 2, ms + 500, true);
    const quota = this.narrow(subject, caller);
    if (quota === null) throw new Unexercised("no quota can be emptied");
    return { caller, quota, seen: yield* this.fill(subject, caller, quota, 0) };
  }
}
