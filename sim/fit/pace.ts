// The behaviour of one client of a population, and the times at which its clients come.

import { counted } from "../../src/rules/words.ts";
import { adaptOf, adaptText } from "./adapting.ts";
import { closedArrivals, openArrivals, timetableOf } from "./arrivals.ts";
import type { Cluster } from "./clusters.ts";
import { bySessions, type RhythmFit } from "./comings.ts";
import { isInBursts } from "./cuts.ts";
import { isRefused, type RecordedJob } from "./jobs.ts";
import type { FittedArrivals, FittedBehaviour, FittedComings } from "./model.ts";
import { atOnceOf } from "./paces.ts";
import { partsOf } from "./parts.ts";
import { type CallPace, type Profile, pausesIn, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import type { RunForm } from "./runs.ts";
import { absenceOf, sessionsOf } from "./sessions.ts";
import { spreadOf } from "./spread.ts";
import { flatOf, mode, roundestWithin, SortedSample, sumOf } from "./statistics.ts";
import { areInTurn } from "./turns.ts";
import { roughText, spreadText, timeText } from "./words.ts";

export interface PaceFit {
  readonly behaviour: FittedBehaviour;
  readonly rhythms: readonly RhythmFit[];
  readonly arrivals: FittedArrivals;
  readonly why: string;
  readonly arrivalsWhy: string;
  /** True if the behaviour makes only one kind of call. */
  readonly single: boolean;
}

/** Fits the behaviour and the arrivals of a cluster's callers. */
export function paceOf(cluster: Cluster, recording: Recording): PaceFit {
  const { profiles } = cluster;
  const { shape, pace } = profiles[0] as Profile;
  const kinds = new SortedSample([...cluster.mix.values()]);
  const mixed = kinds.most < 0.9 * cluster.jobs;
  const parts = partsOf(profiles, recording);
  if (parts !== null) return inParts(parts, profiles, recording);
  if (pace.kind === "chance" && !profiles.every((profile) => isInBursts(profile, recording)))
    return byChance(profiles, recording);
  if (shape.kind !== "call") return inRuns(profiles, middleShape(profiles, shape), recording);
  return pace.kind === "ticks" && !mixed ? byTheClock(profiles, recording) : byPauses(profiles, recording);
}

/** Fits one average behaviour to the callers of a mixture. */
export function mixturePace({ profiles }: Cluster, recording: Recording): PaceFit {
  const clients = { kind: "closed", clients: profiles.length, startWithinMs: 0 } as const;
  const arrivalsWhy = `${counted(profiles.length, "caller")} of few calls each, drawn from one mixture`;
  const comings = bySessions(profiles, recording);
  if (comings !== null) return { ...comings, arrivals: clients, arrivalsWhy };
  return { ...byPauses(profiles, recording), arrivals: clients, arrivalsWhy };
}

function inParts(
  { parts, rhythms, clients: many }: NonNullable<ReturnType<typeof partsOf>>,
  profiles: readonly Profile[],
  recording: Recording,
): PaceFit {
  const clients = many ?? profiles.length;
  const [only] = parts;
  const jobs = sumOf(profiles.map((profile) => profile.jobs.length));
  return {
    behaviour:
      parts.length === 1 && only !== undefined
        ? only.behaviour
        : { kind: "together", parts, inTurn: areInTurn(profiles, parts, recording) },
    rhythms,
    arrivals: { kind: "closed", clients, startWithinMs: 0 },
    why:
      many === undefined
        ? `${counted(jobs, "call")} of ${counted(parts.length, "behaviour")} under ${profiles.length === 1 ? "one name" : "each name"}`
        : `${counted(jobs, "call")} under one name that overlap as those of many people do: taken for visits of ${counted(clients, "client")}`,
    arrivalsWhy: `${profiles.length === 1 ? "one caller" : counted(profiles.length, "caller")} for ${roughText(recording.endedAtMs - recording.startedAtMs)}`,
    single: false,
  };
}

/** Returns the callers' median period, ms, as round as its error allows, and the number of gaps that show it. */
function everyOf(profiles: readonly Profile[], slackMs: number): { everyMs: number; gaps: number } {
  const clocks = clocksOf(profiles);
  // A period is the time from first to last start, divided by the number of periods; so is its error.
  const doubt = Math.max(1, ...clocks.map(({ offMs, gaps }) => (2 * offMs + slackMs) / gaps));
  const middle = new SortedSample(clocks.map(({ everyMs }) => everyMs)).median;
  return {
    everyMs: roundestWithin(middle - doubt, middle + doubt),
    gaps: sumOf(clocks.map(({ gaps }) => gaps)),
  };
}

/** Returns the clocks of callers who all keep to one, and the number of gaps that show each. */
const clocksOf = (profiles: readonly Profile[]) =>
  profiles.map(({ pace, runs }) => ({ ...(pace as CallPace & { kind: "ticks" }), gaps: runs.length - 1 }));

const startsOf = (profiles: readonly Profile[]): number[] =>
  flatOf(profiles.map(({ runs, clients }) => runs.slice(0, clients).map(({ startMs }) => startMs)));

function byTheClock(profiles: readonly Profile[], recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const { everyMs, gaps } = everyOf(profiles, slackMs);
  const clients = sumOf(profiles.map((profile) => profile.clients));
  const cron = byCron(profiles, everyMs);
  const once = { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 } as const;
  if (cron !== null)
    return {
      ...cron.comes,
      behaviour: { ...cron.timetable, of: once },
      why: `${counted(gaps, "gap")} of whole periods of ${timeText(everyMs)}, each begun with a minute`,
      single: false,
    };
  const off = new SortedSample(clocksOf(profiles).map(({ offMs }) => offMs)).most;
  return {
    behaviour: { kind: "poller", everyMs },
    rhythms: [],
    ...closed(profiles, clients, everyMs, recording),
    why: `${counted(gaps, "gap")} of whole periods of ${timeText(everyMs)}, nine in ten within ${roughText(Math.ceil(off))}`,
    single: true,
  };
}

interface CronFit {
  readonly timetable: Omit<FittedComings & { readonly kind: "timetable" }, "of">;
  readonly comes: Pick<PaceFit, "arrivals" | "arrivalsWhy" | "rhythms">;
}

function byCron(profiles: readonly Profile[], everyMs: number): CronFit | null {
  if (profiles.some(({ clients }) => clients > 1)) return null;
  const starts = profiles.map(({ runs }) => runs.map(({ startMs }) => startMs));
  const found = timetableOf(starts, everyMs);
  if (found === null) return null;
  const spread = found.spreadMs === 0 ? "at once" : `within ${timeText(found.spreadMs)}`;
  return {
    timetable: { kind: "timetable", at: found.schedule, withinMs: found.spreadMs, calls: null, length: null },
    comes: {
      rhythms: [],
      arrivals: { kind: "closed", clients: starts.length, startWithinMs: 0 },
      arrivalsWhy: `${counted(starts.length, "caller")} began ${spread} with the minute`,
    },
  };
}

function closed(profiles: readonly Profile[], clients: number, everyMs: number, recording: Recording) {
  const starts = startsOf(profiles);
  const arrivals = closedArrivals(starts, clients, everyMs, recording, slackOf(recording));
  const last = Math.max(0, new SortedSample(starts).most - recording.startedAtMs);
  return {
    arrivals,
    arrivalsWhy: `the last of them was first seen ${roughText(last)} after the start`,
  };
}

function byPauses(profiles: readonly Profile[], recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const pauses = flatOf(profiles.map(pausesIn));
  const think = spreadOf(pauses, 0, slackMs);
  const atOnce = atOnceOf(flatOf(profiles.map(({ runs }) => runs.map(({ jobs }) => jobs))));
  const over = profiles.filter((profile) => isOver(profile, recording));
  const lengths = profiles.map(({ jobs }) => jobs.length);
  const starts = startsOf(profiles);
  const why =
    pauses.length === 0
      ? "one call each was seen"
      : `${counted(pauses.length, "pause")} after an answer: ${spreadText(pauses)}`;
  const common = { why, single: false, rhythms: [] };
  const whole = profiles.map((profile) => sessionsOf(profile.jobs, Number.POSITIVE_INFINITY));
  const adapting = absenceOf(pauses) === 0 ? adaptOf(profiles, whole, slackMs) : null;
  if (isOpen(profiles, over, starts, recording)) {
    const jobs = Math.round(new SortedSample(lengths).median);
    return {
      ...common,
      behaviour: { kind: "worker", think, atOnce, jobs },
      arrivals: openArrivals(starts, recording),
      arrivalsWhy: `${counted(profiles.length, "caller")} came one after the other, each with ${counted(jobs, "job")} (median)`,
    };
  }
  const comings = adapting === null ? bySessions(profiles, recording) : null;
  if (comings !== null)
    return {
      ...comings,
      arrivals: { kind: "closed", clients: profiles.length, startWithinMs: 0 },
      arrivalsWhy: `${counted(profiles.length, "caller")} came and went`,
    };
  const same = mode(lengths);
  const ends = over.length >= 0.75 * profiles.length && same.share >= 0.8;
  const round = think.kind === "constant" ? think.ms : new SortedSample(pauses).median;
  const jobs = ends || pauses.length === 0 ? same.value : null;
  return {
    ...common,
    ...(adapting === null
      ? null
      : { why: `${counted(pauses.length, "pause")} ${adaptText(adapting.adapt)}` }),
    behaviour:
      adapting === null
        ? { kind: "worker", think, atOnce, jobs }
        : { kind: "worker", ...adapting, atOnce: null, jobs },
    ...closed(profiles, profiles.length, round, recording),
  };
}

/** Tells whether a caller ended before the recording did: its last silence is far longer than its pauses. */
function isOver({ jobs, pausesMs, refused }: Profile, { startedAtMs, endedAtMs }: Recording): boolean {
  const last = jobs.at(-1);
  if (last === undefined || (refused > 0 && isRefused(last.last))) return false;
  const usual = new SortedSample(pausesMs).most;
  const silentMs = endedAtMs - last.endMs;
  return silentMs > Math.max(3 * usual, 0.02 * (endedAtMs - startedAtMs));
}

/** Number of callers from which a fit may give their rate of arrival instead of each caller's start. */
const fewCallers = 20;

/** Tells whether callers come one after the other, and go. */
function isOpen(
  profiles: readonly Profile[],
  over: readonly Profile[],
  starts: readonly number[],
  { startedAtMs, endedAtMs }: Recording,
): boolean {
  const whole = endedAtMs - startedAtMs;
  const lives = new SortedSample(
    profiles.map(({ jobs }) => (jobs.at(-1) as RecordedJob).endMs - (jobs[0] as RecordedJob).startMs),
  );
  return (
    profiles.length >= fewCallers &&
    over.length >= 0.6 * profiles.length &&
    new SortedSample(starts).breadth > 0.3 * whole &&
    lives.median < 0.5 * whole
  );
}

type RunShape = Exclude<RunForm, { kind: "call" }>;

/** Returns the run shape of median length, for callers whose runs differ a little in length. */
function middleShape(profiles: readonly Profile[], model: RunShape): RunShape {
  const length = (shape: RunForm): number =>
    shape.kind === "burst"
      ? shape.size
      : shape.kind === "pager"
        ? shape.pages
        : shape.kind === "queue"
          ? shape.jobs
          : 1;
  const middle = new SortedSample(profiles.map(({ shape }) => length(shape))).median;
  const found = profiles.find(({ shape }) => length(shape) === middle)?.shape ?? model;
  return found.kind === "call" ? model : found;
}

function inRuns(profiles: readonly Profile[], shape: RunShape, recording: Recording): PaceFit {
  const slackMs = slackOf(recording);
  const runs = sumOf(profiles.map((profile) => profile.runs.length));
  const pace = profiles[0]?.pace.kind ?? "once";
  const every = pace === "ticks" ? everyOf(profiles, slackMs) : null;
  const behaviour = { ...shape, everyMs: every?.everyMs ?? null };
  const what =
    shape.kind === "queue"
      ? `${counted(shape.jobs, "job")} that were there at once, ${shape.workers} on the way at a time`
      : shape.kind === "burst"
        ? `${counted(runs, "volley")} of ${counted(shape.size, "call")} at once`
        : `${counted(runs, "run")} of ${shape.last === null || shape.last === shape.pages ? "" : `${shape.last} to `}${counted(shape.pages, "call")}, each begun when one before was answered, at most ${shape.parallel} at once`;
  const when = every === null ? "" : `, every ${timeText(every.everyMs)}`;
  const common = { behaviour, why: what + when, single: true, rhythms: [] };
  const cron = every === null ? null : byCron(profiles, every.everyMs);
  if (cron !== null)
    return { ...common, ...cron.comes, behaviour: { ...cron.timetable, of: { ...shape, everyMs: null } } };
  const starts = flatOf(profiles.map((profile) => profile.runs.map(({ startMs }) => startMs)));
  const over = profiles.filter((profile) => isOver(profile, recording));
  if (pace === "pause" || (pace === "once" && isOpen(profiles, over, starts, recording)))
    return {
      ...common,
      arrivals: openArrivals(starts, recording),
      arrivalsWhy: `${counted(runs, "run")} that kept to no clock`,
    };
  return { ...common, ...closed(profiles, profiles.length, every?.everyMs ?? 0, recording) };
}

function byChance(profiles: readonly Profile[], recording: Recording): PaceFit {
  const starts = flatOf(profiles.map(({ jobs }) => jobs.map(({ startMs }) => startMs)));
  return {
    behaviour: { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: 1 },
    rhythms: [],
    arrivals: openArrivals(starts, recording),
    why: "calls keep to no clock and follow no pauses of one kind: each is a client of its own",
    arrivalsWhy: `${counted(starts.length, "call")} in ${roughText(recording.endedAtMs - recording.startedAtMs)}`,
    single: false,
  };
}
