import { patiences } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

export const builds: World = {
  name: "builds",
  description:
    "Build agents: a build comes by chance, four times as often on weekdays from 8 to 18 o'clock, and takes six minutes on " +
    "the median. Its agent looks every five to fifteen seconds, then uploads ten to forty parts. On weekdays at 10:00 and " +
    "15:00 half of the agents begin one, within a minute. One agent of four is there for some hours of each day alone.",
  tuned: true,
  agents: 26,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const lookMs = traits.between(5_000, 15_000);
    const betweenMs = traits.lognormal(35 * minuteMs, 0.4);
    const comesAndGoes = traits.next() < 1 / 4;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const shared = day(number);
      const works = number % 7 < 5;
      const trains = works
        ? [10, 15].map((hour) => dayStart + hour * hourMs + shared.between(0, 2) * minuteMs)
        : [];
      const joins = trains.map(() => chance.next() < 0.5);
      const fromHour = comesAndGoes ? chance.between(5, 16) : 0;
      const endMs = dayStart + (comesAndGoes ? fromHour + chance.between(2, 6) : 24) * hourMs;
      let atMs = dayStart + fromHour * hourMs;
      while (atMs < Math.min(endMs, dayStart + dayMs)) {
        const hour = (atMs - dayStart) / hourMs;
        const waitMs = chance.exponential(betweenMs * (works && hour >= 8 && hour < 18 ? 1 : 4));
        const next = trains.find(
          (trainMs, index) => joins[index] === true && trainMs > atMs && trainMs <= atMs + waitMs,
        );
        const startMs = next === undefined ? atMs + waitMs : next + chance.between(0, 60_000);
        if (startMs >= Math.min(endMs, dayStart + dayMs)) break;
        const buildMs = Math.min(2 * hourMs, chance.lognormal(6 * minuteMs, 0.9));
        atMs = startMs;
        while (atMs < startMs + buildMs) atMs = (yield* ask(atMs)) + lookMs * chance.between(0.95, 1.05);
        const parts = 10 + Math.floor(chance.between(0, 31));
        for (let part = 0; part < parts; part++) atMs = (yield* ask(atMs)) + chance.between(30, 250);
      }
    }
  },
  patience: patiences.spread,
};
