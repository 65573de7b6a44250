// A stand-in for any API that a policy describes: it limits and answers by the policy, with sample bodies.
import type { IncomingHttpHeaders } from "node:http";
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { PolicyDecision } from "../engine/decision.ts";
import { type SlowQuotaStore, shownByStatus } from "../engine/store.ts";
import type { WriteAnswer } from "../engine/store-limiter.ts";
import type { FaultyQuotas } from "../faults/fault.ts";
import { sentBy } from "../faults/sent.ts";
import { costAsked, filledQuotas } from "../policy/effective.ts";
import { graphqlKind } from "../policy/graphql-kind.ts";
import { routeOf } from "../policy/match.ts";
import {
  type AttributeSource,
  actualHeader,
  costHeader,
  type Operation,
  type Policy,
  type Route,
} from "../policy/policy.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { pointed } from "../wire/pointer.ts";
import type { AnswerToWrite } from "../wire/write-answer.ts";
import { type Fields, send, sendMessage, sendText } from "./answer.ts";
import { credentialIn, TokenTable } from "./auth.ts";
import { type ServerTls, serverOptions } from "./listen.ts";

type Attributes = Readonly<Record<string, string>>;

export interface PolicyAppOptions {
  readonly policy: Policy;
  /** Tokens of those who may call, kept as hashes only. */
  readonly tokens: readonly PolicyToken[];
  readonly limiter: SlowQuotaStore;
  /** Changes that a fault makes to correct answers. Absent: no fault. */
  readonly faulty?: Omit<FaultyQuotas, "store"> | undefined;
  /** Waits; a slow limiter needs it. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Returns the time, whole ms since the Unix epoch. */
  readonly now: () => number;
  /** Certificate for TLS. Default: plain HTTP. */
  readonly tls?: ServerTls | undefined;
  /** Receives each unexpected error, which is answered 500. */
  readonly onUnexpected?: ((error: Error) => void) | undefined;
}

/** Builds the stand-in. `app.close()` closes it. */
export function buildPolicyApp(options: PolicyAppOptions): FastifyInstance {
  const { policy, tokens, onUnexpected = () => {} } = options;
  const app = fastify({
    ...serverOptions(options.tls),
    // A broken encoding in a path is no reason to be free.
    frameworkErrors: (_error, request, reply) => respond(request, reply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) onUnexpected(error);
    sendMessage(reply, statusCode, {}, statusCode >= 500 ? "Internal error" : "Bad request");
  });
  const { header, form } = policy.auth;
  const name = header.toLowerCase();
  const table = new TokenTable(
    tokens.map(({ token, attributes }) => [token, attributes] as const),
    form,
  );
  const answer = answerer(options, sentBy(policy, options.faulty));
  const respond = (request: FastifyRequest, reply: FastifyReply): void => {
    const caller = table.find(credentialIn(request, name), request.raw.socket);
    if (caller === null) sendMessage(reply, 401, {}, "Unauthorized");
    else answer(request, reply, caller);
  };
  app.setNotFoundHandler(respond);
  return app;
}

interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: unknown;
  readonly isGraphql: boolean;
}

function answerer({ policy, limiter, now, sleep }: PolicyAppOptions, sent: WriteAnswer) {
  return (request: FastifyRequest, reply: FastifyReply, caller: Attributes): void => {
    const body = bodyOf(request.body);
    const graphql = typeof request.body === "string" ? graphqlKind(request.body) : null;
    const host = hostOf(policy, request.headers.host);
    const found = routeOf(policy, { method: request.method, target: request.url, host, graphql });
    const attributes = found === null ? null : attributesOf(found, caller, request.headers, body);
    const asked = { request, reply, body, isGraphql: graphql !== null };
    if (found === null || attributes === null) sendMessage(reply, 404, {}, "Not found");
    else if (found.route.operation === "status") status(asked, attributes);
    else decide(asked, found.route.operation, attributes);
  };

  function status(asked: Asked, caller: Attributes): void {
    const nowMs = now();
    const readings = shownByStatus(limiter, caller, filledQuotas(policy, caller), nowMs);
    write(asked, caller, { kind: "status", readings }, nowMs);
  }

  function decide(asked: Asked, name: string, caller: Attributes): void {
    const nowMs = now();
    const operation = policy.operations[name];
    // The policy sets no limit on this operation.
    if (operation === undefined) {
      write(asked, caller, { kind: "admitted", readings: [] }, nowMs);
      return;
    }
    const cost = costOf(operation, asked);
    const decided = limiter.decide({ caller, operation: name, cost }, nowMs);
    if (!("resume" in decided)) {
      finish(asked, caller, operation, cost, decided, nowMs);
      return;
    }
    if (sleep === undefined) throw new RangeError("a slow limiter needs a sleep");
    sleep(decided.waitMs)
      .then(() => finish(asked, caller, operation, cost, decided.resume(now()), now()))
      .catch((error: unknown) => void asked.reply.send(error));
  }

  function finish(
    asked: Asked,
    caller: Attributes,
    operation: Operation,
    cost: number,
    decision: PolicyDecision,
    nowMs: number,
  ): void {
    const { reservation, refusedBy, retryAtMs } = decision;
    const readings =
      reservation === null
        ? decision.readings
        : limiter.settle(reservation, usedOf(operation, asked, cost), nowMs);
    const kind = refusedBy === null ? "admitted" : "refused";
    write(asked, caller, { kind, readings, refusedBy, retryAtMs, cost }, nowMs);
  }

  function write(
    { request, reply, isGraphql }: Asked,
    caller: Attributes,
    said: Pick<AnswerToWrite, "kind" | "readings"> & Partial<AnswerToWrite>,
    nowMs: number,
  ): void {
    const right: AnswerToWrite = { refusedBy: null, retryAtMs: null, cost: 0, ...said };
    const { status, headers, body } = sent(right, nowMs, caller);
    const fields: Fields = {};
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) fields[name] = value;
    if (typeof body === "string") {
      sendText(reply, status, fields, body);
      return;
    }
    const sample = isGraphql ? { data: {} } : { method: request.method, path: request.url };
    const own = isPlainObject(body) ? body : {};
    send(
      reply,
      status,
      fields,
      right.kind === "admitted" ? merged(sample, own) : (Object(body ?? {}) as object),
    );
  }
}

/** Returns the members of both, merging objects under the same name. */
function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const result = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const own = result[name];
    result[name] = isPlainObject(own) && isPlainObject(value) ? merged(own, value) : value;
  }
  return result;
}

/** Returns a body as JSON; `undefined` if it is none. */
function bodyOf(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the caller's attributes; `null` if the request names another's than the token's, or lacks one. */
function attributesOf(
  { route, attributes: inPath }: { readonly route: Route; readonly attributes: Attributes },
  caller: Attributes,
  headers: IncomingHttpHeaders,
  body: unknown,
): Attributes | null {
  const attributes: Record<string, string> = { ...caller };
  const told = Object.entries(route.attributes).map(
    ([name, source]) => [name, sourced(source, headers, body)] as const,
  );
  for (const [name, value] of [...Object.entries(inPath), ...told]) {
    if (value === undefined || (caller[name] !== undefined && caller[name] !== value)) return null;
    attributes[name] = value;
  }
  return attributes;
}

function sourced(source: AttributeSource, headers: IncomingHttpHeaders, body: unknown): string | undefined {
  if ("text" in source) return source.text;
  const value =
    "header" in source ? headers[source.header.toLowerCase()] : pointed(body, source.pointer)[0]?.value;
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Returns the units that a request tells in a header; `null` if it tells none. */
function toldBy({ headers }: FastifyRequest, header: string): number | null {
  const text = headers[header];
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Returns the cost that a request's header declares, or the sample's, as its dearer member makes it. */
function costOf({ samples, uses }: Operation, { request, body }: Asked): number {
  const bounds = Object.values(uses).flatMap((cost) => (typeof cost === "object" ? cost.atMost : []));
  const most = Math.min(Number.MAX_SAFE_INTEGER, ...bounds);
  const declared = toldBy(request, costHeader);
  if (declared !== null) return Math.min(declared, most);
  const [sample] = samples;
  if (sample?.dearer === undefined) return Math.min(sample?.cost ?? 1, most);
  const { pointer, costEach } = sample.dearer;
  const numberIn = (at: unknown): unknown => pointed(at, pointer)[0]?.value;
  const [asked, base] = [numberIn(body), numberIn(sample.body)];
  if (typeof asked !== "number") return Math.min(sample.cost, most);
  const more = (Math.max(0, Math.round(asked)) - (typeof base === "number" ? base : 0)) * costEach;
  return Math.min(Math.max(0, sample.cost + more), most);
}

/** Returns the units that a call is charged in the end: those that a header tells, at most those that it asked for. */
function usedOf({ uses }: Operation, { request }: Asked, cost: number): number {
  const most = Object.values(uses).flatMap((each) => (typeof each === "number" ? [] : costAsked(each, cost)));
  return Math.min(toldBy(request, actualHeader) ?? cost, ...most);
}

/** Returns the API's host that a request is for: the routes' first one if it names another, such as the stand-in's own. */
function hostOf({ routes }: Policy, header = ""): string {
  const host = header.replace(/:\d+$/, "").toLowerCase();
  const named = routes.flatMap((route) => (route.host === undefined ? [] : [route.host.toLowerCase()]));
  return named.includes(host) ? host : (named[0] ?? host);
}
