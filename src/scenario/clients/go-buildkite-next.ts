// Programs on the Go library go-buildkite, as proposed in its pull request 319.
import { type WorkerOptions, worker } from "../behaviours/worker.ts";
import { waitReset } from "../retries/wait-reset.ts";
import { defaultWork } from "./go-buildkite-v4-23.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Retries 3 times. It waits the organization's `RateLimit-Reset` (never the user's), at most 120 s, plus 0.5 s and 0 to
 * 1 s of jitter. Source: github.com/buildkite/go-buildkite, pull request 319.
 * @param options what the program does with the library. Default: one GET after the other, 1 s apart
 */
export function goBuildkiteNext(options: WorkerOptions = defaultWork): ClientPreset {
  return {
    behaviour: worker(options),
    onRefused: waitReset({
      of: "organization",
      attempts: 4,
      most: "120s",
      jitter: { least: "500ms", most: "1500ms" },
    }),
  };
}
