// The slow checker: does any order of decisions explain every answer of a small trace? It tries them all, under a
// model of the rules that is its own (exact-model.ts), and knows nothing of places, bounds or naming.
//
// What it tries: the target's clock is ahead of the clients' by a constant `offset`. Each decision, completion and
// reading is an event at one true instant, from just before sending to just after the answer, as the clocks of
// FORMAT.md allow. Events of one scope change its windows one after the other.
//
// Why finitely many instants suffice. The model looks at an instant only through the cell between two edges
// (`ScopeModel.edges`) that it lies in. Given the order and the cells, an earlier instant in the same cell leaves
// every later event no less choice: so each event takes the earliest instant of its cell that is left. Given the
// order and the cells, what remains are inequalities between instants, `offset`, the calls' ends and the edges; those
// that bind `offset` say that it is above or below an edge minus a call's end. So the offsets that solve them form
// an interval between two such differences, and one of the differences themselves, or of the points halfway between
// neighbours, lies in it. Edges repeat every second, windows of the epoch with the least common multiple of their
// lengths; the time of day that a status body shows leaves a few seconds only.
//
import { type Owner, organizationLimit, type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall, TraceClock, TraceHeader } from "../../src/trace/record.ts";
import { type Key, keyOf, nothingYet, ScopeModel, type State } from "./exact-model.ts";

const second = 1000;
/** Longer searches are given up; of the small histories here one in thousands is. */
const stepsMost = 200_000;
/** More than a window that was open at the start can hold in histories so small. */
const begunMost = 60;
const owners: readonly Owner[] = ["organization", "user"];

/** What a trace has that this checker does not know: nothing is said of it then. */
export class NotKnown extends RangeError {}

/** One instant of one call. */
interface Event {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  /** Whether it may never happen: it is not known to have. */
  readonly optional: boolean;
  /** The event that comes first, where it has one. */
  readonly after: number | null;
  /** What the scope may be afterwards, if this happens at the target's `now` and shows what it showed. */
  outcomes(state: State, now: number): readonly State[];
  /** The quotas that it touches. */
  readonly keys: readonly Key[];
}

/**
 * Whether an order of all decisions, completions and readings explains every answer of a trace.
 * @throws NotKnown where the trace has what this checker does not know
 */
export function hasOrder(header: TraceHeader, lines: readonly TraceLine[]): boolean {
  const rules = requireDomain(header, lines);
  if (!lines.every(({ call }) => hasHeaders(call))) return false;
  const organizations = [...new Set(lines.map(({ call }) => call.org))];
  const groups = organizations.flatMap((org) =>
    scopes.map((scope) => new Group(header, rules, org, scope, lines)),
  );
  const orders = groups.filter((group) => group.events.length > 0);
  if (orders.length === 0) return true;
  // Scopes and organizations share nothing but the clock (SPEC.md §7, `isolated`).
  return offsets(header, lines, orders).some((offset) => orders.every((group) => group.hasOrder(offset)));
}

/** The rules of a trace that this checker knows all about. */
function requireDomain(header: TraceHeader, lines: readonly TraceLine[]): Rules {
  const { rules, complete, lost, clock, startedAt } = header;
  const refuse = (what: string): never => {
    throw new NotKnown(what);
  };
  if (rules === null) return refuse("traces without rules");
  if (!complete) refuse("traces that are not complete");
  if (typeof lost === "number" && lost > 0) refuse("lost calls of any quota");
  for (const { call } of lines) {
    for (const scope of call.kind === "status" ? scopes : []) {
      const shown = part(call, scope)["enforced"];
      if (shown !== undefined && shown !== organizationLimit(rules, call.org, scope).enforced)
        refuse("limits that are switched");
    }
    if (call.user === null) refuse("calls without a user");
    if (call.kind === "call" && call.cost === null) refuse("calls of unknown cost");
    if (call.sent - clock.errorMs < startedAt + clock.resolutionMs + clock.errorMs)
      refuse("calls that were under way when the trace began");
    const known = call.scope === "rest" ? [200, 404, 405, 429] : [200, 429];
    const unknown = call.status === 0 || (call.status >= 500 && call.limit === null);
    if (call.kind === "call" && !unknown && !known.includes(call.status)) refuse(`status ${call.status}`);
  }
  return rules;
}

const isUnknown = ({ status, limit }: TraceCall): boolean =>
  status === 0 || (status >= 500 && limit === null);

/** §5: each header's scope name, where headers are owed. */
function hasHeaders(call: TraceCall): boolean {
  if (isUnknown(call)) return true;
  return call.scopeName === call.scope && call.userScopeName === `${call.scope}_user`;
}

/** The least and most true time that a call may have been decided at. */
function spanOf({ sent, received }: TraceCall, { resolutionMs, errorMs }: TraceClock) {
  return { from: sent - errorMs, to: received + resolutionMs + errorMs };
}

/** One organization's scope: its events, and the search through their orders. */
class Group {
  readonly model: ScopeModel;
  readonly events: Event[] = [];
  /** An instant before `to`, but on an exact clock, where `to` itself is one. */
  readonly #isExact: boolean;
  readonly #beganBy: number;
  readonly #clock: TraceClock;
  readonly #scope: Scope;
  readonly #users: readonly string[];
  /** The most that a window that was open at the start can be seen to have held. */
  readonly #most = new Map<Key, number>();
  #offset = 0;
  #steps = 0;
  /** States that lead nowhere, with the earliest instant from which they do. */
  #hopeless = new Map<string, number>();

  constructor(
    { clock, startedAt, lost }: TraceHeader,
    rules: Rules,
    org: string,
    scope: Scope,
    lines: readonly TraceLine[],
  ) {
    this.model = new ScopeModel(rules, org, scope);
    this.#clock = clock;
    this.#isExact = clock.resolutionMs === 0 && clock.errorMs === 0;
    this.#beganBy = startedAt + clock.resolutionMs + clock.errorMs;
    this.#scope = scope;
    const own = lines.map(({ call }) => call).filter((call) => call.org === org);
    this.#users = [...new Set(own.map((call) => call.user ?? ""))];
    for (const call of own) this.#addCall(call);
    const calls = typeof lost === "number" ? 0 : lost.find((l) => l.org === org && l.scope === scope)?.count;
    for (let count = 0; count < (calls ?? 0); count++) this.#addLost();
    this.#requireNoGiveBack();
  }

  /** Points that calls from before the trace give back are in no line. */
  #requireNoGiveBack(): void {
    const first = Math.min(...this.events.map(({ from }) => from));
    const longest = Math.max(
      0,
      ...this.events.flatMap(({ keys }) => keys.map((key) => this.model.lengthMs(key))),
    );
    if (this.model.charging === "reserved" && first - longest - second < this.#beganBy)
      throw new NotKnown("reserved windows that were open at the start");
  }

  #addCall(call: TraceCall): void {
    const span = spanOf(call, this.#clock);
    if (call.kind === "status" && !isUnknown(call))
      this.#add({ ...span, keys: ["organization"], outcomes: (state, now) => this.#body(state, now, call) });
    if (call.scope !== this.#scope) return;
    if (call.kind !== "call") {
      if (!isUnknown(call)) this.#add({ ...span, keys: this.#keys(call), outcomes: this.#shows(call) });
    } else if (isUnknown(call)) this.#addUnknown(call.user ?? "", call.cost ?? 0, span.from);
    else this.#addDecided(call, span);
  }

  #keys({ user }: TraceCall): readonly Key[] {
    return owners.map((owner) => keyOf(owner, user ?? ""));
  }

  #add(event: Omit<Event, "id" | "optional" | "after"> & Partial<Event>): number {
    const id = this.events.length;
    this.events.push({ optional: false, after: null, ...event, id });
    return id;
  }

  #addDecided(call: TraceCall, span: { from: number; to: number }): void {
    const keys = this.#keys(call);
    const { cost, user, status } = call;
    const completes = status !== 429 && this.model.charging !== "at-decision";
    const decision = this.#add({
      ...span,
      keys,
      outcomes: (state, now) => {
        const decided = this.model.decide(state, decision, user ?? "", cost ?? 0, now);
        if ((decided.refusedBy === null) !== (status !== 429)) return [];
        if (completes) return [decided.state];
        const { refusedBy } = decided;
        if (refusedBy !== null && !this.#refuses(decided.state, now, call, refusedBy)) return [];
        return this.#shows(call)(decided.state, now);
      },
    });
    if (completes)
      this.#add({
        ...span,
        keys,
        after: decision,
        outcomes: (state, now) =>
          actuals(call).flatMap((actual) =>
            this.model
              .complete(state, decision, user ?? "", actual, now)
              .flatMap((after) => this.#shows(call)(after, now)),
          ),
      });
  }

  /** A call without an answer: decided at any time or never, completed at any time or never. */
  #addUnknown(user: string, cost: number, from: number): void {
    const keys = owners.map((owner) => keyOf(owner, user));
    const forever = { from, to: Number.POSITIVE_INFINITY, keys, optional: true };
    const decision = this.#add({
      ...forever,
      outcomes: (state, now) => [this.model.decide(state, decision, user, cost, now).state],
    });
    if (this.model.charging !== "at-decision")
      this.#add({
        ...forever,
        after: decision,
        outcomes: (state, now) =>
          state.underWay[decision] === undefined
            ? []
            : range(cost).flatMap((actual) => this.model.complete(state, decision, user, actual, now)),
      });
  }

  /** A call without a line, of any user: whoever it was, the organization's window is charged. */
  #addLost(): void {
    if (this.#scope === "graphql") throw new NotKnown("lost points");
    const users = [...this.#users, "somebody else"];
    const longest = Math.max(...users.map((user) => this.model.lengthMs(keyOf("user", user))));
    const first = Math.min(...this.events.map(({ from }) => from));
    const id = this.#add({
      from: Math.max(this.#beganBy, first - Math.max(longest, this.model.lengthMs("organization"))),
      to: Number.POSITIVE_INFINITY,
      optional: true,
      keys: ["organization", ...users.map((user) => keyOf("user", user))],
      outcomes: (state, now) => users.map((user) => this.model.decide(state, id, user, 1, now).state),
    });
  }

  /** §5: the eight headers are what both windows show. */
  #shows(call: TraceCall): (state: State, now: number) => readonly State[] {
    this.#seen("organization", call.limit, call.remaining);
    this.#seen(keyOf("user", call.user ?? ""), call.userLimit, call.userRemaining);
    return (state, now) => {
      const { limit, remaining, reset } = this.model.read(state, "organization", now);
      if (call.limit !== limit || call.remaining !== remaining || call.reset !== reset) return [];
      const user = this.model.read(state, keyOf("user", call.user ?? ""), now);
      const { userLimit, userRemaining, userReset } = call;
      const agrees = userLimit === user.limit && userRemaining === user.remaining && userReset === user.reset;
      return agrees ? [state] : [];
    };
  }

  /** §4: one scope of a status body. */
  #body(state: State, now: number, call: TraceCall): readonly State[] {
    const body = part(call, this.#scope);
    const { limit, current, reset, resetAt } = this.model.read(state, "organization", now);
    const agrees =
      body["limit"] === limit &&
      body["current"] === current &&
      body["reset"] === reset &&
      body["reset_at"] === `${new Date(resetAt).toISOString().slice(0, 19)}Z` &&
      body["enforced"] === this.model.enforced;
    return agrees ? [state] : [];
  }

  /** §6: the body of a 429, where there is one, is of the window that refused. */
  #refuses(state: State, now: number, { refusal, user }: TraceCall, by: Owner): boolean {
    if (refusal === undefined) return true;
    const { limit, current, reset } = this.model.read(state, keyOf(by, user ?? ""), now);
    const name = by === "organization" ? this.#scope : `${this.#scope}_user`;
    const { message, ...body } = refusal as Record<string, unknown>;
    if (this.#scope === "rest") return isSame(body, { scope: name, limit, current, reset });
    const whose =
      by === "organization" ? "Your organization has exceeded the" : "You have exceeded your per-user";
    const text = `${whose} limit of ${limit} complexity points. Please try again in ${reset} seconds.`;
    return isSame(body, { errors: [{ message: text }] });
  }

  #seen(key: Key, limit: unknown, remaining: unknown): void {
    if (typeof limit !== "number" || typeof remaining !== "number") return;
    // A count past all that was shown, and past the limit, refuses and hides alike.
    const most = Math.max(this.model.limit(key) + 1, limit - remaining, this.#most.get(key) ?? 0);
    this.#most.set(key, most);
  }

  /** Whether the events have an order, if the target's clock is ahead of the clients' by `offset`. */
  hasOrder(offset: number): boolean {
    this.#offset = offset;
    this.#hopeless = new Map();
    return this.#search(new Set(), nothingYet, Number.NEGATIVE_INFINITY);
  }

  #search(done: ReadonlySet<number>, state: State, now: number): boolean {
    this.#steps += 1;
    if (this.#steps > stepsMost) throw new NotKnown("histories that take so long");
    const left = this.events.filter(({ id }) => !done.has(id));
    const owed = left.filter(({ optional }) => !optional);
    if (owed.length === 0) return true;
    const key = JSON.stringify([left.map(({ id }) => id), state]);
    if (now >= (this.#hopeless.get(key) ?? Number.POSITIVE_INFINITY)) return false;
    const until = Math.min(...owed.map(({ to }) => to));
    for (const event of left) {
      if (event.after !== null && !done.has(event.after)) continue;
      for (const at of this.#instants(Math.max(now, event.from), Math.min(until, event.to)))
        for (const after of this.#happen(event, state, at))
          if (this.#search(new Set([...done, event.id]), after, at)) return true;
    }
    this.#hopeless.set(key, now);
    return false;
  }

  /** The earliest instant of each cell from `from` to `to`. */
  *#instants(from: number, to: number): Generator<number> {
    const { edges } = this.model;
    let at = from;
    while (this.#isExact ? at <= to : at < to) {
      yield at;
      const target = at + this.#offset;
      const base = Math.floor(target / second) * second;
      const next = [...edges, second].map((edge) => base + edge).find((edge) => edge > target);
      at = (next ?? target + second) - this.#offset;
    }
  }

  #happen(event: Event, state: State, at: number): readonly State[] {
    const now = Math.floor(at + this.#offset);
    let begun: readonly State[] = [state];
    for (const key of event.keys) {
      if (Object.hasOwn(state.windows, key)) continue;
      const most = this.#most.get(key) ?? this.model.limit(key) + 1;
      const beganBy = this.#beganBy + this.#offset;
      const beginnings = this.model.beginnings(key, now, beganBy, Math.min(most, begunMost + 1));
      if (most > begunMost && beginnings.length > begunMost) throw new NotKnown("counts so high");
      begun = begun.flatMap((each) =>
        beginnings.map((window) => ({ ...each, windows: { ...each.windows, [key]: window } })),
      );
    }
    return begun.flatMap((each) => event.outcomes(each, now));
  }

  /** Where this scope's events begin and end, as far as they do. */
  get ends(): readonly number[] {
    return this.events.flatMap(({ from, to }) => [from, to]).filter(Number.isFinite);
  }

  get beganBy(): number {
    return this.#beganBy;
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const range = (most: number): readonly number[] => Array.from({ length: most + 1 }, (_, each) => each);

/** What an admitted GraphQL call may have been charged in the end. */
const actuals = ({ actual, cost }: TraceCall): readonly number[] =>
  actual === undefined ? range(cost ?? 0) : [actual];

function part(call: TraceCall, scope: Scope): Readonly<Record<string, unknown>> {
  const body = call.body as Readonly<Record<Scope, Readonly<Record<string, unknown>>>> | undefined;
  return body?.[scope] ?? {};
}

/** The offsets of the target's clock that have to be tried (see above). */
function offsets(
  header: TraceHeader,
  lines: readonly TraceLine[],
  groups: readonly Group[],
): readonly number[] {
  const beside = new Set<number>();
  for (const group of groups)
    for (const end of [...group.ends, group.beganBy])
      for (const edge of group.model.edges) beside.add((((edge - end) % second) + second) % second);
  const sorted = [...beside].sort((a, b) => a - b);
  const halves = sorted.map((each, index) => (each + (sorted[index + 1] ?? second + (sorted[0] ?? 0))) / 2);
  const { from, to } = wholeSeconds(header, lines, groups);
  const found: number[] = [];
  for (let base = from; base <= to; base += second)
    for (const each of [...sorted, ...halves]) found.push(base + each);
  return found;
}

/** The whole seconds that the target's clock may be ahead, as multiples of a second. */
function wholeSeconds(
  { clock }: TraceHeader,
  lines: readonly TraceLine[],
  groups: readonly Group[],
): { from: number; to: number } {
  for (const { call } of lines) {
    const { reset, reset_at: at } = part(call, call.scope);
    const resetAt = typeof at === "string" ? Date.parse(at) : Number.NaN;
    if (call.kind !== "status" || typeof reset !== "number" || Number.isNaN(resetAt)) continue;
    const span = spanOf(call, clock);
    const floor = (ms: number): number => Math.floor(ms / second) * second;
    // Seconds are rounded by less than one, and those beside these are tried, too.
    return {
      from: floor(resetAt - (reset + 2) * second - span.to),
      to: floor(resetAt - (reset - 2) * second - span.from),
    };
  }
  const lengths = groups
    .filter(({ model }) => model.semantics.anchor === "epoch")
    .flatMap(({ events, model }) =>
      events.flatMap(({ keys }) => keys.map((key) => model.lengthMs(key) / second)),
    );
  return { from: 0, to: (lengths.reduce(leastCommonMultiple, 1) - 1) * second };
}

function leastCommonMultiple(a: number, b: number): number {
  const divisor = (x: number, y: number): number => (y === 0 ? x : divisor(y, x % y));
  return (a / divisor(a, b)) * b;
}
