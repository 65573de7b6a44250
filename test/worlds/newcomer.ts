import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

export const newcomer: World = {
  name: "newcomer",
  description:
    "Agents look about twice a minute, each at a pace of its own. A release, on two days of three, wakes all of them within " +
    "half a minute for a dozen calls. On the fifth day a new token appears: several times a day it reads for ten minutes or so, " +
    "a call each second or so, and asks again a second after each refusal.",
  tuned: true,
  agents: 24,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const lookMs = traits.lognormal(36_000, 0.5);
    let atMs = fromMs + chance.between(0, lookMs);
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const shared = day(Math.floor((dayStart - mondayMs) / dayMs));
      const released = shared.next() < 2 / 3;
      const wakeMs = released ? dayStart + shared.between(6, 22) * hourMs : Number.POSITIVE_INFINITY;
      let woken = false;
      while (atMs < dayStart + dayMs) {
        if (!woken && atMs >= wakeMs) {
          woken = true;
          atMs = Math.max(atMs - lookMs, wakeMs) + chance.between(0, 30_000);
          const calls = 8 + Math.floor(chance.between(0, 9));
          for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.lognormal(800, 0.4);
        }
        atMs = (yield* ask(atMs)) + lookMs * chance.between(0.7, 1.3);
      }
    }
  },
  others: {
    reader: function* ({ chance, fromMs, ask }: Part) {
      let atMs = Math.max(fromMs, mondayMs + 4 * dayMs) + chance.exponential(3 * hourMs);
      for (; ; atMs += chance.exponential(3 * hourMs)) {
        const endMs = atMs + chance.lognormal(10 * minuteMs, 0.6);
        while (atMs < endMs) atMs = (yield* ask(atMs)) + chance.between(800, 1_400);
      }
    },
  },
  patience: ({ receivedMs }, _attempt, chance) => receivedMs + 1_000 * chance.between(0.9, 1.1),
};
