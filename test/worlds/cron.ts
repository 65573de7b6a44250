import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, type Part, type World } from "./world.ts";

export const cron: World = {
  name: "cron",
  description:
    "Jobs by the clock: every agent reads its pages at a minute of its own in each hour, many at the full hour, and one " +
    "in four a long export at two at night under the same token. Six dashboards poll every ten seconds.",
  tuned: true,
  agents: 14,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const minute = traits.next() < 0.5 ? 0 : 5 * Math.floor(traits.between(0, 12));
    const pages = Math.floor(traits.between(6, 18));
    const nightly = traits.next() < 0.25;
    let freeMs = fromMs;
    for (let hour = fromMs; hour < untilMs; hour += hourMs) {
      const night = nightly && (hour % dayMs) / hourMs === 2;
      const read = pages + Math.floor(chance.between(-3, 4)) + (night ? 150 : 0);
      let atMs = Math.max(freeMs, hour + minute * minuteMs + chance.exponential(400));
      for (let page = 0; page < read; page++) atMs = (yield* ask(atMs)) + chance.between(50, 250);
      freeMs = atMs;
    }
  },
  others: Object.fromEntries(
    Array.from({ length: 6 }, (_, number) => [
      `dashboard-${number}`,
      function* ({ traits, chance, fromMs, ask }: Part) {
        for (let tick = fromMs + traits.between(0, 10_000); ; tick += 10_000)
          yield* ask(tick + chance.between(0, 30));
      },
    ]),
  ),
  patience: atReset,
};
