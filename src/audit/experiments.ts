// The experiments in their order. Those that run alone come first, then those that need a little room, then those that
// use windows up. Those that wait for a window's end come last.
import type { Experiment } from "./experiment.ts";
import { apartExperiments } from "./experiments/apart.ts";
import { costAsTold, costExperiments } from "./experiments/costs.ts";
import { emptiedExperiments } from "./experiments/emptied.ts";
import { headerExperiments } from "./experiments/headers.ts";
import { isolationExperiments } from "./experiments/isolation.ts";
import { queryExperiments } from "./experiments/queries.ts";
import { raceExperiments } from "./experiments/races.ts";
import { refusalExperiments } from "./experiments/refusals.ts";
import { resetExperiments } from "./experiments/resets.ts";
import { statusExperiments } from "./experiments/status.ts";
import { twinExperiments } from "./experiments/twins.ts";
import { windowExperiments } from "./experiments/windows.ts";

const all = [
  costAsTold,
  ...isolationExperiments,
  ...apartExperiments,
  ...statusExperiments,
  ...costExperiments,
  ...queryExperiments,
  ...twinExperiments,
  ...raceExperiments,
  ...refusalExperiments,
  ...headerExperiments,
  ...windowExperiments,
  ...resetExperiments,
  ...emptiedExperiments,
];

/** Returns the rank of an experiment; the least disturbing come first. */
const rank = ({ isLone, empties = 0, waits = 0 }: Experiment): number =>
  isLone === true ? 0 : empties === 0 ? (waits === 0 ? 1 : 4) : waits === 0 ? 2 : 3;

export const experiments: readonly Experiment[] = all.toSorted((one, other) => rank(one) - rank(other));
