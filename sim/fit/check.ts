// Checks a fit against its own recording. It simulates the scenario over the time that it was fitted to. Then it
// compares each population's figures with the recorded ones.
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { isRefusal } from "../../src/wire/outcome.ts";
import { simulateNumbers } from "../simulate.ts";
import { type CheckedFigure, type CheckRow, checkedFigures, type FitCheck } from "./check-result.ts";
import { findingText } from "./check-text.ts";
import { dayMs } from "./days.ts";
import type { Fit } from "./fit.ts";
import { isRefused } from "./jobs.ts";
import { limitsOf } from "./limits.ts";
import { fittedScenario } from "./source.ts";
import { SortedSample } from "./statistics.ts";

const defaultSeeds = 20;
/** Number of simulated calls after which no simulation is begun, if `seedsLeast` are done. */
const callsMost = 10_000_000;
const seedsLeast = 5;

type Figures = Readonly<Record<CheckedFigure, number>>;

/** Number of simulations that are done, and the most that there will be. */
export interface SimulationsDone {
  readonly done: number;
  readonly of: number;
}

/** Checks a fit, and yields before each simulation. */
export function* checkSteps(fit: Fit, seeds = defaultSeeds): Generator<SimulationsDone, FitCheck> {
  const { model, recording } = fit;
  const startAtMs = checkedFromMs(fit);
  const durationMs = Math.max(1, Math.ceil(recording.endedAtMs - startAtMs));
  const scenario = adjustScenario(fittedScenario(model), { startAtMs, durationMs, policy: model.policy });
  const names = model.populations.map(({ name }) => name);
  const recorded = recordedFigures(fit);
  const runs: Figures[][] = [];
  let calls = 0;
  while (runs.length < seeds && (calls < callsMost || runs.length < seedsLeast)) {
    yield { done: runs.length, of: seeds };
    const books = booksOf(fit);
    simulateNumbers(scenario, { seed: runs.length + 1 }, (call) => {
      calls += 1;
      if (call.sentMs >= recording.endedAtMs) return;
      const waitMs = call.receivedMs - call.wantedMs;
      books[call.population]?.add(call.sentMs, isRefusal(call.status), waitMs);
    });
    runs.push(figuresOf(books));
  }
  const rows = recorded.flatMap((figures, place) =>
    checkedFigures.map((figure) =>
      rowOf(
        names[place] ?? null,
        figure,
        figure.startsWith("wait") && !recording.knowsDurations ? null : figures[figure],
        runs.map((run) => (run[place] as Figures)[figure]),
      ),
    ),
  );
  const isWhole = ({ population }: CheckRow): number => (population === null ? 0 : 1);
  const off = rows.filter((row) => row.off).sort((a, b) => isWhole(a) - isWhole(b));
  return {
    seeds: runs.length,
    rows,
    error: errorOf(rows),
    why: whyOf(rows, durationMs),
    findings: off.map(findingText),
  };
}

/** Least share of a recording that is enough to check against. */
const checkedLeast = 0.1;

/** Returns when the check begins: if possible after the last caller joined, as the scenario has all from its start. */
function checkedFromMs({ model, recording }: Fit): number {
  const left = recording.endedAtMs - model.settledAtMs;
  return left >= checkedLeast * (recording.endedAtMs - model.startAtMs) ? model.settledAtMs : model.startAtMs;
}

/** Counts of one population's calls. */
class Book {
  readonly #windowMs: number;
  readonly #fromMs: number;
  readonly admitted: Float64Array;
  readonly offered: Float64Array;
  readonly waitsMs: number[] = [];
  calls = 0;
  refused = 0;

  constructor(windowMs: number, startMs: number, endMs: number) {
    this.#windowMs = windowMs;
    this.#fromMs = Math.floor(startMs / windowMs) * windowMs;
    const count = Math.max(1, Math.ceil((endMs - this.#fromMs) / windowMs));
    this.admitted = new Float64Array(count);
    this.offered = new Float64Array(count);
  }

  /** @param waitMs time from the wish to the answer; `null` if unknown */
  add(atMs: number, refused: boolean, waitMs: number | null): void {
    const place = Math.floor((atMs - this.#fromMs) / this.#windowMs);
    this.calls += 1;
    (this.offered[place] as number) += 1;
    if (refused) {
      this.refused += 1;
      return;
    }
    (this.admitted[place] as number) += 1;
    if (waitMs !== null) this.waitsMs.push(waitMs);
  }
}

function booksOf(fit: Fit): Book[] {
  const { model, recording } = fit;
  const fromMs = checkedFromMs(fit);
  const limits = limitsOf(model);
  return model.populations.map(({ organization, mix }) => {
    const { windowSeconds } = limits.windowOf(organization, mix[0]?.operation ?? "rest");
    return new Book(windowSeconds * 1000, fromMs, recording.endedAtMs);
  });
}

function recordedFigures(fit: Fit): Figures[] {
  const books = booksOf(fit);
  const fromMs = checkedFromMs(fit);
  for (const [place, profiles] of fit.members.entries())
    for (const { caller, jobs } of profiles) {
      const book = books[place] as Book;
      const waits = new Map(jobs.map((job) => [job.last, job.last.endMs - job.startMs] as const));
      for (const call of caller.calls)
        if (call.atMs >= fromMs) book.add(call.atMs, isRefused(call), waits.get(call) ?? null);
    }
  return figuresOf(books);
}

/** Returns the figures of each population, and of all together if they have equally many windows. */
function figuresOf(books: readonly Book[]): Figures[] {
  const figures = books.map((book) => figuresOfBook(book));
  const [first] = books;
  if (first === undefined || books.some(({ offered }) => offered.length !== first.offered.length))
    return figures;
  const all = new Book(1, 0, first.offered.length);
  for (const book of books) {
    all.calls += book.calls;
    all.refused += book.refused;
    for (let place = 0; place < all.offered.length; place++) {
      all.offered[place] = (all.offered[place] as number) + (book.offered[place] as number);
      all.admitted[place] = (all.admitted[place] as number) + (book.admitted[place] as number);
    }
    for (const waitMs of book.waitsMs) all.waitsMs.push(waitMs);
  }
  return [...figures, figuresOfBook(all)];
}

function figuresOfBook({ calls, refused, admitted, offered, waitsMs }: Book): Figures {
  const windows = new SortedSample(admitted);
  const waits = new SortedSample(waitsMs);
  return {
    calls,
    refused,
    admittedP50: windows.median,
    admittedP95: windows.quantile(0.95),
    admittedMost: windows.most,
    waitP50Ms: waits.median,
    waitP95Ms: waits.quantile(0.95),
    waitP99Ms: waits.quantile(0.99),
    busiest: new SortedSample(offered).most,
  };
}

/** A figure is off if it differs from the simulations' mean by more than this many of their deviations, ... */
const deviationsMost = 4;
/** ... by more than this share of the greater of figure and mean, ... */
const shareMost = 0.03;
/** ... and by more than this number of calls or ms: a small difference never counts. */
const leastOff: Readonly<Record<CheckedFigure, number>> = {
  calls: 5,
  refused: 3,
  admittedP50: 1,
  admittedP95: 1,
  admittedMost: 3,
  waitP50Ms: 20,
  waitP95Ms: 100,
  waitP99Ms: 1_000,
  busiest: 3,
};

function rowOf(
  population: string | null,
  figure: CheckedFigure,
  recorded: number | null,
  simulated: readonly number[],
): CheckRow {
  const sample = new SortedSample(simulated);
  const apart = recorded === null ? Number.NaN : Math.abs(recorded - sample.mean);
  const off =
    recorded !== null &&
    apart > deviationsMost * sample.deviation &&
    apart > shareMost * Math.max(recorded, sample.mean) &&
    apart > leastOff[figure];
  return {
    population,
    figure,
    recorded,
    least: sample.least,
    middle: sample.median,
    most: sample.most,
    off,
  };
}

/**
 * Returns the reason if windows are too full. Callers whom one event wakes fill a window more than independent ones. If it
 * is the busy windows alone, callers gather at times within hours, which a day or more can tell from chance.
 */
export function whyOf(rows: readonly CheckRow[], recordedMs: number): string | null {
  const last = rows.at(-1)?.population ?? null;
  const whole = rows.filter(({ population }) => population === last);
  const isAbove = (figure: CheckedFigure): boolean =>
    whole.some((row) => row.figure === figure && row.off && (row.recorded as number) > row.most);
  // If the usual window is off, too, the populations themselves are wrong.
  const usual = whole.find(({ figure }) => figure === "admittedP50");
  if (usual?.off !== false) return null;
  const isAlike = (figure: CheckedFigure): boolean => whole.every((row) => row.figure !== figure || !row.off);
  if (recordedMs >= dayMs && isAbove("admittedP95") && isAlike("busiest") && isAlike("calls"))
    return "busy windows are fuller than simulated, but the usual and the fullest ones are not: callers gather at times within hours, as at bells or shifts, and the scenario's rhythm tells hours alone";
  if (!isAbove("busiest") || !isAbove("refused")) return null;
  return "in some windows callers called together, more than each for itself does; what made them (a release, an outage, a schedule) is not in the recording";
}

const nothing: Pick<CheckRow, "recorded" | "middle"> = { recorded: 0, middle: 0 };

/** Returns the relative errors of all populations together; of the last one if there is no such row. */
function errorOf(rows: readonly CheckRow[]): FitCheck["error"] {
  const last = rows.at(-1)?.population ?? null;
  const shareOf = (figure: CheckedFigure): number | null => {
    const { recorded, middle } =
      rows.find((one) => one.population === last && one.figure === figure) ?? nothing;
    if (recorded === null) return null;
    const greater = Math.max(recorded, middle);
    return greater === 0 ? 0 : Math.round((1000 * (recorded - middle)) / greater) / 1000;
  };
  return {
    calls: shareOf("calls") as number,
    refused: shareOf("refused") as number,
    waitP95Ms: shareOf("waitP95Ms"),
  };
}
