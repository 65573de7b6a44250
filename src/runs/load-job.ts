// Runs a scenario's clients in real time, in Node. They have no file and no terminal, and only tell what they do.
import { driveHere, type NodePart, type NodeTask } from "../load/node/run.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { JobContext } from "./job.ts";

/** Time between two looks whether the run is to end, ms. */
const lookMs = 20;

/** Runs the clients, and yields what they tell. */
export async function* loadJob(
  task: NodeTask,
  { scenario, signal }: JobContext,
): AsyncGenerator<NodePart, void, undefined> {
  const stop = new AbortController();
  const look = setInterval(() => signal.aborted && stop.abort(), lookMs).unref();
  try {
    yield* driveHere(scenario as Scenario, task, { signal: stop.signal });
  } finally {
    clearInterval(look);
  }
}
