import type { Chance } from "./chance.ts";
import { patiences } from "./patience.ts";
import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

const weekdayOf = (ms: number): number => Math.floor((ms - mondayMs) / dayMs) % 7;
const dayOf = (ms: number): number => Math.floor((ms - mondayMs) / dayMs);
const hourOf = (ms: number): number => (ms / hourMs) % 24;
const isWorkTime = (ms: number, from: number, to: number): boolean =>
  weekdayOf(ms) < 5 && hourOf(ms) >= from && hourOf(ms) < to;

/** Returns the instant of a day's release, which wakes all agents; `null` on a day without one. */
function releaseOf(day: number, chanceOfDay: (day: number) => Chance): number | null {
  const chance = chanceOfDay(day);
  const isReleased = chance.next() < 0.6;
  const atMs = mondayMs + day * dayMs + chance.between(10, 16) * hourMs;
  return isReleased && day % 7 < 5 ? atMs : null;
}

/** A build agent: builds of heavy-tailed lengths, most of them by day, and a few calls at once after a release. */
function* agent({ traits, chance, day, fromMs, untilMs, ask }: Part) {
  const usualMs = traits.lognormal(35 * minuteMs, 0.5);
  const pollMs = traits.lognormal(12_000, 0.2);
  function* builds(): Steps {
    let atMs = fromMs + chance.exponential(usualMs);
    while (atMs < untilMs) {
      if (isWorkTime(atMs, 8, 19) || chance.next() < 0.2) {
        const first = Math.floor(chance.between(3, 7));
        for (let call = 0; call < first; call++) atMs = yield* ask(atMs);
        const endMs = atMs + Math.min(2 * hourMs, chance.pareto(2 * minuteMs, 1.4));
        while (atMs < endMs) atMs = (yield* ask(atMs)) + pollMs * chance.between(0.9, 1.1);
        atMs = yield* ask(atMs);
      }
      atMs += chance.exponential(usualMs);
    }
    return atMs;
  }
  function* releases(): Steps {
    let atMs = fromMs;
    for (let at = dayOf(fromMs); at < dayOf(untilMs); at++) {
      const releaseMs = releaseOf(at, day);
      if (releaseMs === null) continue;
      atMs = releaseMs + chance.exponential(20_000);
      const calls = Math.floor(chance.between(4, 9));
      for (let call = 0; call < calls; call++) atMs = yield* ask(atMs);
    }
    return atMs;
  }
  yield* atOnce([builds(), releases()]);
}

/** A page that polls while somebody looks at it: all day long, or on weekdays from 9 to 17. */
const page = (everyMs: number, isOpen: (ms: number) => boolean) =>
  function* ({ chance, fromMs, untilMs, ask }: Part) {
    const offMs = chance.between(0, everyMs);
    for (let atMs = fromMs + offMs; atMs < untilMs; atMs += everyMs)
      if (isOpen(atMs)) yield* ask(atMs + chance.between(0, 200));
  };

/** A job of cron at a minute of each hour: a list, page by page. */
const hourly = (minute: number, pages: number) =>
  function* ({ chance, fromMs, untilMs, ask }: Part) {
    for (let hour = fromMs; hour < untilMs; hour += hourMs) {
      let atMs = hour + minute * minuteMs + chance.between(0, 15_000);
      const count = chance.poisson(pages);
      for (let call = 0; call < count; call++) atMs = (yield* ask(atMs)) + chance.lognormal(400, 0.4);
    }
  };

/** A nightly export by four workers. */
function* nightly({ chance, fromMs, untilMs, ask }: Part) {
  for (let start = fromMs; start < untilMs; start += dayMs) {
    let left = chance.poisson(500);
    function* lane(): Steps {
      let atMs = start + 2.5 * hourMs + chance.between(0, 2_000);
      for (; left > 0; left--) atMs = (yield* ask(atMs)) + chance.lognormal(4_000, 0.5);
      return atMs;
    }
    yield* atOnce([lane(), lane(), lane(), lane()]);
  }
}

/** Somebody's script: on Tuesdays and Thursdays, for a while, as fast as it goes. It cares for no refusal. */
function* script({ day, chance, fromMs, untilMs, ask }: Part) {
  for (let start = fromMs; start < untilMs; start += dayMs) {
    if (![1, 3].includes(weekdayOf(start))) continue;
    const today = day(dayOf(start) + 1_000);
    let atMs = start + today.between(11, 16) * hourMs;
    const endMs = atMs + today.lognormal(15 * minuteMs, 0.4);
    while (atMs < endMs) atMs = (yield* ask(atMs, () => atMs + 2_000)) + chance.lognormal(900, 0.3);
  }
}

/** Events of others: at random, more by day. */
function* hook({ chance, fromMs, untilMs, ask }: Part) {
  let atMs = fromMs;
  for (;;) {
    atMs += chance.exponential(minuteMs / 9);
    if (atMs >= untilMs) return;
    const share = isWorkTime(atMs, 7, 20) ? 1 : 0.25;
    if (chance.next() < share) yield* ask(atMs);
  }
}

export const platform: World = {
  name: "platform",
  description:
    "A company's whole platform. Two dozen build agents, whose builds are of heavy-tailed lengths, most of them on weekdays " +
    "by day; a build begins with some calls and polls until it ends. A release on three days of five wakes all of them. Four pages " +
    "poll, two of them in office hours. Three jobs of cron list what there is each hour, and one exports by four workers at 2:30. " +
    "On Tuesdays and Thursdays somebody's script calls as fast as it can for a while. Events of others come at random. " +
    "One call of two hundred times out, and is tried again at once; who is refused backs off.",
  tuned: true,
  agents: 24,
  agent,
  others: {
    "page-1": page(30_000, (ms) => isWorkTime(ms, 9, 17)),
    "page-2": page(30_000, (ms) => isWorkTime(ms, 9, 17)),
    "page-3": page(minuteMs, () => true),
    "page-4": page(20_000, () => true),
    "hourly-1": hourly(0, 18),
    "hourly-2": hourly(0, 30),
    "hourly-3": hourly(30, 12),
    nightly,
    script,
    hook,
  },
  patience: patiences.backoff,
  failing:
    ({ chance }) =>
    () =>
      chance.next() < 1 / 200 ? { status: 0, afterMs: 10_000 } : null,
};
