// The things that all experiments share: requests of operations, looks at counts, trials, and the state of windows.
import { limitOf, quotaFor } from "../policy/effective.ts";
import { routeOf } from "../policy/match.ts";
import type { CallSample, Policy, Quota, RequestSample } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireData } from "../policy/wire-data.ts";
import { Book, isSameWindow, type SeenCount, seenIn, windowMs } from "./book.ts";
import {
  type Answer,
  type AuditCaller,
  type ExperimentSteps,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";
import { dearer, graphqlKind, subjectsOf } from "./subjects.ts";

export interface LabOptions {
  readonly policy: Policy;
  readonly callers: readonly AuditCaller[];
  /** True if nobody else uses these quotas meanwhile. */
  readonly alone: boolean;
  /** Share of each window that may be used, at most 1. */
  readonly spend: number;
  readonly isTls: boolean;
  /** The end of the time that is allowed, ms since the epoch. */
  readonly untilMs: number;
}

/** Calls that are made for one quota to be used up, at most. */
const emptyingMost = 2_500;
/** A window that ends sooner is left to its end. */
const shortMs = 700;
/** Calls at once, where many have to be made. */
const burst = 8;

export class Lab {
  readonly policy: Policy;
  readonly wire: WireData;
  readonly callers: readonly AuditCaller[];
  readonly book: Book;
  readonly alone: boolean;
  readonly spend: number;
  readonly isTls: boolean;
  readonly subjects: readonly Subject[];
  /** Trials in a row in which no two looks surely showed one window. */
  unsure = 0;
  readonly #untilMs: number;
  /** Units that a plain call of an operation was charged, by `operation quota`. */
  readonly #plain = new Map<string, number>();
  /** Times in a row that a quota could not be brought to what was wanted. */
  readonly #unfilled = new Map<string, number>();

  constructor(options: LabOptions) {
    this.policy = options.policy;
    this.wire = wireOf(options.policy);
    this.callers = options.callers;
    this.alone = options.alone;
    this.spend = options.spend;
    this.isTls = options.isTls;
    this.#untilMs = options.untilMs;
    this.book = new Book(options.policy);
    this.subjects = subjectsOf(options.policy, options.callers);
  }

  quota(name: string, { attributes }: AuditCaller): Quota {
    return quotaFor(this.policy, name, attributes);
  }

  limit(name: string, caller: AuditCaller): number {
    return limitOf(this.quota(name, caller).algorithm);
  }

  /** Length of a quota's windows, ms; `null` where it has none. */
  windowMs(name: string, caller: AuditCaller): number | null {
    return windowMs(this.policy, name, caller.attributes);
  }

  /** A subject's quotas that are windows and whose counts its answers show. */
  windows({ quotas }: Subject, caller: AuditCaller): string[] {
    return quotas.filter((name) => this.windowMs(name, caller) !== null && this.shows(name));
  }

  /** Tells whether answers to calls show a quota's count. */
  shows(quota: string): boolean {
    return this.wire.readings.some(
      ({ quotas, on, grain }) =>
        on.includes("admitted") && (quotas?.includes(quota) ?? true) && (grain ?? 1) === 1,
    );
  }

  /** Tells whether resets of a quota are surely rounded up. */
  roundsUp(quota: string): boolean {
    const rows = this.wire.readings.filter(
      ({ quotas, reset }) => reset !== undefined && (quotas?.includes(quota) ?? true),
    );
    const own = this.policy.quotas[quota]?.shown.reset;
    return rows.every(({ reset }) => (reset?.round ?? own) === "ceil");
  }

  /** Tells whether an answer shows that each quota of an operation has room. */
  showsRoom({ quotas }: Subject, answer: Answer): boolean {
    return quotas.every((name) => (seenIn(answer, name)?.left ?? 0) > 0);
  }

  get hasStatus(): boolean {
    return this.policy.routes.some(({ operation }) => operation === "status");
  }

  /** A plain call of an operation. @param cost units that it declares; the sample's where it is left out */
  shot(caller: AuditCaller, operation: string, cost?: number): Shot {
    const sample = this.policy.operations[operation]?.samples[0];
    if (sample === undefined) throw new Unexercised(`no sample of ${operation}`);
    return this.request(
      caller,
      cost === undefined ? sample : dearer(sample, cost),
      operation,
      cost ?? sample.cost,
    );
  }

  /** A status call. */
  status(caller: AuditCaller): Shot {
    const route = this.policy.routes.find(({ operation }) => operation === "status");
    if (route === undefined) throw new Unexercised("no route shows the status");
    const [method = "GET"] = route.methods ?? [];
    return this.request(caller, { method, path: route.path, headers: {} }, "status", null);
  }

  /** Any request of a caller, as an operation. */
  request(caller: AuditCaller, sample: RequestSample, operation: string, cost: number | null): Shot {
    const filled = (text: string, write: (value: string) => string): string =>
      text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = caller.attributes[name];
        return value === undefined ? whole : write(value);
      });
    const fill = (text: string): string => filled(text, (value) => JSON.stringify(value).slice(1, -1));
    const { method, body } = sample;
    const path = filled(sample.path, encodeURIComponent);
    const text = body === undefined ? null : fill(typeof body === "string" ? body : JSON.stringify(body));
    const found = this.route({ method, path, body: text });
    const attributes = { ...found?.attributes, ...caller.attributes };
    return {
      caller,
      operation,
      attributes,
      method,
      path,
      headers: sample.headers,
      body: text,
      cost,
      way: "kept",
    };
  }

  /** The policy's route for a request. */
  route({ method, path, body }: Pick<Shot, "method" | "path" | "body">): ReturnType<typeof routeOf> {
    const host = this.policy.routes.find((route) => route.host !== undefined)?.host ?? "";
    return routeOf(this.policy, { method, target: path, host, graphql: graphqlKind(body) });
  }

  /**
   * A request in another shape, as its line says it: where no route takes it, it may be charged or not.
   * @throws Unexercised where the policy has it as another operation
   */
  routed(shot: Shot): Shot {
    const found = this.route(shot);
    if (found === null) return { ...shot, isVague: true };
    const { operation } = found.route;
    if (operation !== shot.operation) throw new Unexercised(`the policy has it as ${operation}`);
    return shot;
  }

  /** Tells whether an operation's calls can be made as dear as one likes. */
  dearest(operation: string): CallSample | null {
    const sample = this.policy.operations[operation]?.samples[0];
    return sample?.dearer === undefined ? null : sample;
  }

  /** Calls that use up what a caller has, at most; `null` where that is too many. */
  callsToEmpty(subject: Subject, caller: AuditCaller): number | null {
    const each = subject.quotas.flatMap((name) => {
      const cost = this.policy.operations[subject.operation]?.uses[name];
      return typeof cost === "number" && cost > 0 ? [Math.ceil(this.limit(name, caller) / cost)] : [];
    });
    const least = Math.min(...each);
    return least <= emptyingMost ? least : null;
  }

  /** Returns why a subject's quota cannot be used up; `null` where it can. */
  lacksEmptying(subject: Subject): string | null {
    const [caller] = subject.callers;
    if (caller === undefined) return "nobody can call it";
    if (this.spend < 1) return "--spend leaves no window to be emptied";
    const narrow = this.narrow(subject, caller);
    if (narrow === null) return "no quota whose limit is known in calls, and whose count answers show";
    return this.callsToEmpty(subject, caller) === null ? "the quota is too large to empty in the time" : null;
  }

  /** The quota that a caller's plain calls use up first; `null` where it is none whose count is shown. */
  narrow({ operation, quotas }: Subject, caller: AuditCaller): string | null {
    let found: { readonly name: string; readonly calls: number } | null = null;
    for (const name of quotas) {
      const cost = this.policy.operations[operation]?.uses[name];
      if (typeof cost !== "number" || cost === 0) continue;
      const calls = this.limit(name, caller) / cost;
      if (found === null || calls < found.calls) found = { name, calls };
    }
    if (found === null || this.windowMs(found.name, caller) === null || !this.shows(found.name)) return null;
    return this.quota(found.name, caller).charge.when === "admission" ? found.name : null;
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

  /** Waits until a time. @throws Unexercised where the audit is over before */
  *wait(untilMs: number): ExperimentSteps<void> {
    if (untilMs > this.#untilMs) throw new Unexercised("the window lasts longer than the time that is left");
    yield { untilMs };
  }

  /** A plain call that is answered, and shows what it should. */
  *look(subject: Subject, caller: AuditCaller): ExperimentSteps<Answer> {
    const answer = yield* this.one(this.shot(caller, subject.operation));
    if (answer.call.status === 0) throw new Unexercised(`a call had no answer (${answer.call.error})`, true);
    return answer;
  }

  /** Units that a plain call is charged: by the policy, or as two calls in a row show it. */
  *plainCharge(subject: Subject, caller: AuditCaller, quota: string): ExperimentSteps<number> {
    const cost = this.policy.operations[subject.operation]?.uses[quota];
    const { charge } = this.quota(quota, caller);
    const sample = this.policy.operations[subject.operation]?.samples[0];
    if (charge.when === "admission" && typeof cost === "number") return cost;
    if (charge.when === "admission" && cost === "declared" && sample !== undefined) return sample.cost;
    const key = `${subject.operation} ${quota}`;
    const known = this.#plain.get(key);
    if (known !== undefined) return known;
    const measured: number[] = [];
    for (let attempt = 0; attempt < 5 && measured.length < 2; attempt++) {
      const one = seenIn(yield* this.look(subject, caller), quota);
      const other = seenIn(yield* this.look(subject, caller), quota);
      if (one !== null && other !== null && isSameWindow(one, other, this.windowMs(quota, caller)))
        measured.push(other.used - one.used);
    }
    const [first, second] = measured;
    if (first === undefined || first !== second || first < 0)
      throw new Unexercised(`equal calls are not charged alike in ${quota}, so that no twin can be told`);
    this.#plain.set(key, first);
    return first;
  }

  /**
   * A caller of a subject whose counts have room for so many plain calls, in windows that last for so long. Waits for
   * the next windows where nobody has.
   * @param after as far back among the callers as it begins to look
   */
  *pick(subject: Subject, calls: number, ms: number, isToEmpty = false): ExperimentSteps<AuditCaller> {
    const [first] = subject.callers;
    if (first !== undefined && this.callsIn(subject, first) < calls + 1)
      throw new Unexercised("a window has too little room for it");
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

  /** Plain calls that a window has room for. */
  callsIn(subject: Subject, caller: AuditCaller): number {
    const { uses = {}, samples = [] } = this.policy.operations[subject.operation] ?? {};
    const each = this.windows(subject, caller).map((name) => {
      const cost = uses[name];
      const units = typeof cost === "number" ? cost : (samples[0]?.cost ?? 1);
      return Math.floor((this.limit(name, caller) * this.spend) / Math.max(1, units));
    });
    return Math.min(...each);
  }

  wasEmptied(subject: Subject, caller: AuditCaller, nowMs: number): boolean {
    return subject.quotas.some((name) => this.book.wasEmptied(name, caller.attributes, nowMs));
  }

  #knows(subject: Subject, caller: AuditCaller, nowMs: number): boolean {
    return this.windows(subject, caller).every(
      (name) => this.book.current(name, caller.attributes, nowMs) !== null,
    );
  }

  hasRoom(subject: Subject, caller: AuditCaller, calls: number, ms: number, nowMs: number): boolean {
    const { uses = {}, samples = [] } = this.policy.operations[subject.operation] ?? {};
    return this.windows(subject, caller).every((name) => {
      const seen = this.book.current(name, caller.attributes, nowMs);
      const end = this.book.endOf(name, caller.attributes, nowMs) ?? nowMs + ms;
      if (seen === null) return false;
      const cost = uses[name];
      const each = typeof cost === "number" ? cost : (samples[0]?.cost ?? 1);
      const left = seen.left - seen.limit * (1 - this.spend);
      const lengthMs = this.windowMs(name, caller) ?? ms;
      return left >= each * calls && end - nowMs >= Math.min(ms, lengthMs / 2);
    });
  }

  /** Waits, without a call, until all windows that a caller has been told of are surely over. */
  *windowsOver(subject: Subject, caller: AuditCaller): ExperimentSteps<void> {
    const nowMs = yield* this.now();
    const ends = this.windows(subject, caller).map((name) => {
      const end = this.book.endOf(name, caller.attributes, nowMs);
      const most = this.book.latest(name, caller.attributes)?.end?.most ?? 0;
      const lengthMs = this.windowMs(name, caller) ?? 0;
      return end === null ? nowMs + lengthMs : most > end && most < end + lengthMs ? most : end + 1000;
    });
    yield* this.wait(Math.max(nowMs, ...ends) + 50);
  }

  /** Waits until the windows of these callers have surely ended; the earliest of them. */
  *nextWindow(subject: Subject, callers: readonly AuditCaller[]): ExperimentSteps<void> {
    const nowMs = yield* this.now();
    const ends = callers.flatMap((caller) =>
      this.windows(subject, caller).flatMap((name) => {
        const end = this.book.endOf(name, caller.attributes, nowMs);
        return end === null || end <= nowMs ? [] : [end];
      }),
    );
    // An end that is told in whole seconds may come a second later, and so may one that is rounded.
    yield* this.wait(ends.length === 0 ? nowMs + 1000 : Math.min(...ends) + 300);
    if (ends.length === 0) return;
    const [caller] = callers;
    if (caller === undefined) return;
    for (let polls = 0; polls < 12; polls++) {
      const before = this.windows(subject, caller).map((name) => this.book.latest(name, caller.attributes));
      yield* this.look(subject, caller);
      const after = this.windows(subject, caller).map((name) => this.book.latest(name, caller.attributes));
      const hasRolled = after.every(
        (seen, at) =>
          seen !== null && before[at] != null && (seen.end?.least ?? 0) > (before[at]?.end?.most ?? 0),
      );
      if (hasRolled || after.some((seen) => seen?.end == null)) return;
      yield* this.wait((yield* this.now()) + 200);
    }
  }

  /** Uses up a caller's narrow quota but for so many units. @returns the last reading of it */
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

  /** A caller whose narrow quota is used up, in a window that lasts for a while. */
  *emptied(
    subject: Subject,
    ms = shortMs,
  ): ExperimentSteps<{ readonly caller: AuditCaller; readonly quota: string; readonly seen: SeenCount }> {
    const nowMs = yield* this.now();
    for (const caller of subject.callers) {
      const quota = this.narrow(subject, caller);
      const seen = quota === null ? null : this.book.current(quota, caller.attributes, nowMs);
      if (quota === null || seen === null || seen.left > 0) continue;
      if ((this.book.endOf(quota, caller.attributes, nowMs) ?? 0) - nowMs >= ms)
        return { caller, quota, seen };
    }
    const caller = yield* this.pick(subject, 2, ms + 500, true);
    const quota = this.narrow(subject, caller);
    if (quota === null) throw new Unexercised("no quota can be emptied");
    return { caller, quota, seen: yield* this.fill(subject, caller, quota, 0) };
  }
}
