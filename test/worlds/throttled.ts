import { patiences } from "./patience.ts";
import { type Answer, dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Calls per minute that a pace gains in a minute without a refusal. */
const gain = 1.5;
const gapMsLeast = 1_000;
const gapMsMost = 30_000;

export const throttled: World = {
  name: "throttled",
  description:
    "Background syncs that pace themselves. Every few hours each works through a backlog, four hundred calls on the median " +
    "and at most two thousand, with a gap between calls. A refusal doubles the gap, to half a minute at most, and the " +
    "refused call waits for it, too. Each minute without a refusal adds one and a half calls a minute, up to sixty. A sync " +
    "keeps its gap for the next backlog. Beside them nine people click by day: a dozen calls within seconds, then " +
    "minutes of nothing; at weekends one in five.",
  tuned: true,
  agents: 14,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const everyMs = traits.between(2, 5) * hourMs;
    const backlog = traits.lognormal(400, 0.4);
    let gapMs = traits.between(1_500, 4_000);
    const slower = ({ receivedMs }: Answer): number => {
      gapMs = Math.min(gapMsMost, 2 * gapMs);
      return receivedMs + gapMs;
    };
    for (let dueMs = fromMs + chance.between(0, everyMs), atMs = dueMs; ; atMs = Math.max(atMs, dueMs)) {
      const calls = Math.min(2_000, chance.lognormal(backlog, 0.5));
      for (let call = 0; call < calls; call++) {
        atMs = (yield* ask(atMs, slower)) + gapMs * chance.between(0.9, 1.1);
        const perMinute = minuteMs / gapMs;
        gapMs = Math.max(gapMsLeast, minuteMs / (perMinute + gain / perMinute));
      }
      dueMs += everyMs * chance.between(0.8, 1.2);
    }
  },
  others: Object.fromEntries(
    Array.from({ length: 9 }, (_, number) => [
      `person-${number}`,
      function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
        const pauseMs = traits.lognormal(6 * minuteMs, 0.4);
        for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
          const works = Math.floor((dayStart - mondayMs) / dayMs) % 7 < 5;
          if (!works && chance.next() > 1 / 5) continue;
          const endMs = dayStart + chance.between(16, 19) * hourMs;
          let atMs = dayStart + chance.between(7, 10) * hourMs;
          while (atMs < endMs) {
            const calls = Math.min(40, Math.round(chance.lognormal(12, 0.5)));
            for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + chance.between(100, 600);
            atMs += chance.exponential(pauseMs);
          }
        }
      },
    ]),
  ),
  patience: patiences.backoff,
};
