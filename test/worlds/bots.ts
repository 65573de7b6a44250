import { patiences } from "./patience.ts";
import { minuteMs, type Part, type World } from "./world.ts";

export const bots: World = {
  name: "bots",
  description:
    "Crawling bots: a crawl comes minutes after the last and reads two pages at least, mostly few and sometimes hundreds " +
    "(the tail falls as its power of minus 1.6). Pages follow each other within seconds. Every hundredth call " +
    "times out after five to thirty seconds, and is sent again at once.",
  tuned: false,
  agents: 40,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const pauseMs = traits.lognormal(4 * minuteMs, 0.5);
    const pageMs = traits.lognormal(900, 0.4);
    for (let atMs = fromMs + chance.exponential(pauseMs); ; atMs += chance.lognormal(pauseMs, 1)) {
      const pages = Math.min(600, Math.floor(chance.pareto(2, 1.6)));
      for (let page = 0; page < pages; page++) atMs = (yield* ask(atMs)) + chance.lognormal(pageMs, 0.5);
    }
  },
  patience: patiences.backoff,
  failing:
    ({ chance }) =>
    () =>
      chance.next() < 0.01 ? { status: 504, afterMs: Math.min(30_000, chance.pareto(5_000, 1.5)) } : null,
};
