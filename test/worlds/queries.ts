import { type Chance, whole } from "./chance.ts";
import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type Points, type World } from "./world.ts";

const isWorkTime = (ms: number): boolean => {
  const hour = (ms / hourMs) % 24;
  return Math.floor((ms - mondayMs) / dayMs) % 7 < 5 && hour >= 8 && hour < 19;
};

/** A list of builds: it asks for a hundred, and gets what the repository has. */
const builds = (chance: Chance, size: number): Points => ({
  asked: 1_060,
  actual: Math.min(1_060, 10 + Math.round(chance.lognormal(size, 0.8))),
});
const pipeline = (chance: Chance): Points => ({ asked: 63, actual: whole(chance, 20, 63) });
const annotations = (chance: Chance): Points => ({ asked: 530, actual: whole(chance, 30, 530) });

/** A coding agent: sessions, most of them at work time, of turns; each asks one question or a few. */
function* agent({ traits, chance, fromMs, untilMs, ask }: Part) {
  const everyMs = traits.lognormal(2.5 * hourMs, 0.6);
  const thinkMs = traits.lognormal(35_000, 0.4);
  const size = traits.lognormal(250, 0.7);
  let atMs = fromMs + chance.exponential(everyMs);
  while (atMs < untilMs) {
    if (isWorkTime(atMs) || chance.next() < 0.12) {
      const endMs = atMs + Math.min(4 * hourMs, chance.pareto(6 * minuteMs, 1.3));
      while (atMs < endMs) {
        do {
          const kind = chance.next();
          if (kind < 0.2) atMs = yield* ask(atMs);
          else {
            const points =
              kind < 0.55 ? pipeline(chance) : kind < 0.8 ? builds(chance, size) : annotations(chance);
            atMs = yield* ask(atMs, null, points);
          }
        } while (chance.next() < 0.55);
        atMs += chance.lognormal(thinkMs, 0.9);
      }
    }
    atMs += chance.exponential(everyMs);
  }
}

/** A page that somebody looks at: the same query each half minute, in work time. */
function* page({ chance, fromMs, untilMs, ask }: Part) {
  for (let atMs = fromMs + chance.between(0, 30_000); atMs < untilMs; atMs += 30_000)
    if (isWorkTime(atMs)) yield* ask(atMs + chance.between(0, 200), null, { asked: 210, actual: 205 });
}

/** An export each night, page by page. */
function* nightly({ chance, fromMs, untilMs, ask }: Part) {
  for (let start = fromMs; start < untilMs; start += dayMs) {
    let atMs = start + 3 * hourMs + chance.between(0, 5_000);
    for (let left = chance.poisson(60); left > 0; left--)
      atMs =
        (yield* ask(atMs, null, { asked: 1_060, actual: whole(chance, 900, 1_060) })) +
        chance.between(100, 400);
  }
}

/** A copy of what is new, each hour at a quarter past. */
function* hourly({ chance, fromMs, untilMs, ask }: Part) {
  for (let hour = fromMs; hour < untilMs; hour += hourMs) {
    let atMs = hour + 15 * minuteMs + chance.between(0, 10_000);
    for (let left = chance.poisson(isWorkTime(atMs) ? 5 : 1); left > 0; left--)
      atMs =
        (yield* ask(atMs, null, { asked: 1_060, actual: whole(chance, 300, 1_060) })) +
        chance.between(100, 400);
  }
}

export const queries: World = {
  name: "queries",
  description:
    "Coding agents that read builds by GraphQL, where points of five minutes bind. Each has sessions, most of them on weekdays by " +
    "day, whose lengths have a heavy tail. In a session it thinks for half a minute or so, and asks one question or a few: a " +
    "pipeline, for few points; the builds of its repository, for a thousand, of which a quarter comes back on the median, more where " +
    "the repository is large; annotations, for five hundred; or a call of REST. Two pages ask for 210 points each half minute in " +
    "work time; an export reads all at 3:00, and a copy what is new at a quarter past each hour. Who is refused waits for the reset.",
  tuned: true,
  agents: 40,
  agent,
  others: { "page-1": page, "page-2": page, nightly, hourly },
  patience: atReset,
};
