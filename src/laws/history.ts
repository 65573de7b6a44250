// Plays a script against a limiter and keeps what it answered. Every answer is checked for its form here, so
// that laws judge numbers and never meet a NaN, a string or a promise that nobody awaited.
import type {
  Asked,
  Call,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
  Seam,
  WindowReading,
} from "../engine/adapter.ts";
import {
  copyOf,
  decisionMistake,
  httpMistake,
  isObject,
  type Mistake,
  readingsMistake,
  statusMistake,
} from "../engine/answer-form.ts";
import { quote } from "../rules/errors.ts";
import { type Rules, type Scope, scopes } from "../rules/rules.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { CallOp, LawKind, Op, SettleOp, StatusOp } from "./script.ts";

export type PartialReading = Partial<WindowReading>;
export type PartialStatus = { readonly [S in Scope]?: PartialReading };

export interface CallEvent {
  readonly op: CallOp;
  readonly decision: PartialDecision;
  /** Absent: the limiter shows no HTTP answers; `null`: none was sent. */
  readonly http?: HttpAnswer | null;
}

interface SettleEvent {
  readonly op: SettleOp;
  /** The call that was completed; `null` where it had been refused, and nothing happened. */
  readonly call: CallOp | null;
  readonly readings: PartialReadings;
  readonly http?: HttpAnswer | null;
}

interface StatusEvent {
  readonly op: StatusOp;
  readonly status: PartialStatus;
  readonly http?: HttpAnswer | null;
}

/** One operation with what the limiter answered. */
export type HistoryEvent =
  | CallEvent
  | SettleEvent
  | StatusEvent
  | { readonly op: Exclude<Op, CallOp | SettleOp | StatusOp> };

export type History = readonly HistoryEvent[];

/** A limiter that threw, never answered or answered nonsense: not a broken law, but nothing to judge. */
export class AdapterFailure extends Error {
  /** Answers until then, and the operation at which it failed; `null` before the first. */
  history: LawKind["history"] = [];
  op: LawKind["op"] | null = null;
  /** The call as one would write it. */
  readonly call: string;
  readonly got: string;
  readonly allowed: string;

  constructor(call: string, got: string, allowed: string, cause?: unknown) {
    super(`${call}: got ${got}, allowed: ${allowed}`, cause === undefined ? {} : { cause });
    this.name = "AdapterFailure";
    this.call = call;
    this.got = got;
    this.allowed = allowed;
  }

  /** True if the limiter ended the check: it may not be asked any more. */
  get ended(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "AbortError";
  }

  /** True if the limiter gave no answer in time; playing again would only wait again. */
  get hung(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "TimeoutError";
  }
}

/** Runs one call of the adapter; what it throws names the call. Only promises are awaited. */
export async function ask<T>(
  name: string,
  args: readonly unknown[],
  run: () => T | PromiseLike<T>,
): Promise<T> {
  try {
    const answer = run();
    return isObject(answer) && typeof (answer as { then?: unknown }).then === "function"
      ? await answer
      : (answer as T);
  } catch (cause) {
    throw new AdapterFailure(textOf(name, args), thrown(cause), "an answer", cause);
  }
}

const thrown = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : `a throw of ${quote(cause)}`;

/** A call of the adapter as one would write it. */
const textOf = (name: string, args: readonly unknown[]): string =>
  `${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`;

/**
 * Runs one call of the adapter, and returns a copy of its answer as it is now.
 * @throws AdapterFailure where its form is wrong, too
 */
export async function answered<T>(
  name: string,
  args: readonly unknown[],
  mistake: Mistake,
  run: () => T | PromiseLike<T>,
  copy?: (answer: Readonly<Record<string, unknown>>) => unknown,
): Promise<T> {
  const answer = await ask(name, args, run);
  const [value, wrong] = received(name, args, answer, mistake, copy);
  if (wrong === null) return value;
  const [path, got, allowed] = wrong;
  throw new AdapterFailure(textOf(name, args), `${path} = ${shown(got)}`, allowed);
}

/** One limiter with the reservations that are open on it. */
export class Player {
  readonly #factory: LimiterFactory;
  readonly #rules: Rules;
  #limiter: LimiterAdapter;
  readonly #inFlight = new Map<number, { readonly call: CallOp; readonly reservation: unknown }>();

  constructor(factory: LimiterFactory, rules: Rules, limiter: LimiterAdapter) {
    this.#factory = factory;
    this.#rules = rules;
    this.#limiter = limiter;
  }

  async #http(asked: Asked, nowMs: number): Promise<{ http?: HttpAnswer | null }> {
    const limiter = this.#limiter;
    if (limiter.answer === undefined) return {};
    const http = await answered<HttpAnswer | null>(
      "answer",
      [asked, nowMs],
      httpMistake,
      () => limiter.answer?.(asked, nowMs) ?? null,
    );
    return { http };
  }

  /** True if somebody wants to know what time it is. */
  get #isTold(): boolean {
    return this.#factory.setNow !== undefined || this.#limiter.setNow !== undefined;
  }

  /** Tells the limiter what time it is. */
  async setNow(nowMs: number): Promise<void> {
    await tellTime(this.#factory, nowMs);
    await tellTime(this.#limiter, nowMs);
  }

  async play(op: Op): Promise<HistoryEvent> {
    if (this.#isTold) await this.setNow(op.atMs);
    switch (op.do) {
      case "call":
        return this.call(op);
      case "settle":
        return this.#settle(op);
      case "status":
        return this.#status(op);
      case "enforce":
        await ask(
          "setEnforced",
          [op.organization, op.scope, op.enforced],
          () => this.#limiter.setEnforced?.(op.organization, op.scope, op.enforced) ?? undefined,
        );
        return { op };
      case "sweep":
        await ask("sweep", [op.atMs], () => this.#limiter.sweep?.(op.atMs));
        return { op };
      case "snapshot":
        await this.#restart();
        return { op };
    }
  }

  /** Decides a call; others may be under way. */
  async call(op: CallOp): Promise<CallEvent> {
    const call = callOf(op);
    const decision = await answered("decide", [call, op.atMs], decisionMistake, () =>
      this.#limiter.decide(call, op.atMs),
    );
    const { reservation } = decision;
    if (decision.admitted && reservation !== undefined && reservation !== null)
      this.#inFlight.set(op.id, {
        call: op,
        reservation: throughJson("the reservation", textOf("decide", [call, op.atMs]), reservation),
      });
    return { op, decision, ...(await this.#http({ kind: "call", call, said: decision }, op.atMs)) };
  }

  async #settle(op: SettleOp): Promise<HistoryEvent> {
    const open = this.#inFlight.get(op.id);
    if (open === undefined) return { op, call: null, readings: {} };
    this.#inFlight.delete(op.id);
    const { call, reservation } = open;
    const readings = await answered(
      "settle",
      [reservation, op.actual, op.atMs],
      readingsMistake,
      () => this.#limiter.settle?.(reservation, op.actual, op.atMs) ?? {},
    );
    const http = await this.#http({ kind: "completion", call: callOf(call), said: readings }, op.atMs);
    return { op, call, readings, ...http };
  }

  async #status(op: StatusOp): Promise<HistoryEvent> {
    const { organization, user, atMs } = op;
    const status = await answered<PartialStatus>(
      "status",
      [organization, atMs],
      statusMistake,
      () => this.#limiter.status?.(organization, atMs, user) ?? {},
    );
    return { op, status, ...(await this.#http({ kind: "status", organization, user }, atMs)) };
  }

  async #restart(): Promise<void> {
    const taken = await ask("snapshot", [], () => this.#limiter.snapshot?.());
    const snapshot = throughJson("the snapshot", "snapshot()", taken);
    const { restore } = this.#factory;
    if (restore === undefined) return;
    this.#limiter = await ask("restore", [snapshot], () =>
      restore.call(this.#factory, this.#rules, snapshot),
    );
  }

  async close(): Promise<void> {
    await ask("close", [], () => this.#limiter.close?.());
  }
}

/** Makes the call that a limiter is handed. It is frozen: a change would reach the laws. */
const callOf = ({ organization, user, scope, cost }: CallOp): Call =>
  Object.freeze({ organization, user, scope, cost });

/** An answer as it is now, which the limiter may go on to change, and what is wrong with its form. */
function received<T>(
  name: string,
  args: readonly unknown[],
  answer: T,
  mistake: Mistake,
  copy: (answer: Readonly<Record<string, unknown>>) => unknown = copyOf,
): readonly [T, ReturnType<Mistake>] {
  try {
    const value = isObject(answer) ? (copy(answer) as T) : answer;
    return [value, mistake(value)];
  } catch (cause) {
    throw new AdapterFailure(
      textOf(name, args),
      `an answer that throws ${thrown(cause)}`,
      "plain data",
      cause,
    );
  }
}

/** Stores what is promised to be plain JSON as JSON: a live reference in it does not survive. */
export function throughJson(what: string, call: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch (cause) {
    throw new AdapterFailure(call, `${what}: ${thrown(cause)}`, "plain JSON", cause);
  }
}

export const shown = (value: unknown): string => {
  try {
    return quote(value);
  } catch {
    return `a ${typeof value} that is no JSON`;
  }
};

/** Copies objects in objects, without lists; in a quarter of the time that JSON takes. */
function copied<T extends object>(value: T): T {
  const copy = { ...value } as Record<string, unknown>;
  for (const [name, member] of Object.entries(copy)) if (isObject(member)) copy[name] = copied(member);
  return copy as T;
}

/** Tells who reads a clock of its own what time it is. */
export async function tellTime(told: Pick<LimiterFactory, "setNow">, nowMs: number): Promise<void> {
  const { setNow } = told;
  if (setNow !== undefined) await ask("setNow", [nowMs], () => setNow.call(told, nowMs));
}

/**
 * @param nowMs time at which it is made
 * @throws AdapterFailure where `create` throws, or makes something that decides nothing
 */
export async function makeLimiter(
  factory: LimiterFactory,
  rules: Rules,
  nowMs: number,
  seam?: Seam,
): Promise<LimiterAdapter> {
  await tellTime(factory, nowMs);
  // A copy of its own: what it does to it does not reach the laws.
  const limiter = await ask("create", [rules], () => factory.create(copied(rules), seam));
  if (isObject(limiter) && typeof limiter.decide === "function") return limiter;
  throw new AdapterFailure("create(rules)", shown(limiter), "a limiter with `decide`");
}

/**
 * Plays operations, one after the other, and closes the limiter.
 * @throws AdapterFailure where the limiter throws or answers something of the wrong form
 */
export async function playAll<O extends LawKind["op"], E extends LawKind["history"][number]>(
  player: { play(op: O): Promise<E>; close(): Promise<void> },
  ops: readonly O[],
): Promise<E[]> {
  const history: E[] = [];
  let at: O | null = null;
  try {
    for (const op of ops) {
      at = op;
      history.push(await player.play(op));
    }
  } catch (error) {
    if (error instanceof AdapterFailure) Object.assign(error, { history, op: at });
    throw error;
  } finally {
    await player.close();
  }
  return history;
}

/** The same, on a fresh limiter. */
export async function play(factory: LimiterFactory, rules: Rules, ops: readonly Op[]): Promise<History> {
  return playAll(new Player(factory, rules, await makeLimiter(factory, rules, ops[0]?.atMs ?? 0)), ops);
}

/** Reads a status answer, by scope. */
export function statusReadings(status: PartialStatus): readonly [Scope, PartialReading][] {
  return scopes.flatMap((scope) => {
    const reading = status[scope];
    return reading === undefined || reading === null ? [] : [[scope, reading]];
  });
}
