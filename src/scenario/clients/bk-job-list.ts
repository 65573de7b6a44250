// `bk job list`, of Buildkite's command line.
import { pager } from "../behaviours/pager.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface BkJobListOptions {
  /** Number of jobs, for the simulator. Default: 5,000, the most that the program lists. */
  readonly jobs?: number;
}

/**
 * Reads pages of 100, 10 at a time, up to 5,000 jobs: 50 calls in a second or two, all that a user has in a minute.
 * Source: github.com/buildkite/cli.
 */
export function bkJobList(options: BkJobListOptions = {}): ClientPreset {
  const { jobs = 5_000 } = presetOptions("bkJobList", options, ["jobs"]);
  return {
    behaviour: pager({
      call: rest("/v2/organizations/:org/pipelines/web/builds", "jobs"),
      pages: 50,
      perPage: 100,
      parallel: 10,
      entries: jobs,
    }),
    onRefused: waitReset({ of: "organization", attempts: 4, fallback: "10s" }),
  };
}
