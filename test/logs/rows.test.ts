// Rows made of fields: by the API's rules, and by a policy, each against a plain second reading of the same texts.
import fc from "fast-check";
import { expect } from "vitest";
import type { CallerSource } from "../../src/logs/caller-sources.ts";
import { Callers } from "../../src/logs/callers.ts";
import { Cells, type ColumnRole, roles } from "../../src/logs/cells.ts";
import { OrderedRows } from "../../src/logs/ordered-rows.ts";
import { PathFilter } from "../../src/logs/path-filter.ts";
import { LogCallers } from "../../src/logs/policy-callers.ts";
import { PolicyRowReader } from "../../src/logs/policy-reader.ts";
import { PolicyRouting, Unrouted } from "../../src/logs/policy-routing.ts";
import { RowReader, type RowSettings } from "../../src/logs/row-reader.ts";
import { OTHER_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { property } from "../support/property.ts";
import { digest } from "./reading.ts";

/** Texts of a row's fields; the field behind the roles is the only further one. */
type Fields = Readonly<Partial<Record<ColumnRole | "further", string>>>;

const cellsOf = (fields: Fields): Cells => {
  const cells = new Cells(1);
  cells.write([...roles, "further" as const].map((role) => fields[role]));
  return cells;
};

const usual: RowSettings = {
  userIsToken: false,
  durationUnitMs: 1,
  timeIs: "start",
  dates: "day-first",
  clockMs: 1,
  organization: null,
  graphqlCost: null,
  zone: 0,
  hasPaths: true,
  paths: null,
};
const floor = 1_767_323_045_000;
const isNone = (text: string): boolean => text === "" || text === "-";
const isNamed = (text: string): boolean => !isNone(text) && text !== '"';

type Made = readonly [
  atMs: number,
  durationMs: number,
  caller: string,
  kind: number,
  cost: number,
  actual: number,
  status: number,
];

/** Time, duration and status of a row; or why it has none. */
function timed(
  row: Required<Fields>,
  settings: RowSettings,
): string | { at: number; took: number; status: number } {
  const times: Record<string, number> = { "1767323045": floor, "1767323044.999": floor - 1, "1970-01-01": 0 };
  let at = times[row.time] ?? (/^\d{13}$/.test(row.time) ? Number(row.time) : Number.NaN);
  if (row.time === "") return "it has no time";
  if (Number.isNaN(at)) return "its time cannot be read";
  let took = Number.NaN;
  if (!isNone(row.duration)) {
    took = Number((Number(row.duration) * settings.durationUnitMs).toFixed(6));
    if (Number.isNaN(took)) return "its duration is no number";
    if (settings.timeIs === "end") at -= Math.round(took);
  }
  if (at < 0) return "it began before 1970";
  if (at < floor) return "time goes back too far: later rows were done with already";
  if (row.status === "ok") return "its status is none of HTTP's";
  return { at, took, status: isNone(row.status) ? 0 : Number(row.status) };
}

/** The only organization's path, without host, query and slashes at its end. */
const plainPath = (target: string): string =>
  target
    .replace(/^https:\/\/[^/]*/, "")
    .replace(/[?#].*$/, "")
    .replace(/(?<=.)\/+$/, "");

const whole = (text: string): number => (/^\d+(\.0*)?$/.test(text) ? Math.floor(Number(text)) : -1);

/** Reads rows of the API by its rules. */
class Plain {
  readonly counts = { kept: 0, leftOut: 0 };
  readonly #last = new Map<string, string>();
  readonly #settings: RowSettings;

  constructor(settings: RowSettings) {
    this.#settings = settings;
  }

  read(row: Required<Fields>): Made | string | null {
    const settings = this.#settings;
    const when = timed(row, settings);
    if (typeof when === "string") return when;
    const scope = isNamed(row.scope) ? row.scope.toLowerCase() : null;
    if (scope !== null && scope !== "rest" && scope !== "graphql")
      return "its scope is neither rest nor graphql";
    const line = row.method === "" ? /^([A-Z]+) (\S*)(?: \S+)?$/.exec(row.path) : null;
    const method = (line?.[1] ?? row.method).toUpperCase();
    const target = line?.[2] ?? row.path;
    const path = plainPath(target);
    if (settings.paths !== null) {
      const isKept = target !== "" && path.startsWith("/v2/");
      this.counts[isKept ? "kept" : "leftOut"] += 1;
      if (!isKept) return null;
    }
    const kind = this.#kind(row, scope, method, target === "" ? null : path, when.status);
    const isQuery = kind === 1;
    const cost = isQuery ? (isNone(row.cost) ? settings.graphqlCost : whole(row.cost)) : kind === 0 ? 1 : 0;
    if (cost === null) return "a GraphQL call whose cost is not known";
    if (cost === -1) return "its cost is no whole number up to 2147483647";
    const actual = isQuery && !isNone(row.actual) ? whole(row.actual) : null;
    if (actual === -1) return "its actual cost is no whole number up to 2147483647";
    const caller = this.#caller(row, target === "" ? "" : path);
    return [when.at, when.took, caller, kind, cost, actual ?? -1, when.status];
  }

  #kind(
    row: Required<Fields>,
    scope: string | null,
    method: string,
    path: string | null,
    status: number,
  ): number {
    const isStatus = /^\/v2\/organizations\/[^/]+\/rate_limit$/.test(path ?? "");
    if (isStatus && ["GET", "HEAD", "", "-"].includes(method)) return STATUS_CALL;
    if (status === 401 || status === 403 || (path === null && this.#settings.hasPaths)) return OTHER_CALL;
    const isPoints = path === null && row.cost !== "" && whole(row.cost) !== 1;
    if (scope === "rest" || (scope === null && path !== "/v1/graphql" && !isPoints)) return 0;
    const isCounted = ["POST", "", "-"].includes(method) && ![400, 405, 413, 415].includes(status);
    return isCounted ? 1 : OTHER_CALL;
  }

  #caller(row: Required<Fields>, path: string): string {
    const named = isNamed(row.user)
      ? row.user
      : isNamed(row.address)
        ? (row.address.split(",")[0] ?? "")
        : "everyone";
    const hidden = isNamed(row.user) && (this.#settings.userIsToken || named.startsWith("Bearer "));
    const user = hidden ? `token-${digest(named.replace(/^Bearer /, "")).slice(0, 6)}` : named;
    const [, inPath = ""] = /^\/v2\/organizations\/([^/]*)/.exec(path) ?? [];
    const told = isNamed(row.organization) ? row.organization : inPath;
    const organization = told || this.#last.get(user) || this.#settings.organization || "default";
    this.#last.set(user, organization);
    return `${organization}/${user}`;
  }
}

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);
const targets = [
  "/v2/organizations/acme/pipelines",
  "/v2/organizations/globex/pipelines/7?page=2",
  "/v2/organizations/acme",
  "/v2/organizations/",
  "/v2/organizations/acme/rate_limit",
  "/v2/organizations/globex/rate_limit/?a=/b",
  "/v2/organizations/acme/rate_limit/x",
  "https://api.example.com/v2/organizations/initech/x#y",
  "https://api.example.com/v1/graphql",
  "/v1/graphql",
  "/v1/graphql//",
  "/v1/graphqlx",
  "/other",
  "/",
];
const fields = fc.record({
  time: fc.oneof(
    { weight: 6, arbitrary: oneOf("1767323045", "1767323045001", "1767323046000") },
    oneOf("", "soon", "1767323044.999", "1970-01-01"),
  ),
  user: oneOf("", "-", '"', "ann", "bob", "x", "Bearer ann"),
  address: oneOf("", "-", "203.0.113.9", "203.0.113.9, 10.0.0.7", "203.0.113.9,10.0.0.7,10.0.0.8"),
  organization: oneOf("", "", "", "-", '"', "acme", "hooli"),
  method: oneOf("", "", "-", "GET", "get", "HEAD", "POST", "PUT"),
  path: fc.oneof(
    oneOf("", ...targets),
    fc
      .tuple(oneOf("GET", "POST", "PUT"), oneOf(...targets), oneOf(" HTTP/1.1", ""))
      .map(([method, target, version]) => `${method} ${target}${version}`),
  ),
  status: oneOf("", "-", "0", "200", "200", "401", "403", "429", "400", "405", "413", "415", "503", "ok"),
  cost: oneOf("", "-", "1", "7", "7.0", "1.5", "x"),
  actual: oneOf("", "-", "0", "3", "3.5", "y"),
  duration: oneOf("", "-", "0", "0.4", "1.001", "2.5", "1000", "slow"),
  scope: oneOf("", "", "-", "rest", "GraphQL", "soap"),
  select: fc.constant(""),
  selectToo: fc.constant(""),
  date: fc.constant(""),
  further: oneOf("", "-", "gold"),
});

/** Whole request lines stand where there is no method. */
const rows = fc.array(
  fields.map((row) => (row.method === "" ? row : { ...row, path: row.path.replace(/^\S+ (\S+).*/, "$1") })),
  { minLength: 1, maxLength: 12 },
);

const settled = fc.record({
  userIsToken: fc.boolean(),
  durationUnitMs: fc.constantFrom(1, 1000),
  timeIs: fc.constantFrom("start" as const, "end" as const),
  organization: fc.constantFrom(null, "umbrella"),
  graphqlCost: fc.constantFrom(null, 50),
  zone: fc.constant(0),
  hasPaths: fc.boolean(),
});

/** What a reader made of rows; a row's caller is told by its names. */
function madeBy(
  rows: readonly Fields[],
  add: (cells: Cells, into: OrderedRows) => string | null,
  callers: readonly { organization: string; user: string; attributes?: Readonly<Record<string, string>> }[],
): (Made | string | null)[] {
  return rows.map((row) => {
    let made: Made | null = null;
    const into = new OrderedRows(false, 1);
    into.floor = floor;
    into.add = (atMs, durationMs, caller, ...rest) => {
      const { organization, user, attributes } = callers[caller] ?? { organization: "none", user: "none" };
      const name = `${organization}/${user}${attributes === undefined ? "" : JSON.stringify(attributes)}`;
      made = [atMs, durationMs, name, ...rest] as unknown as Made;
    };
    const wrong = add(cellsOf(row), into);
    if (wrong !== null) expect(made).toBeNull();
    return wrong ?? made;
  });
}

property([settled, fc.boolean(), rows], { numRuns: 300 })(
  "rows are read as the API's rules say",
  (some, isFiltered, drawn) => {
    const settings = { ...usual, ...some, paths: isFiltered ? new PathFilter(["/v2/**"]) : null };
    const callers = new Callers(digest);
    const reader = new RowReader(settings, callers);
    const plain = new Plain(settings);
    const made = madeBy(drawn, (cells, into) => reader.add(cells, into), callers.list);
    expect(made).toEqual(drawn.map((row) => plain.read(row)));
    if (settings.paths !== null) expect(settings.paths).toMatchObject(plain.counts);
  },
);

const policy = parsePolicy({
  version: 2,
  name: "drawn",
  quotas: {
    calls: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] },
    points: {
      algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 60 },
      key: ["organization", "tier", "plan"],
    },
    things: {
      algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 60 },
      key: ["user", "thing"],
      charge: { when: "reserve-settle" },
    },
  },
  operations: {
    read: { uses: { calls: 1 } },
    ask: { uses: { points: "declared" } },
    bulk: { uses: { things: { atMost: 9 } } },
  },
  routes: [
    { path: "/things/{thing}", methods: ["GET"], operation: "read" },
    { path: "/things/{thing}/bulk", methods: ["POST"], operation: "bulk" },
    { path: "/ask", methods: ["POST"], operation: "ask" },
    { path: "/ask", methods: ["PUT"], operation: "ask", attributes: { tier: { text: "free" } } },
    { path: "/limits", operation: "status" },
    { path: "/health", operation: "other" },
  ],
  auth: {
    header: "Authorization",
    form: "Bearer {token}",
    attributes: ["organization", "user", "tier", "plan"],
  },
  wire: {
    revision: "2026",
    readings: [],
    outcomes: [
      { outcome: "refused", status: [402] },
      { outcome: "exempt", status: [404] },
    ],
  },
});
const sources = new Map<string, CallerSource>([
  ["user", { kind: "user" }],
  ["organization", { kind: "organization" }],
  ["plan", { kind: "value", text: "pro" }],
  ["tier", { kind: "field", role: roles.length }],
]);

type Routed = { readonly kind: number; readonly attributes: Readonly<Record<string, string>> };

function routeOf(method: string, target: string): Routed {
  const path = target.replace(/^https:\/\/[^/]*/, "").replace(/\?.*$/, "");
  const [, thing = ""] = /^\/things\/([^/]+)/.exec(path) ?? [];
  const may = (wanted: string): boolean => method === "" || method === wanted;
  if (path === `/things/${thing}` && may("GET")) return { kind: 0, attributes: {} };
  if (path === `/things/${thing}/bulk` && may("POST")) return { kind: 2, attributes: { thing } };
  if (path === "/ask" && may("POST")) return { kind: 1, attributes: {} };
  if (path === "/ask" && method === "PUT") return { kind: 1, attributes: { tier: "free" } };
  return { kind: path === "/limits" ? STATUS_CALL : OTHER_CALL, attributes: {} };
}

/** Reads a row by the policy. */
function readByPolicy(
  row: Required<Fields>,
  settings: RowSettings,
  wanted: (fits: boolean) => void,
): Made | string | null {
  const when = timed(row, settings);
  if (typeof when === "string") return when;
  const { at, took, status } = when;
  const text = isNamed(row.path) ? row.path : "";
  const line = isNamed(row.method) ? null : /^([A-Z]+) (\S+)/.exec(text);
  const method = isNamed(row.method) ? row.method.toUpperCase() : (line?.[1] ?? "");
  const target = line?.[2] ?? text;
  if (settings.paths !== null) {
    const fits = plainPath(target).startsWith("/things/");
    wanted(fits);
    if (!fits) return null;
  }
  const places: Record<string, number> = { read: 0, ask: 1, bulk: 2, status: STATUS_CALL, other: OTHER_CALL };
  if (isNamed(row.scope) && places[row.scope] === undefined) return "its operation is none of the policy's";
  const { kind, attributes } = isNamed(row.scope)
    ? { kind: places[row.scope] ?? -1, attributes: {} as Record<string, string> }
    : target === ""
      ? { kind: OTHER_CALL, attributes: {} as Record<string, string> }
      : routeOf(method, target);
  const address = isNamed(row.address) ? (row.address.split(",")[0] ?? "") : "everyone";
  const hides = settings.userIsToken || row.user.startsWith("Bearer ");
  const shown = hides ? `token-${digest(row.user.replace("Bearer ", "")).slice(0, 6)}` : row.user;
  const user = isNamed(row.user) ? shown : address;
  const organization = isNamed(row.organization) ? row.organization : (settings.organization ?? "");
  const caller = (names: object): string => `${organization || "default"}/${user}${JSON.stringify(names)}`;
  if (kind > 2) return [at, took, caller({}), kind, 0, -1, status];
  if ([401, 403, 404].includes(status)) return [at, took, caller({}), OTHER_CALL, 0, -1, status];
  const tier = isNamed(row.further) ? row.further : "";
  const known: Record<string, string> = { user, organization, tier, plan: "pro", ...attributes };
  const names: Record<string, string> = {};
  for (const name of [["user"], ["organization", "tier", "plan"], ["user", "thing"]][kind] ?? []) {
    if (!known[name]) return `its caller has no ${name}, which a quota is kept by`;
    names[name] = known[name];
  }
  const [said, actual] = [row.cost, row.actual].map((told) => (isNamed(told) ? whole(told) : null));
  if (said === -1 || actual === -1) return "its cost is no whole number up to 2147483647";
  const cost = kind === 1 ? (said ?? settings.graphqlCost) : 1;
  if (cost === null) return "a call of declared cost whose cost is not known";
  const used = kind === 0 ? -1 : (actual ?? (kind === 2 ? said : null) ?? -1);
  return [at, took, caller(names), kind, cost, used, [402, 429].includes(status) ? 429 : status];
}

const asks = [
  "/things/7",
  "/things/8/bulk",
  "/ask?x",
  "https://api.example.com/things/9",
  "/limits",
  "/health",
  "/none",
];
const policyRows = fc.array(
  fc
    .tuple(
      fields,
      oneOf("", "-", ...asks, "POST /ask HTTP/1.1", "PUT /ask", "GET /things/7 HTTP/1.1"),
      oneOf("", "", "", "-", "read", "ask", "bulk", "status", "other", "none"),
      oneOf("200", "200", "401", "402", "403", "404", "429", "503"),
    )
    .map(([row, path, scope, status]) => ({
      ...row,
      path: row.method === "" ? path : path.replace(/^\S+ (\S+).*/, "$1"),
      scope,
      status,
    })),
  { minLength: 1, maxLength: 12 },
);

property([settled, fc.boolean(), policyRows], { numRuns: 300 })(
  "rows are read as a policy says",
  (some, isFiltered, drawn) => {
    const settings = { ...usual, ...some, paths: isFiltered ? new PathFilter(["/things/**"]) : null };
    const callers = new LogCallers(new Callers(digest));
    const unrouted = new Unrouted();
    const routing = new PolicyRouting(policy, unrouted);
    const mapping = { sources, further: [], authHeader: "Authorization" };
    const reader = new PolicyRowReader(policy, settings, mapping, callers, routing);
    const made = madeBy(drawn, (cells, into) => reader.add(cells, into), callers.list);
    const counts = { kept: 0, leftOut: 0 };
    const plain = drawn.map((row) =>
      readByPolicy(row, settings, (fits) => (counts[fits ? "kept" : "leftOut"] += 1)),
    );
    expect(made).toEqual(plain);
    if (settings.paths !== null) expect(settings.paths).toMatchObject(counts);
  },
);
