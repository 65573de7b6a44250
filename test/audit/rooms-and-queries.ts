// A server of requests and queries that is right, or wrong in one way, and what each experiment says of it.
import { experiments } from "../../src/audit/experiments.ts";
import { type AuditFinding, type Shot, Unexercised } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { Played, type PlayedOptions, type Sent, type Served } from "./played.ts";

export const windowMs = 10_000;
export const limits = { own: 40, shared: 60, points: 60 };
export type Quota = keyof typeof limits;

const algorithm = (limit: number) => ({
  ...{ kind: "fixed-window", limit, windowSeconds: windowMs / 1000, anchor: "first-request" },
});
/** Requests of a user and of its organization, all or nothing; points of queries, which say what they cost. */
export const policyInput = {
  version: 2,
  name: "pinned",
  quotas: {
    own: { algorithm: algorithm(limits.own), key: ["user"] },
    shared: { algorithm: algorithm(limits.shared), key: ["organization"] },
    points: { algorithm: algorithm(limits.points), key: ["user"], unit: "points" },
  },
  operations: {
    call: {
      uses: { own: 1, shared: 1 },
      relation: "all-or-nothing",
      samples: [{ path: "/rooms/blue" }, { path: "/rooms/green" }],
    },
    query: {
      uses: { points: "declared" },
      samples: [
        {
          ...{ method: "POST", path: "/query", headers: { "content-type": "application/json" } },
          ...{ body: { first: 4 }, cost: 4, dearer: { pointer: "/first", costEach: 1 } },
        },
      ],
    },
  },
  routes: [
    { methods: ["GET", "HEAD"], path: "/limits", operation: "status" },
    { path: "/query", operation: "query" },
    { path: "/rooms/**", operation: "call" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
  provoke: {
    "404": { method: "GET", path: "/rooms/none", headers: {} },
    "405": { method: "DELETE", path: "/rooms/blue", headers: {} },
  },
  wire: {
    revision: "2026",
    readings: (["own", "shared", "points"] as const).map((quota) => ({
      quotas: [quota],
      headers: {
        [`X-${quota}-Limit`]: "{limit}",
        [`X-${quota}-Left`]: "{remaining}",
        [`X-${quota}-Reset`]: "{reset}",
      },
      reset: { form: "delta-s", means: "window-end", round: "ceil" },
      on: ["admitted", "refused", "status"],
    })),
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: (["own", "shared", "points"] as const).map((by) => ({
      ...{ outcome: "refused", by, status: [429], body: { "/by": by } },
    })),
  },
};
const policy = parsePolicy(policyInput);

interface Refused {
  readonly status: number;
  readonly by: Quota;
  readonly headers: Readonly<Record<string, string>>;
}

/** Differences of a server from a right one. */
export interface Wrong {
  /** Units above its limit that a window admits. */
  readonly more?: number;
  readonly key?: (shot: Shot) => string;
  readonly cost?: (units: number, shot: Shot, made: number) => number;
  /** Units that a refused call is charged. */
  readonly refusedCost?: number;
  /** The end of a window, by each call in it. */
  readonly ends?: (endMs: number, nowMs: number, isRefused: boolean) => number;
  /** The count that is kept from a call on. */
  readonly keeps?: (used: number, leftMs: number) => number;
  /** Errors of what is shown: in units left, and in ms to the end. */
  readonly shows?: number;
  readonly showsMs?: number;
  readonly refused?: (right: Refused) => Refused;
  readonly statusCost?: number;
  /** One quota charges what another refuses. */
  readonly chargesEach?: boolean;
}

const owners: Readonly<Record<Quota, (shot: Shot) => string>> = {
  own: ({ caller }) => caller?.name ?? "nobody",
  shared: ({ caller }) => String(caller?.attributes["organization"]),
  points: ({ caller }) => caller?.name ?? "nobody",
};

export function server({
  more = 0,
  key = () => "",
  cost = (units) => units,
  refusedCost = 0,
  ends = (endMs) => endMs,
  keeps = (used) => used,
  shows = 0,
  showsMs = 0,
  refused = (right) => right,
  statusCost = 0,
  chargesEach = false,
}: Wrong = {}): Served {
  const windows = new Map<string, { endMs: number; used: number }>();
  let made = 0;
  return (shot, nowMs): Sent => {
    if (shot.caller === null) return { status: 401 };
    const path = decodeURIComponent(shot.path)
      .toLowerCase()
      .replace(/[?].*$|\/$/g, "");
    const isStatus = path === "/limits";
    const quotas: Quota[] = isStatus
      ? ["own", "shared", "points"]
      : path === "/query"
        ? ["points"]
        : ["own", "shared"];
    const declared = path === "/query" ? declaredBy(shot) : 1;
    const units = isStatus ? statusCost : cost(declared, shot, ++made);
    const own = quotas.map((quota) => {
      const name = `${quota} ${owners[quota](shot)} ${key(shot)}`;
      const known = windows.get(name);
      const window =
        known === undefined || known.endMs <= nowMs ? { endMs: nowMs + windowMs, used: 0 } : known;
      if (!isStatus) windows.set(name, window);
      window.used = keeps(window.used, window.endMs - nowMs);
      return { quota, window, lacks: !isStatus && window.used + units > limits[quota] + more };
    });
    const by = own.find(({ lacks }) => lacks) ?? null;
    for (const { window, lacks } of own) {
      if (by === null || (chargesEach && !lacks)) window.used += units;
      else if (lacks) window.used += refusedCost;
      window.endMs = ends(window.endMs, nowMs, by !== null);
    }
    const headers = Object.fromEntries(
      own.flatMap(({ quota, window: { used, endMs } }) => [
        [`x-${quota}-limit`, String(limits[quota])],
        [`x-${quota}-left`, String(Math.max(0, limits[quota] - used + shows))],
        [`x-${quota}-reset`, String(Math.max(0, Math.ceil((endMs - nowMs + showsMs) / 1000)))],
      ]),
    );
    if (by === null)
      return { status: path === "/rooms/none" ? 404 : shot.method === "DELETE" ? 405 : 200, headers };
    const wait = String(Math.ceil((by.window.endMs - nowMs) / 1000));
    const told = refused({ status: 429, by: by.quota, headers: { ...headers, "retry-after": wait } });
    return { status: told.status, headers: told.headers, body: JSON.stringify({ by: told.by }) };
  };
}

/** Units that a request for rooms, a query of GraphQL or a batch of them asks for. */
function declaredBy({ body }: Shot): number {
  type Asked = { readonly first?: number; readonly query?: string; readonly variables?: { first?: number } };
  const asked = [JSON.parse(body ?? "{}") as Asked | Asked[]].flat();
  return asked.reduce(
    (sum, { first, query, variables }) => sum + Number(variables?.first ?? first ?? (query && 1)),
    0,
  );
}

interface LinesOptions extends Pick<PlayedOptions, "tripMs" | "lateMs" | "untilMs"> {
  readonly users?: number;
}

/** Returns what an experiment says of a server, with the calls and the time that it took. */
function lineOf(name: string, operation: string, served: Served, of: Policy, more: LinesOptions): string {
  const { users = 3, ...timed } = more;
  // The fourth user and those after it are of another organization.
  const attributesOf = (user: string) => ({ organization: user > "user-2" ? "globex" : "acme", user });
  const played = new Played(served, users, "first-request", { policy: of, attributesOf, ...timed });
  const subject = played.lab.subjects.find((each) => each.operation === operation);
  const experiment = experiments.find((each) => each.name === name);
  if (subject === undefined || experiment === undefined) throw new RangeError(name);
  const lacks = experiment.lacks(played.lab, subject);
  if (lacks !== null) return `- ${operation} ${name}: lacks ${lacks}`;
  const said = saidBy(() => played.play(experiment.run(played.lab, subject)));
  const judged = experiment.judge?.(played.lab, played.answers);
  const endMs = played.answers.at(-1)?.call.received ?? 0;
  const later = judged === undefined ? "" : `; in the end ${words(judged)}`;
  return `- ${operation} ${name}: ${played.answers.length} calls, ${endMs} ms: ${said}${later}`;
}

function saidBy(run: () => AuditFinding): string {
  try {
    return words(run());
  } catch (error) {
    if (!(error instanceof Unexercised)) throw error;
    return `not exercised${error.again ? " yet" : ""}: ${error.message}`;
  }
}

function words(finding: AuditFinding): string {
  if (finding.state === "kept") return finding.note === undefined ? "kept" : `kept: ${finding.note}`;
  if (finding.state === "not exercised") return `not exercised: ${finding.why}`;
  const { law, expected, got, answers } = finding;
  const lines = answers.map(({ line }) => line).join(" ");
  return `broken${law === undefined ? "" : ` (${law})`}: ${expected}: ${got}: lines ${lines}`;
}

/** Returns what experiments say, each of a server of its own, that is to keep a policy. */
export const linesOf = (
  make: () => Served,
  names = experiments.map(({ name }) => name),
  of = policy,
  more: LinesOptions = {},
): string[] =>
  Object.keys(of.operations).flatMap((operation) =>
    names.map((name) => lineOf(name, operation, make(), of, more)),
  );

/** Returns what experiments say of servers by title: of the right one whole, of the others what is said otherwise. */
export function textOf<Kept>(
  servers: Readonly<Record<string, Kept>>,
  serve: (kept: Kept) => Served,
  names: readonly string[],
  of: Policy,
): string {
  const linesBy = (kept: Kept): string[] => linesOf(() => serve(kept), [...names], of);
  const right = new Set(linesBy(servers["right"] as Kept));
  const texts = Object.entries(servers).map(([title, kept]) => {
    const lines = linesBy(kept);
    const shown = title === "right" ? lines : lines.filter((line) => !right.has(line));
    return [`## ${title}`, ...shown].join("\n");
  });
  return `${texts.join("\n\n")}\n`;
}
