import {
  type Actor,
  atOnce,
  dayMs,
  hourMs,
  minuteMs,
  mondayMs,
  type Part,
  type Steps,
  type World,
} from "./world.ts";

export const matrices: World = {
  name: "matrices",
  description:
    "Repositories that build in matrices, one token a repository. Pushes come by chance on weekdays from 8 to 20 o'clock, " +
    "one in eight as many at other times. A push starts five to sixty jobs, most often as many as is usual there, and waits " +
    "until the push before it is done. Jobs begin as runners come, within some minutes: each asks three times, then looks after five " +
    "seconds and each time 1.6 times as long again later, up to a minute, while it runs: five minutes on the " +
    "median. It reports twice. One push of four fails, and half of its jobs are run again at once. Each Sunday soon after 4:00 the " +
    "usual matrix of each repository runs. A refused job waits a second by chance, then two, four, up to a minute.",
  tuned: true,
  agents: 10,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const usual = Math.min(60, Math.max(5, traits.lognormal(7, 0.5)));
    const runMs = traits.lognormal(5 * minuteMs, 0.4);
    const perDay = traits.lognormal(7, 0.4);
    function* job(startMs: number): Steps {
      let now = startMs;
      for (let call = 0; call < 3; call++) now = (yield* ask(now)) + chance.between(100, 1_500);
      const endMs = now + chance.lognormal(runMs, 0.6);
      for (let gapMs = 5_000; now < endMs; gapMs = Math.min(minuteMs, 1.6 * gapMs))
        now = yield* ask(now + gapMs);
      for (let call = 0; call < 2; call++) now = (yield* ask(now)) + chance.between(100, 800);
      return now;
    }
    function* matrix(startMs: number, jobs: number): Steps {
      const lanes: Actor[] = Array.from({ length: jobs }, () =>
        job(startMs + chance.exponential(3 * minuteMs)),
      );
      return yield* atOnce(lanes);
    }
    let freeMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const pushes: { atMs: number; jobs: number }[] = [];
      if (number % 7 === 6)
        pushes.push({ atMs: dayStart + 4 * hourMs + chance.between(0, 10) * minuteMs, jobs: usual });
      for (let hour = 0; hour < 24; hour++) {
        const busy = number % 7 < 5 && hour >= 8 && hour < 20;
        const come = chance.poisson((perDay / 12) * (busy ? 1 : 1 / 8));
        for (let push = 0; push < come; push++) {
          const jobs = chance.next() < 0.8 ? usual : chance.pareto(5, 1.8);
          pushes.push({ atMs: dayStart + (hour + chance.next()) * hourMs, jobs: Math.min(60, jobs) });
        }
      }
      for (const { atMs, jobs } of pushes.sort((a, b) => a.atMs - b.atMs)) {
        freeMs = yield* matrix(Math.max(freeMs, atMs), Math.round(jobs));
        if (chance.next() < 1 / 4) freeMs = yield* matrix(freeMs, Math.ceil(jobs / 2));
      }
    }
  },
  patience: ({ receivedMs }, attempt, chance) =>
    receivedMs + Math.min(minuteMs, 1_000 * 2 ** (attempt - 1)) * chance.next(),
};
