// One organization's scope of a trace as events, and the search through their orders: see exact.ts.
import type { Owner, Rules, Scope } from "../../src/rules/rules.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall, TraceClock, TraceHeader } from "../../src/trace/record.ts";
import { type Key, keyOf, nothingYet, ScopeModel, type State } from "./exact-model.ts";

const second = 1000;
/** Longer searches are given up; of the small histories here one in thousands is. */
const stepsMost = 200_000;
/** More than a window that was open at the start can hold in histories so small. */
const begunMost = 60;
const owners: readonly Owner[] = ["organization", "user"];

/** Part of a trace that this checker does not know: it says nothing then. */
export class NotKnown extends RangeError {}

/** One instant of one call. */
interface Event {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  /** True if it may never happen: it is not known to have. */
  readonly optional: boolean;
  /** The event that comes first, where it has one. */
  readonly after: number | null;
  /** States that the scope may have afterwards, if this happens at the target's `now` and shows what it showed. */
  outcomes(state: State, now: number): readonly State[];
  /** The quotas that it touches. */
  readonly keys: readonly Key[];
}

export const isUnknown = ({ status, limit }: TraceCall): boolean =>
  status === 0 || (status >= 500 && limit === null);

/** The least and most true time that a call may have been decided at. */
export function spanOf({ sent, received }: TraceCall, { resolutionMs, errorMs }: TraceClock) {
  return { from: sent - errorMs, to: received + resolutionMs + errorMs };
}

/** One organization's scope: its events, and the search through their orders. */
export class Group {
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

  /** Tells whether the events have an order, if the target's clock is ahead of the clients' by `offset`. */
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

  /** Instants at which this scope's events begin and end, as far as they do. */
  get ends(): readonly number[] {
    return this.events.flatMap(({ from, to }) => [from, to]).filter(Number.isFinite);
  }

  get beganBy(): number {
    return this.#beganBy;
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const range = (most: number): readonly number[] => Array.from({ length: most + 1 }, (_, each) => each);

/** Points that an admitted GraphQL call may have been charged in the end. */
const actuals = ({ actual, cost }: TraceCall): readonly number[] =>
  actual === undefined ? range(cost ?? 0) : [actual];

export function part(call: TraceCall, scope: Scope): Readonly<Record<string, unknown>> {
  const body = call.body as Readonly<Record<Scope, Readonly<Record<string, unknown>>>> | undefined;
  return body?.[scope] ?? {};
}
