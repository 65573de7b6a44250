// A simulation, written into a run folder as it happens, then judged.
import { createReadStream } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { FolderWriter } from "../files/folder-writer.ts";
import { share } from "../report/format.ts";
import { endLines } from "../report/result-writer.ts";
import { limitsIn, type RunRecord, runFiles } from "../report/run.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { unfinishedTrace } from "../trace/unfinished.ts";
import { encodeHeader } from "../trace/write.ts";
import { type KeptRun, keepRun } from "./keep-run.ts";
import type { LoadIntoOptions } from "./load-into.ts";
import { openPlace, type RunPlace } from "./open-place.ts";
import { Pace, paceText } from "./pace.ts";
import type { SimulationFacts, TracePart } from "./simulate-job.ts";
import { version } from "./version.ts";

export interface SimulateIntoOptions
  extends Pick<LoadIntoOptions, "command" | "notes" | "compare" | "onProgress"> {
  /** Lines of the trace, as they are simulated. */
  readonly parts: AsyncIterable<SimulationFacts | TracePart>;
  /** Signal at which the parts end soon. */
  readonly signal?: { readonly aborted: boolean } | undefined;
  /** The scenario's file or name, as it was named. */
  readonly file: string | null;
  /** Clock of the progress, ms. Default: the machine's. */
  readonly clock?: (() => number) | undefined;
}

export interface SimulatedRun extends KeptRun {
  /** True if `signal` ended it. */
  readonly interrupted: boolean;
  readonly notes: readonly string[];
}

type Parts = AsyncGenerator<SimulationFacts | TracePart, void, undefined>;

/** Begins a simulation. @throws SpillwayError as `simulateJob` does */
export async function factsOf(parts: Parts): Promise<SimulationFacts> {
  return (await parts.next()).value as SimulationFacts;
}

/**
 * Keeps a simulated run: trace, verdict, summary, documents. Parts that end with `INTERRUPTED` are kept as a trace that
 * is not complete: answers to calls on the way are missing.
 * @throws SpillwayError as the parts and `keepRun` do
 */
export async function simulateInto(
  place: RunPlace,
  facts: SimulationFacts,
  options: SimulateIntoOptions,
): Promise<SimulatedRun> {
  const writer = await openPlace(place, "run");
  try {
    return await simulated(writer, facts, options);
  } finally {
    await writer.close();
  }
}

async function simulated(
  writer: FolderWriter,
  { header, scenario, claims }: SimulationFacts,
  { parts, signal, file, command, notes: given = [], compare, ...rest }: SimulateIntoOptions,
): Promise<SimulatedRun> {
  const { onProgress = () => undefined, clock = Date.now } = rest;
  const trace = new TraceText({ header, scenario, clock, onProgress });
  await writer.write(runFiles.trace, endLines(trace.lines(parts)));
  if (trace.cut !== null)
    await writer.write(runFiles.trace, unfinishedTrace(createReadStream(await setAside(writer))));
  const interrupted = signal?.aborted === true;
  const notes = trace.cut === null ? given : [...given, `${trace.cut}: the last calls are missing`];
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
    ...limitsIn(header),
    expect: Object.fromEntries(scenario.expect.map(({ figure, bound }) => [figure, bound])),
    ...(claims !== "all" && { claims }),
    interrupted,
    notes,
  };
  const kept = await keepRun(writer, record, {
    compare,
    onProgress: (records) => onProgress(`judging: ${counted(records, "line")}`),
  });
  return { ...kept, interrupted, notes };
}

/** Moves the written trace to a name that is no part of the run. @returns its path there */
async function setAside({ staging }: FolderWriter): Promise<string> {
  const path = join(staging, `.${runFiles.trace}`);
  await rename(join(staging, runFiles.trace), path);
  return path;
}

interface TraceTextOptions extends Pick<SimulationFacts, "header" | "scenario"> {
  readonly clock: () => number;
  readonly onProgress: (text: string) => void;
}

/** Lines of a simulation's trace. */
class TraceText {
  endedAt: number;
  /** Reason why the lines end early; `null` if they do not. */
  cut: string | null = null;
  readonly #options: TraceTextOptions;
  readonly #pace: Pace;

  constructor(options: TraceTextOptions) {
    this.#options = options;
    this.#pace = new Pace(options.clock);
    this.endedAt = options.header.startedAt;
  }

  async *lines(parts: AsyncIterable<SimulationFacts | TracePart>): AsyncGenerator<string, void> {
    yield encodeHeader(this.#options.header);
    try {
      for await (const part of parts) {
        if (part.kind !== "part") continue;
        this.endedAt = part.endedAt;
        yield part.lines;
        this.#tell(part);
      }
    } catch (error) {
      if (!(error instanceof SpillwayError) || error.code !== "INTERRUPTED") throw error;
      this.cut = error.message;
    }
  }

  #tell({ calls, endedAt }: TracePart): void {
    const { header, scenario, onProgress } = this.#options;
    const done = Math.min(1, (endedAt - header.startedAt) / scenario.durationMs);
    const speed = paceText(this.#pace.at(done, calls), "call");
    onProgress(`simulating: ${share(done)}, ${counted(calls, "call")}${speed}`);
  }
}
