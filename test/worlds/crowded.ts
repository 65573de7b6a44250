import type { Chance } from "./chance.ts";
import { atReset, patiences } from "./patience.ts";
import {
  type Actor,
  atOnce,
  dayMs,
  hourMs,
  minuteMs,
  mondayMs,
  type Part,
  type Patience,
  type Steps,
  type World,
} from "./world.ts";

const dayOf = (ms: number): number => Math.floor((ms - mondayMs) / dayMs);

/** How busy people are in each hour of their day. */
const hours = [1, 1, 0, 0, 0, 0, 1, 3, 7, 10, 10, 9, 7, 9, 10, 10, 9, 7, 4, 3, 3, 3, 2, 1].map(
  (each) => each / 10,
);

/** Returns the part of the busiest hours' work that people do at a time, by the hours of a zone. */
function busy(ms: number, zoneHours: number): number {
  const local = ms + zoneHours * hourMs;
  const weekday = ((dayOf(local) % 7) + 7) % 7 < 5;
  const hour = Math.floor((local - mondayMs) / hourMs) % 24;
  return (hours[(hour + 24) % 24] as number) * (weekday ? 1 : 0.15);
}

/** Returns how much all people have to do on a day, by chance. */
const dayFactor = (ms: number, day: (day: number) => Chance): number => day(dayOf(ms)).lognormal(1, 0.2);

/** Two in three are in Berlin, the others in San Francisco. */
const zoneOf = (traits: Chance): number => (traits.next() < 2 / 3 ? 1 : -8);

/** Steps of work that begins by chance: at most `perHour` times an hour, in the busiest hours. */
function* begun(part: Part, perHour: number, zone: number, work: (atMs: number) => Steps): Steps {
  const { chance, day, fromMs, untilMs } = part;
  let atMs = fromMs;
  const most = 2 * perHour;
  for (;;) {
    atMs += chance.exponential(hourMs / most);
    if (atMs >= untilMs) return atMs;
    if (chance.next() < (busy(atMs, zone) * dayFactor(atMs, day)) / 2) atMs = yield* work(atMs);
  }
}

/** A coding agent: sessions of heavy-tailed lengths; a few calls in a row, then it thinks. */
function* coder(part: Part) {
  const { traits, chance, ask } = part;
  const zone = zoneOf(traits);
  const perHour = traits.lognormal(3.2, 0.3);
  const thinkMs = traits.lognormal(9_000, 0.3);
  yield* begun(part, perHour, zone, function* (startMs) {
    const turns = Math.min(600, Math.floor(chance.pareto(14, 1.25)));
    let atMs = startMs;
    for (let turn = 0; turn < turns; turn++) {
      const calls = 1 + chance.poisson(1.6);
      for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.between(100, 600);
      atMs += chance.lognormal(thinkMs, 0.9);
    }
    return atMs;
  });
}

/** A bot: on for a while, off for longer, by day and by night. */
function* bot({ traits, chance, fromMs, ask }: Part) {
  const pauseMs = traits.lognormal(4_000, 0.2);
  let atMs = fromMs + chance.exponential(40 * minuteMs);
  for (;;) {
    const endMs = atMs + chance.exponential(15 * minuteMs);
    while (atMs < endMs) atMs = (yield* ask(atMs)) + chance.exponential(pauseMs);
    atMs += Math.min(8 * hourMs, chance.pareto(16 * minuteMs, 1.4));
  }
}

/** A project's CI: a job begins with some calls, and polls while it runs; several run at a time. */
function* builder(part: Part) {
  const { traits, chance, day, fromMs, untilMs, ask } = part;
  const zone = zoneOf(traits);
  const perHour = traits.lognormal(4.4, 0.4);
  const pollMs = traits.lognormal(6_000, 0.2);
  function* job(startMs: number): Steps {
    let atMs = startMs;
    for (let call = 0; call < 3; call++) atMs = (yield* ask(atMs)) + chance.between(100, 300);
    const endMs = atMs + Math.min(hourMs, chance.lognormal(6 * minuteMs, 0.8));
    while (atMs < endMs) atMs = (yield* ask(atMs)) + pollMs * chance.between(0.9, 1.1);
    return yield* ask(atMs);
  }
  const jobs: Actor[] = [];
  for (let hour = fromMs; hour < untilMs; hour += hourMs) {
    const factor = Math.max(0.05, busy(hour, zone)) * dayFactor(hour, day);
    const count = chance.poisson(perHour * factor);
    for (let one = 0; one < count; one++) jobs.push(job(hour + chance.between(0, hourMs)));
  }
  yield* atOnce(jobs);
}

/** A nightly job of cron: lists everything by four workers. */
function* nightly({ traits, chance, fromMs, untilMs, ask }: Part) {
  const hourOfNight = 1 + Math.floor(traits.between(0, 4));
  const pages = traits.lognormal(1_200, 0.3);
  for (let start = fromMs; start < untilMs; start += dayMs) {
    let left = chance.poisson(pages);
    function* lane(): Steps {
      let atMs = start + hourOfNight * hourMs + chance.between(0, 3_000);
      for (; left > 0; left--) atMs = (yield* ask(atMs)) + chance.lognormal(7_000, 0.4);
      return atMs;
    }
    yield* atOnce([lane(), lane(), lane(), lane()]);
  }
}

/** An hourly job of cron: a list, page by page. */
function* hourly({ traits, chance, fromMs, untilMs, ask }: Part) {
  const pages = traits.lognormal(60, 0.4);
  for (let hour = fromMs; hour < untilMs; hour += hourMs) {
    let atMs = hour + chance.between(0, 60_000);
    const count = chance.poisson(pages);
    for (let call = 0; call < count; call++) atMs = (yield* ask(atMs)) + chance.lognormal(2_500, 0.4);
  }
}

/** A greedy token: now and then as fast as it can, whatever it is answered. */
function* greedy(part: Part) {
  const { chance, ask } = part;
  yield* begun(part, 0.6, 1, function* (startMs) {
    const endMs = startMs + chance.lognormal(12 * minuteMs, 0.5);
    let atMs = startMs;
    while (atMs < endMs) atMs = (yield* ask(atMs)) + chance.lognormal(1_300, 0.3);
    return atMs;
  });
}

/** An integration: two calls for each event of others. */
function* integration({ traits, chance, day, fromMs, untilMs, ask }: Part) {
  const everyMs = traits.lognormal(12_000, 0.2);
  let atMs = fromMs;
  for (;;) {
    atMs += chance.exponential(everyMs);
    if (atMs >= untilMs) return;
    const factor = (0.25 + 0.75 * busy(atMs, 1)) * dayFactor(atMs, day);
    if (chance.next() > factor) continue;
    for (let call = 0; call < 2; call++) atMs = (yield* ask(atMs)) + chance.between(50, 200);
  }
}

/** Dashboards of a team: three calls at once every half minute, while somebody looks. */
function* dashboards(part: Part) {
  const { traits, chance, ask } = part;
  const zone = zoneOf(traits);
  const people = 2 + Math.floor(traits.between(0, 4));
  const person = () =>
    begun(part, 1.2, zone, function* (startMs) {
      const endMs = startMs + Math.min(4 * hourMs, chance.lognormal(30 * minuteMs, 0.8));
      let atMs = startMs;
      for (; atMs < endMs; atMs += 30_000) yield* atOnce([ask(atMs), ask(atMs), ask(atMs)]);
      return atMs;
    });
  yield* atOnce(Array.from({ length: people }, person));
}

/** An export: some thousand pages in a row; it waits, and goes on where it was. */
function* exporter(part: Part) {
  const { chance, ask } = part;
  yield* begun(part, 0.3, 1, function* (startMs) {
    const pages = Math.min(6_000, Math.floor(chance.pareto(500, 1.3)));
    let atMs = startMs;
    for (let page = 0; page < pages; page++) atMs = (yield* ask(atMs)) + chance.lognormal(1_500, 0.4);
    return atMs;
  });
}

/** A monitor: one call every fifteen seconds. */
function* monitor({ chance, fromMs, untilMs, ask }: Part) {
  const offMs = chance.between(0, 15_000);
  for (let atMs = fromMs + offMs; atMs < untilMs; atMs += 15_000) yield* ask(atMs + chance.between(0, 100));
}

const givesUp: Patience = () => Infinity;

/** Returns a backoff that doubles from a second to a minute, with jitter, and gives up after so many attempts. */
const backoff =
  (attempts: number): Patience =>
  (answer, attempt, chance, number) =>
    attempt === attempts ? Infinity : patiences.backoff(answer, attempt, chance, number);

const fixed =
  (pauseMs: number): Patience =>
  ({ receivedMs }) =>
    receivedMs + pauseMs;

/** Kinds of callers: how many there are, and what they do when refused. */
const kinds: readonly { many: number; agent: World["agent"]; patience: Patience }[] = [
  { many: 14, agent: coder, patience: atReset },
  { many: 5, agent: bot, patience: backoff(6) },
  { many: 8, agent: builder, patience: fixed(10_000) },
  { many: 3, agent: nightly, patience: backoff(8) },
  { many: 3, agent: hourly, patience: fixed(5_000) },
  { many: 2, agent: greedy, patience: givesUp },
  { many: 2, agent: integration, patience: backoff(4) },
  { many: 4, agent: dashboards, patience: givesUp },
  { many: 2, agent: exporter, patience: atReset },
  { many: 2, agent: monitor, patience: givesUp },
];
const kindOf = kinds.flatMap((kind) => Array.from({ length: kind.many }, () => kind));
const kindAt = (number: number) => kindOf[number] as (typeof kinds)[number];

export const crowded: World = {
  name: "crowded",
  description:
    "An organization of 45 tokens, on a usual day above its limit. Fourteen coding agents have sessions of heavy-tailed lengths, " +
    "a few calls and then a pause; five bots are on and off; eight projects have jobs that poll while they run; three jobs of cron " +
    "list everything at night by four workers, three a page after the other each hour; two greedy tokens call as fast as " +
    "they can for a while; two integrations call for each event of others; four teams have dashboards; two exports go through " +
    "long lists; two monitors call every fifteen seconds. People work in Berlin or San Francisco, and little at weekends; all their " +
    "work differs by a fifth from day to day. One call of four hundred times out, and is tried again at once. Who is refused waits " +
    "for the reset (agents, exports), backs off and gives up (bots, cron by night, integrations), pauses for some seconds " +
    "(projects, hourly cron), or calls no more (the others). The largest fleet keeps 1 % refused.",
  tuned: true,
  limits: { organization: 129, user: 50 },
  goal: 0.01,
  agents: kindOf.length,
  agent: (part) => kindAt(part.number).agent(part),
  patience: (answer, attempt, chance, number) => kindAt(number).patience(answer, attempt, chance, number),
  failing:
    ({ chance }) =>
    () =>
      chance.next() < 1 / 400 ? { status: 0, afterMs: 10_000 } : null,
};
