// The hand of a probe by a policy. It sends the policy's own samples within a budget, and reads each answer by the
// policy's wire. It stops at the first sign that it is unwelcome, and draws no conclusions.
import { inWords } from "../connect/no-answer.ts";
import type { Ask, Got } from "../connect/send.ts";
import { refusalFacts, usedQuotas } from "../policy/effective.ts";
import { credentialOf, filled, statusRequest } from "../policy/match.ts";
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
import { Hand, type HandOptions, Stopped } from "./hand.ts";

export interface PolicySessionOptions extends HandOptions {
  readonly policy: Policy;
  /** URL to which paths are appended, without a slash at the end. The caller has checked that it may be probed. */
  readonly target: string;
  readonly caller: PolicyToken;
}

/** Number of failures in a row that end the probe. */
const failuresMost = 4;

/** Returns a caller's request for a sample. */
export function askOf(
  {
    policy,
    target,
    caller: { token, attributes },
  }: Pick<PolicySessionOptions, "policy" | "target" | "caller">,
  { method, path, headers, body }: Pick<RequestSample, "method" | "path"> & Partial<RequestSample>,
): Ask {
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  return {
    method: method as Ask["method"],
    url: target + filled(path, attributes),
    token: null,
    body: text && filled(text, attributes),
    headers: { ...headers, [policy.auth.header.toLowerCase()]: credentialOf(policy.auth, token) },
  };
}

export class PolicySession extends Hand<PolicySessionOptions, QuotaCall> {
  readonly #wire: WireData;
  readonly #quotas: ReadonlySet<string>;
  #failures = 0;

  constructor(options: PolicySessionOptions) {
    super(options);
    this.#wire = wireOf(options.policy);
    this.#quotas = new Set(Object.keys(options.policy.quotas));
  }

  get hasStatus(): boolean {
    return statusRequest(this.options.policy, this.options.caller.attributes) !== null;
  }

  /** Makes a call of an operation's first sample. Makes none and returns `null` if the allowance is too small. */
  async call(operation: string): Promise<QuotaCall | null> {
    const sample = this.options.policy.operations[operation]?.samples[0];
    if (sample === undefined || this.left.calls < 1) return null;
    this.used.calls += 1;
    return this.#make(operation, sample, sample.cost);
  }

  /** Reads the status; returns `null` if there is none, or its allowance is used up. */
  async status(): Promise<QuotaCall | null> {
    const { policy, caller } = this.options;
    const request = statusRequest(policy, caller.attributes);
    if (request === null || this.left.statusCalls < 1) return null;
    this.used.statusCalls += 1;
    return this.#make("status", request, null);
  }

  async #make(
    operation: string,
    sample: Parameters<typeof askOf>[1],
    cost: number | null,
  ): Promise<QuotaCall> {
    const { caller } = this.options;
    const sent = this.now();
    const { got, error } = await this.ask(askOf(this.options, sample));
    const call: QuotaCall = {
      sent,
      received: this.now(),
      client: "probe/0",
      call: this.calls.length,
      caller: caller.attributes,
      operation,
      cost,
      status: got?.status ?? 0,
      ...this.#members(operation, sample.method, got),
      ...(error !== null && { error }),
    };
    this.calls.push(call);
    this.#heed(call);
    return call;
  }

  #members(
    operation: string,
    method: string,
    got: Got | null,
  ): ReturnType<typeof answerMembers> & Pick<QuotaCall, "date"> {
    if (got === null) return noAnswer;
    const { policy, caller } = this.options;
    const quotas = usedQuotas(policy, operation, caller.attributes);
    const answer = { status: got.status, headers: got.headers, body: readBody(got.body) };
    // Whether refused calls are charged is to be found out.
    const refusal = () => ({ ...refusalFacts(policy, operation, caller.attributes, null), isCharged: false });
    const read = readAnswer(this.#wire, answer, {
      ...{ quotas, isStatus: operation === "status", method, refusal },
    });
    const date = Date.parse(got.headers["date"] ?? "");
    return { ...answerMembers(read, this.#quotas), ...(Number.isFinite(date) && { date }) };
  }

  /** Stops if the target shows that it will not, or should not, be called more. */
  #heed({ status, outcome, operation, call, error }: QuotaCall): void {
    const it = `call ${call + 1} (${operation})`;
    const isLost = isFailure(status);
    this.#failures = isLost ? this.#failures + 1 : 0;
    const words = status === 0 ? inWords(error ?? "no answer") : String(status);
    const isUnwelcome = status >= 300 && outcome !== "refused" && status !== 304 && !isLost;
    if (!isUnwelcome && this.#failures < failuresMost && !(call === 0 && status === 0)) return;
    if (call > 0) throw new Stopped(`${it} was answered ${words}`);
    throw new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as the policy says", {
      problem: { path: "--target", got: words, allowed: "an answer to the policy's own samples" },
      hint: status === 401 ? "is this a token of this target?" : "is this the API's address, and its policy?",
    });
  }
}
