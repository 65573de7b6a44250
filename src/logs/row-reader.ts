// Reads a row's fields into columns, or tells why it cannot. Every format comes through here, so that a path, a time or
// a cost means the same in all of them.
import { type Callers, EVERYONE } from "./callers.ts";
import {
  ACTUAL,
  ADDRESS,
  type Cells,
  COST,
  DATE,
  DURATION,
  METHOD,
  ORGANIZATION,
  PATH,
  TIME,
  textOf,
  USER,
} from "./cells.ts";
import {
  decimal,
  GET,
  HEAD,
  hashOf,
  isCapital,
  isNamed,
  methodOf,
  NO_METHOD,
  POST,
  scopeOf,
  spanOf,
  statusOf,
  whole,
} from "./field-values.ts";
import { InstantReader } from "./instant.ts";
import type { LogMapping } from "./mapping.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { PathFilter } from "./path-filter.ts";
import { PathMemory } from "./path-memory.ts";
import { GRAPHQL_PATH, RequestPath, STATUS_PATH } from "./request-path.ts";
import { costMost, defaultOrganization, GRAPHQL_CALL, OTHER_CALL, REST_CALL, STATUS_CALL } from "./rows.ts";
import type { LogZone } from "./zone-clock.ts";

export interface RowSettings
  extends Pick<LogMapping, "userIsToken" | "timeIs" | "dates" | "clockMs" | "organization"> {
  /** Milliseconds in one unit of the durations. */
  readonly durationUnitMs: number;
  /** Points of a GraphQL call whose row does not tell them; `null`: such a row cannot be read. */
  readonly graphqlCost: number | null;
  readonly statusPath?: string | undefined;
  readonly graphqlPath?: string | undefined;
  /** Zone of times that name none. */
  readonly zone: LogZone;
  /** True if requests have a path in this log. A row without one is then no request, but an unused connection. */
  readonly hasPaths: boolean;
  /** Filter that leaves out rows of other paths; `null` for no filter. */
  readonly paths: PathFilter | null;
}

const [dash, space] = [0x2d, 0x20] as const;

const NONE = -1;
/** Kind of a path that the filter leaves out. */
const LEFT_OUT = 255;

/** Statuses of GraphQL that count nothing (SPEC.md §2.6); 401 and 403 count nothing anywhere. */
const uncountedQueries = new Set([400, 405, 413, 415]);

/** Reads what rows of every API have: when a request began, how long it took, and its status. */
export class TimedRows {
  readonly settings: RowSettings;
  readonly #times: InstantReader;
  // Values of the row that was read last.
  atMs = 0;
  /** Time as the log shows it, ms; `NaN` if it cannot be read. */
  shownMs = Number.NaN;
  durationMs = 0;
  status = 0;

  constructor(settings: RowSettings) {
    this.settings = settings;
    this.#times = new InstantReader(settings.zone, settings.dates);
  }

  /** @returns `null`, or why the row cannot be read */
  readTimes(cells: Cells, rows: OrderedRows): string | null {
    const { view, from, to } = cells;
    const { timeIs, clockMs } = this.settings;
    const [start, end] = [from[TIME] as number, to[TIME] as number];
    let at = cells.isEmpty(DATE)
      ? this.#times.read(view, start, end)
      : this.#times.readJoined(view, [from[DATE] as number, to[DATE] as number], [start, end]);
    this.shownMs = at;
    if (Number.isNaN(at)) return cells.isEmpty(TIME) ? "it has no time" : "its time cannot be read";
    const duration = this.#duration(cells);
    if (duration === -1) return "its duration is no number";
    // A request that ended within a second may have begun within two; this is the likelier of them.
    if (timeIs === "end" && duration > 0) at -= Math.round(duration / clockMs) * clockMs;
    if (at < 0) return "it began before 1970";
    if (at < rows.floor) return "time goes back too far: later rows were done with already";
    this.status = statusOf(cells);
    if (this.status === -1) return "its status is none of HTTP's";
    this.atMs = at;
    this.durationMs = duration;
    return null;
  }

  /** Returns the duration, ms; `NaN` if there is none, -1 if it is no number. */
  #duration({ view, from, to }: Cells): number {
    const start = from[DURATION] as number;
    const end = to[DURATION] as number;
    if (end <= start || (end - start === 1 && view.getUint8(start) === dash)) return Number.NaN;
    const value = decimal(view, start, end);
    if (value < 0) return spanOf(textOf(view, start, end));
    const unitMs = this.settings.durationUnitMs;
    // Removes rounding errors: 1.001 s * 1000 is 1000.9999999999999 ms.
    return unitMs === 1 ? value : Math.round(value * unitMs * 1e6) / 1e6;
  }
}

export class RowReader extends TimedRows {
  readonly #callers: Callers;
  readonly #path: RequestPath;
  readonly #memory = new PathMemory();
  #organization = NONE;
  /** Number of `EVERYONE`, once a row names no caller. */
  #everyone = NONE;

  constructor(settings: RowSettings, callers: Callers) {
    super(settings);
    this.#callers = callers;
    this.#path = new RequestPath(settings.statusPath, settings.graphqlPath);
  }

  /** Adds the row of these fields, unless its path is left out. @returns `null`, or why it cannot be read */
  add(cells: Cells, rows: OrderedRows): string | null {
    const wrong = this.readTimes(cells, rows);
    if (wrong !== null) return wrong;
    const { status } = this;
    const kind = this.#kind(cells, status);
    if (kind === -1) return "its scope is neither rest nor graphql";
    if (kind === LEFT_OUT) return null;
    const cost = kind === GRAPHQL_CALL ? this.#points(cells) : kind === REST_CALL ? 1 : 0;
    if (cost === -1) return `its cost is no whole number up to ${costMost}`;
    if (cost === -2) return "a GraphQL call whose cost is not known";
    const actual = kind === GRAPHQL_CALL ? this.#actual(cells) : -1;
    if (actual === -2) return `its actual cost is no whole number up to ${costMost}`;
    rows.add(this.atMs, this.durationMs, this.#caller(cells), kind, cost, actual, status);
    return null;
  }

  #kind(cells: Cells, status: number): number {
    const byScope = scopeOf(cells);
    if (byScope === -1) return -1;
    const method = this.#splitRequest(cells);
    const path = this.#readPath(cells);
    if (!this.#isWanted(path)) return LEFT_OUT;
    if (path === STATUS_PATH && (method === GET || method === HEAD || method === NO_METHOD))
      return STATUS_CALL;
    if (status === 401 || status === 403 || (path === -1 && this.settings.hasPaths)) return OTHER_CALL;
    const isQuery =
      byScope === GRAPHQL_CALL || (byScope === null && (path === GRAPHQL_PATH || this.#costs(cells, path)));
    if (!isQuery) return REST_CALL;
    const isPost = method === POST || method === NO_METHOD;
    return isPost && !uncountedQueries.has(status) ? GRAPHQL_CALL : OTHER_CALL;
  }

  /** Counts the row as kept or left out by its path. */
  #isWanted(path: number): boolean {
    const { paths } = this.settings;
    if (paths === null) return true;
    if (path === LEFT_OUT || path === NONE) paths.leftOut += 1;
    else paths.kept += 1;
    return path !== LEFT_OUT && path !== NONE;
  }

  /** Reads the kind of the path, -1 if there is none; and its organization. */
  #readPath({ view, from, to }: Cells): number {
    const start = from[PATH] as number;
    const end = to[PATH] as number;
    this.#organization = NONE;
    if (end <= start) return NONE;
    const memory = this.#memory;
    if (memory.find(view, start, end)) {
      this.#organization = memory.organization;
      return memory.kind;
    }
    const read = this.#path.read(view, start, end);
    const { organizationFrom, organizationTo, pathFrom, pathTo } = this.#path;
    const kind = this.settings.paths?.fits(view, pathFrom, pathTo) === false ? LEFT_OUT : read;
    if (organizationTo > organizationFrom)
      this.#organization = this.#organizationAt(view, organizationFrom, organizationTo);
    memory.keep(view, start, end, kind, this.#organization);
    return kind;
  }

  #organizationAt(view: DataView, from: number, to: number): number {
    return this.#callers.organizationAt(view, from, to, hashOf(view, from, to));
  }

  /** Tells a query by a cost other than 1, if neither path nor scope tells: each REST call costs 1. */
  #costs(cells: Cells, path: number): boolean {
    if (path !== -1 || cells.isEmpty(COST)) return false;
    const { view, from, to } = cells;
    return whole(view, from[COST] as number, to[COST] as number) !== 1;
  }

  /** Returns the method. A whole request line, `GET /path HTTP/1.1`, is first cut down to its path. */
  #splitRequest(cells: Cells): number {
    if (!cells.isEmpty(METHOD) || cells.isEmpty(PATH)) return methodOf(cells);
    const { view, from, to } = cells;
    const start = from[PATH] as number;
    const end = to[PATH] as number;
    let at = start;
    while (at < end && isCapital(view.getUint8(at))) at += 1;
    if (at === start || at >= end || view.getUint8(at) !== space) return NO_METHOD;
    from[METHOD] = start;
    to[METHOD] = at;
    from[PATH] = at + 1;
    let last = end;
    while (last > at + 1 && view.getUint8(last - 1) !== space) last -= 1;
    if (last > at + 1) to[PATH] = last - 1;
    const method = methodOf(cells);
    to[METHOD] = start;
    return method;
  }

  /** Reads a cost; returns -1 if it is no whole number, -2 if a required one is missing. */
  #points({ view, from, to }: Cells): number {
    const start = from[COST] as number;
    const end = to[COST] as number;
    if (end <= start || (end - start === 1 && view.getUint8(start) === dash))
      return this.settings.graphqlCost ?? -2;
    return whole(view, start, end);
  }

  #actual({ view, from, to }: Cells): number {
    const start = from[ACTUAL] as number;
    const end = to[ACTUAL] as number;
    if (end <= start || (end - start === 1 && view.getUint8(start) === dash)) return -1;
    const value = whole(view, start, end);
    return value === -1 ? -2 : value;
  }

  /** Returns the caller: in the row's organization, else in that of its path, else in the user's last one. */
  #caller(cells: Cells): number {
    const callers = this.#callers;
    const user = this.#user(cells);
    if (isNamed(cells, ORGANIZATION)) {
      const { view, from, to } = cells;
      return callers.of(
        user,
        this.#organizationAt(view, from[ORGANIZATION] as number, to[ORGANIZATION] as number),
      );
    }
    if (this.#organization !== NONE) return callers.of(user, this.#organization);
    const last = callers.lastOrganization(user);
    if (last !== NONE) return callers.of(user, last);
    const { organization } = this.settings;
    if (organization === null) callers.unplaced += 1;
    return callers.of(user, callers.organization(organization ?? defaultOrganization));
  }

  #user(cells: Cells): number {
    const role = isNamed(cells, USER) ? USER : isNamed(cells, ADDRESS) ? ADDRESS : -1;
    if (role === -1) {
      this.#callers.anonymous += 1;
      if (this.#everyone === NONE) this.#everyone = this.#callers.user(EVERYONE);
      return this.#everyone;
    }
    if (role === ADDRESS) cells.keepFirstAddress();
    cells.dropPort(role);
    const { view, from, to } = cells;
    const start = from[role] as number;
    const end = to[role] as number;
    const isToken = role === USER && this.settings.userIsToken;
    return this.#callers.userAt(view, start, end, hashOf(view, start, end), isToken);
  }
}
