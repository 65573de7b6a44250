// `gh api --paginate`, of GitHub's command line.
import { pager } from "../behaviours/pager.ts";
import { rest } from "../calls.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions, requireWhole } from "./preset.ts";

export interface GhApiPaginateOptions {
  /** Number of entries that there are, for the simulator; 3,000 where it is left out. */
  readonly entries?: number;
  /** Entries on a page; 30, GitHub's default, where it is left out. */
  readonly perPage?: number;
}

/**
 * One page after the other, without a pause, until none is left. It retries nothing: a refusal ends it, and what it
 * has read so far is all that is printed.
 * Source: github.com/cli/cli, `pkg/cmd/api/api.go`, `apiRun` and `processResponse`.
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
