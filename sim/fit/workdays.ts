// Callers who come once a day and stay, such as people who keep a page open from morning until work ends. A line of
// cron and a delay of up to some hours give their start, and a length gives their end.
import { dayMs, hourMs, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { type Spell, spellsOf } from "./runs.ts";
import { type Sessions, sessionsOf } from "./sessions.ts";
import { SortedSample } from "./statistics.ts";

/** Least pause between two days, ms; pauses within a day are shorter. */
const nightMs = 5 * hourMs;
/** Most breaks longer than `breakMs` per day; callers with more have sessions, not days. */
const breaksMost = 0.5;
const breakMs = hourMs / 2;
/** Least number of days, and least share of the days from first to last, on which the caller comes. */
const daysLeast = 4;
const daysShare = 0.9;
/** Longest span of the times of day at which days begin, ms. `callsLeast`: least spells of calls of a mean day. */
const beginsWithinMs = 4 * hourMs;
const callsLeast = 20;

/** Returns the days of a caller who comes each day or each weekday, cut by spells; `null` for other callers. */
export function workdaysOf(jobs: readonly RecordedJob[]): Sessions | null {
  if (jobs.length < daysLeast * callsLeast) return null;
  const spells = spellsOf(jobs);
  const cut = sessionsOf(spells, nightMs);
  const { sessions, pausesMs } = cut;
  if (pausesMs.filter((ms) => ms > breakMs).length > breaksMost * sessions.length) return null;
  const days = sessions.map(({ startMs }) => Math.floor(startMs / dayMs));
  const [first, last] = [days[0] as number, days.at(-1) as number];
  if (days.length < daysLeast || spells.length < callsLeast * days.length) return null;
  const rests = !days.some(isRestDay);
  let asked = 0;
  for (let day = first; day <= last; day++) if (!rests || !isRestDay(day)) asked += 1;
  const isOnceADay = days.every((day, index) => day !== days[index - 1]);
  if (!isOnceADay || days.length < daysShare * asked) return null;
  const { least, most } = new SortedSample(sessions.map(({ startMs }) => startMs % dayMs));
  return most - least <= beginsWithinMs && !hasRushHour(spells, cut) ? cut : null;
}

/** Least ratio of the busiest hour to the usual one that makes a rush hour; a shift's hours are alike otherwise. */
const rushLeast = 1.5;

/** Tells whether one hour of the day is far busier than the others between begin and end of these days. */
function hasRushHour(spells: readonly Spell[], { sessions }: Sessions): boolean {
  const begin = new SortedSample(sessions.map(({ startMs }) => startMs % dayMs)).median;
  const end = new SortedSample(sessions.map(({ startMs, endMs }) => (startMs % dayMs) + endMs - startMs))
    .median;
  const from = Math.ceil(begin / hourMs);
  const counts = new Array<number>(Math.max(0, Math.floor(end / hourMs) - from)).fill(0);
  for (const { startMs } of spells) {
    const place = Math.floor((startMs % dayMs) / hourMs) - from;
    if (place in counts) counts[place] = (counts[place] as number) + 1;
  }
  if (counts.length < 3) return false;
  const { median, most } = new SortedSample(counts);
  return most > rushLeast * median + 4 * Math.sqrt(median);
}

const isRestDay = (day: number): boolean => isWeekend(weekdayOf(day * dayMs));

/** Returns when such callers come: a line of cron, UTC, and the longest delay after it, ms. */
export function beginningOf(all: Sessions): { readonly at: string; readonly withinMs: number } {
  const starts = new SortedSample(all.sessions.map(({ startMs }) => startMs % dayMs));
  const minute = Math.floor(starts.quantile(0.02) / minuteMs / 5) * 5;
  const withinMs = Math.ceil((starts.quantile(0.98) - minute * minuteMs) / (5 * minuteMs)) * 5 * minuteMs;
  const rests = !all.sessions.some(({ startMs }) => isRestDay(Math.floor(startMs / dayMs)));
  return { at: `${minute % 60} ${Math.floor(minute / 60)} * * ${rests ? "1-5" : "*"}`, withinMs };
}
