import { patiences } from "./patience.ts";
import { dayMs, hourMs, minuteMs, type Part, type World } from "./world.ts";

export const mirrors: World = {
  name: "mirrors",
  description:
    "Syncs of a mirror: every agent syncs again half an hour to three hours after the last sync ended. A sync reads " +
    "pages in a row, some two for each quarter of an hour that has passed since the last one, and half as many at night. " +
    "One sync of twenty is a full one of a hundred pages.",
  tuned: false,
  agents: 24,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const betweenMs = traits.lognormal(70 * minuteMs, 0.3);
    let syncedMs = fromMs - chance.between(0, betweenMs);
    for (;;) {
      let atMs = syncedMs + Math.min(3 * hourMs, Math.max(hourMs / 2, chance.lognormal(betweenMs, 0.4)));
      if (atMs < fromMs) atMs = fromMs + chance.between(0, betweenMs);
      if (atMs >= untilMs) return;
      const hour = (atMs % dayMs) / hourMs;
      const due = (2 * (atMs - syncedMs)) / (15 * minuteMs) / (hour < 7 || hour >= 21 ? 2 : 1);
      const pages = chance.next() < 1 / 20 ? 100 : Math.max(1, chance.poisson(due));
      for (let page = 0; page < pages; page++) atMs = (yield* ask(atMs)) + chance.lognormal(400, 0.5);
      syncedMs = atMs;
    }
  },
  patience: patiences.spread,
};
