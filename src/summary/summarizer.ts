// Turns a trace into figures, call by call: memory grows with clients, users and waits, not with lines.
import type { QuotaCall, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import type { QuotaOwner } from "../trace/whose.ts";
import {
  type Figures,
  type LevelSummary,
  levelsMost,
  type PopulationSummary,
  type Summary,
  usersMost,
  waitShares,
} from "./summary.ts";
import { Tally } from "./tally.ts";
import { populationOf } from "./timeline.ts";
import { type AnyCall, type Teller, type ToldCall, type ToldWindow, tellerOf } from "./told.ts";
import { KeptWaits } from "./waits.ts";
import { hasEnd, type WindowEntry, WindowTracker } from "./windows.ts";

type CallTally = Tally<KeptWaits>;

interface UserEntry {
  readonly org: string;
  readonly user: string;
  readonly tally: CallTally;
}

interface PopulationEntry {
  readonly name: string;
  clients: number;
  readonly tally: CallTally;
  readonly admittedByUser: Map<UserEntry, number>;
}

type Level = { -readonly [M in Exclude<keyof LevelSummary, keyof QuotaOwner>]: LevelSummary[M] };

interface ClientEntry {
  readonly population: PopulationEntry;
  /** Unanswered attempts, by job and attempt: a retry after one of these follows no refusal. */
  readonly broken: Set<string>;
}

/** Figures of organizations' and users' windows, which policies lack. */
const ofOwners = { refusedByOrganization: null, refusedByUser: null } as const;

/**
 * Adds up a trace while it is read.
 *
 * @example
 * const summarizer = new Summarizer(header, tellerOf(header));
 * for await (const call of calls) summarizer.add(call);
 * const summary = summarizer.finish();
 */
export class Summarizer {
  readonly #header: TraceHeader | QuotaTraceHeader;
  readonly #teller: Teller;
  readonly #clients = new Map<string, ClientEntry>();
  readonly #populations = new Map<string, PopulationEntry>();
  readonly #users = new Map<string, Map<string, UserEntry>>();
  readonly #windows: WindowTracker;
  /** Refusals by quota; `null` under rules. */
  readonly #refusedBy: Map<string, number> | null;
  /** Tallies that have counted a window as exhausted. */
  readonly #exhausted = new WeakMap<WindowEntry, Set<CallTally>>();
  #windowsExhausted = 0;
  readonly #levels = new Map<QuotaOwner, Level>();
  #records = 0;
  #endedAt: number;

  constructor(header: TraceHeader | QuotaTraceHeader, teller: Teller) {
    this.#header = header;
    this.#teller = teller;
    this.#windows = new WindowTracker(teller.lengths);
    this.#refusedBy = teller.quotas === null ? null : new Map(teller.quotas.map((name) => [name, 0]));
    this.#endedAt = header.startedAt;
  }

  /** Adds one line of the trace; the summarizer keeps no record. */
  add(call: AnyCall): void {
    const told = this.#teller.told(call);
    this.#records += 1;
    if (told.received > this.#endedAt) this.#endedAt = told.received;
    const client = this.#client(told.client);
    const user = told.user === null ? null : this.#user(told.user.org, told.user.user);
    const { tally } = client.population;
    const tallies = user === null ? [tally] : [tally, user.tally];
    if (told.kind === "status") for (const each of tallies) each.statusCalls += 1;
    if (told.kind === "call") this.#count(told, client, user, tallies);
    this.#placeWindows(told, tallies);
  }

  #count(call: ToldCall, client: ClientEntry, user: UserEntry | null, tallies: readonly CallTally[]): void {
    const { population } = client;
    const { attempt, wanted, end, owner, refusedBy } = call;
    const retriesRefusal = attempt > 0 && !client.broken.delete(`${wanted}/${attempt - 1}`);
    if (end === "unanswered") client.broken.add(`${wanted}/${attempt}`);
    if (refusedBy !== null) this.#refusedBy?.set(refusedBy, (this.#refusedBy.get(refusedBy) ?? 0) + 1);
    for (const tally of tallies) {
      if (attempt === 0) tally.jobs += 1;
      if (retriesRefusal) tally.retriedRefusals += 1;
      if (end === "unanswered") tally.unanswered += 1;
      else if (end === "refused") tally.addRefusal(owner);
      else admit(tally, call, this.#header.startedAt);
    }
    if (user !== null && end !== "unanswered") {
      const admitted = population.admittedByUser.get(user) ?? 0;
      population.admittedByUser.set(user, admitted + (end === "refused" ? 0 : 1));
    }
  }

  #placeWindows(
    { kind, end, sent, shown, used, refusing, refusedAt }: ToldCall,
    tallies: readonly CallTally[],
  ): void {
    for (const window of shown) if (hasEnd(window)) this.#windows.place(window);
    for (const window of used) if (!hasEnd(window)) this.#level(window, end, window === refusing);
    const entries = used.filter(hasEnd).map((window) => this.#windows.place(window));
    if (kind !== "call" || end === "unanswered") return;
    const [broadest] = entries;
    if (broadest !== undefined && used[0]?.reset !== null && this.#windows.resetJustBefore(broadest, sent))
      for (const tally of tallies) tally.addAfterReset(end === "refused");
    if (end === "admitted") {
      for (const entry of entries) entry.admitted += 1;
      return;
    }
    const refuser = entries.find(({ whose }) => whose === refusing?.whose);
    if (refuser === undefined) return;
    refuser.refused += 1;
    this.#exhaust(refuser, tallies);
    // A clamped `remaining` hides a count above the limit, but the refusal's body shows the count.
    if (refusedAt !== null) refuser.highest = Math.max(refuser.highest ?? 0, refusedAt);
  }

  #level({ whose, limit, count }: ToldWindow, end: ToldCall["end"], isRefusing: boolean): void {
    if (!("quota" in whose)) return;
    const level = this.#levels.get(whose) ?? { limit: null, highest: null, admitted: 0, refused: 0 };
    this.#levels.set(whose, level);
    level.limit = limit ?? level.limit;
    if (count !== null) level.highest = Math.max(level.highest ?? 0, count);
    if (end === "admitted") level.admitted += 1;
    if (isRefusing) level.refused += 1;
  }

  #exhaust(window: WindowEntry, tallies: readonly CallTally[]): void {
    let known = this.#exhausted.get(window);
    if (known === undefined) {
      known = new Set();
      this.#exhausted.set(window, known);
      this.#windowsExhausted += 1;
    }
    for (const tally of tallies)
      if (!known.has(tally)) {
        known.add(tally);
        tally.windowsExhausted += 1;
      }
  }

  #client(name: string): ClientEntry {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const population = this.#population(populationOf(name));
    population.clients += 1;
    const entry = { population, broken: new Set<string>() };
    this.#clients.set(name, entry);
    return entry;
  }

  #population(name: string): PopulationEntry {
    const known = this.#populations.get(name);
    if (known !== undefined) return known;
    const entry = {
      name,
      clients: 0,
      tally: new Tally(new KeptWaits()),
      admittedByUser: new Map<UserEntry, number>(),
    };
    this.#populations.set(name, entry);
    return entry;
  }

  #user(org: string, user: string): UserEntry {
    let users = this.#users.get(org);
    if (users === undefined) {
      users = new Map();
      this.#users.set(org, users);
    }
    let entry = users.get(user);
    if (entry === undefined) {
      entry = { org, user, tally: new Tally(new KeptWaits()) };
      users.set(user, entry);
    }
    return entry;
  }

  /** Returns the figures of all calls. Call it once, at the end. */
  finish(): Summary {
    const { source, scenario, seed, startedAt } = this.#header;
    const whole = new Tally(new KeptWaits());
    for (const { tally } of this.#populations.values()) whole.merge(tally);
    whole.windowsExhausted = this.#windowsExhausted;
    const users = [...this.#users.values()].flatMap((entries) => [...entries.values()]);
    const callers = users.filter(({ tally }) => tally.admitted + tally.refused > 0);
    return {
      format: "spillway-summary",
      version: 1,
      source,
      scenario,
      seed,
      startedAt,
      endedAt: this.#endedAt,
      records: this.#records,
      figures: this.#figures(
        whole,
        callers.map(({ tally }) => tally.admitted),
      ),
      ...(this.#refusedBy === null ? {} : { refusedBy: Object.fromEntries(this.#refusedBy) }),
      populations: [...this.#populations.values()].map((each) => this.#summarizePopulation(each)),
      users: mostRefused(users).map(({ org, user, tally }) => ({
        org,
        user,
        figures: this.#figures(tally, [tally.admitted]),
      })),
      usersSeen: users.length,
      ...this.#windows.finish(),
      ...(this.#levels.size === 0 ? {} : { levels: mostUsed(this.#levels) }),
    };
  }

  #figures(tally: CallTally, admittedByUser: Iterable<number>): Figures {
    const figures = tally.figures(admittedByUser);
    return this.#refusedBy === null ? figures : { ...figures, ...ofOwners };
  }

  #summarizePopulation({ name, clients, tally, admittedByUser }: PopulationEntry): PopulationSummary {
    const figures = this.#figures(tally, admittedByUser.values());
    return { name, clients, figures, waitsMs: tally.waits.quantiles(waitShares) };
  }
}

function admit(
  tally: CallTally,
  { sent, received, wanted = sent, points }: ToldCall,
  startedAt: number,
): void {
  tally.addAdmission(received - startedAt, Math.max(0, received - wanted), points);
}

function mostRefused(users: readonly UserEntry[]): UserEntry[] {
  const sorted = users.toSorted(
    (a, b) => b.tally.refused - a.tally.refused || b.tally.admitted - a.tally.admitted,
  );
  return sorted.slice(0, usersMost);
}

const mostUsed = (levels: ReadonlyMap<QuotaOwner, Level>): LevelSummary[] =>
  [...levels]
    .map(([whose, level]) => ({ ...whose, ...level }))
    .sort((a, b) => b.refused - a.refused || b.admitted - a.admitted)
    .slice(0, levelsMost);

/** Returns the figures of a trace in memory. */
export function summarize(header: TraceHeader, calls: Iterable<TraceCall>): Summary;
export function summarize(header: QuotaTraceHeader, calls: Iterable<QuotaCall>): Summary;
export function summarize(header: TraceHeader | QuotaTraceHeader, calls: Iterable<AnyCall>): Summary {
  const summarizer = new Summarizer(header, tellerOf(header));
  for (const call of calls) summarizer.add(call);
  return summarizer.finish();
}
