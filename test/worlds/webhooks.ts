import { patiences } from "./patience.ts";
import { dayMs, hourMs, mondayMs, type Part, type World } from "./world.ts";

export const webhooks: World = {
  name: "webhooks",
  description:
    "Receivers of webhooks. Events come to each by chance, every few minutes by day and an eighth as often at night and at " +
    "weekends. An event fans out: after each call another one follows in four cases of five, within a second. Four times on " +
    "a weekday an event comes to all receivers at once.",
  tuned: false,
  agents: 18,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const betweenMs = traits.lognormal(4 * 60_000, 0.5);
    let atMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const shared = day(number);
      const works = number % 7 < 5;
      const common = Array.from({ length: works ? 4 : 0 }, () => dayStart + shared.between(8, 19) * hourMs);
      atMs = Math.max(atMs, dayStart);
      for (const eventMs of [...common.sort((a, b) => a - b), dayStart + dayMs])
        for (;;) {
          const hour = (atMs - dayStart) / hourMs;
          const nextMs = atMs + chance.exponential(betweenMs * (works && hour >= 7 && hour < 20 ? 1 : 8));
          const isCommon = nextMs >= eventMs;
          if (isCommon && eventMs === dayStart + dayMs) {
            atMs = eventMs;
            break;
          }
          atMs = isCommon ? Math.max(atMs, eventMs) + chance.between(0, 2_000) : nextMs;
          do atMs = (yield* ask(atMs)) + chance.between(50, 1_000);
          while (chance.next() < 4 / 5);
          if (isCommon) break;
        }
    }
  },
  patience: patiences.spread,
};
