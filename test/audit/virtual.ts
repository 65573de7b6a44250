// An audit in virtual time: the deployment's application without a socket, and a clock that leaps to what is waited for.
import type { FastifyInstance } from "fastify";
import { experiments } from "../../src/audit/experiments.ts";
import { type Audited, type AuditOptions, audit } from "../../src/audit/run.ts";
import type { AuditCaller, Shot } from "../../src/audit/step.ts";
import type { AuditClock } from "../../src/audit/step-player.ts";
import type { Raw } from "../../src/audit/wires.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { injectFault, injectQuotaFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { PolicyToken } from "../../src/policy/tokens.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { buildApp } from "../../src/service/app.ts";
import { buildPolicyApp } from "../../src/service/policy-app.ts";
import { policyCallers, rulesOf, tokens } from "./deployment.ts";

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Time that stands while anything runs, and leaps to the end of the first sleep then. */
class VirtualClock implements AuditClock {
  #nowMs = Date.UTC(2026, 0, 5, 10, 0, 1, 300);
  #busy = 0;
  readonly #sleepers: Sleeper[] = [];

  readonly now = (): number => this.#nowMs;

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((wake) => void this.#sleepers.push({ atMs: this.#nowMs + ms, wake }));

  /** Time stands until the work is over. */
  async still<T>(work: PromiseLike<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
    }
  }

  async until<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    work.then(end, end);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver) return work;
      if (this.#busy > 0) continue;
      const atMs = Math.min(...this.#sleepers.map((sleeper) => sleeper.atMs));
      const place = this.#sleepers.findIndex((sleeper) => sleeper.atMs === atMs);
      const [next] = place < 0 ? [] : this.#sleepers.splice(place, 1);
      if (next === undefined) continue;
      this.#nowMs = next.atMs;
      next.wake();
    }
  }
}

type Send = (shot: Shot) => Promise<Raw>;

interface Given extends Partial<AuditOptions> {
  /** Takes the place of the way to the deployment. */
  readonly by?: (send: Send, clock: AuditClock) => Send;
}

/** Audits the reference deployment, with a fault of the catalogue or without. */
export function auditedRules(
  fault: string | null,
  options: Given = {},
  more: Partial<RulesInput> = {},
): Promise<Audited> {
  const chosen = fault === null ? null : parseFault(fault);
  const rules = parseRules({
    ...rulesOf([5, 8]),
    ...(chosen === null ? {} : { semantics: semanticsFor(chosen.fault) }),
    ...(fault === "unenforced-refuses" ? { organizations: { acme: { rest: { enforced: false } } } } : {}),
    ...more,
  });
  const clock = new VirtualClock();
  const faulty = chosen === null ? {} : injectFault(chosen, rules, seededRandom(1));
  const app = buildApp({ rules, tokens, ...clock, ...faulty });
  const callers = tokens.map(({ token, user, organization }) => ({
    token,
    attributes: { organization, user },
  }));
  // Time has to go on between a read and its write.
  const isSlow = fault === "race-read-then-write";
  return audited(app, clock, isSlow, { policy: policyOf(rules), rules, tokens: callers, ...options });
}

/** Audits a stand-in of a policy, with a fault of the catalogue or without. */
export function auditedPolicy(
  policy: Policy,
  fault: string | null = null,
  options: Given = {},
): Promise<Audited> {
  const clock = new VirtualClock();
  const callers = policyCallers(policy);
  const faulty = fault === null ? undefined : injectQuotaFault(parseFault(fault), policy, seededRandom(1));
  const limiter = faulty?.store ?? new PolicyLimiter(policy);
  const app = buildPolicyApp({ policy, tokens: callers, ...clock, limiter, ...(faulty && { faulty }) });
  return audited(app, clock, false, { policy, rules: null, tokens: callers, ...options });
}

const tripMs = 2;

function audited(
  app: FastifyInstance,
  clock: VirtualClock,
  isSlow: boolean,
  { by = (one) => one, ...options }: Pick<AuditOptions, "policy" | "rules" | "tokens"> & Given,
): Promise<Audited> {
  const direct = async (shot: Shot): Promise<Raw> => {
    const sentMs = clock.now();
    await clock.sleep(tripMs + (shot.holdMs ?? 0));
    const none = { sentMs, status: 0, headers: {}, body: "", error: "cut off" };
    if (shot.way === "cut-sending") return { ...none, receivedMs: clock.now() };
    const asked = app.inject(requestOf(shot, tokenOf(shot.caller, options.tokens)));
    const answer = await (isSlow ? asked : clock.still(asked));
    await clock.sleep(tripMs);
    const receivedMs = clock.now();
    if (shot.way.startsWith("cut-")) return { ...none, receivedMs };
    const told = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]);
    const headers = { ...Object.fromEntries(told), date: new Date(receivedMs).toUTCString() };
    return { sentMs, receivedMs, error: null, status: answer.statusCode, headers, body: answer.body };
  };
  const send = by(direct, clock);
  const made = audit({
    target: parseTarget("target", "http://127.0.0.1:4100"),
    experiments,
    alone: true,
    spend: 1,
    maxMs: 600_000,
    timeoutMs: 20_000,
    clock,
    wires: { send, sendAll: (shots) => Promise.all(shots.map(send)), close: async () => {} },
    ...options,
  });
  return clock.until(made).finally(() => app.close());
}

function tokenOf(caller: AuditCaller | null, known: readonly PolicyToken[]): string {
  const found = known.find(({ attributes }) =>
    Object.entries(attributes).every(([name, value]) => caller?.attributes[name] === value),
  );
  return found?.token ?? "";
}

function requestOf({ caller, method, path, headers, body }: Shot, token: string) {
  const own = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    value.replaceAll("$TOKEN", token),
  ]);
  const credential = caller === null ? {} : { authorization: `Bearer ${token}` };
  const type = body === null ? {} : { "content-type": "application/json" };
  return {
    method: method as "GET",
    url: path,
    headers: { ...type, ...credential, ...Object.fromEntries(own) },
    ...(body === null ? {} : { payload: body }),
  };
}

/** The findings of an audit: experiment, operation, law, and what was got in place of what was expected. */
export const findings = ({ result }: Audited): string[] =>
  result.rows.flatMap(({ name, broken }) =>
    broken.map(({ law, operation, expected, got }) =>
      name === "agreement" ? `${name}: ${law}` : `${name}, ${operation}: ${law}: ${expected}: ${got}`,
    ),
  );

/** Experiments by name, in any order. */
export const experimentsOf = (names: string) =>
  experiments.filter(({ name }) => names.split(" ").includes(name));
