// The Buildkite extension of Visual Studio Code.
import { poller } from "../behaviours/poller.ts";
import { pipelinesQuery } from "../calls.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions, requireOneOf } from "./preset.ts";

export interface VscodeExtensionOptions {
  /** `early`: every 120 s, a heavy query. `later`: every 30 s, a light one, if switched on. Default: `early`. */
  readonly version?: "early" | "later";
}

/**
 * Asks again and again as long as a window of the editor is open. Source: github.com/buildkite/vscode-buildkite, issue
 * 36. The later version is assumed to ask for a page of 50.
 */
export function vscodeExtension(options: VscodeExtensionOptions = {}): ClientPreset {
  const { version = "early" } = presetOptions("vscodeExtension", options, ["version"]);
  requireOneOf("vscodeExtension.version", version, ["early", "later"]);
  const early = version === "early";
  return {
    behaviour: poller({ every: early ? "120s" : "30s", call: pipelinesQuery(early ? 500 : 50) }),
    onRefused: none(),
  };
}
