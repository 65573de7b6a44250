// A simulation, written into a run folder as it happens, then judged.
import { setImmediate } from "node:timers/promises";
import type { LimiterSimulation } from "../../sim/adapter/simulate-limiter.ts";
import { type SimulateOptions, type Simulation, simulate } from "../../sim/simulate.ts";
import type { FolderWriter } from "../files/folder-writer.ts";
import { duration, share } from "../report/format.ts";
import { endLines } from "../report/result-writer.ts";
import { type RunRecord, runFiles } from "../report/run.ts";
import { count, counted } from "../rules/words.ts";
import type { Adjustments } from "../scenario/adjust.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { TraceCall } from "../trace/record.ts";
import { encodeCall, encodeHeader } from "../trace/write.ts";
import { type KeepOptions, type KeptRun, keepRun } from "./keep-run.ts";
import { openPlace, type RunPlace } from "./open-place.ts";
import { Pace } from "./pace.ts";
import { version } from "./version.ts";

export interface SimulateIntoOptions {
  readonly options: Omit<SimulateOptions, keyof Adjustments>;
  /** What is simulated in place of the scenario's own deployment, by the same clients. */
  readonly simulation?: Simulation | LimiterSimulation | undefined;
  /** The laws that its limiter claims; all of them where this is left out. */
  readonly claims?: KeepOptions["claims"];
  /** The scenario's file or name, as it was named. */
  readonly file: string | null;
  /** What repeats the run. */
  readonly command: string;
  readonly notes?: readonly string[];
  /** Another run's folder, to be shown beside this one. */
  readonly compare?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
  /** What progress goes by, ms; the machine's clock where it is left out. */
  readonly clock?: (() => number) | undefined;
}

export interface SimulatedRun extends KeptRun {
  /** `options.signal` ended it: nothing was sent from then on, and the trace says all that was. */
  readonly interrupted: boolean;
}

/** Progress is shown of what takes longer. */
const quietMs = 2_000;
/** So long is simulated before signals and progress have their turn, looked at once in so many calls. */
const turnMs = 50;
const turnCalls = 200;

/**
 * Simulates a scenario, as it is given, and keeps the run: trace, verdict, summary, documents.
 * @throws SpillwayError as `simulate` and `keepRun` do
 */
export async function simulateInto(
  place: RunPlace,
  scenario: Scenario,
  options: SimulateIntoOptions,
): Promise<SimulatedRun> {
  const writer = await openPlace(place, "run");
  try {
    return await simulated(writer, scenario, options);
  } finally {
    await writer.close();
  }
}

async function simulated(
  writer: FolderWriter,
  scenario: Scenario,
  { options, simulation = simulate(scenario, options), ...rest }: SimulateIntoOptions,
): Promise<SimulatedRun> {
  const { file, command, notes = [], compare, claims, onProgress, clock = () => Date.now() } = rest;
  const startedMs = clock();
  const progress = (text: string): void => {
    if (clock() - startedMs > quietMs) onProgress?.(text);
  };
  const { header } = simulation;
  const trace = new TraceText(simulation, scenario.durationMs, clock, progress);
  await writer.write(runFiles.trace, endLines(trace.lines()));
  const interrupted = options.signal?.aborted === true;
  const record: RunRecord = {
    format: "spillway-run",
    version: 1,
    driver: "simulator",
    scenario: { name: scenario.name, description: scenario.description || null, file },
    seed: header.seed ?? scenario.seed,
    startedAt: header.startedAt,
    endedAt: trace.endedAt,
    durationMs: scenario.durationMs,
    target: null,
    command,
    versions: { spillway: version, node: process.versions.node },
    rules: header.rules,
    expect: Object.fromEntries(scenario.expect.map(({ figure, bound }) => [figure, bound])),
    interrupted,
    notes,
  };
  const kept = await keepRun(writer, record, {
    compare,
    claims,
    onProgress: (records) => progress(`judging: ${counted(records, "line")}`),
  });
  return { ...kept, interrupted };
}

/** A simulation as the lines of its trace; now and then the rest of the process has its turn. */
class TraceText {
  endedAt: number;
  #count = 0;
  readonly #simulation: Simulation | LimiterSimulation;
  readonly #durationMs: number;
  readonly #clock: () => number;
  readonly #pace: Pace;
  #turnAtMs: number;
  readonly #progress: (text: string) => void;

  constructor(
    simulation: Simulation | LimiterSimulation,
    durationMs: number,
    clock: () => number,
    progress: (text: string) => void,
  ) {
    this.#simulation = simulation;
    this.#durationMs = durationMs;
    this.#clock = clock;
    this.#pace = new Pace(clock);
    this.#turnAtMs = clock() + turnMs;
    this.#progress = progress;
    this.endedAt = simulation.header.startedAt;
  }

  async *lines(): AsyncGenerator<string, void> {
    const { header, calls } = this.#simulation;
    yield encodeHeader(header);
    if (Symbol.asyncIterator in calls) {
      for await (const call of calls) {
        yield encodeCall(call);
        if (this.#isTurn(call)) await setImmediate();
      }
      return;
    }
    for (const call of calls) {
      yield encodeCall(call);
      if (this.#isTurn(call)) await setImmediate();
    }
  }

  /** Counts a call; now and then the rest of the process has its turn. */
  #isTurn({ received }: TraceCall): boolean {
    this.endedAt = Math.max(this.endedAt, received);
    this.#count += 1;
    if (this.#count % turnCalls !== 0 || this.#clock() < this.#turnAtMs) return false;
    this.#turnAtMs = this.#clock() + turnMs;
    this.#progress(this.#sayProgress(received - this.#simulation.header.startedAt));
    return true;
  }

  #sayProgress(simulatedMs: number): string {
    const done = Math.min(1, simulatedMs / this.#durationMs);
    const sofar = `simulating: ${share(done)}, ${counted(this.#count, "call")}`;
    const pace = this.#pace.at(done, this.#count);
    if (pace === null) return sofar;
    return `${sofar}, ${count(Math.round(pace.perSecond))} calls/s, ${duration(pace.leftMs)} left`;
  }
}
