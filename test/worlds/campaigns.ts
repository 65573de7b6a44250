import { type Chance, whole } from "./chance.ts";
import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

const isWeekend = (ms: number): boolean => Math.floor((ms - mondayMs) / dayMs) % 7 >= 5;

/** Most campaigns begin at a full or half hour, when they were scheduled; the others when somebody is ready. */
const beginning = (chance: Chance, dayStartMs: number): number =>
  chance.next() < 3 / 4
    ? dayStartMs + whole(chance, 16, 33) * 30 * minuteMs + chance.between(0, 3_000)
    : dayStartMs + chance.between(8, 17) * hourMs;

/** Sends a campaign's batches by two workers; then looks up each opening by one of the people who got it. */
function* campaign({ chance, ask }: Part, startMs: number, batches: number): Steps {
  let left = batches;
  function* worker(fromMs: number): Steps {
    let atMs = fromMs;
    for (; left > 0; atMs += chance.between(300, 900)) {
      left -= 1;
      atMs = yield* ask(atMs);
    }
    return atMs;
  }
  const sentMs = yield* atOnce([worker(startMs), worker(startMs + 20)]);
  const openings = Array.from(
    { length: chance.poisson(1.5 * batches) },
    () => sentMs + chance.exponential(hourMs),
  );
  let atMs = sentMs;
  for (const openedMs of openings.sort((a, b) => a - b)) atMs = yield* ask(Math.max(atMs, openedMs));
  return atMs;
}

/** Somebody of the team looks at the figures, which are read again each minute, a few times on a weekday. */
function* looks({ chance, ask }: Part, dayStartMs: number): Steps {
  let atMs = dayStartMs + chance.between(8, 9.5) * hourMs;
  for (let left = chance.poisson(4); left > 0 && atMs < dayStartMs + 18 * hourMs; left--) {
    const endMs = atMs + chance.lognormal(20 * minuteMs, 0.8);
    while (atMs < endMs) atMs = (yield* ask(atMs)) + minuteMs;
    atMs += chance.exponential(80 * minuteMs);
  }
  return atMs;
}

/** A marketing team. */
function* team(part: Part) {
  const { traits, chance, fromMs, untilMs } = part;
  const usualBatches = traits.lognormal(30, 0.7);
  const perDay = traits.between(0.3, 1.2);
  function* sends() {
    for (let start = fromMs; start < untilMs; start += dayMs) {
      const begins = isWeekend(start)
        ? []
        : Array.from({ length: chance.poisson(perDay) }, () => beginning(chance, start));
      if (begins.length > 0)
        yield* atOnce(begins.map((ms) => campaign(part, ms, Math.ceil(chance.lognormal(usualBatches, 0.8)))));
    }
  }
  function* boards() {
    for (let start = fromMs; start < untilMs; start += dayMs)
      if (!isWeekend(start)) yield* looks(part, start);
  }
  yield* atOnce([sends(), boards()]);
}

export const campaigns: World = {
  name: "campaigns",
  description:
    "Marketing teams, one token each. On weekdays a team sends a campaign every day or two, most of them at a full or half hour " +
    "between 8 and 17 o'clock: thirty batches or so, by two workers with half a second between calls. Then people open what they " +
    "were sent, most within an hour, and every opening that is new is looked up by a call. A few times a day somebody looks at the " +
    "figures, for twenty minutes on the median, and the page reads them again each minute. Weekends are quiet. Who is refused waits " +
    "for the reset and up to a second more.",
  tuned: true,
  agents: 40,
  agent: team,
  patience: ({ receivedMs, resetMs }, _attempt, chance) =>
    Math.max(receivedMs, resetMs) + chance.between(0, 1_000),
};
