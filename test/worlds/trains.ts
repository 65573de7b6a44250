import { type Chance, whole } from "./chance.ts";
import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Points, type World } from "./world.ts";

/** Merges of a repository in its busiest hours, by the hour of the day: London's, and New York's from noon on. */
const hours = [0, 0, 0, 0, 0, 0, 0, 2, 5, 9, 10, 8, 5, 8, 10, 10, 9, 7, 4, 3, 3, 2, 1, 0].map(
  (each) => each / 10,
);
const weekdayOf = (ms: number): number => Math.floor((ms - mondayMs) / dayMs) % 7;
const busy = (ms: number): number =>
  (hours[Math.floor(ms / hourMs) % 24] as number) * (weekdayOf(ms) < 5 ? 1 : 0.1);

/** The jobs of a build, or a page of a report: a list of a hundred comes back as far as there is something. */
const jobsOf = (chance: Chance, size: number): Points => ({
  asked: 620,
  actual: Math.min(620, 20 + Math.round(chance.lognormal(size, 0.5))),
});
const page = (chance: Chance): Points => ({ asked: 730, actual: whole(chance, 600, 730) });

/** A repository's merge bot: a train for each merge, and a report on the builds of the day in the evening. */
function* bot({ traits, chance, fromMs, untilMs, ask }: Part) {
  const perHour = traits.lognormal(3, 0.5);
  const buildMs = traits.lognormal(7 * minuteMs, 0.4);
  const size = traits.lognormal(140, 0.5);
  const reportMs = 18 * hourMs + Math.floor(traits.between(0, 4)) * 15 * minuteMs;
  function* train(startMs: number) {
    let atMs = startMs;
    for (let call = 0; call < 2; call++) atMs = (yield* ask(atMs)) + chance.between(100, 500);
    const endMs = atMs + Math.min(2 * hourMs, chance.lognormal(buildMs, 0.7));
    while (atMs < endMs) atMs = (yield* ask(atMs)) + chance.between(19_000, 21_000);
    atMs = yield* ask(atMs, null, jobsOf(chance, size));
    // A build of four fails: someone wants to know why.
    if (chance.next() < 1 / 4)
      for (let left = 1 + chance.poisson(2); left > 0; left--)
        atMs =
          (yield* ask(atMs, null, { asked: 330, actual: whole(chance, 20, 330) })) + chance.between(200, 900);
    else yield* ask(atMs);
  }
  function* trains() {
    for (let atMs = fromMs + chance.exponential(hourMs / perHour); atMs < untilMs; ) {
      if (chance.next() < busy(atMs)) yield* train(atMs);
      atMs += chance.exponential(hourMs / perHour);
    }
  }
  function* reports() {
    for (let start = fromMs; start < untilMs; start += dayMs) {
      if (weekdayOf(start) >= 5) continue;
      let atMs = start + reportMs + chance.between(0, 20_000);
      for (let left = 3 + chance.poisson(4 * perHour); left > 0; left--)
        atMs = (yield* ask(atMs, null, page(chance))) + chance.lognormal(12_000, 0.6);
    }
  }
  yield* atOnce([trains(), trains(), reports()]);
}

/** A board on the wall: its three queries at once each minute, from the first to the last meeting. */
function* board({ chance, fromMs, untilMs, ask }: Part) {
  for (let atMs = fromMs + chance.between(0, minuteMs); atMs < untilMs; atMs += minuteMs) {
    const hour = (atMs % dayMs) / hourMs;
    if (weekdayOf(atMs) >= 5 || hour < 9 || hour >= 18) continue;
    const query = { asked: 250, actual: 230 };
    yield* atOnce([ask(atMs, null, query), ask(atMs, null, query), ask(atMs, null, query)]);
  }
}

/** A list of agents for the bill, page by page, each hour. */
function* billing({ chance, fromMs, untilMs, ask }: Part) {
  for (let hour = fromMs; hour < untilMs; hour += hourMs) {
    let atMs = hour + 40 * minuteMs + chance.between(0, 8_000);
    for (let left = 15 + chance.poisson(5); left > 0; left--)
      atMs = (yield* ask(atMs)) + chance.between(300, 700);
  }
}

export const trains: World = {
  name: "trains",
  description:
    "Merge bots of an organization in London and New York, one token a repository, which runs up to two merge trains at a time. A " +
    "train makes a build by REST, asks for its state every twenty seconds, seven minutes on the median, and then for its jobs by " +
    "GraphQL: six hundred points, of which a quarter is charged. Where the build failed, one of four, a query for each of its " +
    "failures follows. At 18:00, 18:15, 18:30 or 18:45, each bot reports on the day, page by page, 730 points each. Two boards on " +
    "the wall ask for 250 points by three queries at once each minute from 9 to 18 o'clock; a bill is made each hour by REST. By " +
    "day the requests of a minute bind, in the evening the points of five minutes. Who is refused waits for the reset and up to two " +
    "seconds more.",
  tuned: true,
  agents: 30,
  agent: bot,
  others: { "board-1": board, "board-2": board, billing },
  patience: ({ receivedMs, resetMs }, _attempt, chance) =>
    Math.max(receivedMs, resetMs) + chance.between(0, 2_000),
};
