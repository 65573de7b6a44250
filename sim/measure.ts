// A simulated run as figures alone, which sweeps and searches need thousands of times. The figures equal those that
// `summarize` counts in the run's trace, without an object per call.
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

/** Figures of one simulated run, whole and by population, as in its summary. */
export interface Measurement extends Pick<Summary, "figures" | "populations" | "endedAt" | "records"> {
  /** Under a policy: number of refused calls by the quota that refused. */
  readonly refusedBy?: Readonly<Record<string, number>>;
}

/** Figures of organizations' and users' windows, which policies lack. */
const ofWindows = {
  refusedByOrganization: null,
  refusedByUser: null,
  windowsExhausted: null,
  refusedFirstSecondShare: null,
} as const;

/**
 * Simulates a scenario and counts its calls. The figures equal those of `summarize` on the run's trace.
 * @throws the errors of `simulate` and of reading its `calls`
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

/** Progress of a measurement. */
export interface MeasureStep {
  readonly calls: number;
  /** Virtual time, ms since the epoch. */
  readonly nowMs: number;
}

/** Measures like `measure`, a step at a time. */
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
  /** Number of clients that called: each has one call whose number is 0. */
  clients: number;
  readonly tally: Tally<CountedWaits>;
  /** Unanswered attempts, by client, job and attempt: a retry after one of these follows no refusal. */
  readonly broken: Set<string>;
}

// Number of integers per caller, and their places: its organization's windows, its own windows, its first population,
// and the admitted calls of that population. `#others` has those of its other populations, which are rare.
const INTS = 4;
const ORGANIZATION = 0;
const USER = 1;
const POPULATION = 2;
const ADMITTED_CALLS = 3;
const NONE = -1;

type End = ToldCall["end"];

/** Owner that a refusal names, by the refuser in the flight. */
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
  /** Number of admitted calls of a caller's populations after its first: by caller, then by the population's place. */
  readonly #others = new Map<number, Map<number, number>>();
  /** Populations in the order of their first answers. */
  readonly #seen: MeasuredPopulation[] = [];
  #windowsExhausted = 0;
  /** Names of the policy's quotas, and refusals by each; `null` under rules. */
  readonly #quotas: readonly string[] | null;
  readonly #refusedBy: number[];
  records = 0;
  // Times of the last answer and of the current call, ms from the run's start, which compilers keep as integers.
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
    const { kind } = call;
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

  /** @param caller place where the caller's integers begin */
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

  /** Places the organization's windows of both scopes, which a status body shows. */
  #placeStatus(call: AnsweredCall, caller: number): void {
    const organization = this.#callers[caller + ORGANIZATION] as number;
    for (const [place, scope] of scopes.entries()) {
      const reset = call.statusReset(scope);
      if (!Number.isNaN(reset))
        this.#windows.place(organization, place, reset, this.#sentMs, this.#receivedMs);
    }
  }

  /** Places the windows in the headers: each reading narrows its window, and refusals and resets are counted. */
  #place(call: AnsweredCall, population: MeasuredPopulation, caller: number, end: End | null): void {
    const windows = this.#windows;
    const { ints, doubles } = call.flights;
    const shown = ints[call.inInts + Flight.SHOWN] as number;
    const at = call.inDoubles;
    const [sentMs, receivedMs] = [this.#sentMs, this.#receivedMs];
    // `MeasuredWindows` numbers the scopes in their order.
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
    this.#callers[caller * INTS + USER] = this.#windows.newOwner();
  }

  /** Returns the figures of the run. */
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

  /** Returns the number of admitted calls of each user that got an answer: over all populations, and by population. */
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

/** Returns the key of a job's attempt: the client's index in the population, the job's wanted time, and the attempt. */
const jobOf = ({ index, wantedMs }: AnsweredCall, attempt: number): string =>
  `${index}/${wantedMs}/${attempt}`;

/** Tells whether a retry follows an unanswered attempt, and forgets that attempt. */
function forgets({ broken }: MeasuredPopulation, call: AnsweredCall): boolean {
  return broken.size > 0 && broken.delete(jobOf(call, call.attempt - 1));
}
