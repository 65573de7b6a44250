// Programs on the Go library go-buildkite, v4.23.0.
import { type WorkerOptions, worker } from "../behaviours/worker.ts";
import { rest } from "../calls.ts";
import { exponential } from "../retries/exponential.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Reads neither `RateLimit-Reset` nor `Retry-After`. GETs alone are retried: after 0.5 s x 1.5^n, each 50 % to
 * either side, at most 60 s apart, until 15 minutes are over. From the first 429 with 60 s to go it makes 11
 * retries in the median.
 * Source: github.com/buildkite/go-buildkite v4.23.0.
 * @param options what the program does with the library; one GET after the other, 1 s apart, where it is left out
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
