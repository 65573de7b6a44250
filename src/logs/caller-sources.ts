// Sources of callers' attributes in a log: a column of the attribute's name, the columns of users and organizations, or
// options.
import { isShared } from "../policy/attributes.ts";
import type { AttributeSource, Policy } from "../policy/policy.ts";
import { attributesOfRoute } from "../policy/routes.ts";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { roles } from "./cells.ts";
import { plainName } from "./column-guesses.ts";
import type { LogMapping } from "./mapping.ts";
import type { LogSample } from "./sniff.ts";

/** Options about callers, by attribute. */
export interface CallerFlags {
  /** Columns that hold an attribute. */
  readonly columns: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string>>;
  /** True if an option names the organization of rows that name none. */
  readonly hasOrganization: boolean;
}

/** Source of an attribute: a value, a field of the row, or the row's user or organization. */
export type CallerSource =
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "field"; readonly role: number }
  | { readonly kind: "user" }
  | { readonly kind: "organization" };

/** Place of an attribute in a request. */
type SentSource = Exclude<AttributeSource, { readonly text: string }>;

/** A field without a role. */
interface FurtherField {
  /** Index among the sample's columns; -1 if the first rows lack it. */
  readonly index: number;
  readonly path: readonly string[];
  readonly role: number;
  /** Place in the request, for a HAR. */
  readonly source?: SentSource | undefined;
}

export interface CallerMapping {
  /** Sources by attribute, without those that routes fill by their paths. */
  readonly sources: ReadonlyMap<string, CallerSource>;
  readonly further: readonly FurtherField[];
  /** Header that names the caller. */
  readonly authHeader: string;
}

/**
 * Finds the source of each attribute in a log.
 * @param file name of the log, for errors
 * @throws SpillwayError `LOG_INVALID` if a quota's key cannot be filled; `USAGE` if an option names no attribute of
 *   the policy, or no column
 */
export function callerMapping(
  policy: Policy,
  { sample, mapping }: { readonly sample: LogSample; readonly mapping: LogMapping },
  flags: CallerFlags,
  file: string,
): CallerMapping {
  const needed = neededOf(policy, flags);
  const authHeader = policy.auth.header;
  // The calls of a trace name their callers.
  if (sample.format === "trace") {
    const values = Object.entries(flags.values).map(
      ([name, text]) => [name, { kind: "value", text }] as const,
    );
    return { sources: new Map(values), further: [], authHeader };
  }
  const found = new Found(sample, mapping, file);
  const open: string[] = [];
  const sources = new Map<string, CallerSource>();
  for (const attribute of needed) {
    const source = found.named(attribute, flags) ?? found.sent(policy, attribute);
    if (source !== null) sources.set(attribute, source);
    else if (policy.auth.attributes.includes(attribute)) open.push(attribute);
    else if (!isInPaths(policy, attribute)) throw missing(policy, attribute, file);
  }
  for (const [attribute, source] of whoCalls(open, mapping, sample, flags)) sources.set(attribute, source);
  const without = open.find((attribute) => !sources.has(attribute));
  if (without !== undefined) throw missing(policy, without, file);
  return { sources, further: found.further, authHeader };
}

/** @throws SpillwayError `USAGE` if an option names an attribute that no quota is kept by */
function neededOf(policy: Policy, { columns, values }: CallerFlags): string[] {
  const { quotas, overrides } = policy;
  const keys = Object.values(quotas).flatMap(({ key }) => key);
  const needed = [...new Set([...keys, ...overrides.flatMap(({ match }) => Object.keys(match))])];
  for (const [option, names] of [
    ["--caller-column", Object.keys(columns)],
    ["--caller", Object.keys(values)],
  ] as const) {
    const strange = names.find((name) => !needed.includes(name));
    if (strange === undefined) continue;
    const near = closest(strange, needed);
    throw new SpillwayError("USAGE", `${option} names no attribute of this policy`, {
      problem: { path: option, got: quote(strange), allowed: needed.join(", ") || "none: all callers share" },
      hint: near === null ? undefined : `did you mean ${near}?`,
    });
  }
  return needed;
}

/** Tells whether every route that needs an attribute fills it by its path. */
const isInPaths = ({ routes }: Policy, attribute: string): boolean =>
  routes.every(
    (route) => !attributesOfRoute(route).includes(attribute) || route.attributes[attribute] === undefined,
  ) && routes.some((route) => attributesOfRoute(route).includes(attribute));

class Found {
  readonly further: FurtherField[] = [];
  readonly #sample: LogSample;
  readonly #mapping: LogMapping;
  readonly #file: string;

  constructor(sample: LogSample, mapping: LogMapping, file: string) {
    this.#sample = sample;
    this.#mapping = mapping;
    this.#file = file;
  }

  /** Returns the source that an option names; otherwise the column with the attribute's name. */
  named(attribute: string, { columns, values }: CallerFlags): CallerSource | null {
    const text = values[attribute];
    if (text !== undefined) return { kind: "value", text };
    const column = columns[attribute];
    if (column !== undefined) return this.#column(attribute, column);
    return this.#alike(attribute);
  }

  /** Returns the source of a route's header or body value: a column of its name, or the request itself in a HAR. */
  sent({ routes }: Policy, attribute: string): CallerSource | null {
    const source = routes.map((route) => route.attributes[attribute]).find((each) => each !== undefined);
    if (source === undefined) return null;
    // A fixed text of another route of the attribute is the best that is known.
    if ("text" in source) return { kind: "value", text: source.text };
    if (this.#sample.format === "har") return this.#further(-1, [], source);
    const name = "header" in source ? source.header : (source.pointer.split("/").at(-1) ?? "");
    return this.#alike(name);
  }

  #alike(name: string): CallerSource | null {
    const { columns } = this.#sample;
    const index = columns.findIndex(
      (column) =>
        plainName(column.name) === plainName(name) || plainName(column.path.at(-1) ?? "") === plainName(name),
    );
    return index < 0 ? null : this.#field(index);
  }

  #column(attribute: string, name: string): CallerSource {
    const { columns, format } = this.#sample;
    const index = columns.findIndex((column) => column.name === name);
    if (index >= 0) return this.#field(index);
    const names = columns.map((column) => column.name);
    const near = closest(name, names);
    // A member may be missing in the first rows; a column may not.
    if (format === "ndjson" && near === null) return this.#further(-1, name.split("."));
    throw new SpillwayError("USAGE", "this log has no such column", {
      problem: {
        path: `--caller-column ${attribute}`,
        got: quote(name),
        allowed: `${names.join(", ") || "none: it has no columns"} (${this.#file})`,
      },
      hint: near === null ? undefined : `did you mean --caller-column ${attribute}=${near}?`,
    });
  }

  /** Returns the field of a column; its role's field if it has a role. */
  #field(index: number): CallerSource {
    const use = this.#mapping.uses.find((each) => each.index === index);
    if (use?.role === "user") return { kind: "user" };
    if (use !== undefined) return { kind: "field", role: roles.indexOf(use.role) };
    const known = this.further.find((each) => each.index === index);
    if (known !== undefined) return { kind: "field", role: known.role };
    return this.#further(index, this.#sample.columns[index]?.path ?? []);
  }

  #further(index: number, path: readonly string[], source?: SentSource): CallerSource {
    const role = roles.length + this.further.length;
    this.further.push({ index, path, role, source });
    return { kind: "field", role };
  }
}

/** Returns the sources of attributes of tokens: organizations for shared ones, users for the one other. */
function whoCalls(
  open: readonly string[],
  { uses, organization }: LogMapping,
  { format }: LogSample,
  { hasOrganization }: CallerFlags,
): (readonly [string, CallerSource])[] {
  const has = (role: string): boolean => uses.some((use) => use.role === role);
  const knowsOrganization = hasOrganization || organization !== null || has("organization");
  const knowsUser = format === "har" || has("user") || has("address");
  const user = { kind: "user" } as const;
  const shared = open.filter((attribute) => isShared(attribute));
  const own = open.filter((attribute) => !isShared(attribute));
  if (open.length === 1 && shared.length === 1 && !knowsOrganization && knowsUser)
    return shared.map((attribute) => [attribute, user] as const);
  return [
    ...(knowsOrganization ? shared.map((attribute) => [attribute, { kind: "organization" }] as const) : []),
    ...(knowsUser && own.length === 1 ? own.map((attribute) => [attribute, user] as const) : []),
  ];
}

function missing(policy: Policy, attribute: string, file: string): SpillwayError {
  const [quota = ""] = Object.keys(policy.quotas).filter((name) =>
    policy.quotas[name]?.key.includes(attribute),
  );
  return new SpillwayError("LOG_INVALID", "this log does not tell whose calls share a count", {
    problem: {
      path: `quotas.${quota}.key`,
      got: `no ${attribute} in ${file}`,
      allowed: `a column that tells the ${attribute}, or one ${attribute} for all rows`,
    },
    hint: `--caller-column ${attribute}=COLUMN names the column, --caller ${attribute}=NAME takes all rows for one`,
  });
}
