import { patiences } from "./patience.ts";
import {
  type Actor,
  atOnce,
  dayMs,
  hourMs,
  minuteMs,
  mondayMs,
  type Part,
  type Steps,
  type World,
} from "./world.ts";

/** Offset of a person's office from UTC, hours: each entry has the same probability. */
const zones = [8, 0, -1, -1, -9];

export const assistants: World = {
  name: "assistants",
  description:
    "AI agents that people of four time zones start, each by a token of the person's: a few sessions on a weekday between 8 " +
    "and 18 o'clock there, one in ten as many at weekends. A session goes on by steps: one to eight tool calls at once, then " +
    "ten seconds or so of thought; after one step of six it waits for its person, for minutes. One step of ten starts a " +
    "smaller agent beside it, which makes steps of its own. One session of forty loops in its end: it asks the same every " +
    "second or two, until somebody notices, a quarter of an hour later on the median.",
  tuned: true,
  agents: 60,
  agent: function* (part: Part) {
    const { traits, chance, fromMs, untilMs, ask } = part;
    const zoneMs = (zones[Math.floor(traits.next() * zones.length)] ?? 0) * hourMs;
    const perDay = traits.lognormal(4, 0.5);
    for (let midnightMs = fromMs + zoneMs - dayMs; midnightMs < untilMs; midnightMs += dayMs) {
      const weekday = (Math.floor((midnightMs - zoneMs - mondayMs) / dayMs) + 7) % 7;
      const sessions = chance.poisson(perDay * (weekday < 5 ? 1 : 1 / 10));
      const starts = Array.from({ length: sessions }, () => midnightMs + chance.between(8, 18) * hourMs);
      let freeMs = fromMs;
      for (const startMs of starts.sort((a, b) => a - b)) {
        if (startMs < fromMs) continue;
        freeMs = yield* steps(part, Math.max(startMs, freeMs), 1 + Math.floor(chance.exponential(24)), true);
        if (chance.next() > 1 / 40) continue;
        const noticedMs = freeMs + chance.lognormal(15 * minuteMs, 0.7);
        while (freeMs < noticedMs) freeMs = (yield* ask(freeMs)) + chance.between(1_000, 2_000);
      }
    }
  },
  patience: patiences.backoff,
};

/** Makes steps one after the other. A main agent starts smaller ones in parallel, and waits for its person. */
function* steps(part: Part, fromMs: number, count: number, main: boolean): Steps {
  const { chance, ask } = part;
  let atMs = fromMs;
  for (let step = 0; step < count; step++) {
    const begunMs = atMs;
    const calls = 1 + Math.min(7, Math.floor(chance.exponential(2)));
    const lanes: Actor[] = Array.from({ length: calls }, () => ask(begunMs + chance.between(0, 120)));
    if (main && chance.next() < 1 / 10) {
      const smaller = 2 + Math.floor(chance.exponential(5));
      lanes.push(steps(part, begunMs + 500, smaller, false));
    }
    atMs = (yield* atOnce(lanes)) + chance.lognormal(10_000, 0.9);
    if (main && chance.next() < 1 / 6) atMs += chance.lognormal(3 * minuteMs, 1);
  }
  return atMs;
}
