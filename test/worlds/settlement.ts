import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

/** Times of the evening at which branches settle, hours. */
const starts = [20, 20.25, 20.5, 21] as const;
const deadlineMs = 2 * hourMs;

export const settlement: World = {
  name: "settlement",
  description:
    "Branches of a payment company, one token each. On weekdays from 8 to 18 o'clock each looks at its balance every ten " +
    "minutes or so. In the evening, at 20:00, 20:15, 20:30 or 21:00, each settles its batches of the day: ninety on the median, by " +
    "three workers, half as many again on Mondays and Fridays. On weekends there are a fifth. It lists them, a page for each twenty; a " +
    "worker submits a batch, asks every half minute whether it is done, two minutes on the median, and fetches the receipt. " +
    "Where more than a third is left after forty minutes, three more workers help. What is not done two hours after the " +
    "start is left. One batch of twenty-five bounces, and is submitted again at 6:00, one after the other. A refused worker waits for the " +
    "reset and up to three seconds more.",
  tuned: true,
  agents: 9,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const startHour = starts[Math.floor(traits.next() * starts.length)] as number;
    const usual = traits.lognormal(90, 0.4);
    let bounced = 0;
    function* batch(atMs: number): Steps {
      const submittedMs = yield* ask(atMs);
      const doneMs = submittedMs + chance.lognormal(2 * minuteMs, 0.6);
      let now = submittedMs;
      do now = yield* ask(now + 30_000);
      while (now < doneMs);
      return yield* ask(now);
    }
    function* settle(startMs: number) {
      const weekday = Math.floor((startMs - mondayMs) / dayMs) % 7;
      const factor = weekday >= 5 ? 1 / 5 : weekday === 0 || weekday === 4 ? 1.5 : 1;
      const count = chance.poisson(usual * factor);
      let left = count;
      let listedMs = startMs;
      for (let page = 0; page < Math.ceil(count / 20); page++) listedMs = yield* ask(listedMs);
      function* worker(fromMs: number, helps: boolean) {
        let atMs = fromMs;
        while (left > (helps && atMs === fromMs ? count / 3 : 0) && atMs < startMs + deadlineMs) {
          left -= 1;
          atMs = yield* batch(atMs);
          if (chance.next() < 1 / 25) bounced += 1;
        }
      }
      function* helper() {
        // A first look at the list says how much is left.
        const atMs = yield* ask(startMs + 40 * minuteMs);
        yield* worker(atMs, true);
      }
      yield* atOnce([
        ...Array.from({ length: 3 }, () => worker(listedMs, false)),
        ...Array.from({ length: 3 }, helper),
      ]);
    }
    function* looks(dayStart: number) {
      let atMs = dayStart + 8 * hourMs + chance.between(0, 10) * minuteMs;
      while (atMs < dayStart + 18 * hourMs) atMs = (yield* ask(atMs)) + chance.lognormal(10 * minuteMs, 0.2);
    }
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const weekday = Math.floor((dayStart - mondayMs) / dayMs) % 7;
      let atMs = dayStart + 6 * hourMs + chance.between(0, 20_000);
      for (; bounced > 0; bounced--) atMs = yield* batch(atMs);
      if (weekday < 5) yield* looks(dayStart);
      yield* settle(dayStart + startHour * hourMs + chance.exponential(5_000));
    }
  },
  patience: ({ receivedMs, resetMs }, _attempt, chance) =>
    Math.max(receivedMs, resetMs) + chance.between(0, 3_000),
};
