import { patiences } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Day of a holiday in the eastern office: the first Tuesday. */
const holiday = 1;

export const offices: World = {
  name: "offices",
  description:
    "Two offices, nine hours apart. People come between 8 and 10, have lunch for an hour, and leave after eight or nine " +
    "hours. While they work, their editor asks for something twice a minute or so, and for ten to thirty answers in a row when a " +
    "branch is changed, once an hour. The eastern office has a holiday on the first Tuesday. Nobody works at weekends.",
  tuned: true,
  agents: 60,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const western = traits.next() < 0.45;
    const askMs = traits.lognormal(24_000, 0.4);
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      if (number % 7 >= 5 || (number === holiday && !western) || chance.next() < 0.06) continue;
      const startMs = dayStart + (chance.between(8, 10) + (western ? 9 : 0)) * hourMs;
      const lunchMs = startMs + chance.between(3, 4.5) * hourMs;
      const endMs = Math.min(dayStart + dayMs, startMs + chance.between(8, 9) * hourMs);
      let atMs = startMs;
      let branchMs = atMs + chance.exponential(hourMs);
      let eaten = false;
      while (atMs < endMs) {
        if (!eaten && atMs >= lunchMs) {
          eaten = true;
          atMs += hourMs * chance.between(0.75, 1.25);
        }
        if (atMs >= branchMs) {
          branchMs = atMs + chance.exponential(hourMs);
          const answers = 10 + Math.floor(chance.between(0, 21));
          for (let n = 0; n < answers; n++) atMs = (yield* ask(atMs)) + chance.between(50, 400);
        }
        atMs = (yield* ask(atMs)) + Math.min(20 * minuteMs, chance.lognormal(askMs, 1));
      }
    }
  },
  patience: patiences.spread,
};
