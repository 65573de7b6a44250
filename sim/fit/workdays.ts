// Callers who come once a day and stay: people who open a page in the morning, and close the computer when work ends. A
// line of cron says when they come, each within some hours of its own choice, and a length when they go.
import { dayMs, hourMs, isWeekend, minuteMs, weekdayOf } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { spellsOf } from "./runs.ts";
import { type Sessions, sessionsOf } from "./sessions.ts";
import { SortedSample } from "./statistics.ts";

/** Between two days nobody calls for so long, ms; within a day there is no such pause. */
const nightMs = 5 * hourMs;
/** Who comes back more often than this a day after longer than so, ms, has no day but sessions. */
const breaksMost = 0.5;
const breakMs = hourMs / 2;
/** So many days at least, with such a share of all from the first to the last one. */
const daysLeast = 4;
const daysShare = 0.9;
/** A day begins within so long, and has so many calls. */
const beginsWithinMs = 4 * hourMs;
const callsLeast = 20;

/** The days of a caller who comes each day, or each weekday, by spells of calls; `null` where it comes otherwise. */
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
  return most - least <= beginsWithinMs ? cut : null;
}

const isRestDay = (day: number): boolean => isWeekend(weekdayOf(day * dayMs));

/** When callers of such days come: a line of cron, and how long after its time. */
export function beginningOf(all: Sessions): { readonly at: string; readonly withinMs: number } {
  const starts = new SortedSample(all.sessions.map(({ startMs }) => startMs % dayMs));
  const minute = Math.floor(starts.quantile(0.02) / minuteMs / 5) * 5;
  const withinMs = Math.ceil((starts.quantile(0.98) - minute * minuteMs) / (5 * minuteMs)) * 5 * minuteMs;
  const rests = !all.sessions.some(({ startMs }) => isRestDay(Math.floor(startMs / dayMs)));
  return { at: `${minute % 60} ${Math.floor(minute / 60)} * * ${rests ? "1-5" : "*"}`, withinMs };
}
