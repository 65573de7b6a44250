import { atReset } from "./patience.ts";
import { dayMs, hourMs, mondayMs, type Part, type World } from "./world.ts";

export const releases: World = {
  name: "releases",
  description:
    "Agents look around now and then. Twice on a usual day, between 8 and 20 o'clock, a release wakes all of them within " +
    "ten seconds, and each makes some thirty calls in a row.",
  tuned: true,
  agents: 20,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const idleMs = traits.lognormal(60_000, 0.4);
    let atMs = fromMs + chance.exponential(idleMs);
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const shared = day(Math.floor((dayStart - mondayMs) / dayMs));
      const wakes = Array.from(
        { length: shared.poisson(2) },
        () => dayStart + shared.between(8, 20) * hourMs,
      );
      for (const wakeMs of [...wakes.sort((a, b) => a - b), dayStart + dayMs]) {
        for (; atMs < wakeMs; atMs += chance.exponential(idleMs)) atMs = yield* ask(atMs);
        if (wakeMs === dayStart + dayMs) continue;
        atMs = Math.max(atMs - idleMs, wakeMs) + chance.between(0, 10_000);
        const calls = 20 + Math.floor(chance.between(0, 20));
        for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.lognormal(500, 0.3);
      }
    }
  },
  patience: atReset,
};
