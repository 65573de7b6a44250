import { patiences } from "./patience.ts";
import { hourMs, minuteMs, type Part, type World } from "./world.ts";

export const greedy: World = {
  name: "greedy",
  description:
    "Agents with calls at random times, and one token that mirrors everything: for a third of an hour a few times a day it calls " +
    "as fast as it gets answers, and after a refusal it only waits for a second or two.",
  tuned: true,
  agents: 30,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const meanMs = traits.lognormal(40_000, 0.4);
    for (let atMs = fromMs + chance.exponential(meanMs); ; atMs += chance.exponential(meanMs))
      atMs = yield* ask(atMs);
  },
  others: {
    mirror: function* ({ chance, fromMs, ask }: Part) {
      for (let atMs = fromMs + chance.exponential(8 * hourMs); ; atMs += chance.exponential(8 * hourMs)) {
        const endMs = atMs + chance.between(10, 30) * minuteMs;
        while (atMs < endMs) atMs = (yield* ask(atMs)) + chance.between(5, 30);
      }
    },
  },
  patience: patiences.backoff,
};
