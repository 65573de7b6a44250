import { patiences } from "./patience.ts";
import type { Part, World } from "./world.ts";

export const heavyTails: World = {
  name: "heavy-tails",
  description:
    "Agents call in bursts around the clock: most of a few calls, some of dozens, a third of a second apart. Pauses " +
    "between bursts are minutes, rarely hours. Each waits longer after each refusal.",
  tuned: true,
  agents: 16,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const pauseMs = traits.lognormal(120_000, 0.5);
    let atMs = fromMs + chance.exponential(pauseMs);
    for (;;) {
      const calls = Math.min(60, Math.floor(chance.pareto(3, 1.4)));
      for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.lognormal(300, 0.4);
      atMs += chance.lognormal(pauseMs, 1.2);
    }
  },
  patience: patiences.backoff,
};
