// `gh api --paginate`, of GitHub's command line.
import { pager } from "../behaviours/pager.ts";
import { rest } from "../calls.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions, requireWhole } from "./preset.ts";

export interface GhApiPaginateOptions {
  /** Number of entries that there are, for the simulator. Default: 3,000. */
  readonly entries?: number;
  /** Number of entries on a page. Default: 30, as GitHub has it. */
  readonly perPage?: number;
}

/**
 * Reads page after page without a pause, until none is left. It retries nothing: a refusal ends it, and it prints only
 * what it has read so far. Source: github.com/cli/cli, `pkg/cmd/api/api.go`, `apiRun` and `processResponse`.
 */
export function ghApiPaginate(options: GhApiPaginateOptions = {}): ClientPreset {
  const given = presetOptions("ghApiPaginate", options, ["entries", "perPage"]);
  const entries = requireWhole("ghApiPaginate.entries", given.entries ?? 3_000, 0, 10_000_000);
  const perPage = requireWhole("ghApiPaginate.perPage", given.perPage ?? 30, 1, 100);
  const pages = Math.max(1, Math.ceil(entries / perPage));
  return {
    behaviour: pager({ call: rest("/repos/acme/app/issues", "issues"), pages, perPage, entries }),
    onRefused: none(),
  };
}
