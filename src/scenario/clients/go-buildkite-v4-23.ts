// Programs on the Go library go-buildkite, v4.23.0.
import { type WorkerOptions, worker } from "../behaviours/worker.ts";
import { rest } from "../calls.ts";
import { exponential } from "../retries/exponential.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Reads neither `RateLimit-Reset` nor `Retry-After`. It retries GETs only, for 15 minutes. The waits are 0.5 s x 1.5^n,
 * at most 60 s, each 50 % to either side. If the first 429 comes 60 s before the reset, it makes 11 retries in the
 * median. Source: github.com/buildkite/go-buildkite v4.23.0.
 * @param options what the program does with the library. Default: one GET after the other, 1 s apart
 */
export function goBuildkiteV423(options: WorkerOptions = defaultWork): ClientPreset {
  return {
    behaviour: worker(options),
    onRefused: exponential({ first: "500ms", factor: 1.5, most: "60s", jitter: "half", deadline: "15m" }),
  };
}

export const defaultWork: WorkerOptions = {
  calls: [{ call: rest("/v2/organizations/:org/pipelines") }],
  think: "1s",
};
