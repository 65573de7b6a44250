// Comes and goes: spells of work with absences in between, as people, jobs and machines that sleep have them. The loop
// stays closed: a client that was kept waiting comes back later.
import { type Behaviour, type ClientOut, type ClientRecord, createEvent, STARTED } from "../client.ts";
import { type CronMinutes, cronTimes, parseCron } from "../cron.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { below, between, next32 } from "../random.ts";
import { busyUntil, parseRhythm, type Rhythm, type RhythmInput } from "../rhythm.ts";
import { drawSpread, parseSpread, type Spread, type SpreadInput } from "../spread.ts";
import { nextWake, parseWakes, type WakesInput, wakeEnd } from "../wakes.ts";

interface SessionBounds {
  /** Behaviour of a client in a session. It begins anew in each, except for a pace that adapts. */
  readonly of: Behaviour;
  /** Time from a session's start until it begins nothing more. Default: no bound. */
  readonly length?: SpreadInput;
  /** Number of calls of a session, however often each is retried: whole numbers. Default: no bound. */
  readonly calls?: SpreadInput;
}

/** Sessions with absences in between. */
export interface AwayOptions extends SessionBounds {
  /** Time from the end of a session to the next start. `rhythm` stretches it. */
  readonly away: SpreadInput;
  /** Speed at which `away` passes, by hour and weekday. Default: even. */
  readonly rhythm?: RhythmInput;
}

/** Sessions by the clock. */
export interface TimetableOptions extends SessionBounds {
  /** Line of cron (UTC). A session starts at each minute that it names, unless one is under way. */
  readonly at: string;
  /** Span within which each start comes at random after its minute. Default: at once. */
  readonly within?: Duration;
}

/** Sessions by events that wake many clients together. */
export interface WokenOptions extends SessionBounds {
  /** Events that start sessions; equal in all populations that share them. A client in a session misses them. */
  readonly wakes: WakesInput;
}

export type SessionsOptions = AwayOptions | TimetableOptions | WokenOptions;

type SessionsRecord = Record<
  /** Number of calls that are planned or on the way. */
  | "sessionOpen"
  /** Number of calls that this session may still begin. */
  | "sessionLeft"
  /** Time from which the session begins nothing more, ms since the epoch. */
  | "sessionEndMs"
  /** Time at which this session was due, by cron or event; ms since the epoch. */
  | "sessionDueMs"
  /** 1 while the behaviour still wants events. */
  | "sessionRuns"
  /** Seed of the run, or of the user if each user has events of its own. */
  | "sessionSeed",
  number
>;

/**
 * Returns when a client comes back, at `fromMs` or later, ms since the epoch; `endMs` or later if it does not. It also
 * lowers `sessionEndMs` if something ends the session.
 */
type Comeback = (
  record: ClientRecord<SessionsRecord>,
  fromMs: number,
  endMs: number,
  first: boolean,
) => number;

/**
 * Runs a behaviour in sessions. A client's first absence is only the rest of one, drawn at random: the run meets it at
 * any time. A session is over when its last call is answered and no other is to come.
 */
export function sessions(options: SessionsOptions): Behaviour<SessionsRecord> {
  const mistakes = new Mistakes();
  mistakes.options("sessions", options, ["of", "length", "calls", "away", "rhythm", "at", "within", "wakes"]);
  const { of: inner } = options;
  mistakes.behaviour("sessions.of", inner);
  if (inner?.name === "sessions")
    mistakes.add("sessions.of", inner.name, "a behaviour without sessions of its own");
  const length = boundOf("sessions.length", options.length, mistakes);
  const calls = boundOf("sessions.calls", options.calls, mistakes);
  const comeback = comebackOf(options, mistakes);
  const byUser = "wakes" in options && options.wakes?.by === "user";
  mistakes.finish("these sessions cannot be made");
  const started = createEvent();

  /** Counts the calls from the `from`-th on that belong to the session, and drops the others. Retries belong to it. */
  const keep = (record: SessionsRecord, out: ClientOut, from: number): void => {
    let kept = from;
    for (let index = from; index < out.count; index++) {
      const call = out.calls[index] as (typeof out.calls)[number];
      const isFirst = call.attempt === 0;
      if (isFirst && (call.atMs >= record.sessionEndMs || record.sessionLeft <= 0)) continue;
      out.calls[index] = out.calls[kept] as typeof call;
      out.calls[kept] = call;
      kept += 1;
      record.sessionOpen += 1;
      record.sessionLeft -= Number(isFirst);
    }
    out.count = kept;
    if (out.stopped) record.sessionRuns = 0;
    out.stopped = false;
  };

  const begin = (
    record: ClientRecord<SessionsRecord>,
    fromMs: number,
    endMs: number,
    out: ClientOut,
    first: boolean,
  ): void => {
    record.sessionEndMs = Number.MAX_SAFE_INTEGER;
    const atMs = comeback(record, fromMs, endMs, first);
    if (atMs >= endMs) {
      out.stop();
      return;
    }
    Object.assign(record, inner.start(record.sessionSeed, record.sessionSeed, first ? undefined : record));
    record.sessionRuns = 1;
    // A client that comes after the event's end makes one call.
    record.sessionEndMs = Math.max(atMs + 1, record.sessionEndMs);
    if (length !== null)
      record.sessionEndMs = Math.min(record.sessionEndMs, atMs + Math.max(1, drawSpread(record, length)));
    record.sessionLeft = calls === null ? Number.MAX_SAFE_INTEGER : Math.max(1, drawSpread(record, calls));
    started.kind = STARTED;
    started.nowMs = atMs;
    started.endMs = endMs;
    const from = out.count;
    inner.next(record, started, out);
    keep(record, out, from);
    // A behaviour that asks for nothing at its start never will.
    if (record.sessionOpen === 0) out.stop();
  };

  return {
    name: "sessions",
    calls: inner.calls,
    inFlightMost: inner.inFlightMost,
    start: (seed, userSeed) => ({
      ...inner.start(seed, userSeed),
      sessionOpen: 0,
      sessionLeft: 0,
      sessionEndMs: 0,
      sessionDueMs: 0,
      sessionRuns: 0,
      sessionSeed: byUser ? userSeed : seed,
    }),
    next(record, event, out) {
      if (event.kind === STARTED) return begin(record, event.nowMs, event.endMs, out, true);
      record.sessionOpen -= 1;
      if (record.sessionRuns === 1) {
        const from = out.count;
        inner.next(record, event, out);
        keep(record, out, from);
      }
      if (record.sessionOpen === 0) begin(record, event.nowMs, event.endMs, out, false);
    },
  };
}

function boundOf(path: string, value: SpreadInput | undefined, mistakes: Mistakes): Spread | null {
  return value === undefined ? null : parseSpread(path, value, mistakes, 1);
}

function comebackOf(options: SessionsOptions, mistakes: Mistakes): Comeback {
  if ("wakes" in options) return byWakes(options, mistakes);
  return "at" in options ? byTimetable(options, mistakes) : byAbsence(options, mistakes);
}

function byWakes({ wakes: given, ...rest }: WokenOptions, mistakes: Mistakes): Comeback {
  for (const name of ["away", "rhythm", "at", "within"] as const)
    if (name in rest)
      mistakes.add(
        `sessions.${name}`,
        (rest as Partial<AwayOptions & TimetableOptions>)[name],
        "nothing beside wakes",
      );
  const wakes = parseWakes("sessions.wakes", given, mistakes);
  return (record, fromMs, endMs) => {
    let dueMs = Math.max(fromMs, record.sessionDueMs + 1);
    for (dueMs = nextWake(wakes, record.sessionSeed, dueMs, endMs); dueMs < endMs; ) {
      if (wakes.share === 1 || next32(record) / 4_294_967_296 < wakes.share) break;
      dueMs = nextWake(wakes, record.sessionSeed, dueMs + 1, endMs);
    }
    record.sessionDueMs = dueMs;
    record.sessionEndMs = wakeEnd(wakes, record.sessionSeed, dueMs);
    return dueMs + drawSpread(record, wakes.within);
  };
}

function byAbsence({ away, rhythm }: AwayOptions, mistakes: Mistakes): Comeback {
  const pause = parseSpread("sessions.away", away, mistakes);
  const pace: Rhythm = parseRhythm("sessions.rhythm", rhythm, mistakes);
  return (record, fromMs, endMs, first) => {
    const busyMs = first ? restOfOne(record, pause) : drawSpread(record, pause);
    return busyUntil(pace, record.sessionSeed, fromMs, busyMs, endMs);
  };
}

/** Number of drawn absences that stand for all that a client ever has. */
const absencesMet = 64;

/**
 * Draws the rest of an absence that is met at any time. Long absences are met more often than short ones. The function
 * therefore draws a point on many absences laid end to end.
 */
function restOfOne(record: ClientRecord<SessionsRecord>, away: Spread): number {
  const ends: number[] = [];
  let sum = 0;
  for (let absence = 0; absence < absencesMet; absence++) {
    sum += drawSpread(record, away);
    ends.push(sum);
  }
  const point = below(record, sum + 1);
  return (ends.find((end) => end >= point) ?? sum) - point;
}

function byTimetable({ at, within, ...rest }: TimetableOptions, mistakes: Mistakes): Comeback {
  for (const name of ["away", "rhythm"] as const)
    if (name in rest) mistakes.add(`sessions.${name}`, (rest as AwayOptions)[name], "nothing beside at");
  const cron: CronMinutes | null = parseCron("sessions.at", at, mistakes);
  const withinMs = within === undefined ? 0 : mistakes.duration("sessions.within", within, 0);
  return (record, fromMs, endMs) => {
    const afterMs = Math.max(fromMs, record.sessionDueMs + 1);
    const due = cron === null ? undefined : cronTimes(cron, afterMs, endMs).next().value;
    record.sessionDueMs = due ?? endMs;
    return record.sessionDueMs + (withinMs === 0 ? 0 : between(record, 0, withinMs));
  };
}
