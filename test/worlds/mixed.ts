import { cron } from "./cron.ts";
import { greedy } from "./greedy.ts";
import { patiences } from "./patience.ts";
import { hourMs, minuteMs, type Part, type World } from "./world.ts";

export const mixed: World = {
  name: "mixed",
  description:
    "A shop as many are: agents that poll while a job of theirs runs, two nightly and hourly jobs, and a token that " +
    "mirrors everything for a third of an hour now and then. Jobs are more by day.",
  tuned: true,
  agents: 30,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const jobsMs = traits.lognormal(80 * minuteMs, 0.6);
    const pollMs = traits.lognormal(5_000, 0.3);
    let atMs = fromMs + chance.exponential(jobsMs);
    for (;;) {
      const hour = (atMs / hourMs) % 24;
      const awake = hour >= 7 && hour < 19 ? 1 : 0.3;
      if (chance.next() < awake) {
        const endMs = atMs + chance.lognormal(8 * minuteMs, 0.7);
        while (atMs < endMs) atMs = (yield* ask(atMs)) + pollMs * chance.between(0.95, 1.05);
      }
      atMs += chance.exponential(jobsMs);
    }
  },
  others: { "export-0": cron.agent, "export-1": cron.agent, ...greedy.others },
  patience: patiences.backoff,
};
