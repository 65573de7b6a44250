// Small recordings of drawn callers: a few of each kind, at both sides of what `fit` asks for. They are made at once,
// without a simulation, so that a whole fit of one costs some ms.
import { Recorder, type Recording } from "../../sim/fit/recording.ts";
import { GRAPHQL_CALL, REST_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import { type Chance, chanceOf, pick } from "../worlds/chance.ts";
import { dayMs, hourMs, minuteMs, mondayMs } from "../worlds/world.ts";

interface DrawnCall {
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: number;
  readonly kind: number;
}

/** Calls of one caller, from a start to an end. */
type Draw = (chance: Chance, fromMs: number, untilMs: number) => readonly number[];

/** Starts by a clock that misses ticks now and then. */
const clock: Draw = (chance, fromMs, untilMs) => {
  const everyMs = pick(chance, [300_000, 900_000, 1_800_000, 3_600_000, 7_260_000]);
  const misses = pick(chance, [0, 0, 0.1, 0.4]);
  const lateMs = pick(chance, [0, 5, 0.03 * everyMs]);
  const startMs = fromMs + chance.between(0, everyMs);
  const ticks = Math.min(200, Math.floor((untilMs - startMs) / everyMs));
  return Array.from(
    { length: ticks },
    (_, tick) => startMs + tick * everyMs + chance.between(0, lateMs),
  ).filter(() => chance.next() >= misses);
};

/** Clients of one clock under one name. */
const clocks: Draw = (chance, fromMs, untilMs) => {
  const everyMs = pick(chance, [600_000, 1_800_000]);
  return Array.from({ length: pick(chance, [2, 3, 5]) }, () => chance.between(0, everyMs)).flatMap((offMs) =>
    Array.from(
      { length: Math.min(60, Math.floor((untilMs - fromMs) / everyMs)) },
      (_, tick) => fromMs + offMs + tick * everyMs,
    ),
  );
};

const pauses: Draw = (chance, fromMs, untilMs) => {
  const meanMs = pick(chance, [300_000, 1_200_000, 3_600_000]);
  const even = chance.next() < 0.5;
  const starts: number[] = [];
  for (let atMs = fromMs + chance.exponential(meanMs); atMs < untilMs && starts.length < 150; ) {
    starts.push(atMs);
    atMs += 200 + (even ? chance.between(0.8 * meanMs, 1.2 * meanMs) : chance.exponential(meanMs));
  }
  return starts;
};

/** Sessions of calls with short pauses, at hours of work or at any, on all days or weekdays. */
const sessions: Draw = (chance, fromMs, untilMs) => {
  const [pauseMs, awayMs] = [pick(chance, [2_000, 20_000]), pick(chance, [600_000, 3_600_000, 14_400_000])];
  const [opens, closes] = pick(chance, [
    [0, 24],
    [8, 18],
    [20, 23],
  ] as const);
  const [size, weekends, ticking] = [pick(chance, [3, 8, 15]), chance.next() < 0.5, chance.next() < 0.3];
  const lasts = chance.next() < 0.3;
  const starts: number[] = [];
  for (let atMs = fromMs + chance.exponential(awayMs); atMs < untilMs && starts.length < 250; ) {
    const day = Math.floor(atMs / dayMs + 3) % 7;
    const hour = Math.floor((atMs % dayMs) / hourMs);
    const endMs = atMs + size * pauseMs * chance.between(0.8, 1.2);
    const count = lasts ? 100 : 1 + chance.poisson(size);
    if (hour >= opens && hour < closes && (weekends || day < 5))
      for (let call = 0; call < count && (!lasts || atMs < endMs); call++) {
        starts.push(atMs);
        atMs += ticking ? pauseMs : 300 + chance.lognormal(pauseMs, 0.5);
      }
    atMs += chance.lognormal(awayMs, 0.6);
  }
  return starts;
};

/** Some calls at once, again and again. */
const volleys: Draw = (chance, fromMs, untilMs) => {
  const [size, everyMs, clocked] = [
    pick(chance, [2, 4, 10]),
    pick(chance, [1_800_000, 7_200_000]),
    chance.next() < 0.5,
  ];
  const starts: number[] = [];
  const most = clocked ? size : size + 2;
  for (let atMs = fromMs + chance.exponential(everyMs); atMs < untilMs && starts.length < 150; ) {
    const count = clocked ? size : Math.round(chance.between(size - 1, most));
    for (let call = 0; call < count; call++) starts.push(atMs + call);
    atMs += clocked ? everyMs : chance.exponential(everyMs);
  }
  return starts;
};

/** Pages one after the other, or a queue by some workers, each some hours. */
const lists: Draw = (chance, fromMs, untilMs) => {
  const [pages, workers, everyMs] = [
    pick(chance, [5, 12]),
    pick(chance, [1, 3]),
    pick(chance, [3_600_000, 10_800_000]),
  ];
  const starts: number[] = [];
  for (let atMs = fromMs + chance.between(0, everyMs); atMs < untilMs && starts.length < 150; atMs += everyMs)
    for (let page = 0; page < pages; page++) starts.push(atMs + Math.floor(page / workers) * 101);
  return starts;
};

/** A timetable's calls, each day or on weekdays, and others by chance. */
const timetable: Draw = (chance, fromMs, untilMs) => {
  const [hour, minute, size] = [pick(chance, [2, 9, 22]), pick(chance, [0, 15, 37]), pick(chance, [1, 6])];
  const [within, weekdays, twice] = [
    pick(chance, [0, 20_000, 600_000]),
    chance.next() < 0.4,
    chance.next() < 0.3,
  ];
  const starts: number[] = [];
  for (let dayAtMs = fromMs; dayAtMs < untilMs; dayAtMs += dayMs) {
    if (weekdays && Math.floor(dayAtMs / dayMs + 3) % 7 > 4) continue;
    for (const at of twice ? [hour, (hour + 12) % 24] : [hour]) {
      let atMs = dayAtMs + at * hourMs + minute * minuteMs + chance.between(0, within);
      for (let call = 0; call < size; call++, atMs += 400 + chance.lognormal(1_000, 0.3)) starts.push(atMs);
    }
  }
  const rest = chance.next() < 0.5 ? pauses(chance, fromMs, untilMs).filter(() => chance.next() < 0.3) : [];
  return [...starts, ...rest].filter((atMs) => atMs >= fromMs && atMs < untilMs);
};

/** Visits of many people under one name. */
const visits: Draw = (chance, fromMs, untilMs) => {
  const meanMs = Math.max(20_000, (untilMs - fromMs) / 400);
  const starts: number[] = [];
  for (let atMs = fromMs + chance.exponential(meanMs); atMs < untilMs; atMs += chance.exponential(meanMs))
    for (let call = 0, ms = atMs; call < 3; call++, ms += 150 + chance.exponential(2_000)) starts.push(ms);
  return starts;
};

/** Calls after events of all, and seldom without. */
const woken =
  (eventsMs: readonly number[], share: number, lastsMs: number | null): Draw =>
  (chance, fromMs, untilMs) => {
    const own = eventsMs.flatMap((eventMs) => {
      if (chance.next() > share) return [];
      const starts: number[] = [];
      for (
        let ms = eventMs + chance.between(0, 6_000);
        starts.length < 8 || lastsMs !== null;
        ms += 200 + chance.exponential(4_000)
      ) {
        if (lastsMs !== null && ms > eventMs + lastsMs) break;
        starts.push(ms);
      }
      return starts;
    });
    const rest = pauses(chance, fromMs, untilMs).slice(0, 40);
    return [...own, ...rest].filter((ms) => ms >= fromMs && ms < untilMs);
  };

/** More calls of callers who call all day, for some minutes after events. */
const risen =
  (eventsMs: readonly number[]): Draw =>
  (chance, fromMs, untilMs) => {
    const starts: number[] = [];
    const everyMs = Math.max(60_000, (untilMs - fromMs) / 300);
    for (let ms = fromMs + chance.exponential(everyMs); ms < untilMs; ms += 100 + chance.exponential(everyMs))
      starts.push(ms);
    const own = eventsMs.flatMap((eventMs) =>
      Array.from({ length: 12 }, () => eventMs + chance.between(0, 900_000)),
    );
    return [...starts, ...own].filter((ms) => ms >= fromMs && ms < untilMs);
  };

/** Calls by limits: some are refused or fail, and are tried again in one way. */
function answered(chance: Chance, starts: readonly number[], kinds: readonly number[]): DrawnCall[] {
  const [limit, failing] = [pick(chance, [0, 0, 3, 6]), pick(chance, [0, 0, 0.05])];
  const way = pick(chance, ["reset", "backoff", "fixed", "none"] as const);
  const kind = pick(chance, kinds);
  const due = starts.map((atMs) => ({ atMs, attempt: 0 })).sort((a, b) => a.atMs - b.atMs);
  const used = new Map<number, number>();
  const calls: DrawnCall[] = [];
  while (due.length > 0) {
    const { atMs, attempt } = due.shift() as (typeof due)[number];
    const window = Math.floor(atMs / minuteMs);
    const count = used.get(window) ?? 0;
    const isRefused = limit > 0 && count >= limit;
    const isFailed = !isRefused && chance.next() < failing;
    if (!isRefused) used.set(window, count + 1);
    const tookMs = isRefused ? 4 : chance.lognormal(90, 0.4);
    const mixed = kinds.length > 1 && chance.next() < 0.2 ? pick(chance, kinds) : kind;
    calls.push({ atMs, tookMs, status: isRefused ? 429 : isFailed ? 503 : 200, kind: mixed });
    if (attempt === 4 || (!isRefused && !isFailed) || (isRefused && way === "none")) continue;
    const endMs = atMs + tookMs;
    const waitMs = {
      ...{ reset: (window + 1) * minuteMs - endMs + chance.between(0, 500), none: 0 },
      ...{ backoff: 1_000 * 2 ** attempt * chance.between(0.5, 1), fixed: 5_000 },
    }[way];
    due.push({ atMs: endMs + (isFailed ? 250 : waitMs), attempt: attempt + 1 });
    due.sort((a, b) => a.atMs - b.atMs);
  }
  return calls;
}

/** Returns the recording of one seed: three to nine callers of one to three kinds, some of whom join late. */
export function drawnRecording(seed: number): Recording {
  const chance = chanceOf(seed, 77);
  const days = pick(chance, [1, 2, 5, 8, 15]);
  const fromMs = mondayMs + pick(chance, [0, 0, 3.4, 5]) * dayMs;
  const untilMs = fromMs + days * dayMs;
  const eventsMs = Array.from({ length: pick(chance, [3, 6]) }, () => chance.between(fromMs, untilMs)).sort(
    (a, b) => a - b,
  );
  const clockedMs = Array.from({ length: days }, (_, day) => fromMs + day * dayMs + 10 * hourMs);
  const lastsMs = pick(chance, [null, null, 90_000]);
  const kindsOf: readonly Draw[] = [
    ...[clock, clocks, pauses, sessions, sessions, volleys, lists, timetable, visits],
    ...[woken(eventsMs, 0.8, lastsMs), woken(clockedMs, 1, null), risen(eventsMs)],
  ];
  const resolutionMs = pick(chance, [1, 1, 1, 1000]);
  const kinds = pick(chance, [[REST_CALL], [REST_CALL], [REST_CALL, GRAPHQL_CALL, STATUS_CALL]]);
  const callers: { organization: string; user: string }[] = [];
  const calls: (DrawnCall & { readonly caller: number })[] = [];
  for (let group = pick(chance, [1, 2, 3]); group > 0; group--) {
    const draw = pick(chance, kindsOf);
    for (let count = draw === visits ? 1 : pick(chance, [1, 3, 6]); count > 0; count--) {
      const caller =
        callers.push({ organization: pick(chance, ["acme", "acme", "beta"]), user: `${callers.length}` }) - 1;
      const joinMs = chance.next() < 0.1 ? fromMs + (untilMs - fromMs) / 3 : fromMs;
      for (const call of answered(chance, draw(chance, joinMs, untilMs), kinds))
        calls.push({ ...call, caller });
    }
  }
  calls.sort((a, b) => a.atMs - b.atMs);
  const recorder = new Recorder();
  recorder.addBatch(
    {
      count: calls.length,
      atMs: Float64Array.from(calls, ({ atMs }) => Math.floor(atMs / resolutionMs) * resolutionMs),
      durationMs: Float64Array.from(calls, ({ tookMs }) => Math.round(10 * tookMs) / 10),
      caller: Int32Array.from(calls, ({ caller }) => caller),
      kind: Uint8Array.from(calls, ({ kind }) => kind),
      cost: Int32Array.from(calls, ({ kind }) => (kind === GRAPHQL_CALL ? 3 : 1)),
      actual: new Int32Array(calls.length).fill(-1),
      status: Int16Array.from(calls, ({ status }) => status),
    },
    callers,
  );
  return recorder.finish();
}
