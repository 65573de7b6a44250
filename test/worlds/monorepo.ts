import { atReset } from "./patience.ts";
import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Hours of UTC in which merges come. */
const works = { from: 9, until: 19 };

export const monorepo: World = {
  name: "monorepo",
  description:
    "Projects of one repository, each with a runner and a token. On weekdays from 9 to 19 o'clock something is merged each half " +
    "hour or so: within seconds one project of three reads a few times what changed, and queues a build. Branches queue " +
    "builds, too, a few a day. The runner looks two seconds after the start, then each time half as long again later, up to " +
    "thirty seconds, while the build runs: four minutes on the median. It uploads up to a dozen parts; one build of three is " +
    "followed by a deployment, which is looked at alike. Each night at 2:00 every project reads some forty pages, within " +
    "twenty minutes. Thursdays are frozen: nothing is merged, and branches build half as often.",
  tuned: true,
  agents: 34,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const buildMs = traits.lognormal(4 * minuteMs, 0.4);
    const branches = traits.lognormal(6, 0.5);
    const turnMs = traits.between(0, 18) * minuteMs;
    let freeMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      const shared = day(number);
      const frozen = number % 7 === 3;
      const work = number % 7 < 5 ? 1 : 0;
      const atWork = (from: typeof chance): number =>
        dayStart + from.between(works.from, works.until) * hourMs;
      const merges = Array.from({ length: frozen ? 0 : shared.poisson(20 * work) }, () => atWork(shared));
      const due = [
        { atMs: dayStart + 2 * hourMs + turnMs, kind: "batch" },
        ...merges.filter(() => chance.next() < 1 / 3).map((atMs) => ({ atMs, kind: "merge" })),
        ...Array.from({ length: chance.poisson(branches * work * (frozen ? 0.5 : 1)) }, () => ({
          atMs: atWork(chance),
          kind: "branch",
        })),
      ];
      for (const { atMs, kind } of due.sort((a, b) => a.atMs - b.atMs)) {
        let now = Math.max(freeMs, atMs + chance.between(0, 4_000));
        const reads = kind === "batch" ? 30 + chance.between(0, 20) : kind === "merge" ? 3 : 1;
        for (let read = 0; read < reads; read++) now = (yield* ask(now)) + chance.between(50, 300);
        const jobs = kind === "batch" ? 0 : chance.next() < 1 / 3 ? 2 : 1;
        for (let job = 0; job < jobs; job++) {
          const endMs = now + chance.lognormal(buildMs, 0.6);
          for (let gapMs = 2_000; now < endMs; gapMs = Math.min(30_000, 1.5 * gapMs))
            now = (yield* ask(now + gapMs)) + chance.between(0, 100);
          const parts = Math.floor(chance.between(2, 13));
          for (let part = 0; part < parts; part++) now = (yield* ask(now)) + chance.between(50, 400);
        }
        freeMs = now;
      }
    }
  },
  patience: atReset,
};
