import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

export const timeOuts: World = {
  name: "time-outs",
  description:
    "Agents that poll by a timer. One call in three hundred times out after ten seconds (504), and for some minutes on " +
    "most days every second call fails at once (503). Each failure is retried at once, up to seven times.",
  tuned: true,
  agents: 20,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const everyMs = Math.round(traits.lognormal(22_000, 0.4));
    let atMs = fromMs + chance.between(0, everyMs);
    for (;;) {
      const doneMs = yield* ask(atMs);
      do atMs += everyMs;
      while (atMs < doneMs);
    }
  },
  patience: atReset,
  failing: ({ chance, day }) => {
    const outages = new Map<number, { startMs: number; endMs: number }>();
    const outageOf = (number: number): { startMs: number; endMs: number } => {
      const known = outages.get(number);
      if (known !== undefined) return known;
      const shared = day(number);
      const startMs = mondayMs + number * dayMs + shared.between(0, 23) * hourMs;
      const outage = { startMs, endMs: startMs + shared.between(0, 12) * minuteMs };
      outages.set(number, outage);
      return outage;
    };
    return (atMs) => {
      if (chance.next() < 1 / 300) return { status: 504, afterMs: 10_000 };
      const { startMs, endMs } = outageOf(Math.floor((atMs - mondayMs) / dayMs));
      const down = atMs >= startMs && atMs < endMs && chance.next() < 0.5;
      return down ? { status: 503, afterMs: chance.between(5, 40) } : null;
    };
  },
};
