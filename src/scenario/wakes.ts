// Events that wake many clients at once, at times that nobody knows: a release, an outage that is over, a webhook. Times
// are drawn by the run's seed, the group and the hour alone, so that all clients of a group share them; or by the user's seed, so that its clients do.
import { type CronMinutes, cronTimes, parseCron } from "./cron.ts";
import { ln } from "./elementary.ts";
import type { Duration, Mistakes } from "./mistakes.ts";
import { next32, type RandomState, seedRandom } from "./random.ts";
import { factorAt, parseRhythm, type Rhythm, type RhythmInput } from "./rhythm.ts";
import { drawSpread, parseSpread, type Spread, type SpreadInput } from "./spread.ts";

interface WokenClients {
  /** Each client wakes at random within this time, or after one drawn from this spread. At once where it is left out. */
  readonly within?: SpreadInput;
  /** Share of clients that an event wakes, each by chance: above 0, at most 1. 1 where it is left out. */
  readonly share?: number;
  /** Time from an event until none of its clients begins anything more: the same for all. No end where it is left out. */
  readonly lasts?: SpreadInput;
  /** Clients of one group wake by the same events, those of another by others: 0 to 999. 0 where it is left out. */
  readonly group?: number;
  /** `"user"`: each user has events of its own, which its clients share. Users share them where it is left out. */
  readonly by?: "user";
}

/** Events by chance. */
interface ChanceWakes extends WokenClients {
  /** Number of events on a mean day, above 0 and at most 1,000; by chance. */
  readonly perDay: number;
  /** When they come, beside the mean; factors are of how likely one is. Even where it is left out. */
  readonly rhythm?: RhythmInput;
}

/** Events by the clock. */
interface ClockWakes extends WokenClients {
  /** A line of cron (UTC): an event comes at each minute that it names. */
  readonly at: string;
  /** Each event comes at random within this span after its minute. At once where it is left out. */
  readonly late?: Duration;
}

export type WakesInput = ChanceWakes | ClockWakes;

/** Wakes, checked. */
export interface Wakes {
  /** `null`: by chance. */
  readonly cron: CronMinutes | null;
  readonly lateMs: number;
  readonly perHour: number;
  readonly rhythm: Rhythm;
  /** Time from an event until a client wakes. */
  readonly within: Spread;
  readonly share: number;
  /** `null`: events have no end. */
  readonly lasts: Spread | null;
  readonly group: number;
  /** Each user has events of its own. */
  readonly byUser: boolean;
}

const hourMs = 3_600_000;
const perDayMost = 1000;
const groupMost = 999;
/** Beyond every population's stream of draws; that of a group lies so many before. */
const wakeStream = 0x7fff_fffd;

export function parseWakes(path: string, value: unknown, mistakes: Mistakes): Wakes {
  const rhythm = parseRhythm(`${path}.rhythm`, undefined, mistakes);
  const plain: Wakes = {
    cron: null,
    lateMs: 0,
    perHour: 1,
    rhythm,
    within: { least: 0, most: 0 },
    share: 1,
    lasts: null,
    group: 0,
    byUser: false,
  };
  const names = ["perDay", "rhythm", "at", "late", "within", "share", "lasts", "group", "by"];
  if (!mistakes.members(path, value, names)) return plain;
  const byClock = value["at"] !== undefined;
  for (const name of byClock ? ["perDay", "rhythm"] : ["late"])
    if (value[name] !== undefined)
      mistakes.add(`${path}.${name}`, value[name], byClock ? "nothing beside at" : "nothing without at");
  const perDay = byClock
    ? 1
    : mistakes.number(
        `${path}.perDay`,
        value["perDay"],
        (number) => number > 0 && number <= perDayMost,
        `a number above 0, at most ${perDayMost}`,
      );
  const share = mistakes.number(
    `${path}.share`,
    value["share"] ?? 1,
    (number) => number > 0 && number <= 1,
    "a number above 0, at most 1",
  );
  const group = mistakes.number(
    `${path}.group`,
    value["group"] ?? 0,
    (number) => Number.isInteger(number) && number >= 0 && number <= groupMost,
    `an integer from 0 to ${groupMost}`,
  );
  const { by } = value;
  if (by !== undefined && by !== "user") mistakes.add(`${path}.by`, by, '"user", or nothing');
  return {
    cron: byClock ? parseCron(`${path}.at`, value["at"], mistakes) : null,
    lateMs: byClock ? mistakes.duration(`${path}.late`, (value["late"] ?? 0) as Duration, 0) : 0,
    perHour: perDay / 24,
    rhythm: byClock ? rhythm : parseRhythm(`${path}.rhythm`, value["rhythm"], mistakes),
    within: withinOf(`${path}.within`, value["within"] ?? 0, mistakes),
    share,
    lasts: value["lasts"] === undefined ? null : parseSpread(`${path}.lasts`, value["lasts"], mistakes, 1),
    group,
    byUser: by === "user",
  };
}

/** A time alone is the longest. */
function withinOf(path: string, value: unknown, mistakes: Mistakes): Spread {
  return typeof value === "object"
    ? parseSpread(path, value, mistakes)
    : { least: 0, most: mistakes.duration(path, value as Duration, 0) };
}

const draws: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };

/**
 * Returns the first event at or after an instant, whole ms since the epoch; `endMs` where none comes before it.
 * @param seed the run's; the user's where each has events of its own
 */
export function nextWake(wakes: Wakes, seed: number, fromMs: number, endMs: number): number {
  const { cron, perHour, rhythm, group } = wakes;
  if (cron !== null) return nextByClock(cron, wakes, seed, fromMs, endMs);
  for (let hour = Math.floor(fromMs / hourMs); hour * hourMs < endMs; hour++) {
    const rate = perHour * factorAt(rhythm, seed, hour * hourMs + rhythm.zoneMs);
    if (rate === 0) continue;
    seedRandom(draws, seed, wakeStream - group, hour);
    for (let share = 0; ; ) {
      share -= ln((next32(draws) + 0.5) / 4_294_967_296) / rate;
      if (share >= 1) break;
      const atMs = hour * hourMs + Math.floor(share * hourMs);
      if (atMs >= fromMs) return Math.min(endMs, atMs);
    }
  }
  return endMs;
}

/** Returns when an event is over, ms since the epoch: the same for all clients of its group. */
export function wakeEnd({ lasts, group }: Wakes, seed: number, atMs: number): number {
  if (lasts === null) return Number.MAX_SAFE_INTEGER;
  seedRandom(draws, seed, wakeStream - groupMost - 1 - group, atMs);
  return atMs + Math.max(1, drawSpread(draws, lasts));
}

function nextByClock(
  cron: CronMinutes,
  { lateMs, group }: Wakes,
  seed: number,
  fromMs: number,
  endMs: number,
): number {
  for (const minuteMs of cronTimes(cron, fromMs - lateMs, endMs)) {
    seedRandom(draws, seed, wakeStream - group, minuteMs / 60_000);
    const atMs = minuteMs + Math.floor((next32(draws) / 4_294_967_296) * (lateMs + 1));
    if (atMs >= fromMs) return Math.min(endMs, atMs);
  }
  return endMs;
}
