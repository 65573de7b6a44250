// Events that wake many clients at once, at times that nobody knows: a release, an outage's end, a webhook. The run's
// seed, the group and the hour decide the times, so all clients of a group share them. Or the user's seed decides them.
import { hourMs } from "../rules/duration.ts";
import { type CronMinutes, cronTimes, parseCron } from "./cron.ts";
import { ln } from "./elementary.ts";
import type { Duration, Mistakes } from "./mistakes.ts";
import { Draws, next32, seedRandom } from "./random.ts";
import { factorAt, parseRhythm, type Rhythm, type RhythmInput } from "./rhythm.ts";
import { drawSpread, parseSpread, type Spread, type SpreadInput } from "./spread.ts";

interface WokenClients {
  /** Span within which a client wakes at random, or a spread of its delay. Default: at once. */
  readonly within?: SpreadInput;
  /** Share of clients that an event wakes, drawn for each: above 0, at most 1. Default: 1. */
  readonly share?: number;
  /** Time from an event until its clients begin nothing more, the same for all. Default: no end. */
  readonly lasts?: SpreadInput;
  /** Group of clients that wake by the same events, 0 to 999. Other groups have other events. Default: 0. */
  readonly group?: number;
  /** `"user"`: each user has events of its own, which its clients share. Default: users share events. */
  readonly by?: "user";
}

/** Events by chance. */
interface ChanceWakes extends WokenClients {
  /** Mean number of events a day, above 0 and at most 1,000. */
  readonly perDay: number;
  /** Rhythm of the events; its factors change how likely one is. Default: even. */
  readonly rhythm?: RhythmInput;
}

/** Events by the clock. */
interface ClockWakes extends WokenClients {
  /** Line of cron (UTC). An event comes at each minute that it names. */
  readonly at: string;
  /** Span within which each event comes at random after its minute. Default: at once. */
  readonly late?: Duration;
}

export type WakesInput = ChanceWakes | ClockWakes;

/** Wakes, checked. */
export interface Wakes {
  /** `null` for events by chance. */
  readonly cron: CronMinutes | null;
  readonly lateMs: number;
  readonly perHour: number;
  readonly rhythm: Rhythm;
  /** Time from an event until a client wakes. */
  readonly within: Spread;
  readonly share: number;
  /** `null` if events have no end. */
  readonly lasts: Spread | null;
  readonly group: number;
  /** True if each user has events of its own. */
  readonly byUser: boolean;
}

const perDayMost = 1000;
const groupMost = 999;
/** Stream of the events' draws, beyond every population's. That of group n is n less. */
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

/** Returns the spread of a delay. A time alone is the longest delay. */
function withinOf(path: string, value: unknown, mistakes: Mistakes): Spread {
  return typeof value === "object"
    ? parseSpread(path, value, mistakes)
    : { least: 0, most: mistakes.duration(path, value as Duration, 0) };
}

const draws = new Draws();

/**
 * Returns the first event at or after an instant, whole ms since the epoch; `endMs` if none comes before it.
 * @param seed the run's seed; the user's if each has events of its own
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
