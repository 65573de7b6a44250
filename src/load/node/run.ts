// A scenario's clients in real time, in Node. One scheduler drives all of them from the first call to the last answer.
//
// It knows no signal, writes no file and prints nothing, so it may run in a thread of its own. Its input and output are
// plain data, except for the scenario's functions. An abort signal ends it early.
import type { Dispatcher } from "undici";
import { type ConnectionOptions, openDispatcher } from "../../connect/connection.ts";
import { parseTarget, type Target } from "../../connect/target.ts";
import { type CallTemplate, type ClientRecord, startRecord } from "../../scenario/client.ts";
import type { Stay } from "../../scenario/fleet.ts";
import { type Population, type Scenario, startDelayMs } from "../../scenario/scenario.ts";
import { userPlace } from "../../scenario/seats.ts";
import { Account, type LoadAccount } from "../account.ts";
import { driveFreely } from "../drive.ts";
import type { LedgerSettings } from "../ledger.ts";
import type { FailedCheck } from "../outcome.ts";
import { PolicyBook } from "../policy-ledger.ts";
import type { Addresses, RequestParts } from "../request.ts";
import { plannedStays, stayInRun } from "../stays.ts";
import { type SeenWindow, TightestWindow } from "../tightest-window.ts";
import { type ClientRun, NodeClient } from "./client.ts";
import { Flights, type ReadyRequest } from "./flights.ts";
import type { Lateness } from "./lateness.ts";
import { type RunClock, Scheduler, wallClock } from "./scheduler.ts";

/** Greatest number of connections to an origin, and of calls on the way. Most systems allow a process 1,024 files. */
export const connectionsMost = 900;

/** A run without its scenario's functions. Plain data. */
export interface NodeTask extends ConnectionOptions {
  /** Values that replace the scenario's own. */
  readonly changes: Pick<Scenario, "seed" | "durationMs" | "startAtMs" | "rules" | "policy">;
  readonly settings: Omit<LedgerSettings, "scenario"> & Addresses;
  readonly timeoutMs: number;
  /** Start in the trace header, ms since the epoch. */
  readonly startedAt: number;
}

/** News since the part before, and the account of the run until now. Plain data. */
export interface NodePart {
  /** Lines of the trace, without the last one's end. */
  readonly lines: string;
  /** Number of these lines. */
  readonly count: number;
  readonly account: LoadAccount;
  /** Checks that answers failed, the most frequent one first. */
  readonly checks: readonly FailedCheck[];
  readonly lateness: Lateness;
  readonly elapsedMs: number;
  /** Window with the least left; `null` if none is known. */
  readonly tightest: SeenWindow | null;
}

/**
 * Runs the clients of a scenario, wherever its functions are.
 * @param signal ends the run: nothing more is sent, and calls on the way are cut off
 */
export type NodeDrive = (task: NodeTask, signal: AbortSignal) => AsyncIterable<NodePart>;

export interface NodeRunOptions {
  readonly signal: AbortSignal;
  /** Default: the wall clock. */
  readonly clock?: RunClock | undefined;
  /** Opens the way to an origin. Default: HTTP. */
  readonly open?: typeof openDispatcher | undefined;
}

/** Longest time between two parts, ms. */
const partMostMs = 500;
/** Time after which a written line is told, ms. */
const lineMs = 25;

/** Runs a scenario to its end in this thread. */
export async function* driveHere(
  scenario: Scenario,
  task: NodeTask,
  options: NodeRunOptions,
): AsyncGenerator<NodePart, void, undefined> {
  const run = new NodeRun({ ...scenario, ...task.changes }, task, options);
  try {
    yield* run.toTheEnd();
  } finally {
    await run.close();
  }
}

/** A run, as its clients see it. */
class NodeRun implements ClientRun {
  readonly settings: LedgerSettings & Addresses;
  readonly book: PolicyBook | null;
  readonly flights: Flights;
  readonly tightest = new TightestWindow();
  readonly #task: NodeTask;
  readonly #options: NodeRunOptions;
  readonly #clock: RunClock;
  readonly #scheduler: Scheduler;
  readonly #rest: Target;
  readonly #graphql: Target;
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #account: Account;
  readonly #failedChecks = new Map<string, number>();
  /** Lines that no part has yet. */
  #lines: string[] = [];
  #tellsSoon = false;
  #hasNews = false;
  #wake: () => void = () => {};
  /** Number of clients and populations that are not over. */
  #open = 0;
  #lost = 0;
  #startMs = 0;
  #endMs = 0;
  #isOver = false;

  constructor(scenario: Scenario, task: NodeTask, options: NodeRunOptions) {
    const { clock = wallClock } = options;
    this.settings = { ...task.settings, scenario };
    this.book = scenario.policy === undefined ? null : new PolicyBook(scenario.policy);
    this.#rest = parseTarget("target", task.settings.base);
    this.#graphql = parseTarget("graphql-url", task.settings.graphqlUrl);
    this.#task = task;
    this.#options = options;
    this.#clock = clock;
    this.#scheduler = new Scheduler(clock);
    const { timeoutMs } = task;
    this.flights = new Flights({ clock, scheduler: this.#scheduler, timeoutMs, most: connectionsMost });
    this.#account = new Account(task.startedAt);
  }

  now(): number {
    return this.#clock.now();
  }

  at(atMs: number, action: () => void): void {
    this.#scheduler.at(atMs, action);
  }

  route(template: CallTemplate, { method, url, headers, body }: RequestParts): ReadyRequest {
    const target = this.#targetOf(template);
    return {
      dispatcher: this.#dispatcher(target),
      options: {
        origin: target.origin,
        path: url === null ? "/" : this.path(template, url),
        method,
        headers: Object.entries({ "User-Agent": "spillway", ...headers }).flat(),
        body: body === null ? null : Buffer.from(body),
      },
      keepsBody:
        this.book === null
          ? template.scope === "graphql" || template.kind === "status"
          : this.book.readsBodies,
      keepsHeaders: this.book !== null,
    };
  }

  path(template: CallTemplate, url: string): string {
    return url.slice(this.#targetOf(template).origin.length) || "/";
  }

  wrote(line: string, fault: string | null, status: number, sent: number, received: number): void {
    this.#lines.push(line);
    this.#account.call({ status, sent, received });
    if (fault !== null) this.#failedChecks.set(fault, (this.#failedChecks.get(fault) ?? 0) + 1);
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    this.at(received + lineMs, () => this.#tell());
  }

  /** Runs all clients, and yields parts until the last client has ended, or the run was cut short. */
  async *toTheEnd(): AsyncGenerator<NodePart, void, undefined> {
    const { signal } = this.#options;
    const cut = (): void => this.#cut();
    this.#begin();
    signal.addEventListener("abort", cut);
    if (signal.aborted) this.#cut();
    try {
      for (;;) {
        await this.#news();
        const isOver = this.#isOver;
        yield this.#part();
        if (isOver) return;
      }
    } finally {
      signal.removeEventListener("abort", cut);
    }
  }

  async close(): Promise<void> {
    this.#scheduler.close();
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }

  #targetOf({ scope }: CallTemplate): Target {
    return scope === "graphql" ? this.#graphql : this.#rest;
  }

  #dispatcher(target: Target): Dispatcher {
    const { tls, proxy, timeoutMs } = this.#task;
    const { open = openDispatcher } = this.#options;
    const limits = { connections: connectionsMost, connectTimeoutMs: timeoutMs };
    const dispatcher = this.#dispatchers.get(target.origin) ?? open(target, { tls, proxy, ...limits });
    this.#dispatchers.set(target.origin, dispatcher);
    return dispatcher;
  }

  /** Prepares and starts the clients. Everything slow comes before the start. */
  #begin(): void {
    const { scenario } = this.settings;
    const { durationMs, populations } = scenario;
    const closed = populations.flatMap((population, place) =>
      Array.from({ length: population.clients ?? 0 }, (_, index) => this.#seat(population, place, index)),
    );
    this.#startMs = this.now();
    this.#endMs = this.#startMs + durationMs;
    for (const seat of closed) {
      const { population, record } = seat;
      const delayMs = population.arrivals === null ? startDelayMs(population, record) : 0;
      this.#plan(seat, { startMs: this.#startMs + delayMs, endMs: this.#endMs });
    }
    for (const [place, population] of populations.entries())
      if (population.arrivals !== null) this.#receive(population, place);
    this.#report();
    this.#endIfDone();
  }

  #seat(population: Population, place: number, index: number): Seated {
    const { scenario, callers } = this.settings;
    const record = startRecord(
      population.behaviour,
      scenario.seed,
      place,
      index,
      userPlace(population, index),
    );
    const seats = callers[place] ?? [];
    const caller = seats[index % seats.length];
    if (caller === undefined) throw new RangeError(`no user for ${population.name}/${index}`);
    const name = `${population.name}/${index}`;
    return { population, record, name, world: new NodeClient(this, population, name, caller) };
  }

  #plan(seat: Seated, stay: Stay): void {
    if (stay.startMs >= stay.endMs) return;
    this.#open += 1;
    this.at(stay.startMs, () => this.#letGo(seat, stay));
  }

  /** Lets the clients of an open population come, each when it is due. */
  #receive(population: Population, place: number): void {
    const coming = this.#coming(population, place);
    const come = (): void => {
      const { done, value } = coming.next();
      if (done === true) this.#ended();
      else this.at(value, come);
    };
    this.#open += 1;
    this.at(this.#startMs, come);
  }

  /** Starts every client that is due, and yields when the next one is. */
  *#coming(population: Population, place: number): Generator<number, void> {
    const { arrivals } = population;
    if (arrivals === null) return;
    let index = 0;
    for (const planned of plannedStays(this.settings.scenario, place)) {
      const stay = stayInRun(arrivals, planned, this.#startMs, this.#endMs);
      if (stay !== null) {
        while (stay.startMs > this.now()) yield stay.startMs;
        this.#open += 1;
        this.#letGo(this.#seat(population, place, index), stay);
      }
      index += 1;
    }
  }

  /** Runs a client's life. */
  #letGo({ population, record, name, world }: Seated, { startMs, endMs }: Stay): void {
    const { behaviour, onRefused } = population;
    this.#account.begin(name, this.#startMs);
    world.endMs = endMs;
    const ended = (): void => {
      this.#account.end(name);
      this.#ended();
    };
    driveFreely({ behaviour, onRefused, record, startMs, endMs }, world, ended, (thrown) => {
      const message = thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
      this.#account.fail(name, message);
      ended();
      // A behaviour that throws does so in every client.
      this.#cut();
    });
  }

  #ended(): void {
    this.#open -= 1;
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#open > 0) return;
    this.#isOver = true;
    this.#tell();
  }

  /** Ends the run now. Calls on the way may have been counted. */
  #cut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#scheduler.close();
    this.#lost = this.flights.close();
    this.#tell();
  }

  /** Tells the run's progress, now and at regular times. */
  #report(): void {
    this.#tell();
    this.at(this.now() + partMostMs, () => this.#report());
  }

  /** Hands over a part as soon as somebody takes one. */
  #tell(): void {
    this.#tellsSoon = false;
    this.#hasNews = true;
    this.#wake();
  }

  async #news(): Promise<void> {
    if (!this.#hasNews)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#hasNews = false;
  }

  #part(): NodePart {
    const lines = this.#lines;
    this.#lines = [];
    const nowMs = this.now();
    const checks = [...this.#failedChecks].map(([name, fails]) => ({ name, fails }));
    return {
      lines: lines.join("\n"),
      count: lines.length,
      account: this.#account.finish(this.#lost),
      checks: checks.sort((a, b) => b.fails - a.fails),
      lateness: this.flights.lateness.read(),
      elapsedMs: nowMs - this.#startMs,
      tightest: this.tightest.read(nowMs),
    };
  }
}

/** A client before its life. */
interface Seated {
  readonly population: Population;
  readonly record: ClientRecord;
  readonly name: string;
  readonly world: NodeClient;
}
