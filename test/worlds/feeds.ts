import { patiences } from "./patience.ts";
import { hourMs, minuteMs, type Part, type World } from "./world.ts";

export const feeds: World = {
  name: "feeds",
  description:
    "Integrations that mirror: each asks for changes once in one to ten minutes, by a clock of its own. Where there are " +
    "some, by day half of the times and by night one time in ten, it fetches pages: three on the median, of one in a " +
    "hundred more than sixty. Two hooks call twice to five times for each event, and an event is followed by more.",
  tuned: true,
  agents: 20,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const everyMs = Math.round(traits.between(1, 10) * minuteMs);
    const pageMs = traits.between(80, 400);
    let freeMs = 0;
    for (let tickMs = fromMs + traits.between(0, everyMs); ; tickMs += everyMs) {
      if (tickMs < freeMs) continue;
      freeMs = yield* ask(tickMs + chance.between(0, 200));
      const hour = Math.floor(tickMs / hourMs) % 24;
      if (chance.next() > (hour >= 7 && hour < 21 ? 0.5 : 0.1)) continue;
      const pages = Math.min(300, Math.round(chance.pareto(2, 1.35)));
      for (let page = 0; page < pages; page++)
        freeMs = yield* ask(freeMs + pageMs * chance.between(0.5, 1.5));
    }
  },
  others: Object.fromEntries(
    Array.from({ length: 2 }, (_, number) => [
      `hook-${number}`,
      function* ({ chance, fromMs, ask }: Part) {
        let atMs = fromMs;
        for (;;) {
          const hour = Math.floor(atMs / hourMs) % 24;
          atMs += chance.exponential((hour >= 7 && hour < 21 ? 6 : 25) * minuteMs);
          for (let events = 1; events > 0; events -= 1) {
            const calls = 2 + Math.floor(chance.between(0, 4));
            for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.lognormal(300, 0.6);
            events += chance.poisson(0.7);
            atMs += chance.exponential(8_000);
          }
        }
      },
    ]),
  ),
  patience: patiences.backoff,
};
