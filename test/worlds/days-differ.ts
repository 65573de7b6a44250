import { atReset } from "./patience.ts";
import { dayMs, mondayMs, type Part, type World } from "./world.ts";

export const daysDiffer: World = {
  name: "days-differ",
  description:
    "Agents run jobs of a dozen calls around the clock. How many jobs there are differs from day to day for all of them " +
    "together: on one day in six more than half as many again, on another less than two thirds.",
  tuned: true,
  agents: 24,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const pauseMs = traits.lognormal(300_000, 0.3);
    let atMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const busy = day(Math.floor((dayStart - mondayMs) / dayMs)).lognormal(1, 0.45);
      for (;;) {
        atMs += chance.exponential(pauseMs / busy);
        if (atMs >= dayStart + dayMs) break;
        const calls = 4 + Math.floor(chance.between(0, 17));
        for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.lognormal(600, 0.4);
      }
    }
  },
  patience: atReset,
};
