import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

export const queues: World = {
  name: "queues",
  description:
    "Teams with a runner each. On weekdays from 8 to 18 o'clock changes come every nine minutes or so, and wait until the runner is " +
    "free: it clones in four calls, looks every ten seconds while tests run, six minutes on the median, and uploads eight to " +
    "twenty files. Each night at 1:30 it runs a batch of thirty short ones without a pause.",
  tuned: false,
  agents: 11,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const testMs = traits.lognormal(6 * minuteMs, 0.3);
    const everyMs = traits.lognormal(9 * minuteMs, 0.3);
    const lookMs = traits.between(8_000, 12_000);
    let freeMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const works = Math.floor((dayStart - mondayMs) / dayMs) % 7 < 5;
      const due = Array.from({ length: 30 }, () => ({ atMs: dayStart + 1.5 * hourMs, share: 0.15 }));
      let atMs = dayStart + 8 * hourMs + chance.exponential(everyMs);
      for (; works && atMs < dayStart + 18 * hourMs; atMs += chance.exponential(everyMs))
        due.push({ atMs, share: 1 });
      for (const { atMs: wantedMs, share } of due) {
        let now = Math.max(freeMs, wantedMs + chance.between(0, 5_000));
        for (let call = 0; call < 4; call++) now = (yield* ask(now)) + chance.between(100, 400);
        const endMs = now + share * chance.lognormal(testMs, 0.6);
        while (now < endMs) now = (yield* ask(now)) + lookMs;
        const files = Math.ceil((share < 1 ? 0.5 : 1) * chance.between(8, 20));
        for (let file = 0; file < files; file++) now = (yield* ask(now)) + chance.between(100, 600);
        freeMs = now;
      }
    }
  },
  patience: atReset,
};
