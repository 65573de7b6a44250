import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Visits of a person on each weekday, relative to the weekday before. */
const growth = 1.04;
/** Share of the people who are there from the first day on. */
const settled = 0.7;
/** Weekdays from the first Monday to the second one: people join on each with the same probability. */
const workdays = [0, 1, 2, 3, 4, 7];

export const growing: World = {
  name: "growing",
  description:
    "A product that grows. People visit a few times between 8 and 18 o'clock and open a page every half minute or so, " +
    "three to seven calls each; now and then somebody exports a list, sixty calls without a pause. Every weekday each " +
    "person comes 4 % more often than on the weekday before. Three people of ten are new: each joins for good on a " +
    "weekday of its own, from the first Monday to the second. At weekends one in eight works.",
  tuned: true,
  agents: 36,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const visits = traits.lognormal(4, 0.4);
    const readMs = traits.lognormal(25_000, 0.3);
    const joined = workdays[Math.floor(traits.next() * workdays.length)] ?? 0;
    const joinedMs =
      mondayMs + (traits.next() < settled ? 0 : joined * dayMs + traits.between(8, 16) * hourMs);
    let freeMs = Math.max(fromMs, joinedMs);
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const [week, weekday] = [Math.floor(number / 7), number % 7];
      if (weekday >= 5 && chance.next() > 1 / 8) continue;
      const grown = growth ** (5 * week + Math.min(weekday, 4));
      const starts = Array.from(
        { length: chance.poisson(visits * grown) },
        () => dayStart + chance.between(8, 17.5) * hourMs,
      );
      for (const startMs of starts.sort((a, b) => a - b)) {
        if (startMs < joinedMs) continue;
        const endMs = startMs + Math.min(2 * hourMs, chance.lognormal(18 * minuteMs, 0.7));
        let atMs = Math.max(freeMs, startMs);
        while (atMs < endMs) {
          const calls = chance.next() < 1 / 150 ? 60 : 3 + Math.floor(chance.between(0, 5));
          for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.between(40, 300);
          atMs += chance.lognormal(readMs, 0.7);
        }
        freeMs = atMs;
      }
    }
  },
  patience: atReset,
};
