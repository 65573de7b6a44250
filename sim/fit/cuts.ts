// Callers' jobs → sessions with absences in between, in busy time: a pause at night is long, but need not be an absence.
import { dayMs, minuteMs } from "./days.ts";
import { surelyEndByTime } from "./ends.ts";
import type { Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { busyBetween, Calendar, rhythmOf } from "./rhythm.ts";
import type { Spell } from "./runs.ts";
import { absenceOf, absencesIn, joinedMs, rareAbsence, type Sessions, sessionsOf } from "./sessions.ts";
import { flatOf, SortedSample, sumOf } from "./statistics.ts";

/** @param sessions of each caller, in the order of time, with pauses in between */
export function calendarOf(
  profiles: readonly Profile[],
  sessions: readonly (readonly Spell[])[],
  recording: Recording,
): Calendar {
  const lives = sessions.map((own, index) => ({
    joinedMs: joinedMs((profiles[index] as Profile).life, recording),
    sessions: own,
  }));
  return new Calendar(lives, recording.startedAtMs, recording.endedAtMs);
}

/** Returns what a caller does between two pauses: a call, or some at once. */
const spellsIn = ({ shape, runs, jobs }: Profile): readonly Spell[] => (shape.kind === "call" ? runs : jobs);

/** Joins spells without a pause in between. */
const joinedSpells = (spells: readonly Spell[]): readonly Spell[] =>
  spells.every(({ startMs }, index) => index === 0 || startMs > (spells[index - 1] as Spell).endMs)
    ? spells
    : sessionsOf(spells, 0).sessions;

/** Length below which a pause is none, ms: calls follow each other in a row. */
const atOnceMs = 1_000;

/** Largest ratio of absences' mean length, with those that nobody saw the end of, to that of the others. */
export const mostStretch = 3;

/** Callers' jobs in sessions. */
interface Cut {
  /** Length above which a pause is an absence, ms; 0 if none is, and each call is a session. */
  readonly awayMs: number;
  readonly cut: readonly Sessions[];
  /** True if the sessions surely end after a time, whatever pauses are in them. */
  readonly lasting: boolean;
}

/** Least calls of the usual shift, or volleys of calls, and least pause between two, ms. */
const shiftTells = 20;
const shiftsApartMs = 10 * minuteMs;

/** Cuts long sessions, such as shifts, at pauses far longer than all within; `null` if pauses do not part such sessions. */
function byShifts(spells: readonly (readonly Spell[])[]): Cut | null {
  const awayMs = absenceOf(flatOf(spells.map((each) => sessionsOf(each, Number.POSITIVE_INFINITY).pausesMs)));
  if (awayMs < shiftsApartMs) return null;
  const cut = spells.map((each) => sessionsOf(each, awayMs));
  const { median } = new SortedSample(
    cut.flatMap(({ sessions }) => sessions.map((session) => session.spells)),
  );
  return median < shiftTells || lastOverADay(cut) ? null : { awayMs, cut, lasting: surelyEndByTime(cut) };
}

/**
 * Cuts callers' jobs into sessions. Callers who came too rarely for pauses to tell are cut at the few that are far longer
 * than the others. Where pauses are of more than two kinds, the longest ones part sessions that end after a time, if these
 * surely do, or if calls in a row are what differs most. Else the kinds that differ most part them; or shifts, if pauses
 * part shorter ones as they are.
 */
export function cutOf(profiles: readonly Profile[], recording: Recording): Cut {
  const spells = profiles.map(spellsIn);
  const calendar = calendarOf(profiles, spells.map(joinedSpells), recording);
  const usual = rhythmOf(calendar);
  // A pause at night is long, but need not be an absence: pauses are compared in busy time.
  const lengthOf = (fromMs: number, untilMs: number): number =>
    usual === null ? untilMs - fromMs : busyBetween(usual, fromMs, untilMs, calendar.daysOff);
  const pausesMs = flatOf(
    spells.map((each) =>
      each.slice(1).map(({ startMs }, index) => Math.max(0, lengthOf((each[index] as Spell).endMs, startMs))),
    ),
  );
  const { awayMs, outerMs } = absencesIn(pausesMs);
  const unseenMs = sumOf(
    spells.map((each, index) => {
      const cameMs = joinedMs((profiles[index] as Profile).life, recording);
      const [first, last] = [each[0]?.startMs ?? cameMs, each.at(-1)?.endMs ?? cameMs];
      return lengthOf(cameMs, first) + lengthOf(last, recording.endedAtMs);
    }),
  );
  const rareMs =
    awayMs === 0 || unseenMs > mostStretch * sumOf(pausesMs) ? rareAbsence(spells, recording) : 0;
  if (rareMs > 0)
    return { awayMs: rareMs, cut: spells.map((each) => sessionsOf(each, rareMs)), lasting: false };
  if (outerMs > 0) {
    const starts = flatOf(spells.map((each) => each.map(({ startMs }) => startMs)));
    const busy = sumOf(starts.map((ms) => lengthOf(ms, ms + minuteMs))) / (minuteMs * starts.length);
    // Quiet hours shrink absences, but no other pause is as long as an absence of busy hours.
    const cut = spells.map((each) =>
      sessionsOf(each, outerMs, (fromMs, untilMs) =>
        Math.max(lengthOf(fromMs, untilMs), busy * (untilMs - fromMs)),
      ),
    );
    const lasting = surelyEndByTime(cut);
    if (lasting || awayMs < atOnceMs) return { awayMs: outerMs, cut, lasting };
  }
  const none = (): Cut => ({ awayMs: 0, cut: spells.map((each) => sessionsOf(each, 0)), lasting: false });
  if (awayMs === 0) return none();
  const cut = spells.map((each) => sessionsOf(each, awayMs, lengthOf));
  if (usual !== null && lastOverADay(cut)) return none();
  const shifts = byShifts(spells);
  return shifts !== null && shifts.awayMs < awayMs ? shifts : { awayMs, cut, lasting: false };
}

/** Tells whether most sessions hold a night: then they tell nothing of the hours at which calls come. */
const lastOverADay = (cut: readonly Sessions[]): boolean =>
  new SortedSample(flatOf(cut.map(lengthsOf))).median > dayMs;

/** Largest share of the time in sessions, and least mean absence, ms, that make sessions bursts. */
const burstShare = 0.2;
const burstAwayMs = minuteMs;

/** Tells whether a caller calls in bursts alone, with absences in between: loops apart would not come together. */
export function isInBursts(profile: Profile, recording: Recording): boolean {
  const { awayMs, cut } = cutOf([profile], recording);
  const wholeMs = recording.endedAtMs - recording.startedAtMs;
  const workMs = sumOf(flatOf(cut.map(lengthsOf)));
  const bursts = sumOf(cut.map(({ sessions }) => sessions.length));
  return awayMs > 0 && workMs < burstShare * wholeMs && wholeMs - workMs > burstAwayMs * bursts;
}

/** Returns the lengths of sessions, ms. */
export const lengthsOf = ({ sessions }: Sessions): readonly number[] =>
  sessions.map(({ startMs, endMs }) => endMs - startMs);
