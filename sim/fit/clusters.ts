// Puts callers together that are alike: in calls at once, in pace, in their mix of calls, and in reactions to refusals.
// Two callers may differ more if less was seen of them.
import { ln } from "../../src/scenario/elementary.ts";
import { hourMs } from "./days.ts";
import type { FittedRetry } from "./policies.ts";
import type { Profile } from "./profile.ts";
import { explainedBy } from "./retries.ts";
import { addTo, SortedSample, sumOf } from "./statistics.ts";
import { workdaysOf } from "./workdays.ts";

/** Callers that are alike, the busiest first; the others were compared with the first. */
export interface Cluster {
  readonly profiles: Profile[];
  /** True for callers of all kinds that form one population. */
  readonly mixture: boolean;
  /** Number of jobs by kind of call. */
  readonly mix: Map<string, number>;
  jobs: number;
}

/** Share of jobs whose clusters stay apart, if there are more than `readMost` clusters. The others form mixtures. */
const apartShare = 0.95;
const readMost = 60;
const clustersMost = 2_000;

/**
 * Returns clusters of callers, the busiest first. If there are too many, callers of few calls form one mixture in each
 * organization.
 */
export function clustersOf(profiles: readonly Profile[], slackMs: number): readonly Cluster[] {
  const clients = clientsByUser(profiles);
  const clusters: Cluster[] = [];
  const habits = new Map(profiles.map((profile) => [profile, habitsOf(profile)]));
  for (const profile of profiles.toSorted((a, b) => b.jobs.length - a.jobs.length)) {
    const home = clusters.find((cluster) => isAlike(cluster, profile, habits, clients, slackMs));
    if (home === undefined) {
      clusters.push({
        profiles: [profile],
        mixture: false,
        mix: new Map(profile.mix),
        jobs: profile.jobs.length,
      });
      continue;
    }
    home.profiles.push(profile);
    home.jobs += profile.jobs.length;
    for (const [key, count] of profile.mix) addTo(home.mix, key, count);
  }
  clusters.sort((a, b) => b.jobs - a.jobs);
  const apart = apartOf(clusters);
  return [...clusters.slice(0, apart), ...mixturesOf(clusters.slice(apart))];
}

function mixturesOf(clusters: readonly Cluster[]): Cluster[] {
  const mixtures = new Map<string, Cluster>();
  for (const { profiles, mix, jobs } of clusters) {
    const { organization } = (profiles[0] as Profile).caller;
    const empty: Cluster = { profiles: [], mixture: true, mix: new Map(), jobs: 0 };
    const mixture = mixtures.get(organization) ?? empty;
    mixtures.set(organization, mixture);
    for (const profile of profiles) mixture.profiles.push(profile);
    mixture.jobs += jobs;
    for (const [key, count] of mix) addTo(mixture.mix, key, count);
  }
  return [...mixtures.values()];
}

/** Returns the number of clusters, the busiest first, that are populations of their own. */
function apartOf(clusters: readonly Cluster[]): number {
  if (clusters.length <= readMost) return clusters.length;
  const all = sumOf(clusters.map(({ jobs }) => jobs));
  let [count, jobs] = [0, 0];
  while (count < clusters.length && (count < readMost || (jobs < apartShare * all && count < clustersMost))) {
    jobs += (clusters[count] as Cluster).jobs;
    count += 1;
  }
  return count;
}

const userOf = ({ caller: { organization, user } }: Profile): string => `${organization}/${user}`;

function clientsByUser(profiles: readonly Profile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const profile of profiles) addTo(counts, userOf(profile));
  return counts;
}

function isAlike(
  cluster: Cluster,
  profile: Profile,
  habits: ReadonlyMap<Profile, Habits>,
  clients: ReadonlyMap<string, number>,
  slackMs: number,
): boolean {
  const [model] = cluster.profiles;
  if (model === undefined || model.caller.organization !== profile.caller.organization) return false;
  const [known, own] = [habits.get(model), habits.get(profile)] as [Habits, Habits];
  const sharesUser = (one: Profile): boolean => (clients.get(userOf(one)) as number) > 1;
  return (
    sharesUser(model) === sharesUser(profile) &&
    (model.apart?.key ?? "") === (profile.apart?.key ?? "") &&
    hasLoopOf(known, own) &&
    hasHoursOf(known, own) &&
    known.comesDaily === own.comesDaily &&
    hasMixOf(cluster, profile) &&
    retriesLike(model, profile, slackMs)
  );
}

/** Habits of a caller, which are compared with those of others. */
interface Habits {
  /** Calls that no timetable and no event explains; `null` if there are none. */
  readonly loop: Profile | null;
  readonly form: PauseForm;
  readonly comesDaily: boolean;
  /** Shares of the caller's busy hours, by hour of the day; `null` if too few of them are known. */
  readonly hours: readonly number[] | null;
}

function habitsOf(profile: Profile): Habits {
  const loop = profile.apart === null ? profile : profile.apart.rest;
  return {
    loop,
    form: pauseForm(loop?.pausesMs ?? []),
    comesDaily: loop !== null && workdaysOf(loop.jobs) !== null,
    hours: hoursOf(profile),
  };
}

function hasLoopOf({ loop: a, form: x }: Habits, { loop: b, form: y }: Habits): boolean {
  if (a === null || b === null) return a === b;
  return hasShapeOf(a, b) && hasPaceOf(a, b, x, y);
}

function hasShapeOf({ shape: a }: Profile, { shape: b }: Profile): boolean {
  // A coarse clock loses a few calls of a long run.
  const near = (x: number, y: number): boolean =>
    x === y || (Math.min(x, y) > 5 && x <= 1.25 * y && y <= 1.25 * x);
  if (a.kind === "burst") return b.kind === "burst" && near(a.size, b.size);
  if (a.kind === "pager") return b.kind === "pager" && near(a.pages, b.pages) && near(a.parallel, b.parallel);
  if (a.kind === "queue") return b.kind === "queue" && near(a.jobs, b.jobs) && a.workers === b.workers;
  return b.kind === "call";
}

function hasPaceOf(a: Profile, b: Profile, x: PauseForm, y: PauseForm): boolean {
  if (a.pace.kind === "ticks" && b.pace.kind === "ticks") {
    const apart = Math.abs(a.pace.everyMs - b.pace.everyMs);
    return apart <= Math.max(a.pace.offMs, b.pace.offMs, 0.01 * a.pace.everyMs);
  }
  // A caller whose overlapping calls were taken apart has a population of its own.
  if (a.pace.kind !== b.pace.kind || a.pace.kind === "chance" || a.pace.kind === "visits") return false;
  if (a.pace.kind !== "pause" && a.pace.kind !== "volleys") return true;
  // Medians of n pauses scatter by 1/√n, as shares do; the factor allows for widely spread pauses.
  const chance = 1.5 / Math.sqrt(Math.min(a.pausesMs.length, b.pausesMs.length));
  return (
    Math.abs(ln(x.median / y.median)) <= 0.35 + chance &&
    x.shares.every((share, place) => Math.abs(share - (y.shares[place] as number)) <= formsApart + chance)
  );
}

/** Pauses of one caller, each 10 ms longer: their median, ms, and the shares below some multiples of it. */
interface PauseForm {
  readonly median: number;
  readonly shares: readonly number[];
}

const multiples = [1 / 8, 1 / 4, 1 / 2, 2 / 3, 4 / 5, 5 / 4, 3 / 2, 2, 4, 8];
/** Greatest difference of such shares between callers of one kind. */
const formsApart = 0.3;

function pauseForm(pausesMs: readonly number[]): PauseForm {
  const median = new SortedSample(pausesMs).median + 10;
  const below = (most: number): number =>
    pausesMs.reduce((count, ms) => count + Number(ms + 10 < most), 0) / pausesMs.length;
  return { median, shares: multiples.map((multiple) => below(multiple * median)) };
}

/** Numbers of busy hours and of days below which a caller's time of the day is unknown. */
const hoursTell = 20;
const daysTell = 3;
/** Greatest difference between the hours of one office's callers, as a share: each comes at a time of its own. */
const hoursApart = 0.75;

/** Tells whether two callers keep like hours, by half the sum of the differences of shares. Few hours are like any. */
function hasHoursOf({ hours: x }: Habits, { hours: y }: Habits): boolean {
  if (x === null || y === null) return true;
  return sumOf(x.map((share, hour) => Math.abs(share - (y[hour] as number)) / 2)) <= hoursApart;
}

function hoursOf({ jobs }: Profile): readonly number[] | null {
  const busy = [...new Set(jobs.map(({ startMs }) => Math.floor(startMs / hourMs)))];
  const days = new Set(busy.map((hour) => Math.floor(hour / 24)));
  if (busy.length < hoursTell || days.size < daysTell) return null;
  const shares = new Array<number>(24).fill(0);
  for (const hour of busy) shares[hour % 24] = (shares[hour % 24] as number) + 1 / busy.length;
  return shares;
}

/** Tells whether a caller has a cluster's mix, by half the sum of the differences between shares of calls. */
function hasMixOf(cluster: Cluster, { mix, jobs }: Profile): boolean {
  let apart = 0;
  for (const key of new Set([...cluster.mix.keys(), ...mix.keys()]))
    apart += Math.abs((cluster.mix.get(key) ?? 0) / cluster.jobs - (mix.get(key) ?? 0) / jobs.length) / 2;
  return apart <= 0.1 + 1.2 / Math.sqrt(Math.min(cluster.jobs, jobs.length));
}

/** Least refusals that show whether a caller retries, and least retries that show when. */
const tellingRefusals = 5;
const tellingRetries = 30;

function retriesLike(a: Profile, b: Profile, slackMs: number): boolean {
  if (a.refused < tellingRefusals || b.refused < tellingRefusals) return true;
  const [x, y] = [a.guess?.retry ?? never, b.guess?.retry ?? never];
  if (x.kind === y.kind) return true;
  if (x.kind === "none" || y.kind === "none") return false;
  if (Math.min(a.retries.length, b.retries.length) < tellingRetries) return true;
  // One of the two policies may be a wrong guess that fits its own caller alone; then the other one explains both.
  return Math.max(explainedBy(x, b.retries, slackMs), explainedBy(y, a.retries, slackMs)) >= 0.9;
}

const never: FittedRetry = { kind: "none" };
