// A scenario's clients in real time, in Node. They have no file and no terminal: what they do is told.
import { driveHere, type NodePart, type NodeTask } from "../load/node/run.ts";
import type { JobContext } from "./job.ts";

/** Time between two looks whether the run is to end, ms. */
const lookMs = 20;

/** Lets the clients go. */
export async function* loadJob(
  task: NodeTask,
  { scenario, signal }: JobContext,
): AsyncGenerator<NodePart, void, undefined> {
  if (scenario === null) throw new RangeError("a load is of a scenario");
  const stop = new AbortController();
  const look = setInterval(() => signal.aborted && stop.abort(), lookMs).unref();
  try {
    yield* driveHere(scenario, task, { signal: stop.signal });
  } finally {
    clearInterval(look);
  }
}
