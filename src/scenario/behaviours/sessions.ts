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
  /** Behaviour of a client in a session; it begins anew in each. */
  readonly of: Behaviour;
  /** Time from a session's start until nothing more is begun in it. No bound where it is left out. */
  readonly length?: SpreadInput;
  /** Calls of a session, each counted once however often it is retried: whole numbers. No bound where it is left out. */
  readonly calls?: SpreadInput;
}

/** Sessions with absences in between. */
export interface AwayOptions extends SessionBounds {
  /** Time from the end of a session to the next start, as long as `rhythm` says that it takes. */
  readonly away: SpreadInput;
  /** Speed at which `away` passes, by hour and weekday. Even where it is left out. */
  readonly rhythm?: RhythmInput;
}

/** Sessions by the clock. */
export interface TimetableOptions extends SessionBounds {
  /** A line of cron (UTC): a session starts at each minute that it names, unless one is under way. */
  readonly at: string;
  /** Each start comes at random within this span. At once where it is left out. */
  readonly within?: Duration;
}

/** Sessions by events that wake many clients together. */
export interface WokenOptions extends SessionBounds {
  /** The events: alike in all populations that are to share them. A client misses those of its own sessions' time. */
  readonly wakes: WakesInput;
}

export type SessionsOptions = AwayOptions | TimetableOptions | WokenOptions;

type SessionsRecord = Record<
  /** Calls that are planned or on the way. */
  | "sessionOpen"
  /** Calls that this session may still begin. */
  | "sessionLeft"
  /** When nothing more is begun, ms since the epoch. */
  | "sessionEndMs"
  /** When this session was due, by cron; ms since the epoch. */
  | "sessionDueMs"
  /** 1 while the behaviour wants to be told more. */
  | "sessionRuns"
  /** The run's seed, or the user's where events are its own. */
  | "sessionSeed",
  number
>;

/**
 * When a client comes back: from `fromMs` on, ms since the epoch; `endMs` or later where it does not. It brings
 * `sessionEndMs` forward where something ends the session.
 */
type Comeback = (
  record: ClientRecord<SessionsRecord>,
  fromMs: number,
  endMs: number,
  first: boolean,
) => number;

/**
 * Runs a behaviour in sessions. The first absence of a client is a part of one, drawn at random, as of somebody who is
 * met at any time. A session is over when its last call is answered and no other is to come.
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

  /** Counts the calls from the `from`-th on that belong to the session, and drops the others. */
  const keep = (record: SessionsRecord, out: ClientOut, from: number): void => {
    let kept = from;
    for (let index = from; index < out.count; index++) {
      const call = out.calls[index] as (typeof out.calls)[number];
      if (call.atMs >= record.sessionEndMs || record.sessionLeft <= 0) continue;
      out.calls[index] = out.calls[kept] as typeof call;
      out.calls[kept] = call;
      kept += 1;
      record.sessionOpen += 1;
      record.sessionLeft -= 1;
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
    Object.assign(record, inner.start(record.sessionSeed, record.sessionSeed));
    record.sessionRuns = 1;
    // Who comes when all is over makes one call.
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
    // A behaviour that asks for nothing never will.
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

/** So many absences stand for all that a client ever has. */
const absencesMet = 64;

/**
 * Draws what is left of an absence that is met at any time. Long ones are met more often than short ones: so a point is
 * drawn on many of them laid end to end.
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
