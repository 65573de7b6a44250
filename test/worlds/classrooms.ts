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

/** Starts of lessons, minutes of the day. */
const bells = [480, 530, 595, 645, 695, 780, 830];
/** Lessons before noon: there are no others on Wednesdays. */
const beforeNoon = 5;

export const classrooms: World = {
  name: "classrooms",
  description:
    "Schools with software for lessons, one token a school, shared by its three to eight classes. On weekdays there are seven " +
    "lessons, at 8:00, 8:50, 9:55, 10:45, 11:35, 13:00 and 13:50, on Wednesdays none after noon; schools ring up to twenty " +
    "minutes later, each by its own clock. A weekly table says which class has which lesson there, four of five. Soon after the " +
    "bell the teacher lists the class and marks who is absent. In three lessons of ten there is an exercise, five to fifteen minutes " +
    "later: eighteen to twenty-eight pupils open it within a minute, and send two answers each, some minutes apart. At 15:30 the " +
    "office exports the day in forty pages, and each night soon after 3:00 a copy is made, a hundred and fifty. A refused pupil " +
    "taps again after three to eight seconds.",
  tuned: true,
  agents: 15,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const lateMs = Math.floor(traits.between(0, 5)) * 5 * minuteMs;
    const classes = Array.from({ length: 3 + Math.floor(traits.between(0, 6)) }, () => ({
      pupils: 18 + Math.floor(traits.between(0, 11)),
      table: Array.from({ length: 5 * bells.length }, () => traits.next() < 4 / 5),
    }));
    const copyMs = 3 * hourMs + Math.floor(traits.between(0, 30)) * minuteMs;
    function* inRow(startMs: number, calls: number, gapMs: number): Steps {
      let atMs = startMs;
      for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + gapMs * chance.between(0.6, 1.4);
      return atMs;
    }
    function* pupil(openMs: number) {
      let atMs = yield* ask(openMs + chance.between(0, minuteMs));
      for (let answers = 0; answers < 2; answers++)
        atMs = yield* ask(atMs + chance.lognormal(4 * minuteMs, 0.5));
    }
    function* lesson(bellMs: number, pupils: number) {
      const startMs = bellMs + chance.exponential(1.5 * minuteMs);
      const exerciseMs = bellMs + chance.between(5, 15) * minuteMs;
      const lanes: Actor[] = [inRow(startMs, 1 + chance.poisson(1.5), 4_000)];
      if (chance.next() < 3 / 10)
        for (let left = pupils - chance.poisson(1.5); left > 0; left--) lanes.push(pupil(exerciseMs));
      yield* atOnce(lanes);
    }
    function* schoolDay(dayStart: number) {
      const weekday = Math.floor((dayStart - mondayMs) / dayMs) % 7;
      const lanes: Actor[] = [inRow(dayStart + copyMs + chance.between(0, 30_000), 150, 2_500)];
      for (const [place, bell] of bells.entries()) {
        if (weekday >= 5 || (weekday === 2 && place >= beforeNoon)) continue;
        for (const { pupils, table } of classes)
          if (table[weekday * bells.length + place] === true)
            lanes.push(lesson(dayStart + bell * minuteMs + lateMs, pupils));
      }
      if (weekday < 5)
        lanes.push(inRow(dayStart + 15.5 * hourMs + chance.exponential(3 * minuteMs), 40, 1_200));
      yield* atOnce(lanes);
    }
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) yield* schoolDay(dayStart);
  },
  patience: ({ receivedMs }, _attempt, chance) => receivedMs + chance.between(3_000, 8_000),
};
