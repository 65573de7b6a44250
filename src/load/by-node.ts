// A run by Node itself: no other program, but the same clients, checks and trace. The clients may run in a thread of
// their own. The trace is written here, so it is kept however they end.
import { dirname } from "node:path";
import { unwritable } from "../files/unwritable.ts";
import { makeFolder } from "../files/whole-file.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import type { LoadAccount } from "./account.ts";
import { seatCallers } from "./callers.ts";
import type { Driven, DriverRun } from "./driver.ts";
import type { Lateness } from "./node/lateness.ts";
import { driveHere, type NodeDrive, type NodePart, type NodeTask } from "./node/run.ts";
import { accountNotes, type FailedCheck, silenceOf } from "./outcome.ts";
import type { RunProgress } from "./raw-progress.ts";
import { graphqlUrlAt } from "./request.ts";
import { TraceFile, type TraceHead } from "./trace-file.ts";

export interface DrivenByNode extends Driven {
  readonly driver: "node";
  readonly lateness: Lateness;
}

/**
 * @throws SpillwayError `FILE_UNWRITABLE`; what `run.drive` throws, with a trace of what it told before. With an
 *   aborted signal, `INTERRUPTED` is thrown only if nothing was told.
 */
export async function runInNode(run: DriverRun): Promise<DrivenByNode> {
  const { scenario } = run.plan;
  const drive: NodeDrive = run.drive ?? ((task, signal) => driveHere(scenario, task, { signal }));
  try {
    await makeFolder(dirname(run.trace));
    const outcome = await keepParts(run, (signal) => drive(taskOf(run), signal));
    const { account, checks, lateness, traceFailure, cut } = outcome;
    const interrupted = run.signal?.aborted === true;
    return {
      driver: "node",
      lateness,
      account,
      complete: outcome.complete,
      endedAt: Date.now(),
      checks,
      crossed: [],
      interrupted,
      failure: traceFailure ?? (interrupted ? null : silenceOf(account)),
      notes: [
        ...accountNotes(account, checks),
        ...(cut === null ? [] : [`${cut}: the last calls are missing`]),
      ],
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw unwritable("the trace", run.trace, cause);
  }
}

function taskOf({ plan, base, isShared, timeoutMs, head, tls, proxy }: DriverRun): NodeTask {
  const { scenario, tokens, graphql, policy: dealt } = plan;
  const { seed, durationMs, startAtMs, rules, policy } = scenario;
  return {
    changes: { seed, durationMs, startAtMs, rules, ...(policy === undefined ? {} : { policy }) },
    settings: {
      shared: isShared,
      callers: dealt?.callers ?? seatCallers(scenario, tokens),
      base,
      graphqlUrl: graphql?.url ?? graphqlUrlAt(base, policy),
    },
    timeoutMs,
    startedAt: head.startedAt,
    tls,
    proxy,
  };
}

export interface KeepLinesOptions {
  /** Path of the trace. */
  readonly trace: string;
  readonly head: TraceHead;
  /** Signal that ends the run soon. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface NodeOutcome {
  readonly account: LoadAccount;
  readonly complete: boolean;
  readonly checks: readonly FailedCheck[];
  readonly lateness: Lateness;
  /** Reason why lines are missing from the trace; `null` if none are. */
  readonly traceFailure: string | null;
  /** Reason why the clients were ended before they told which calls were on the way; `null` if they told it. */
  readonly cut: string | null;
}

/** Least time between two reports of progress, ms. */
const progressEveryMs = 500;

/**
 * Writes what a run tells into its trace.
 * @param drive begins the run
 * @throws Error of the file system if the trace cannot be opened or put in its place; as `runInNode`
 */
export async function keepParts(
  { trace, head, signal, onProgress }: KeepLinesOptions,
  drive: (signal: AbortSignal) => AsyncIterable<NodePart>,
): Promise<NodeOutcome> {
  const file = await TraceFile.create(trace, head);
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  let last: NodePart | null = null;
  let ended: SpillwayError | null = null;
  let toldMs = Number.NEGATIVE_INFINITY;
  try {
    for await (const part of drive(stop.signal)) {
      last = part;
      if (part.count > 0) file.add(part.lines, part.count);
      if (file.failure !== null) abort();
      if (part.elapsedMs < toldMs + progressEveryMs) continue;
      toldMs = part.elapsedMs;
      void file.flush();
      onProgress?.(progressOf(part));
    }
  } catch (error) {
    if (last === null || !(error instanceof SpillwayError)) {
      await file.discard();
      throw error;
    }
    ended = error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  if (last === null) throw new RangeError("a run tells at least how it began");
  const outcome = await finish(file, head, last, ended);
  if (ended !== null && !stop.signal.aborted) throw ended;
  return outcome;
}

/** Completes the trace, and returns the run's outcome. */
async function finish(
  file: TraceFile,
  head: TraceHead,
  { account, checks, lateness }: NodePart,
  ended: SpillwayError | null,
): Promise<NodeOutcome> {
  await file.flush();
  const { failure, linesFailed } = file;
  const complete = head.complete && ended === null;
  const lost = account.lost + linesFailed;
  await file.finish({ startedAt: account.startedAt, lost, complete });
  return {
    account: { ...account, calls: account.calls - linesFailed, lost },
    complete,
    checks,
    lateness,
    traceFailure:
      failure === null
        ? null
        : `${counted(linesFailed, "line")} of the trace could not be written: ${failure.message}`,
    cut: ended === null ? null : (ended.message.split("\n")[0] ?? ""),
  };
}

const progressOf = ({ elapsedMs, account, tightest, lateness }: NodePart): RunProgress => ({
  elapsedMs,
  calls: account.calls,
  refused: account.refused,
  tightest,
  lateMs: lateness.p99Ms,
});
