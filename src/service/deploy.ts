// Starts the reference deployment that a caller asks for: one process or several, correct or with a fault.
import type { ChildProcess } from "node:child_process";
import { Limiter } from "../engine/limiter.ts";
import type { Store } from "../engine/store.ts";
import { type ChosenFault, injectFault } from "../faults/choice.ts";
import { seededRandom } from "../faults/random.ts";
import { rulesStore } from "../faults/rules-store.ts";
import { policyOf } from "../policy/shorthand.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Rules } from "../rules/rules.ts";
import { type ServeOptions, serve } from "./serve.ts";
import { serveWorkers } from "./workers.ts";

export interface DeployOptions
  extends Omit<ServeOptions, "store" | "change" | "userOf" | "now" | "sleep" | "onUnexpected"> {
  /** Fault of the deployment. Default: none. */
  readonly fault?: ChosenFault | undefined;
  /** Seed of the fault's draws, a whole number. */
  readonly seed?: number | undefined;
  /** Number of processes that answer. Default: 1, or as many as the fault needs. */
  readonly workers?: number | undefined;
  /** Starts a worker's process. Default: forks the package's own program. */
  readonly fork?: (() => ChildProcess) | undefined;
  readonly onUnexpected?: ((error: Error) => void) | undefined;
}

/** A deployment that is listening. */
export interface Deployment {
  /** URL without a slash at its end: `http://127.0.0.1:4100`. */
  readonly url: string;
  /** Number of processes that answer. */
  readonly workers: number;
  /** Takes no new connection, and waits for calls on their way. Callers may call it again. */
  close(): Promise<void>;
}

/**
 * Starts a deployment.
 * @throws SpillwayError `PORT_IN_USE`, `WORKER_FAILED`, `USAGE`; `FAULT_INVALID` if the fault needs other rules
 */
export async function deploy(options: DeployOptions): Promise<Deployment> {
  const { fault: chosen, seed = 1, workers, fork, onUnexpected = () => {}, ...rest } = options;
  const common = { ...rest, onUnexpected };
  const faulty = chosen && injectFault(chosen, options.rules, seededRandom(seed));
  const isApart = (chosen?.fault.processes ?? null) !== null;
  const areSeveral = (workers ?? 1) > 1;
  if (!isApart && (chosen !== undefined || !areSeveral)) {
    if (areSeveral) throw wrongCount(workers, "1", chosen, "one process: leave --workers out");
    const { url, close } = await serve({ ...common, ...faulty });
    return { url, workers: 1, close };
  }
  const stores = storesOf(options.rules, chosen, workers);
  const count = workers ?? Math.max(2, stores.length);
  if (rest.tls !== undefined)
    throw new SpillwayError("USAGE", "TLS is spoken by one process", {
      problem: { path: "workers", got: String(count), allowed: "1" },
    });
  if (isApart && count < 2) throw wrongCount(count, "2 or more", chosen, "several processes");
  const { url, close } = await serveWorkers({ ...common, fork, workers: count, stores });
  return { url, workers: count, close };
}

/** Returns the counters that the processes ask, in turn: correct ones for all, or a fault's. */
function storesOf(rules: Rules, chosen: ChosenFault | undefined, workers: number | undefined): Store[] {
  const policy = policyOf(rules);
  const apart = chosen?.fault.processes?.(policy, chosen.rate, workers);
  return apart?.map((counters) => rulesStore(policy, counters)) ?? [new Limiter(rules)];
}

const wrongCount = (
  workers: number | undefined,
  allowed: string,
  chosen: ChosenFault | undefined,
  whose: string,
) =>
  new SpillwayError("USAGE", "this fault cannot be had by so many processes", {
    problem: { path: "workers", got: String(workers), allowed },
    hint: `${chosen?.fault.name} is a fault of ${whose}`,
  });
