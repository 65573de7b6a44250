// A bot that comments on pull requests with the results of their builds.
import { burst } from "../behaviours/burst.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface CiCommentBotOptions {
  /** Number of list calls at once. Default: 20. */
  readonly calls?: number;
}

/**
 * Makes a burst of list calls, at most 4 attempts each. It waits for the reset of the window that lacks room, plus 1 to
 * 5 s of jitter. Its organization had a limit of 400 a minute. Source: vllm, pull request 50481. The size of the burst
 * is not known.
 */
export function ciCommentBot(options: CiCommentBotOptions = {}): ClientPreset {
  const { calls = 20 } = presetOptions("ciCommentBot", options, ["calls"]);
  return {
    behaviour: burst({ call: rest("/v2/organizations/:org/pipelines/web/builds", "list"), size: calls }),
    onRefused: waitReset({ of: "both", attempts: 4, jitter: { least: "1s", most: "5s" } }),
  };
}
