import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Offset of an agent's office from UTC, hours: each entry has the same probability. */
const zones = [0, 0, -6];

export const office: World = {
  name: "office",
  description:
    "People's tools: a few sessions a day between 9 and 18 o'clock, two thirds of the people in UTC and one third six " +
    "hours behind. A session polls every nine seconds or so. At weekends one in six works.",
  tuned: true,
  agents: 40,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const zoneMs = (zones[Math.floor(traits.next() * zones.length)] ?? 0) * hourMs;
    const pollMs = traits.lognormal(9_000, 0.3);
    const sessions = 1 + Math.floor(traits.between(1, 5));
    for (let midnightMs = fromMs - zoneMs - dayMs; midnightMs < untilMs; midnightMs += dayMs) {
      const weekday = Math.floor((midnightMs + zoneMs - mondayMs) / dayMs) % 7;
      if (weekday >= 5 && chance.next() > 1 / 6) continue;
      const starts = Array.from({ length: sessions }, () => midnightMs + chance.between(9, 17) * hourMs);
      for (const startMs of starts.sort((a, b) => a - b)) {
        const endMs = startMs + Math.min(3 * hourMs, chance.lognormal(35 * minuteMs, 0.8));
        if (startMs < fromMs) continue;
        for (let atMs = startMs; atMs < endMs; )
          atMs = (yield* ask(atMs)) + pollMs * chance.between(0.8, 1.2);
      }
    }
  },
  patience: atReset,
};
