// The hand of a probe by a policy: sends the policy's own samples within a budget, reads each answer by its wire, and
// stops at the first sign that it is not wanted. No reasoning here.
import { setTimeout as wait } from "node:timers/promises";
import { inWords, NoAnswer } from "../connect/no-answer.ts";
import { type Ask, type Got, openSender, type Send } from "../connect/send.ts";
import { usedQuotas } from "../policy/effective.ts";
import { filled, statusRequest } from "../policy/match.ts";
import type { Policy, RequestSample } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import type { WireData } from "../policy/wire-data.ts";
import { SpillwayError } from "../rules/errors.ts";
import { answerMembers, noAnswer } from "../trace/quota-answer.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import { readBody } from "../wire/bodies.ts";
import { isFailure } from "../wire/outcome.ts";
import { readAnswer } from "../wire/read-answer.ts";
import { type Allowance, type ProbeProgress, Stopped, type Surroundings } from "./session.ts";

export interface PolicySessionOptions extends Surroundings {
  readonly policy: Policy;
  /** URL that paths are appended to, without a slash at the end. It must be one that may be probed. */
  readonly target: string;
  readonly caller: PolicyToken;
  readonly allowance: Omit<Allowance, "points">;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ProbeProgress) => void) | undefined;
}

/** In a row; beyond it nothing will come of going on. */
const failuresMost = 4;

export class PolicySession {
  readonly calls: QuotaCall[] = [];
  readonly used = { calls: 0, statusCalls: 0, waitMs: 0 };
  readonly options: PolicySessionOptions;
  readonly #wire: WireData;
  readonly #quotas: ReadonlySet<string>;
  readonly #send: Send;
  readonly #now: () => number;
  readonly #sleep: NonNullable<Surroundings["sleep"]>;
  #failures = 0;

  constructor(options: PolicySessionOptions) {
    this.options = options;
    this.#wire = wireOf(options.policy);
    this.#quotas = new Set(Object.keys(options.policy.quotas));
    this.#send = options.send ?? openSender(options).send;
    this.#now = options.now ?? Date.now;
    this.#sleep =
      options.sleep ?? ((ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }));
  }

  now(): number {
    return this.#now();
  }

  get left(): Omit<Allowance, "points"> {
    const { calls, statusCalls, waitMs } = this.options.allowance;
    return {
      calls: calls - this.used.calls,
      statusCalls: statusCalls - this.used.statusCalls,
      waitMs: waitMs - this.used.waitMs,
    };
  }

  get hasStatus(): boolean {
    return statusRequest(this.options.policy, this.options.caller.attributes) !== null;
  }

  say(doing: string, waitMs: number | null = null): void {
    const untilMs = waitMs === null ? null : this.now() + waitMs;
    const { calls, statusCalls } = this.used;
    this.options.onProgress?.({ doing, untilMs, calls, statusCalls, waitLeftMs: this.left.waitMs });
  }

  /** Waits; `false`, at once, where the allowance is too small. */
  async wait(ms: number, doing: string): Promise<boolean> {
    if (ms > this.left.waitMs) return false;
    this.say(doing, ms);
    this.used.waitMs += Math.max(0, ms);
    if (ms > 0) await this.#sleep(ms, this.options.signal);
    this.options.signal?.throwIfAborted();
    return true;
  }

  /** Makes a call of an operation's first sample; `null`, and no call, where the allowance is too small. */
  async call(operation: string): Promise<QuotaCall | null> {
    const sample = this.options.policy.operations[operation]?.samples[0];
    if (sample === undefined || this.left.calls < 1) return null;
    this.used.calls += 1;
    return this.#make(operation, sample, sample.cost);
  }

  /** Reads the status; `null` where there is none, or no more calls of it are allowed. */
  async status(): Promise<QuotaCall | null> {
    const { policy, caller } = this.options;
    const request = statusRequest(policy, caller.attributes);
    if (request === null || this.left.statusCalls < 1) return null;
    this.used.statusCalls += 1;
    return this.#make("status", { ...request, headers: {} }, null);
  }

  async #make(operation: string, sample: RequestSample, cost: number | null): Promise<QuotaCall> {
    const { policy, target, caller, signal } = this.options;
    signal?.throwIfAborted();
    const fill = (text: string): string => filled(text, caller.attributes);
    const { header, form } = policy.auth;
    const { method, body } = sample;
    const [way = "{token}"] = [form].flat();
    const sent = this.now();
    let error: string | undefined;
    const got = await this.#send(
      {
        method: method as Ask["method"],
        url: target + fill(sample.path),
        token: null,
        ...(body !== undefined && { body: fill(typeof body === "string" ? body : JSON.stringify(body)) }),
        headers: { ...sample.headers, [header.toLowerCase()]: way.replace("{token}", caller.token) },
      },
      signal,
    ).catch((cause: unknown) => {
      if (!(cause instanceof NoAnswer)) throw cause;
      error = cause.reason;
      return null;
    });
    const call: QuotaCall = {
      sent,
      received: this.now(),
      client: "probe/0",
      call: this.calls.length,
      caller: caller.attributes,
      operation,
      cost,
      status: got?.status ?? 0,
      ...this.#members(operation, got),
      ...(error !== undefined && { error }),
    };
    this.calls.push(call);
    this.#heed(call);
    return call;
  }

  #members(operation: string, got: Got | null): ReturnType<typeof answerMembers> & Pick<QuotaCall, "date"> {
    if (got === null) return noAnswer;
    const { policy, caller } = this.options;
    const quotas = usedQuotas(policy, operation, caller.attributes);
    const answer = { status: got.status, headers: got.headers, body: readBody(got.body) };
    const read = readAnswer(this.#wire, answer, { quotas, isStatus: operation === "status" });
    const date = Date.parse(got.headers["date"] ?? "");
    return { ...answerMembers(read, this.#quotas), ...(Number.isFinite(date) && { date }) };
  }

  /** Stops where the target shows that it will not, or should not, be asked more. */
  #heed({ status, outcome, operation, call, error }: QuotaCall): void {
    const it = `call ${call + 1} (${operation})`;
    const isLost = status === 0 || isFailure(status);
    this.#failures = isLost ? this.#failures + 1 : 0;
    const words = status === 0 ? inWords(error ?? "no answer") : String(status);
    const isUnwelcome = status >= 300 && outcome !== "refused" && status !== 304 && !isLost;
    if (!isUnwelcome && this.#failures < failuresMost && !(call === 0 && status === 0)) return;
    if (call > 0) throw new Stopped(`${it} was answered ${words}`);
    throw new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as the policy says", {
      problems: [{ path: "--target", got: words, allowed: "an answer to the policy's own samples" }],
      hint: status === 401 ? "is this a token of this target?" : "is this the API's address, and its policy?",
    });
  }
}
