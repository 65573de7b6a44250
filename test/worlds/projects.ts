import { patiences } from "./patience.ts";
import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

export const projects: World = {
  name: "projects",
  description:
    "Sites of an agency's clients, one token a site. A project at a site begins by chance and goes on for four days on the " +
    "average, then the site rests for nine. A project begins soon after 8:00 by an import of the old site, three hundred pages " +
    "on the median over two connections. While it goes on, two or three people each save a page every five minutes or so, on " +
    "weekdays from 9 to 18 o'clock: a save is followed by a preview, four to twelve calls in a row. Between 16:30 " +
    "and 18:30 the day's pages are listed and published, one call each. Every site is looked at each hour, by two calls. " +
    "Nobody works at weekends. Refused calls wait longer after each refusal.",
  tuned: true,
  agents: 28,
  agent: function* (part: Part) {
    const { traits, chance, fromMs, untilMs, ask } = part;
    const minute = Math.floor(traits.between(0, 60));
    const people = 2 + Math.floor(traits.between(0, 2));
    const saveMs = traits.lognormal(5 * minuteMs, 0.4);
    const days = projectDays(part);
    function* inRow(startMs: number, calls: number, least: number, most: number): Steps {
      let atMs = startMs;
      for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.between(least, most);
      return atMs;
    }
    function* looks() {
      for (let hour = fromMs; hour < untilMs; hour += hourMs)
        yield* inRow(hour + minute * minuteMs + chance.between(0, 4_000), 2, 200, 600);
    }
    function* works() {
      for (const { dayStart, isFirst } of days) {
        if (isFirst) {
          const startMs = dayStart + 8 * hourMs + chance.exponential(10 * minuteMs);
          const pages = Math.ceil(chance.lognormal(300, 0.7) / 2);
          yield* atOnce([1, 2].map(() => inRow(startMs, pages, 1_500, 4_000)));
        }
        const publishedMs = dayStart + chance.between(16.5, 18.5) * hourMs;
        let saves = 0;
        function* person() {
          let freeMs = 0;
          for (
            let atMs = dayStart + 9 * hourMs + chance.exponential(saveMs);
            atMs < dayStart + 18 * hourMs;
            atMs += chance.exponential(saveMs)
          ) {
            if (atMs < publishedMs) saves += 1;
            freeMs = yield* inRow(Math.max(freeMs, atMs), 4 + Math.floor(chance.between(0, 9)), 300, 1_500);
          }
        }
        function* publishing() {
          const listedMs = yield* ask(publishedMs);
          yield* inRow(listedMs, saves, 1_000, 2_000);
        }
        yield* atOnce([publishing(), ...Array.from({ length: people }, person)]);
      }
    }
    yield* atOnce([looks(), works()]);
  },
  patience: patiences.backoff,
};

/** Returns the weekdays on which a project goes on. */
function projectDays({ chance, fromMs, untilMs }: Part): { dayStart: number; isFirst: boolean }[] {
  const days: { dayStart: number; isFirst: boolean }[] = [];
  // A project goes on for four days of thirteen on the average: so it was on the weekday before.
  let goesOn = chance.next() < 4 / 13;
  for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
    if (Math.floor((dayStart - mondayMs) / dayMs) % 7 >= 5) continue;
    const wentOn = goesOn;
    goesOn = chance.next() < (goesOn ? 3 / 4 : 1 / 9);
    if (goesOn) days.push({ dayStart, isFirst: !wentOn });
  }
  return days;
}
