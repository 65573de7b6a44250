// A dashboard that crawls an organization once for each viewer.
import { worker } from "../behaviours/worker.ts";
import { pipelinesQuery } from "../calls.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface DashboardPerViewerOptions {
  /** Number of queries of 500 pipelines in one crawl. Default: 4, so ten viewers ask for more than 20,000 points. */
  readonly queries?: number;
}

/**
 * Crawls once by GraphQL when a viewer comes. Give each viewer a client, or let them come by `arrivals`. Source:
 * vllm-dashboard, pull request 76: viewers exhausted 20,000 points.
 */
export function dashboardPerViewer(options: DashboardPerViewerOptions = {}): ClientPreset {
  const { queries = 4 } = presetOptions("dashboardPerViewer", options, ["queries"]);
  return {
    behaviour: worker({ calls: [{ call: pipelinesQuery(500) }], jobs: queries }),
    onRefused: none(),
  };
}
