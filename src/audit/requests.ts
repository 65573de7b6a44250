// Requests of a policy's operations, and what the policy says of their quotas. This file makes no call.
import { dearer } from "../policy/dearer.ts";
import { limitOf, quotaFor } from "../policy/effective.ts";
import { graphqlKind } from "../policy/graphql-kind.ts";
import { routeOf } from "../policy/match.ts";
import type { CallSample, Policy, Quota, RequestSample } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { mayShow, type WireData } from "../policy/wire-data.ts";
import { leftIn, windowMs } from "./book.ts";
import {
  type Answer,
  type AuditCaller,
  type AuditCallers,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

/** Most calls that use up one quota. */
const emptyingMost = 2_500;

export class Requests {
  readonly policy: Policy;
  readonly wire: WireData;
  readonly callers: AuditCallers;
  readonly subjects: readonly Subject[];

  constructor(policy: Policy, callers: AuditCallers) {
    this.policy = policy;
    this.wire = wireOf(policy);
    this.callers = callers;
    this.subjects = subjectsOf(policy, callers).map((subject) => ({
      ...subject,
      callers: subject.callers.map((caller) => this.#onRoute(caller, subject)) as unknown as AuditCallers,
    }));
  }

  /** Returns a caller with the attributes that its plain call's route adds, such as a room: quotas' keys need them. */
  #onRoute(caller: AuditCaller, { operation }: Pick<Subject, "operation">): AuditCaller {
    const { attributes } = this.shot(caller, operation);
    return { ...caller, attributes };
  }

  /** Returns the attributes of a caller's token alone. */
  ownOf({ attributes }: AuditCaller): Record<string, string> {
    const own = this.policy.auth.attributes.map((name) => [name, attributes[name]] as const);
    return Object.fromEntries(own.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** Tells whether each token has a count of its own in a quota. */
  isOwn(quota: string): boolean {
    const key = this.policy.quotas[quota]?.key ?? [];
    return this.policy.auth.attributes.every((name) => key.includes(name));
  }

  quota(name: string, { attributes }: AuditCaller): Quota {
    return quotaFor(this.policy, name, attributes);
  }

  limit(name: string, caller: AuditCaller): number {
    return limitOf(this.quota(name, caller).algorithm);
  }

  /** Returns the length of a quota's windows, ms; 0 if it has none. */
  windowMs(name: string, caller: AuditCaller): number {
    return windowMs(this.policy, name, caller.attributes);
  }

  /** Returns a subject's quotas that are windows and whose counts its answers show. */
  windows({ quotas }: Subject, caller: AuditCaller): string[] {
    return quotas.filter((name) => this.windowMs(name, caller) > 0 && this.shows(name));
  }

  /** Tells whether answers to calls show a quota's count. */
  shows(quota: string): boolean {
    const rows = this.wire.readings.filter(
      (reading) => reading.on.includes("admitted") && mayShow(reading, quota) && (reading.grain ?? 1) === 1,
    );
    // A remaining number shows a count only beside its limit.
    const texts = JSON.stringify(rows.map(({ headers, body }) => [headers, body]));
    const has = (name: string): boolean => texts.includes(`{${name}}`);
    return has("used") || (has("remaining") && has("limit"));
  }

  /** Tells whether the policy charges a refused call of an operation nowhere. */
  isRefusedFree({ operation, quotas }: Subject, caller: AuditCaller): boolean {
    const isFree = ({ charge }: Quota): boolean =>
      charge.refused === "nothing" && charge.refusedByOther === "nothing";
    return this.isWhole(operation) && quotas.every((name) => isFree(this.quota(name, caller)));
  }

  /** Tells whether a call of an operation is charged in all of its quotas, or in none. */
  isWhole(operation: string): boolean {
    return this.policy.operations[operation]?.relation === "all-or-nothing";
  }

  /** Tells whether resets of a quota are surely rounded up. */
  roundsUp(quota: string): boolean {
    const rows = this.wire.readings.filter(
      (reading) => reading.reset !== undefined && mayShow(reading, quota),
    );
    const own = this.policy.quotas[quota]?.shown.reset;
    return rows.every(({ reset }) => (reset?.round ?? own) === "ceil");
  }

  /** Tells whether an answer shows room in each quota of an operation. */
  showsRoom({ quotas }: Subject, answer: Answer): boolean {
    return quotas.every((name) => leftIn(answer, name) > 0);
  }

  get hasStatus(): boolean {
    return this.policy.routes.some(({ operation }) => operation === "status");
  }

  /** Returns a plain call of an operation. @param cost units that it declares. Default: the sample's */
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

  /** Returns all other requests of the policy that use a plain call's quotas: its samples, and other operations'. */
  others({ operation, quotas }: Subject, caller: AuditCaller): Shot[] {
    const plain = this.policy.operations[operation]?.samples[0];
    return Object.entries(this.policy.operations).flatMap(([name, { samples }]) =>
      quotasOf(this.policy, name).join(" ") === quotas.join(" ")
        ? samples
            .filter((sample) => sample !== plain)
            .map((sample) => this.request(caller, sample, name, sample.cost))
        : [],
    );
  }

  /** Returns a call of the status. */
  status(caller: AuditCaller): Shot {
    const route = this.policy.routes.find(({ operation }) => operation === "status");
    if (route === undefined) throw new Unexercised("no route shows the status");
    const [method = "GET"] = route.methods ?? [];
    return this.request(caller, { method, path: route.path, headers: {} }, "status", null);
  }

  /** Returns a request of a caller, made of a sample. */
  request(caller: AuditCaller, sample: RequestSample, operation: string, cost: number | null): Shot {
    const own = this.ownOf(caller);
    const filled = (text: string, write: (value: string) => string): string =>
      text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = own[name];
        return value === undefined ? whole : write(value);
      });
    const fill = (text: string): string => filled(text, (value) => JSON.stringify(value).slice(1, -1));
    const { method, body } = sample;
    const path = filled(sample.path, encodeURIComponent);
    const text = body === undefined ? null : fill(typeof body === "string" ? body : JSON.stringify(body));
    const found = this.route({ method, path, body: text });
    const added = Object.entries(found?.attributes ?? {}).filter(([name]) => own[name] === undefined);
    const attributes = { ...Object.fromEntries(added), ...own };
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

  /** Returns the policy's route for a request. */
  route({ method, path, body }: Pick<Shot, "method" | "path" | "body">): ReturnType<typeof routeOf> {
    const host = this.policy.routes.find((route) => route.host !== undefined)?.host ?? "";
    return routeOf(this.policy, {
      method,
      target: path,
      host,
      graphql: body === null ? null : graphqlKind(body),
    });
  }

  /**
   * Returns a request in another shape, as its line tells it: it may be charged or not if no route takes it.
   * @throws Unexercised if the policy takes it for another operation
   */
  routed(shot: Shot): Shot {
    const found = this.route(shot);
    if (found === null) return { ...shot, isVague: true };
    const { operation } = found.route;
    if (operation !== shot.operation) throw new Unexercised(`the policy has it as ${operation}`);
    return shot;
  }

  /** Returns the sample of an operation whose calls can be made ever dearer; `null` if they cannot. */
  dearest(operation: string): CallSample | null {
    const sample = this.policy.operations[operation]?.samples[0];
    return sample?.dearer === undefined ? null : sample;
  }

  /** Returns the most calls that use up a caller's quota; `null` if they are too many. */
  callsToEmpty(subject: Subject, caller: AuditCaller): number | null {
    const each = subject.quotas.flatMap((name) => {
      const cost = this.policy.operations[subject.operation]?.uses[name];
      return typeof cost === "number" && cost > 0 ? [Math.ceil(this.limit(name, caller) / cost)] : [];
    });
    const least = Math.min(...each);
    return least <= emptyingMost ? least : null;
  }

  /** Returns the quota that a caller's plain calls use up first; `null` if answers do not show its count. */
  narrow({ operation, quotas }: Subject, caller: AuditCaller): string | null {
    let found: { readonly name: string; readonly calls: number } | null = null;
    for (const name of quotas) {
      const cost = this.policy.operations[operation]?.uses[name];
      if (typeof cost !== "number" || cost === 0) continue;
      const calls = this.limit(name, caller) / cost;
      if (found === null || calls < found.calls) found = { name, calls };
    }
    if (found === null || this.windowMs(found.name, caller) === 0 || !this.shows(found.name)) return null;
    return this.quota(found.name, caller).charge.when === "admission" ? found.name : null;
  }
}

/** Returns the quotas that an operation charges, in the policy's order. */
const quotasOf = ({ quotas, operations }: Policy, operation: string): string[] =>
  Object.keys(quotas).filter((name) => (operations[operation]?.uses[name] ?? 0) !== 0);

/**
 * Returns one callable operation for each set of quotas. Operations that share a quota get different callers if no two
 * callers share a count; otherwise each begins with another caller.
 */
function subjectsOf(policy: Policy, callers: AuditCallers): Subject[] {
  const found = new Map<string, Omit<Subject, "callers">>();
  for (const [operation, { samples }] of Object.entries(policy.operations)) {
    const [first, ...others] = quotasOf(policy, operation);
    if (samples.length === 0 || first === undefined) continue;
    const quotas = [first, ...others] as const;
    const key = quotas.join(" ");
    if (!found.has(key)) found.set(key, { operation, quotas });
  }
  const all = [...found.values()];
  return all.map((subject, turn) => {
    const group = all.filter(({ quotas }) => quotas.some((name) => subject.quotas.includes(name)));
    const share = Math.floor(callers.length / all.length);
    const isOwn = group.every(({ quotas }) => quotas.every((name) => isApart(policy, name, callers)));
    if (group.length > 1 && isOwn && share >= 2)
      return { ...subject, callers: slice(callers, turn * share, (turn + 1) * share) };
    const at = turn % callers.length;
    return { ...subject, callers: [...slice(callers, at), ...callers.slice(0, at)] };
  });
}

/** Returns a part of callers that is not empty. */
export const slice = (callers: AuditCallers, from: number, to?: number): AuditCallers =>
  callers.slice(from, to) as unknown as AuditCallers;

/** Tells whether each caller has its own count in a quota. */
function isApart({ quotas }: Policy, name: string, callers: readonly AuditCaller[]): boolean {
  const key = quotas[name]?.key ?? [];
  const keys = new Set(
    callers.map(({ attributes }) => JSON.stringify(key.map((part) => attributes[part] ?? null))),
  );
  return keys.size === callers.length;
}
