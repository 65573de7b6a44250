// Reads a row's fields under a policy into columns: its operation by the policy's routes, its caller by the attributes
// of quotas' keys, and its cost.
import { isShared } from "../policy/attributes.ts";
import { type CostKind, costKindOf } from "../policy/declared.ts";
import type { Policy } from "../policy/policy.ts";
import type { CallerMapping, CallerSource } from "./caller-sources.ts";
import { EVERYONE, viewOf } from "./callers.ts";
import { ACTUAL, ADDRESS, type Cells, COST, METHOD, ORGANIZATION, PATH, SCOPE, USER } from "./cells.ts";
import { isNamed, whole } from "./field-values.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { LogCallers } from "./policy-callers.ts";
import type { PolicyRouting, RoutedKind } from "./policy-routing.ts";
import { RequestPath } from "./request-path.ts";
import { type RowSettings, TimedRows } from "./row-reader.ts";
import { costMost, OTHER_CALL, STATUS_CALL } from "./rows.ts";

/** Attributes that calls of an operation are charged by, and the kind of their cost. */
interface AskedOf {
  readonly attributes: readonly string[];
  readonly cost: CostKind;
}

const noKind = "its operation is none of the policy's";

export class PolicyRowReader extends TimedRows {
  readonly #callers: LogCallers;
  readonly #routing: PolicyRouting;
  readonly #sources: ReadonlyMap<string, CallerSource>;
  readonly #operations: readonly AskedOf[];
  readonly #path = new RequestPath();

  /** Attribute that tells who calls where rows name no user; `undefined` if there are none or several. */
  readonly #own: string | undefined;

  constructor(
    policy: Policy,
    settings: RowSettings,
    mapping: CallerMapping,
    callers: LogCallers,
    routing: PolicyRouting,
  ) {
    super(settings);
    this.#callers = callers;
    this.#routing = routing;
    this.#sources = mapping.sources;
    const [own, ...others] = policy.auth.attributes.filter((attribute) => !isShared(attribute));
    this.#own = others.length === 0 ? own : undefined;
    this.#operations = Object.keys(policy.operations).map((name) => ({
      attributes: attributesFor(policy, name),
      cost: costKindOf(policy, name),
    }));
  }

  /** Adds the row of these fields, unless its path is left out. @returns `null`, or why it cannot be read */
  add(cells: Cells, rows: OrderedRows): string | null {
    const wrong = this.readTimes(cells, rows);
    if (wrong !== null) return wrong;
    const { method, target } = this.#request(cells);
    if (!this.#isWanted(target)) return null;
    const found = this.#routed(cells, method, target);
    if (found === null) return noKind;
    const { status } = this;
    const isFree = found.kind !== STATUS_CALL && this.#routing.isExempt(status);
    const operation = isFree ? undefined : this.#operations[found.kind];
    if (operation === undefined) {
      const kind = isFree ? OTHER_CALL : found.kind;
      rows.add(this.atMs, this.durationMs, this.#caller(cells, [], {}) as number, kind, 0, -1, status);
      return null;
    }
    const caller = this.#caller(cells, operation.attributes, found.attributes);
    if (typeof caller === "string") return `its caller has no ${caller}, which a quota is kept by`;
    const said = this.#units(cells, COST);
    const actual = this.#units(cells, ACTUAL);
    if (said === null || actual === null) return `its cost is no whole number up to ${costMost}`;
    const cost = operation.cost === "declared" ? (said ?? this.settings.graphqlCost) : 1;
    if (cost === null) return "a call of declared cost whose cost is not known";
    // For a bounded cost, the log tells the final cost.
    const used = actual ?? (operation.cost === "bounded" ? said : undefined) ?? -1;
    rows.add(
      this.atMs,
      this.durationMs,
      caller,
      found.kind,
      cost,
      operation.cost === "fixed" ? -1 : used,
      this.#routing.outcome(status),
    );
    return null;
  }

  /** Returns method and target; without a method, those of a whole request line, `GET /path HTTP/1.1`. */
  #request(cells: Cells): { readonly method: string; readonly target: string } {
    const path = isNamed(cells, PATH) ? cells.text(PATH) : "";
    if (isNamed(cells, METHOD)) return { method: cells.text(METHOD).toUpperCase(), target: path };
    const [, method = "", target = path] = /^([A-Z]+) (\S+)(?: \S+)?$/.exec(path) ?? [];
    return { method, target };
  }

  /** Counts the row as kept or left out by its path. */
  #isWanted(target: string): boolean {
    const { paths } = this.settings;
    if (paths === null) return true;
    let fits = false;
    if (target !== "") {
      const view = viewOf(target);
      this.#path.read(view, 0, view.byteLength);
      fits = paths.fits(view, this.#path.pathFrom, this.#path.pathTo);
    }
    if (fits) paths.kept += 1;
    else paths.leftOut += 1;
    return fits;
  }

  /** Returns the operation by its column, else by its route. Without paths it is the policy's only one, if any. */
  #routed(cells: Cells, method: string, target: string): RoutedKind | null {
    const routing = this.#routing;
    const isToldBy = isNamed(cells, SCOPE) ? cells.text(SCOPE) : null;
    if (isToldBy !== null) {
      const kind = routing.named(isToldBy);
      if (kind === null) return null;
      routing.countNamed();
      return { kind, attributes: {} };
    }
    if (target !== "") return routing.route(method, target);
    if (this.settings.hasPaths) return { kind: OTHER_CALL, attributes: {} };
    if (this.#operations.length > 1) return routing.unrouted("rows without a path");
    routing.countNamed();
    return { kind: 0, attributes: {} };
  }

  /** Returns the number of a row's caller; or the name of an attribute that the caller lacks. */
  #caller(
    cells: Cells,
    needed: readonly string[],
    routed: Readonly<Record<string, string>>,
  ): number | string {
    const user = this.#user(cells);
    const organization = this.#organization(cells);
    const names: [string, string][] = [];
    for (const attribute of needed) {
      const value = routed[attribute] ?? this.#valueOf(cells, attribute, user, organization);
      if (value === "") return attribute;
      names.push([attribute, value]);
    }
    const own = user === EVERYONE ? names.find(([attribute]) => attribute === this.#own)?.[1] : user;
    return this.#callers.of(organization, own ?? user, names);
  }

  #valueOf(cells: Cells, attribute: string, user: string, organization: string): string {
    const source = this.#sources.get(attribute);
    if (source === undefined) return "";
    if (source.kind === "value") return source.text;
    if (source.kind === "user") return user;
    if (source.kind === "organization") return organization;
    if (source.role === ADDRESS) cells.keepFirstAddress();
    cells.dropPort(source.role);
    return isNamed(cells, source.role) ? cells.text(source.role) : "";
  }

  #organization(cells: Cells): string {
    if (isNamed(cells, ORGANIZATION)) return cells.text(ORGANIZATION);
    return this.settings.organization ?? "";
  }

  #user(cells: Cells): string {
    cells.dropPort(USER);
    if (isNamed(cells, USER)) return this.#callers.shown(cells.text(USER), this.settings.userIsToken);
    if (!isNamed(cells, ADDRESS)) return EVERYONE;
    cells.keepFirstAddress();
    cells.dropPort(ADDRESS);
    return cells.text(ADDRESS);
  }

  /** Reads a cost; returns `undefined` if the row does not tell it, `null` if it is no whole number. */
  #units(cells: Cells, role: number): number | null | undefined {
    if (!isNamed(cells, role)) return undefined;
    const value = whole(cells.view, cells.from[role] as number, cells.to[role] as number);
    return value < 0 ? null : value;
  }
}

/** Returns the attributes in the keys of an operation's quotas. */
export function attributesFor(policy: Policy, operation: string): string[] {
  const used = Object.keys(policy.operations[operation]?.uses ?? {});
  return [...new Set(used.flatMap((name) => policy.quotas[name]?.key ?? []))];
}
