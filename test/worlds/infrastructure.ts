import { patiences } from "./patience.ts";
import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

/** Hours by which clocks are ahead of UTC: Bangalore, Berlin and San Francisco. */
const zones = [5.5, 1, -8] as const;
/** Calls that a process may send at once, and the time in which its bucket gains one, ms. */
const bucketCalls = 12;
const bucketMs = 2_000;

/** Returns a function that takes a call from a full bucket, and returns the time at which it may be sent. */
function bucket(): (atMs: number) => number {
  let emptyMs = Number.NEGATIVE_INFINITY;
  return (atMs) => {
    emptyMs = Math.max(emptyMs, atMs - bucketCalls * bucketMs) + bucketMs;
    return Math.max(atMs, emptyMs);
  };
}

export const infrastructure: World = {
  name: "infrastructure",
  description:
    "A command-line tool for infrastructure. A team has one token and three to eight developers, in Bangalore, Berlin " +
    "or San Francisco, working from 9 to 18 o'clock with an hour's lunch; at weekends one in twelve. Each runs it every " +
    "ninety minutes or so. A run reads each resource of a stack, sixty on the median, over six connections; one of four " +
    "then changes some, two calls each. A bucket in the process allows twelve calls at once and thirty a minute; two " +
    "runs of a team share none. Each night between 0 and 5 o'clock a job reads all the team's stacks. Refused calls " +
    "wait for the reset and up to ten seconds more.",
  tuned: true,
  agents: 10,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const zoneMs = zones[Math.floor(traits.next() * zones.length) as 0 | 1 | 2] * hourMs;
    const nightMs = Math.floor(traits.between(0, 20)) * 15 * minuteMs;
    const developers = 3 + Math.floor(traits.between(0, 6));
    const stacks = Array.from({ length: 2 + Math.floor(traits.between(0, 4)) }, () =>
      Math.min(400, Math.ceil(traits.lognormal(60, 0.6))),
    );
    function* read(startMs: number, resources: number, take: (atMs: number) => number): Steps {
      let left = resources;
      function* connection() {
        let atMs = startMs;
        while (left > 0) {
          left -= 1;
          atMs = yield* ask(take(atMs));
        }
      }
      return yield* atOnce(Array.from({ length: 6 }, connection));
    }
    function* run(startMs: number): Steps {
      const take = bucket();
      let now = yield* read(startMs, stacks[Math.floor(chance.next() * stacks.length)] as number, take);
      if (chance.next() < 1 / 4) {
        now += chance.lognormal(20_000, 0.6);
        for (let calls = 2 * (1 + chance.poisson(4)); calls > 0; calls--)
          now = (yield* ask(take(now))) + chance.between(200, 1_500);
      }
      return now;
    }
    function* developer() {
      // San Francisco's evening is the next day in UTC.
      for (let midnightMs = fromMs - dayMs - zoneMs; midnightMs < untilMs; midnightMs += dayMs) {
        const weekday = (Math.floor((midnightMs + zoneMs - mondayMs) / dayMs) + 7) % 7;
        if (weekday >= 5 && chance.next() > 1 / 12) continue;
        const lunchMs = midnightMs + chance.between(12, 13) * hourMs;
        const endMs = midnightMs + 18 * hourMs;
        let atMs = midnightMs + 9 * hourMs + chance.exponential(1.5 * hourMs);
        while (atMs < endMs) {
          const eats = atMs >= lunchMs && atMs < lunchMs + hourMs;
          if (atMs >= fromMs && !eats) atMs = yield* run(atMs);
          atMs += chance.exponential(1.5 * hourMs);
        }
      }
    }
    function* nightly() {
      for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
        const take = bucket();
        let atMs = dayStart + nightMs + chance.exponential(3_000);
        for (const resources of stacks) atMs = yield* read(atMs, resources, take);
      }
    }
    yield* atOnce([nightly(), ...Array.from({ length: developers }, developer)]);
  },
  patience: patiences.spread,
};
