// A trace → its figures, one call after the other: memory grows with clients, users and waits, not with lines.
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { readRefusal } from "../wire/bodies.ts";
import { isAnswered, isRefusal, refusedBy } from "../wire/outcome.ts";
import { type PopulationSummary, type Summary, type UserSummary, usersMost, waitShares } from "./summary.ts";
import { Tally } from "./tally.ts";
import { KeptWaits } from "./waits.ts";
import { headerReading, statusReadings, type WindowEntry, WindowTracker } from "./windows.ts";

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

interface ClientEntry {
  readonly population: PopulationEntry;
  /** Attempts that broke off, by job and attempt: a retry that follows one of them follows no refusal. */
  readonly broken: Set<string>;
}

/**
 * Adds up a trace as it is read.
 *
 * @example
 * const summarizer = new Summarizer(header);
 * for await (const call of calls) summarizer.add(call);
 * const summary = summarizer.finish();
 */
export class Summarizer {
  readonly #header: TraceHeader;
  readonly #clients = new Map<string, ClientEntry>();
  readonly #populations = new Map<string, PopulationEntry>();
  readonly #users = new Map<string, Map<string, UserEntry>>();
  readonly #windows: WindowTracker;
  /** Of each window that refused a call, the tallies that know. */
  readonly #exhausted = new WeakMap<WindowEntry, Set<CallTally>>();
  #windowsExhausted = 0;
  #records = 0;
  #endedAt: number;

  constructor(header: TraceHeader) {
    this.#header = header;
    this.#windows = new WindowTracker(header.rules);
    this.#endedAt = header.startedAt;
  }

  /** Takes in one line of the trace; the record is not kept. */
  add(call: TraceCall): void {
    this.#records += 1;
    if (call.received > this.#endedAt) this.#endedAt = call.received;
    const client = this.#client(call.client);
    const user = call.user === null ? null : this.#user(call.org, call.user);
    if (call.kind === "status") {
      client.population.tally.statusCalls += 1;
      if (user !== null) user.tally.statusCalls += 1;
    }
    const { tally } = client.population;
    const tallies = user === null ? [tally] : [tally, user.tally];
    if (call.kind === "call") this.#count(call, client, user, tallies);
    this.#placeWindows(call, tallies);
  }

  #count(call: TraceCall, client: ClientEntry, user: UserEntry | null, tallies: readonly CallTally[]): void {
    const { population } = client;
    const attempt = call.attempt ?? 0;
    const retriesRefusal = attempt > 0 && !client.broken.delete(`${call.wanted}/${attempt - 1}`);
    const answered = isAnswered(call);
    if (!answered) client.broken.add(`${call.wanted}/${attempt}`);
    for (const tally of tallies) {
      if (attempt === 0) tally.jobs += 1;
      if (retriesRefusal) tally.retriedRefusals += 1;
      if (!answered) tally.unanswered += 1;
      else if (isRefusal(call.status)) tally.addRefusal(refusedBy(call));
      else admit(tally, call, this.#header.startedAt);
    }
    if (user !== null && answered) {
      const admitted = population.admittedByUser.get(user) ?? 0;
      population.admittedByUser.set(user, admitted + (isRefusal(call.status) ? 0 : 1));
    }
  }

  #placeWindows(call: TraceCall, tallies: readonly CallTally[]): void {
    if (call.kind === "status") for (const reading of statusReadings(call)) this.#windows.place(reading);
    const organization = headerReading(call, "organization");
    const organizationWindow = organization === null ? null : this.#windows.place(organization);
    const user = headerReading(call, "user");
    const userWindow = user === null ? null : this.#windows.place(user);
    if (call.kind !== "call" || !isAnswered(call)) return;
    if (organizationWindow !== null && this.#windows.resetJustBefore(organizationWindow, call.sent))
      for (const tally of tallies) tally.addAfterReset(isRefusal(call.status));
    if (!isRefusal(call.status)) {
      if (organizationWindow !== null) organizationWindow.admitted += 1;
      if (userWindow !== null) userWindow.admitted += 1;
      return;
    }
    const owner = refusedBy(call);
    const refusing = owner === null ? null : owner === "organization" ? organizationWindow : userWindow;
    if (refusing === null) return;
    refusing.refused += 1;
    this.#exhaust(refusing, tallies);
    // A clamped `remaining` hides a count above the limit; the refusal's body shows it.
    const { current } = readRefusal(call.refusal);
    if (current !== null) refusing.highest = Math.max(refusing.highest ?? 0, current);
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
    const slash = name.lastIndexOf("/");
    const population = this.#population(slash < 0 ? name : name.slice(0, slash));
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

  /** The figures of everything added so far. Call it once, at the end. */
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
      figures: whole.figures(callers.map(({ tally }) => tally.admitted)),
      populations: [...this.#populations.values()].map(summarizePopulation),
      users: mostRefused(users).map(summarizeUser),
      usersSeen: users.length,
      ...this.#windows.finish(),
    };
  }
}

function admit(tally: CallTally, call: TraceCall, startedAt: number): void {
  const points = call.scope === "graphql" ? (call.actual ?? call.cost ?? 0) : 0;
  const waitMs = Math.max(0, call.received - (call.wanted ?? call.sent));
  tally.addAdmission(call.received - startedAt, waitMs, points);
}

function summarizePopulation({ name, clients, tally, admittedByUser }: PopulationEntry): PopulationSummary {
  return {
    name,
    clients,
    figures: tally.figures(admittedByUser.values()),
    waitsMs: tally.waits.quantiles(waitShares),
  };
}

function summarizeUser({ org, user, tally }: UserEntry): UserSummary {
  return { org, user, figures: tally.figures([tally.admitted]) };
}

function mostRefused(users: readonly UserEntry[]): UserEntry[] {
  const sorted = users.toSorted(
    (a, b) => b.tally.refused - a.tally.refused || b.tally.admitted - a.tally.admitted,
  );
  return sorted.slice(0, usersMost);
}

/** The figures of a trace that is in memory. */
export function summarize(header: TraceHeader, calls: Iterable<TraceCall>): Summary {
  const summarizer = new Summarizer(header);
  for (const call of calls) summarizer.add(call);
  return summarizer.finish();
}
