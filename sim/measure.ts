// A simulated run as its figures alone: what sweeps and searches ask for, thousands of times. What `summarize` counts
// in the run's trace is counted here without an object per call, by the same rules.
import { type Rules, scopes } from "../src/rules/rules.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import { type Figures, type PopulationSummary, type Summary, waitShares } from "../src/summary/summary.ts";
import { Tally } from "../src/summary/tally.ts";
import type { ToldCall } from "../src/summary/told.ts";
import { CountedWaits } from "../src/summary/waits.ts";
import { isRefusal } from "../src/wire/outcome.ts";
import type { AnsweredCall } from "./answered-call.ts";
import * as Flight from "./flight-table.ts";
import { MeasuredWindows } from "./measured-windows.ts";
import { numberSteps, type SimulateOptions, worldOf } from "./simulate.ts";

/** The figures of one simulated run, whole and by population, as its summary has them. */
export interface Measurement extends Pick<Summary, "figures" | "populations" | "endedAt" | "records"> {
  /** Under a policy: refused calls by the quota that refused. */
  readonly refusedBy?: Readonly<Record<string, number>>;
}

/** Figures of organizations' and users' windows, which no other quota has. */
const ofWindows = {
  refusedByOrganization: null,
  refusedByUser: null,
  windowsExhausted: null,
  refusedFirstSecondShare: null,
} as const;

/**
 * Simulates a scenario and counts. The figures are those that `summarize` finds in the run's trace.
 * @throws what `simulate` and reading its `calls` throw
 *
 * @example
 * measure(scenario, { seed: 7 }).figures.refusedShare;
 */
export function measure(scenario: Scenario, options: SimulateOptions = {}): Measurement {
  const steps = measureSteps(scenario, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** State of a measurement under way. */
export interface MeasureStep {
  readonly calls: number;
  /** Virtual time, ms since the epoch. */
  readonly nowMs: number;
}

/** The same, a step at a time. */
export function* measureSteps(
  scenario: Scenario,
  options: SimulateOptions = {},
): Generator<MeasureStep, Measurement> {
  const { scenario: adjusted, rules, seating } = worldOf(scenario, options);
  const measurer = new Measurer(adjusted, rules);
  const steps = numberSteps(scenario, { ...options, seating }, (call) => measurer.add(call));
  for (let step = steps.next(); step.done !== true; step = steps.next())
    yield { calls: measurer.records, nowMs: step.value };
  return measurer.finish();
}

interface MeasuredPopulation {
  readonly place: number;
  readonly name: string;
  /** Number of clients that were seen: each has one call whose number is 0. */
  clients: number;
  readonly tally: Tally<CountedWaits>;
  /** Attempts that broke off, by client, job and attempt: a retry that follows one of them follows no refusal. */
  readonly broken: Set<string>;
}

// Integers a caller, and where each is: its organization's windows and its own; the population that called as it first,
// and the calls of that one that were admitted. What others of its populations had admitted is elsewhere: they are rare.
const INTS = 4;
const ORGANIZATION = 0;
const USER = 1;
const POPULATION = 2;
const ADMITTED_CALLS = 3;
const NONE = -1;

type End = ToldCall["end"];

/** Whose window a refusal names, by what a flight says. */
const refusers = {
  [Flight.ADMITTED]: null,
  [Flight.REFUSED_BY_ORGANIZATION]: "organization",
  [Flight.REFUSED_BY_USER]: "user",
} as const;

/** Counts a simulated run as it happens. */
class Measurer {
  readonly #scenario: Scenario;
  readonly #startAtMs: number;
  readonly #windows: MeasuredWindows;
  readonly #populations: (MeasuredPopulation | null)[];
  #callers = new Int32Array(64 * INTS).fill(NONE);
  /** Calls admitted of a caller by a population that was not its first: by caller, and then by place. */
  readonly #others = new Map<number, Map<number, number>>();
  /** In the order in which they first answered. */
  readonly #seen: MeasuredPopulation[] = [];
  #windowsExhausted = 0;
  /** Names of the policy's quotas, and refusals by each; `null` under rules. */
  readonly #quotas: readonly string[] | null;
  readonly #refusedBy: number[];
  records = 0;
  // Times are ms from the run's start, integers to compilers: of the last answer, and of the call that is counted.
  #endedMs = 0;
  #sentMs = 0;
  #receivedMs = 0;

  constructor(scenario: Scenario, rules: Rules) {
    this.#scenario = scenario;
    this.#quotas = scenario.policy === undefined ? null : Object.keys(scenario.policy.quotas);
    this.#refusedBy = (this.#quotas ?? []).map(() => 0);
    this.#windows = new MeasuredWindows(rules, scenario.startAtMs);
    this.#populations = scenario.populations.map(() => null);
    this.#startAtMs = scenario.startAtMs;
  }

  add(call: AnsweredCall): void {
    const population = this.#populations[call.population] ?? this.#newPopulation(call.population);
    const caller = call.caller * INTS;
    if (this.#callers[caller + ORGANIZATION] === undefined || this.#callers[caller + ORGANIZATION] === NONE)
      this.#newCaller(call);
    const { ints, doubles } = call.flights;
    this.#sentMs = (doubles[call.inDoubles + Flight.SENT] as number) - this.#startAtMs;
    this.#receivedMs = call.receivedMs - this.#startAtMs;
    this.#endedMs = Math.max(this.#endedMs, this.#receivedMs);
    this.records += 1;
    if (call.number === 0) population.clients += 1;
    const status = ints[call.inInts + Flight.STATUS] as number;
    const shown = ints[call.inInts + Flight.SHOWN] as number;
    const kind = (shown & Flight.UNCOUNTED) === 0 ? call.call.kind : "other";
    const end = kind === "call" ? outcomeOf(status, shown) : null;
    if (end !== null) this.#count(call, population, caller, end);
    else if (kind === "status") {
      population.tally.statusCalls += 1;
      this.#placeStatus(call, caller);
    }
    this.#place(call, population, caller, end);
  }

  #count(call: AnsweredCall, population: MeasuredPopulation, caller: number, end: End): void {
    const { tally } = population;
    const { attempt } = call;
    if (attempt === 0) tally.jobs += 1;
    else if (!forgets(population, call)) tally.retriedRefusals += 1;
    if (end === "unanswered") {
      tally.unanswered += 1;
      population.broken.add(jobOf(call, attempt));
      return;
    }
    this.#addAdmitted(caller, population.place, end === "refused" ? 0 : 1);
    if (end === "refused") {
      if (this.#quotas !== null) {
        const { refusingQuota } = call;
        this.#refusedBy[refusingQuota] = (this.#refusedBy[refusingQuota] as number) + 1;
      }
      tally.addRefusal(refusers[call.refusedBy]);
    } else this.#admit(call, tally);
  }

  /** @param caller where its integers begin */
  #addAdmitted(caller: number, place: number, calls: number): void {
    const callers = this.#callers;
    const first = callers[caller + POPULATION] as number;
    if (first === place)
      callers[caller + ADMITTED_CALLS] = (callers[caller + ADMITTED_CALLS] as number) + calls;
    else if (first === NONE) {
      callers[caller + POPULATION] = place;
      callers[caller + ADMITTED_CALLS] = calls;
    } else {
      const others = this.#others.get(caller) ?? new Map<number, number>();
      this.#others.set(caller, others.set(place, (others.get(place) ?? 0) + calls));
    }
  }

  #admit(call: AnsweredCall, tally: Tally<CountedWaits>): void {
    const { scope, actual } = call.call;
    const waitMs = this.#receivedMs + this.#startAtMs - call.wantedMs;
    tally.addAdmission(this.#receivedMs, Math.max(0, waitMs), scope === "graphql" ? actual : 0);
  }

  /** A status body tells of the organization's windows of both scopes. */
  #placeStatus(call: AnsweredCall, caller: number): void {
    const organization = this.#callers[caller + ORGANIZATION] as number;
    for (const [place, scope] of scopes.entries()) {
      const reset = call.statusReset(scope);
      if (!Number.isNaN(reset))
        this.#windows.place(organization, place, reset, this.#sentMs, this.#receivedMs);
    }
  }

  /** Every reading narrows its window down; only what refuses counts in a figure. */
  #place(call: AnsweredCall, population: MeasuredPopulation, caller: number, end: End | null): void {
    const windows = this.#windows;
    const { ints, doubles } = call.flights;
    const shown = ints[call.inInts + Flight.SHOWN] as number;
    const at = call.inDoubles;
    const [sentMs, receivedMs] = [this.#sentMs, this.#receivedMs];
    // Scopes are numbers to windows, in their order.
    const scope = call.call.scope === "rest" ? 0 : 1;
    const refusedBy = end === "refused" ? shown & Flight.REFUSER : Flight.ADMITTED;
    if ((shown & Flight.SHOWS_ORGANIZATION) !== 0) {
      const organization = this.#callers[caller + ORGANIZATION] as number;
      const reset = doubles[at + Flight.RESET] as number;
      const window = windows.place(organization, scope, reset, sentMs, receivedMs);
      if (refusedBy === Flight.REFUSED_BY_ORGANIZATION) this.#exhaust(window, population);
      const isCounted = end !== null && end !== "unanswered";
      if (isCounted && windows.endedJustBefore(organization, scope, sentMs))
        population.tally.addAfterReset(end === "refused");
    }
    if ((shown & Flight.SHOWS_USER) !== 0) {
      const user = this.#callers[caller + USER] as number;
      const reset = doubles[at + Flight.USER_RESET] as number;
      const window = windows.place(user, scope, reset, sentMs, receivedMs);
      if (refusedBy === Flight.REFUSED_BY_USER) this.#exhaust(window, population);
    }
  }

  #exhaust(window: number, { place, tally }: MeasuredPopulation): void {
    const refused = this.#windows.refused(window);
    if (refused.length === 0) this.#windowsExhausted += 1;
    if (refused[place] === true) return;
    refused[place] = true;
    tally.windowsExhausted += 1;
  }

  #newPopulation(place: number): MeasuredPopulation {
    const { name } = this.#scenario.populations[place] as Scenario["populations"][number];
    const tally = new Tally(new CountedWaits());
    const population = { place, name, clients: 0, tally, broken: new Set<string>() };
    this.#populations[place] = population;
    this.#seen.push(population);
    return population;
  }

  #newCaller({ caller, seat }: AnsweredCall): void {
    if ((caller + 1) * INTS > this.#callers.length) {
      const larger = new Int32Array(2 * (caller + 1) * INTS).fill(NONE);
      larger.set(this.#callers);
      this.#callers = larger;
    }
    this.#callers[caller * INTS + ORGANIZATION] = this.#windows.organization(seat);
    this.#callers[caller * INTS + USER] = this.#windows.user();
  }

  /** The figures of the run. */
  finish(): Measurement {
    const whole = new Tally(new CountedWaits());
    for (const { tally } of this.#seen) whole.merge(tally);
    whole.windowsExhausted = this.#windowsExhausted;
    const refusals = this.#quotas?.map((name, place) => [name, this.#refusedBy[place] as number] as const);
    const { all, byPlace } = this.#admitted();
    return {
      figures: this.#figures(whole, all),
      populations: this.#seen.map(({ place, name, clients, tally }): PopulationSummary => {
        const figures = this.#figures(tally, byPlace[place] as readonly number[]);
        return { name, clients, figures, waitsMs: tally.waits.quantiles(waitShares) };
      }),
      endedAt: this.#startAtMs + this.#endedMs,
      records: this.records,
      ...(refusals === undefined ? {} : { refusedBy: Object.fromEntries(refusals) }),
    };
  }

  #figures(tally: Tally<CountedWaits>, admitted: readonly number[]): Figures {
    const figures = tally.figures(admitted);
    return this.#quotas === null ? figures : { ...figures, ...ofWindows };
  }

  /** The calls admitted for each user that was answered: by all, and by each population. */
  #admitted(): { readonly all: readonly number[]; readonly byPlace: readonly (readonly number[])[] } {
    const all: number[] = [];
    const byPlace = this.#populations.map((): number[] => []);
    const callers = this.#callers;
    for (let caller = 0; caller < callers.length; caller += INTS) {
      const first = callers[caller + POPULATION] as number;
      if (first === NONE) continue;
      let sum = callers[caller + ADMITTED_CALLS] as number;
      byPlace[first]?.push(sum);
      for (const [place, calls] of this.#others.get(caller) ?? []) {
        byPlace[place]?.push(calls);
        sum += calls;
      }
      all.push(sum);
    }
    return { all, byPlace };
  }
}

/** Returns the end of a call that a quota counts. */
const outcomeOf = (status: number, shown: number): End =>
  Flight.isAnswered(status, shown) ? (isRefusal(status) ? "refused" : "admitted") : "unanswered";

/** A job's attempt: its client's index in the population, when the job was wanted, which attempt. */
const jobOf = ({ index, wantedMs }: AnsweredCall, attempt: number): string =>
  `${index}/${wantedMs}/${attempt}`;

/** Tells whether a retry follows an attempt that broke off, which is forgotten then. */
function forgets({ broken }: MeasuredPopulation, call: AnsweredCall): boolean {
  return broken.size > 0 && broken.delete(jobOf(call, call.attempt - 1));
}
