// A swarm of worlds.
import { type SwarmProgress, type SwarmResult, swarm } from "../../sim/swarm/swarm.ts";
import { parseFault } from "../faults/choice.ts";
import type { JobContext } from "./job.ts";
import { eventsOf } from "./job-events.ts";
import { patientLimiter } from "./simulated-limiter.ts";

export interface SwarmTask {
  readonly worlds: number;
  readonly seed: number;
  /** NAME or NAME=RATE. */
  readonly fault?: string | undefined;
}

/**
 * Runs a swarm, and tells its progress after each world.
 * @throws SpillwayError as `swarm` does
 */
export function swarmJob(
  { worlds, seed, fault }: SwarmTask,
  { limiter, signal }: JobContext,
): AsyncGenerator<SwarmProgress, SwarmResult, undefined> {
  return eventsOf(async (onProgress) =>
    swarm({
      worlds,
      seed,
      fault: fault === undefined ? undefined : parseFault(fault),
      limiter: limiter === null ? undefined : await patientLimiter(limiter),
      signal,
      onProgress,
    }),
  );
}
