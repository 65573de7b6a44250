import { patiences } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

const teams = 4;

export const incidents: World = {
  name: "incidents",
  description:
    "Monitors of four teams look every half minute or so. A team has an incident about every second day, for half an hour " +
    "on the median: then its monitors look every five seconds, and one of three lists a dozen pages each minute beside it. " +
    "On weekdays at 6:30 every third monitor writes a report of forty pages.",
  tuned: true,
  agents: 24,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const everyMs = traits.lognormal(35_000, 0.2);
    const team = Math.floor(traits.next() * teams);
    const lists = traits.next() < 1 / 3;
    const reports = traits.next() < 1 / 3;
    let atMs = fromMs + traits.between(0, everyMs);
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const shared = day(number);
      const spans = Array.from({ length: teams }, () => {
        const starts = shared.next() < 0.5;
        const startMs = dayStart + shared.between(0, 23) * hourMs;
        return {
          starts,
          startMs,
          endMs: startMs + Math.min(3 * hourMs, shared.lognormal(30 * minuteMs, 0.7)),
        };
      });
      const { starts = false, startMs = 0, endMs = 0 } = spans[team] ?? {};
      const reportMs = reports && number % 7 < 5 ? dayStart + 6.5 * hourMs : Number.POSITIVE_INFINITY;
      let reported = false;
      let listedMs = 0;
      while (atMs < dayStart + dayMs) {
        if (!reported && atMs >= reportMs) {
          reported = true;
          for (let page = 0; page < 40; page++) atMs = (yield* ask(atMs)) + chance.between(50, 200);
        }
        const troubled = starts && atMs >= startMs && atMs < endMs;
        if (troubled && lists && atMs >= listedMs + minuteMs) {
          listedMs = atMs;
          for (let page = 0; page < 12; page++) atMs = (yield* ask(atMs)) + chance.between(50, 200);
        }
        atMs = (yield* ask(atMs)) + (troubled ? 5_000 : everyMs) * chance.between(0.95, 1.05);
        if (!reported && atMs > reportMs)
          atMs = Math.max(reportMs, atMs - everyMs) + chance.between(0, 3_000);
      }
    }
  },
  patience: patiences.spread,
};
