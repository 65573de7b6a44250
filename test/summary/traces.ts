// Traces for the tests of figures and reports: single lines by hand, and a small world played against the
// limiter in virtual time, so that pictures have something true to show.
import { headers, Limiter, refusalBody, statusBody } from "../../src/engine/index.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput, Scope } from "../../src/rules/rules.ts";
import { below, between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";

/** 2026-01-01T00:00:00Z, a multiple of every window's length here. */
export const startMs = Date.UTC(2026, 0, 1);

export function traceHeader(changes: Partial<TraceHeader> = {}): TraceHeader {
  return {
    format: "spillway-trace",
    version: 1,
    source: "simulator",
    scenario: "test",
    seed: 1,
    target: null,
    startedAt: startMs,
    clock: { kind: "virtual", resolutionMs: 0, errorMs: 0 },
    rules: null,
    complete: true,
    lost: 0,
    ...changes,
  };
}

/** One line; times are ms after `startMs`. */
export function traceCall(changes: Partial<TraceCall> = {}): TraceCall {
  const { sent = 0, received = sent, wanted, ...others } = changes;
  return {
    client: "agents/0",
    call: 0,
    org: "acme",
    user: "ada",
    scope: "rest",
    kind: "call",
    cost: 1,
    status: 200,
    scopeName: null,
    limit: null,
    remaining: null,
    reset: null,
    userScopeName: null,
    userLimit: null,
    userRemaining: null,
    userReset: null,
    attempt: 0,
    ...others,
    sent: startMs + sent,
    received: startMs + received,
    ...(wanted === undefined ? {} : { wanted: startMs + wanted }),
  };
}

interface WorldClient extends RandomState {
  readonly name: string;
  readonly user: string;
  readonly thinkMs: number;
  readonly scope: Scope | "status";
  calls: number;
}

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly client: WorldClient;
  readonly wantedMs: number;
  readonly attempt: number;
}

export interface WorldOptions {
  readonly seed?: number;
  readonly seconds?: number;
  readonly rules?: RulesInput;
  /** Round trip, ms. */
  readonly latencyMs?: number;
  readonly org?: string;
}

/** Agents, one noisy user, a GraphQL reporter and a status poller; the refused wait for the reset. */
export function playWorld(options: WorldOptions = {}): { header: TraceHeader; calls: TraceCall[] } {
  const { seed = 7, seconds = 24, latencyMs = 12, org = "acme" } = options;
  const rules = parseRules(options.rules ?? worldRules);
  const limiter = new Limiter(rules);
  const clients = worldClients(seed);
  const queue: Due[] = [];
  let order = 0;
  const push = (client: WorldClient, atMs: number, wantedMs: number, attempt: number): void => {
    if (atMs >= startMs + seconds * 1000) return;
    queue.push({ atMs, order: order++, client, wantedMs, attempt });
    queue.sort((a, b) => b.atMs - a.atMs || b.order - a.order);
  };
  for (const client of clients) {
    const atMs = startMs + below(client, 2000);
    push(client, atMs, atMs, 0);
  }
  const calls: TraceCall[] = [];
  for (let due = queue.pop(); due !== undefined; due = queue.pop()) {
    const { client, atMs, wantedMs, attempt } = due;
    const call = answer(limiter, org, due, latencyMs);
    calls.push(call);
    const next = call.received + between(client, client.thinkMs / 2, client.thinkMs * 1.5);
    const reset = call.status === 429 ? Math.max(Number(call.reset), Number(call.userReset)) : 0;
    if (reset > 0 && attempt < 3)
      push(client, call.received + reset * 1000 + below(client, 300), wantedMs, attempt + 1);
    else push(client, Math.max(next, atMs + 1), next, 0);
  }
  calls.sort((a, b) => a.received - b.received);
  return { header: traceHeader({ scenario: "fleet", seed, rules }), calls };
}

const worldRules: RulesInput = {
  organization: {
    rest: { limit: 120, windowSeconds: 5 },
    graphql: { limit: 4000, windowSeconds: 8 },
  },
  user: { rest: { limit: 30, windowSeconds: 5 }, graphql: { limit: 1500, windowSeconds: 8 } },
  semantics: { graphqlCharge: "prepaid" },
};

function worldClients(seed: number): WorldClient[] {
  const clients: WorldClient[] = [];
  const add = (
    population: string,
    count: number,
    thinkMs: number,
    scope: Scope | "status",
    user?: string,
  ) => {
    for (let index = 0; index < count; index++) {
      const random = { random0: 0, random1: 0, random2: 0, random3: 0 };
      const name = `${population}/${index}`;
      seedRandom(random, seed, clients.length, index);
      clients.push({ name, user: user ?? `agent-${index}`, thinkMs, scope, calls: 0, ...random });
    }
  };
  add("agents", 14, 900, "rest");
  add("noisy", 4, 120, "rest", "noisy-bot");
  add("reports", 3, 700, "graphql");
  add("watchers", 1, 1000, "status", "ops");
  return clients;
}

function answer(limiter: Limiter, org: string, due: Due, latencyMs: number): TraceCall {
  const { client, atMs, wantedMs, attempt } = due;
  const { user, name } = client;
  const received = atMs + between(client, Math.ceil(latencyMs / 2), latencyMs * 2);
  const decidedMs = Math.floor((atMs + received) / 2);
  const scope = client.scope === "status" ? "rest" : client.scope;
  const cost = scope === "rest" ? 1 : 253;
  const status = client.scope === "status";
  const decision = status ? null : limiter.decide({ organization: org, user, scope, cost }, decidedMs);
  const readings = decision ?? limiter.readings(org, user, scope, decidedMs);
  const shown = headers(scope, readings);
  const admitted = decision?.admitted ?? true;
  return {
    sent: atMs,
    received,
    client: name,
    call: client.calls++,
    org,
    user,
    scope,
    kind: status ? "status" : "call",
    cost: status ? null : cost,
    status: admitted ? 200 : 429,
    scopeName: shown["RateLimit-Scope"] ?? null,
    limit: shown["RateLimit-Limit"] ?? null,
    remaining: shown["RateLimit-Remaining"] ?? null,
    reset: shown["RateLimit-Reset"] ?? null,
    userScopeName: shown["RateLimit-User-Scope"] ?? null,
    userLimit: shown["RateLimit-User-Limit"] ?? null,
    userRemaining: shown["RateLimit-User-Remaining"] ?? null,
    userReset: shown["RateLimit-User-Reset"] ?? null,
    ...(status ? { body: statusBody(limiter.status(org, decidedMs)).scopes } : {}),
    ...(decision?.refusedBy ? { refusal: refusalBody(scope, decision.refusedBy, readings) } : {}),
    wanted: wantedMs,
    attempt,
  };
}
