// A simulated run as its figures alone: what sweeps and searches ask for, thousands of times. What `summarize` counts
// in the run's trace is counted here without an object per call, by the same rules.
import type { Rules } from "../src/rules/rules.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import { type Figures, type PopulationSummary, type Summary, waitShares } from "../src/summary/summary.ts";
import { Tally } from "../src/summary/tally.ts";
import { CountedWaits } from "../src/summary/waits.ts";
import { endedJustBefore } from "../src/summary/window-ends.ts";
import { isRefusal } from "../src/wire/outcome.ts";
import type { AnsweredCall } from "./answered-call.ts";
import { ADMITTED, REFUSED_BY_ORGANIZATION } from "./flight-table.ts";
import { type CallerWindows, type MeasuredWindow, MeasuredWindows } from "./measured-windows.ts";
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

interface MeasuredCaller {
  readonly windows: CallerWindows;
  /** Calls admitted, by place of the population; `null` where none was answered. */
  readonly admitted: (number | null)[];
}

/** Counts a simulated run as it happens. */
class Measurer {
  readonly #scenario: Scenario;
  readonly #windows: MeasuredWindows;
  readonly #populations: (MeasuredPopulation | null)[];
  readonly #callers: (MeasuredCaller | null)[] = [];
  /** In the order in which they first answered. */
  readonly #seen: MeasuredPopulation[] = [];
  #windowsExhausted = 0;
  /** Names of the policy's quotas, and refusals by each; `null` under rules. */
  readonly #quotas: readonly string[] | null;
  readonly #refusedBy: number[];
  records = 0;
  #endedAt: number;

  constructor(scenario: Scenario, rules: Rules) {
    this.#scenario = scenario;
    this.#quotas = scenario.policy === undefined ? null : Object.keys(scenario.policy.quotas);
    this.#refusedBy = (this.#quotas ?? []).map(() => 0);
    this.#windows = new MeasuredWindows(rules);
    this.#populations = scenario.populations.map(() => null);
    this.#endedAt = scenario.startAtMs;
  }

  add(call: AnsweredCall): void {
    const population = this.#populations[call.population] ?? this.#newPopulation(call.population);
    const caller = this.#callers[call.caller] ?? this.#newCaller(call);
    this.records += 1;
    this.#endedAt = Math.max(this.#endedAt, call.receivedMs);
    if (call.number === 0) population.clients += 1;
    const { kind } = call;
    if (kind === "call") this.#count(call, population, caller);
    else if (kind === "status") {
      population.tally.statusCalls += 1;
      this.#placeStatus(call, caller);
    }
    this.#place(call, population, caller);
  }

  #count(call: AnsweredCall, population: MeasuredPopulation, caller: MeasuredCaller): void {
    const { tally } = population;
    const { attempt, isAnswered, status } = call;
    if (attempt === 0) tally.jobs += 1;
    else if (!forgets(population, call)) tally.retriedRefusals += 1;
    if (!isAnswered) {
      tally.unanswered += 1;
      population.broken.add(jobOf(call, attempt));
      return;
    }
    const admitted = caller.admitted[population.place] ?? 0;
    caller.admitted[population.place] = isRefusal(status) ? admitted : admitted + 1;
    if (isRefusal(status)) {
      if (this.#quotas !== null) {
        const { refusingQuota } = call;
        this.#refusedBy[refusingQuota] = (this.#refusedBy[refusingQuota] as number) + 1;
      }
      const { refusedBy } = call;
      tally.addRefusal(
        refusedBy === ADMITTED ? null : refusedBy === REFUSED_BY_ORGANIZATION ? "organization" : "user",
      );
    } else this.#admit(call, tally);
  }

  #admit(call: AnsweredCall, tally: Tally<CountedWaits>): void {
    const { receivedMs } = call;
    const { scope, actual } = call.call;
    const waitMs = Math.max(0, receivedMs - call.wantedMs);
    tally.addAdmission(receivedMs - this.#scenario.startAtMs, waitMs, scope === "graphql" ? actual : 0);
  }

  /** A status body tells of the organization's windows of both scopes. */
  #placeStatus(call: AnsweredCall, { windows }: MeasuredCaller): void {
    const { sentMs, receivedMs } = call;
    const [rest, graphql] = [call.statusReset("rest"), call.statusReset("graphql")];
    if (!Number.isNaN(rest)) windows.organization.rest.place(rest, sentMs, receivedMs);
    if (!Number.isNaN(graphql)) windows.organization.graphql.place(graphql, sentMs, receivedMs);
  }

  /** Every reading narrows its window down; only what refuses counts in a figure. */
  #place(call: AnsweredCall, population: MeasuredPopulation, { windows }: MeasuredCaller): void {
    const { sentMs, receivedMs } = call;
    const { scope } = call.call;
    const broad = windows.organization[scope];
    const organization = call.showsOrganization ? broad.place(call.reset, sentMs, receivedMs) : null;
    const user = call.showsUser ? windows.user[scope].place(call.userReset, sentMs, receivedMs) : null;
    if (call.kind !== "call" || !call.isAnswered) return;
    const refused = isRefusal(call.status);
    if (organization !== null && endedJustBefore(broad.windows, sentMs))
      population.tally.addAfterReset(refused);
    if (!refused || call.refusedBy === ADMITTED) return;
    const refusing = call.refusedBy === REFUSED_BY_ORGANIZATION ? organization : user;
    if (refusing !== null) this.#exhaust(refusing, population);
  }

  #exhaust(window: MeasuredWindow, { place, tally }: MeasuredPopulation): void {
    if (window.refused === null) {
      window.refused = [];
      this.#windowsExhausted += 1;
    }
    if (window.refused[place] === true) return;
    window.refused[place] = true;
    tally.windowsExhausted += 1;
  }

  #newPopulation(place: number): MeasuredPopulation {
    const { name } = this.#scenario.populations[place] as Scenario["populations"][number];
    const population = {
      place,
      name,
      clients: 0,
      tally: new Tally(new CountedWaits()),
      broken: new Set<string>(),
    };
    this.#populations[place] = population;
    this.#seen.push(population);
    return population;
  }

  #newCaller(call: AnsweredCall): MeasuredCaller {
    const admitted = this.#scenario.populations.map(() => null);
    const caller: MeasuredCaller = { windows: this.#windows.of(call.seat), admitted };
    // Filled up, since an array with holes would become a dictionary.
    while (this.#callers.length < call.caller) this.#callers.push(null);
    this.#callers[call.caller] = caller;
    return caller;
  }

  /** The figures of the run. */
  finish(): Measurement {
    const whole = new Tally(new CountedWaits());
    for (const { tally } of this.#seen) whole.merge(tally);
    whole.windowsExhausted = this.#windowsExhausted;
    return {
      figures: this.#figures(whole, null),
      populations: this.#seen.map((population) => this.#summarize(population)),
      endedAt: this.#endedAt,
      records: this.records,
      ...(this.#quotas === null
        ? {}
        : {
            refusedBy: Object.fromEntries(
              this.#quotas.map((name, place) => [name, this.#refusedBy[place] as number]),
            ),
          }),
    };
  }

  #figures(tally: Tally<CountedWaits>, place: number | null): Figures {
    const figures = tally.figures(this.#admitted(place));
    return this.#quotas === null ? figures : { ...figures, ...ofWindows };
  }

  #summarize({ place, name, clients, tally }: MeasuredPopulation): PopulationSummary {
    const figures = this.#figures(tally, place);
    return { name, clients, figures, waitsMs: tally.waits.quantiles(waitShares) };
  }

  /** The calls admitted for each user that was answered, by one population or all. */
  #admitted(place: number | null): number[] {
    return this.#callers.flatMap((caller) => {
      const counts = (caller?.admitted ?? []).filter((count, at) => count !== null && at === (place ?? at));
      return counts.length === 0 ? [] : counts.reduce((sum: number, count) => sum + (count ?? 0), 0);
    });
  }
}

/** A job's attempt: its client's index in the population, when the job was wanted, which attempt. */
const jobOf = ({ index, wantedMs }: AnsweredCall, attempt: number): string =>
  `${index}/${wantedMs}/${attempt}`;

/** Tells whether a retry follows an attempt that broke off, which is forgotten then. */
function forgets({ broken }: MeasuredPopulation, call: AnsweredCall): boolean {
  return broken.size > 0 && broken.delete(jobOf(call, call.attempt - 1));
}
