// The driver of a run, k6 or Node: the choice between them, its input and its result.

import type { ConnectionOptions } from "../connect/connection.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { LoadAccount } from "./account.ts";
import { type K6Binary, type LookUpOptions, lookUpK6, requireK6 } from "./k6-binary.ts";
import type { NodeDrive } from "./node/run.ts";
import type { FailedCheck } from "./outcome.ts";
import type { LoadPlan } from "./plan.ts";
import type { RunProgress } from "./raw-progress.ts";
import type { TraceHead } from "./trace-file.ts";

export const driverNames = ["k6", "node"] as const;
export type DriverName = (typeof driverNames)[number];

/** The driver that was chosen. */
export type DriverChoice =
  | { readonly driver: "k6"; readonly k6: K6Binary }
  | {
      readonly driver: "node";
      /** Reason in words why k6 does not drive; `null` if Node was asked for. */
      readonly because: string | null;
    };

/**
 * Chooses the driver: k6 if it is found, else Node. Builds and downloads nothing.
 * @param wanted the driver that must be used, if any
 * @throws SpillwayError `K6_MISSING` if k6 must drive and cannot, or if the k6 of `K6_PATH` cannot be used
 */
export async function chooseDriver(
  wanted: DriverName | undefined,
  options: LookUpOptions = {},
): Promise<DriverChoice> {
  if (wanted === "node") return { driver: "node", because: null };
  if (wanted === "k6") return { driver: "k6", k6: await requireK6(options) };
  try {
    const k6 = await lookUpK6(options);
    return k6 === null ? { driver: "node", because: "k6 was not found" } : { driver: "k6", k6 };
  } catch (error) {
    const isNamed = ((options.env ?? process.env)["K6_PATH"] ?? "") !== "";
    if (!(error instanceof SpillwayError) || isNamed) throw error;
    return { driver: "node", because: error.message };
  }
}

/** Input of a run. */
export interface DriverRun extends ConnectionOptions {
  readonly plan: LoadPlan;
  /** URL of the target, without a slash at its end. */
  readonly base: string;
  /** True if the target was started for this run. */
  readonly isOwn: boolean;
  /** True if others, or the driver itself, may use the same quotas beside the clients. */
  readonly isShared: boolean;
  readonly keepAlive: boolean;
  readonly timeoutMs: number;
  readonly folder: string;
  /** Path of the trace. */
  readonly trace: string;
  readonly head: TraceHead;
  /** Runs the clients under Node. Default: in this thread. */
  readonly drive: NodeDrive | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: RunProgress) => void) | undefined;
}

/** Result of a run by either driver. */
export interface Driven {
  readonly account: LoadAccount;
  /** True if the trace has all calls that used these quotas, or counts them as lost (FORMAT.md). */
  readonly complete: boolean;
  readonly endedAt: number;
  /** Checks that some answers failed. */
  readonly checks: readonly FailedCheck[];
  /** Thresholds of k6 that were crossed: `spillway_refused rate<0.05`. */
  readonly crossed: readonly string[];
  readonly interrupted: boolean;
  /** Reason why the run is not what was asked for; `null` if it is, or was interrupted. */
  readonly failure: string | null;
  readonly notes: readonly string[];
}
