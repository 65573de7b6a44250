// A log's requests under a policy: the operation of a method and path, and the meaning of statuses. A log shows few
// headers and no bodies. So GraphQL is taken for queries, and a status tells the outcome as well as it can.
import { routeOf } from "../policy/match.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireOutcome, WireOutcomeKind } from "../policy/wire-data.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { REFUSED } from "../wire/outcome.ts";
import { OTHER_CALL, operationsMost, STATUS_CALL } from "./rows.ts";
import { looksSecret } from "./secrets.ts";

/** A request's kind under the policy. */
export interface RoutedKind {
  /** Kind, as in `LogBatch.kind`. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string>>;
}

const pathsMost = 5;
const pathLength = 80;
/** Number of requests that are remembered. */
const known = 4096;

/** Counts the rows that no route matches. */
export class Unrouted {
  routed = 0;
  unrouted = 0;
  readonly paths: string[] = [];

  add(path: string): void {
    this.unrouted += 1;
    if (this.paths.length < pathsMost && !this.paths.includes(path)) this.paths.push(path);
  }

  /** @throws SpillwayError `LOG_INVALID` if rows were read, and none of them has a route */
  requireSome(policy: Policy): void {
    if (this.routed > 0 || this.unrouted === 0) return;
    throw new SpillwayError(
      "LOG_INVALID",
      `no route of this policy matches any of ${counted(this.unrouted, "row")}`,
      {
        problem: {
          path: "routes",
          got: this.paths.join(", "),
          allowed: `a request of ${[...new Set(policy.routes.map(({ path }) => path))].slice(0, 8).join(", ")}`,
        },
        hint: "--path-column and --method-column name the columns of requests, --scope-column one of operations",
      },
    );
  }
}

/** Finds the operations of requests. */
export class PolicyRouting {
  readonly #policy: Policy;
  readonly #unrouted: Unrouted;
  readonly #places: ReadonlyMap<string, number>;
  readonly #refused: ReadonlySet<number>;
  readonly #exempt: ReadonlySet<number>;
  readonly #known = new Map<string, RoutedKind | string>();
  /** Host that requests are taken to have: logs do not show it, and routes may require it. */
  readonly #host: string;

  /** @throws SpillwayError `POLICY_UNSUPPORTED` if there are more operations than rows can tell apart */
  constructor(policy: Policy, unrouted: Unrouted) {
    this.#policy = policy;
    this.#unrouted = unrouted;
    const names = Object.keys(policy.operations);
    if (names.length > operationsMost)
      throw new SpillwayError("POLICY_UNSUPPORTED", "this policy has too many operations for logs", {
        problem: { path: "operations", got: String(names.length), allowed: `at most ${operationsMost}` },
      });
    this.#places = new Map([
      ...names.map((name, place) => [name, place] as const),
      ["status", STATUS_CALL],
      ["other", OTHER_CALL],
    ]);
    this.#host = policy.routes.find(({ host }) => host !== undefined)?.host ?? "";
    const { outcomes } = wireOf(policy);
    const statuses = (kind: WireOutcomeKind, isMeant: (row: WireOutcome) => boolean): number[] =>
      outcomes.filter((row) => row.outcome === kind && isMeant(row)).flatMap(({ status = [] }) => status);
    this.#refused = new Set([REFUSED, ...statuses("refused", () => true).filter((status) => status >= 400)]);
    this.#exempt = new Set(statuses("exempt", isByStatus));
  }

  /** Returns the kind of a named operation. @returns `null` if the policy has none of this name */
  named(operation: string): number | null {
    return this.#places.get(operation) ?? null;
  }

  /** Returns the operation of a request, by its route. */
  route(method: string, target: string): RoutedKind {
    const key = `${method} ${target.split(/[?#]/)[0]}`;
    const found = this.#known.get(key) ?? this.#find(method, target);
    if (this.#known.size >= known) this.#known.clear();
    this.#known.set(key, found);
    if (typeof found === "string") {
      this.#unrouted.add(found);
      return unroutedKind;
    }
    this.#unrouted.routed += 1;
    return found;
  }

  /** Counts a row that has no route, by words for it. */
  unrouted(words: string): RoutedKind {
    this.#unrouted.add(words);
    return unroutedKind;
  }

  /** Counts a row whose operation is named. */
  countNamed(): void {
    this.#unrouted.routed += 1;
  }

  /** Returns the operation of a request, or the template of a path that no route matches. */
  #find(method: string, target: string): RoutedKind | string {
    const host = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? this.#host;
    const isPost = method === "" || method === "POST";
    const request = { method: method || "GET", target, host, graphql: isPost ? ("query" as const) : null };
    // Without a method, any method fits.
    const methods = method === "" ? ["GET", "POST", "PUT", "DELETE"] : [method];
    for (const each of methods) {
      const matched = routeOf(this.#policy, { ...request, method: each });
      if (matched === null) continue;
      const { route, attributes } = matched;
      const texts = Object.entries(route.attributes).flatMap(([name, source]) =>
        "text" in source ? [[name, source.text]] : [],
      );
      const kind = this.#places.get(route.operation) ?? OTHER_CALL;
      return { kind, attributes: { ...Object.fromEntries(texts), ...attributes } };
    }
    return templateOf(target);
  }

  /** Tells whether an answer was charged nowhere, as far as its status tells. */
  isExempt(status: number): boolean {
    // A 401 does not tell whose call it was.
    return status === 401 || this.#exempt.has(status) || (status === 403 && !this.#refused.has(status));
  }

  /** Returns the status for rows, in which every refusal is 429. */
  outcome(status: number): number {
    return this.#refused.has(status) ? REFUSED : status;
  }
}

const unroutedKind: RoutedKind = { kind: OTHER_CALL, attributes: {} };
/** Tells whether a rule for answers depends on the status alone. */
const isByStatus = ({ headers, lacks, body }: WireOutcome): boolean =>
  [headers, lacks, body].every((asked) => Object.keys(asked).length === 0);

/** Returns a path with `*` in place of segments that may name a person or a thing. */
function templateOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0] ?? "";
  const segments = path.split("/").map((segment) => (isName(segment) ? segment : "*"));
  return segments.join("/").slice(0, pathLength);
}

/** Tells whether a segment is a word, which may be shown: numbers, long or mixed segments may be ids or tokens. */
const isName = (segment: string): boolean =>
  segment === "" || (/^(?:v\d{1,3}|[A-Za-z][A-Za-z_.-]{0,29})$/.test(segment) && !looksSecret(segment));
