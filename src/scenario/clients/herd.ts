// Agents that all wait for the same instant.
import { type WorkerOptions, worker } from "../behaviours/worker.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Each waits exactly the same reset, without jitter: thirty or more of them arrive in one millisecond.
 * Source: hermes-agent, pull request 109234.
 * @param options what they do; calls 100 to 300 ms apart where it is left out
 */
export function herd(
  options: WorkerOptions = {
    calls: [{ call: rest("/v2/organizations/:org/pipelines") }],
    think: { least: "100ms", most: "300ms" },
  },
): ClientPreset {
  return { behaviour: worker(options), onRefused: waitReset({ of: "organization", from: "second" }) };
}
