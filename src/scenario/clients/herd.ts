// Agents that all wait for the same instant.
import { type WorkerOptions, worker } from "../behaviours/worker.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Waits exactly the reset without jitter, as all others do: thirty or more agents come back in one millisecond. Source:
 * hermes-agent, pull request 109234.
 * @param options what the agents do. Default: calls 100 to 300 ms apart
 */
export function herd(
  options: WorkerOptions = {
    calls: [{ call: rest("/v2/organizations/:org/pipelines") }],
    think: { least: "100ms", most: "300ms" },
  },
): ClientPreset {
  return { behaviour: worker(options), onRefused: waitReset({ of: "organization", from: "second" }) };
}
