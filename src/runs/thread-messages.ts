// Messages between the main thread and a job's thread.
import type { PlacedModule } from "../load/user-module.ts";
import type { JobName } from "./jobs.ts";
import type { ScenarioData } from "./scenario-data.ts";
import type { SentError } from "./sent-error.ts";

/** Data that a thread is started with. */
export interface ThreadData {
  readonly scenario: PlacedModule | null;
  readonly adapter: PlacedModule | null;
  /** An Int32: 1 once the job is to end. */
  readonly flag: SharedArrayBuffer;
}

export type ToThread =
  | { readonly kind: "job"; readonly name: JobName; readonly task: unknown }
  /** An event has been taken. */
  | { readonly kind: "taken" };

export type FromThread =
  | { readonly kind: "importing"; readonly name: "scenario" | "adapter" }
  | { readonly kind: "ready"; readonly scenario: ScenarioData | null; readonly limiter: string | null }
  | { readonly kind: "event"; readonly event: unknown }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: SentError }
  /** Nothing is left that could happen. */
  | { readonly kind: "idle" }
  /** The user's code calls `process.exit`. */
  | { readonly kind: "exit"; readonly code: string; readonly stack: string };

/** Number of events that may be on their way before the thread waits. */
export const eventsMost = 8;
