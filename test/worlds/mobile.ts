import {
  type Actor,
  type Answer,
  atOnce,
  dayMs,
  hourMs,
  minuteMs,
  mondayMs,
  type Part,
  type Steps,
  type World,
} from "./world.ts";

/** People in each hour, relative to the mean: few at night, some at breakfast and at noon, most in the evening. */
const demand = [4, 2, 1, 1, 1, 3, 8, 13, 11, 9, 9, 11, 15, 13, 10, 10, 12, 15, 19, 23, 25, 23, 16, 9].map(
  (each) => each / 10.96,
);

export const mobile: World = {
  name: "mobile",
  description:
    "Back ends of a mobile app, one token a market, each with the calls of thousands of people. People come by chance, six " +
    "times as many in the evening as in the early morning, and a fifth more on Saturdays and Sundays. Who opens the app makes " +
    "two calls, then pages through a list: after each page there is a next one in seven cases of ten. One of " +
    "twenty-five pages to the end of a long list, thirty pages on the median, without a pause. Three times in two days, between 10 " +
    "and 21 o'clock, a push wakes people of all markets: most come within three minutes, the last after a quarter of an " +
    "hour. A refused phone waits until the reset, then up to a second, two, four, at most thirty, by chance.",
  tuned: true,
  agents: 10,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const perHour = traits.lognormal(22, 0.5);
    function* visit(atMs: number): Steps {
      let now = atMs;
      for (let call = 0; call < 2; call++) now = (yield* ask(now)) + chance.between(100, 400);
      if (chance.next() < 1 / 25) {
        const pages = Math.min(200, Math.round(chance.lognormal(30, 0.6)));
        for (let page = 0; page < pages; page++) now = (yield* ask(now)) + chance.between(80, 250);
      } else while (chance.next() < 0.7) now = yield* ask(now + chance.lognormal(6_000, 0.8));
      return now;
    }
    const visits: Actor[] = [];
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const shared = day(number);
      const people = perHour * (number % 7 >= 5 ? 1.2 : 1);
      for (const [hour, factor] of demand.entries()) {
        const come = chance.poisson(people * factor);
        for (let one = 0; one < come; one++) visits.push(visit(dayStart + (hour + chance.next()) * hourMs));
      }
      const pushes = Array.from(
        { length: shared.poisson(1.5) },
        () => dayStart + shared.between(10, 21) * hourMs,
      );
      for (const pushMs of pushes) {
        const woken = chance.poisson(perHour / 3);
        for (let one = 0; one < woken; one++)
          visits.push(visit(pushMs + Math.min(15 * minuteMs, chance.exponential(2.5 * minuteMs))));
      }
    }
    yield* atOnce(visits);
  },
  patience: ({ receivedMs, resetMs }: Answer, attempt, chance) =>
    Math.max(receivedMs, resetMs) + Math.min(30_000, 1_000 * 2 ** (attempt - 1)) * chance.next(),
};
