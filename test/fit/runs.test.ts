// Jobs → runs, and the shape that runs have: each shape is told from the nearest that is none.
import { describe, expect, test } from "vitest";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import {
  endedByRefusals,
  type JobRun,
  queueOf,
  runsOf,
  shapeOf,
  spellsOf,
  volleysOf,
} from "../../sim/fit/runs.ts";
import { mode, roundestWithin, SortedSample } from "../../sim/fit/statistics.ts";

/** A job of one call, which was wanted, sent and answered at these times. */
function job(startMs: number, endMs: number, { atMs = startMs, status = 200 } = {}): RecordedJob {
  return new RecordedJob({ atMs, endMs, wantedMs: startMs, status } as RecordedJob["first"]);
}

const run = (members: Partial<JobRun>): JobRun => ({
  startMs: 0,
  endMs: 10,
  jobs: 1,
  refused: false,
  firstEndMs: 10,
  together: 1,
  open: 1,
  ...members,
});
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

describe("a run", () => {
  test("goes on with a job that begins before it is over, or within the slack after", () => {
    const lengths = (slackMs: number) =>
      runsOf([job(0, 10), job(10, 20), job(23, 30), job(100, 110)], slackMs).map(({ jobs }) => jobs);
    expect(lengths(3)).toEqual([3, 1]);
    expect(lengths(2)).toEqual([2, 1, 1]);
  });

  test("has the times of its first answer and its end, and the last one's refusal", () => {
    const [only] = runsOf([job(0, 50), job(5, 20), job(30, 40, { status: 429 })], 0);
    expect(only).toMatchObject({ startMs: 0, endMs: 50, firstEndMs: 20, jobs: 3, refused: true });
  });

  test("counts the jobs that began with it, and the most that were open at once", () => {
    // The second is sent when the first was answered; the last two overlap it.
    const jobs = [job(0, 10), job(0, 30, { atMs: 10 }), job(1, 30), job(10, 30)];
    expect(runsOf(jobs, 5)[0]).toMatchObject({ together: 2, open: 3 });
    expect(runsOf([job(0, 10), job(10, 20)], 0)[0]).toMatchObject({ open: 1, together: 1 });
    expect(runsOf([job(0, 10), job(9, 20), job(30, 30)], 0).map(({ open }) => open)).toEqual([2, 1]);
  });

  test("of which half ended by refusals is as long as the limit has it", () => {
    const [long, refused] = [run({ jobs: 2 }), run({ jobs: 2, refused: true })];
    expect(endedByRefusals([long, refused])).toBe(true);
    expect(endedByRefusals([long, long, refused])).toBe(false);
    expect(endedByRefusals([run({ refused: true })])).toBe(false);
  });
});

describe("the shape of runs", () => {
  test("single calls, nine in ten", () => {
    expect(shapeOf([...times(9, run({})), run({ jobs: 3 }), run({})])).toEqual({ kind: "call" });
    expect(shapeOf([...times(8, run({})), ...times(2, run({ jobs: 3 })), run({})])).toBeNull();
    // The last run alone may be cut off, and is left out.
    const nine = (singles: number) =>
      shapeOf([...times(singles, run({})), ...times(2, run({ jobs: 3 })), run({})]);
    expect([17, 18].map(nine)).toEqual([null, { kind: "call" }]);
  });

  test("a burst: six in ten of one size, most of which begin together", () => {
    const burst = run({ jobs: 5, together: 4, open: 5 });
    expect(shapeOf(times(4, burst))).toEqual({ kind: "burst", size: 5 });
    expect(shapeOf([...times(6, burst), ...times(4, run({ jobs: 9 })), burst])).toEqual({
      kind: "burst",
      size: 5,
    });
    expect(shapeOf(times(4, run({ jobs: 5, together: 3, open: 2 })))).toEqual({
      kind: "pager",
      pages: 5,
      last: null,
      parallel: 2,
    });
    expect(shapeOf(times(4, run({ jobs: 10_000, together: 10_000 })))).toMatchObject({ kind: "burst" });
    expect(shapeOf(times(4, run({ jobs: 10_001, together: 10_001 })))).toBeNull();
  });

  test("a list page by page, whose last pages are asked for in vain", () => {
    const pages = (jobs: number) => run({ jobs, open: 3 });
    expect(shapeOf(times(5, pages(7)))).toEqual({ kind: "pager", pages: 7, last: null, parallel: 3 });
    expect(shapeOf([...times(5, pages(7)), ...times(5, pages(9)), pages(7)])).toEqual({
      kind: "pager",
      pages: 9,
      last: 7,
      parallel: 3,
    });
    // Three on the way at once ask for two in vain, and for no third.
    expect(shapeOf([...times(5, pages(7)), ...times(5, pages(10)), pages(7)])).toBeNull();
    expect(shapeOf(times(5, run({ jobs: 300, open: 100 })))).toMatchObject({ kind: "pager" });
    expect(shapeOf(times(5, run({ jobs: 300, open: 101 })))).toBeNull();
  });

  test("one run is a worker, unless several calls are on the way that did not begin together", () => {
    expect(shapeOf([run({ jobs: 40, open: 1 })])).toBeNull();
    expect(shapeOf([run({ jobs: 40, together: 2, open: 2 })])).toBeNull();
    expect(shapeOf([run({ jobs: 40, together: 1, open: 2 })])).toMatchObject({ kind: "pager", pages: 40 });
  });

  test("is not told by the last run, which may have been cut off", () => {
    expect(shapeOf([...times(9, run({})), run({ jobs: 50 })])).toEqual({ kind: "call" });
    expect(shapeOf([...times(2, run({})), run({ jobs: 50 })])).toEqual({ kind: "call" });
    expect(shapeOf([run({}), run({ jobs: 50 })])).toBeNull();
  });
});

describe("volleys", () => {
  /** Spells of jobs of 10 ms, each beginning so many ms after the one before it. */
  const spells = (count: number, offsets: readonly number[], everyMs = 1000): RecordedJob[] =>
    Array.from({ length: count }, (_, spell) =>
      offsets.map((offset) => job(everyMs * spell + offset, everyMs * spell + offset + 10)),
    ).flat();

  test("are the spells in which some jobs are open", () => {
    expect(spellsOf([job(0, 10), job(5, 8), job(10, 20), job(19, 30)])).toEqual([
      { startMs: 0, endMs: 10, jobs: 2 },
      { startMs: 10, endMs: 30, jobs: 2 },
    ]);
    expect(spellsOf([])).toEqual([]);
  });

  test("are apart where a call seems to begin within a millisecond before an answer: logs tell whole ones", () => {
    expect(spellsOf([job(0, 10.9), job(10, 20)]).map(({ jobs }) => jobs)).toEqual([1, 1]);
    expect(spellsOf([job(0, 11), job(10, 20)]).map(({ jobs }) => jobs)).toEqual([2]);
  });

  test.each<[string, RecordedJob[], number, boolean]>([
    ["twenty spells of two", spells(20, [0, 0]), 0, true],
    ["nineteen", spells(19, [0, 0]), 0, false],
    ["by a clock of a second", spells(20, [0, 0]), 1000, false],
    ["by a finer one", spells(20, [0, 0]), 999, true],
    // Of four that each overlap the next alone, two are open at once: half. Of five it is less.
    ["half of which are open at once", spells(20, [0, 9, 18, 27]), 0, true],
    ["fewer of which are open at once", spells(20, [0, 9, 18, 27, 36]), 0, false],
    // Two workers take six, and begin together: the second one early before the first answer.
    ["which two workers share", spells(20, [0, 4, 10, 14, 20, 24]), 0, true],
    ["which two loops happen to share", spells(20, [0, 5, 10, 15, 20, 25]), 0, false],
    // Of 82 jobs 40 are.
    [
      "one fewer than half",
      [...spells(19, [0, 9, 18, 27]), ...spells(20, [0, 9, 18, 27, 36, 45]).slice(-6)],
      0,
      false,
    ],
    [
      "of which the first is open beside each of the others",
      Array.from({ length: 20 }, (_, at) => 1000 * at).flatMap((ms) => [
        ...[job(ms, ms + 30), job(ms + 5, ms + 8), job(ms + 29, ms + 40)],
      ]),
      0,
      true,
    ],
    // Of 28 jobs 5.6 have to come with others: three pairs are six.
    ["a fifth with others", [...spells(3, [0, 0]), ...spells(25, [0]).slice(3)], 0, true],
    ["fewer with others", [...spells(2, [0, 0]), ...spells(26, [0]).slice(2)], 0, false],
    ["pauses of four times their length", spells(20, [0, 0], 50), 0, false],
    ["longer pauses", spells(20, [0, 0], 51), 0, true],
  ])("%s", (_, jobs, slackMs, are) => {
    expect(volleysOf(jobs, slackMs) !== null).toBe(are);
  });
});

describe("a queue", () => {
  /** Jobs that were wanted at 0, by workers that each take the next when one is done after 10 ms. */
  const queue = (jobs: number, workers: number): RecordedJob[] =>
    Array.from({ length: jobs }, (_, index) => {
      const atMs = 10 * Math.floor(index / workers);
      return job(0, atMs + 10, { atMs });
    });

  test("is jobs that were wanted at once, and taken one by one by its workers", () => {
    expect(queueOf(queue(5, 2), 1)).toEqual({ kind: "queue", jobs: 5, workers: 2 });
    expect(queueOf(queue(12, 3), 1)).toEqual({ kind: "queue", jobs: 12, workers: 3 });
  });

  test("is none of fewer than five, of jobs that came later, or of jobs that hardly waited", () => {
    expect(queueOf([], 1)).toBeNull();
    expect(queueOf(queue(4, 1), 1)).toBeNull();
    expect(queueOf([...queue(6, 2), job(2, 12)], 1)).toBeNull();
    expect(queueOf([...queue(6, 2), job(1, 12)], 1)).not.toBeNull();
    // 3 of 10 waited, then 3 of 11.
    expect(queueOf(queue(10, 7), 1)).toMatchObject({ workers: 7 });
    expect(queueOf(queue(11, 8), 1)).toBeNull();
  });

  test("has a thousand workers at most, as scenarios have", () => {
    expect(queueOf(queue(1_500, 1_000), 1)).toMatchObject({ workers: 1_000 });
    expect(queueOf(queue(1_500, 1_001), 1)).toBeNull();
  });
});

describe("figures of a sample", () => {
  const sample = new SortedSample([5, 1, 4, 2, 3, 6, 7, 8, 9, 10]);

  test("quantiles are by nearest rank", () => {
    expect([0, 0.1, 0.11, 0.5, 0.95, 1].map((share) => sample.quantile(share))).toEqual([1, 1, 2, 5, 10, 10]);
    expect([sample.least, sample.median, sample.most, sample.mean, sample.breadth]).toEqual([
      1, 5, 10, 5.5, 8,
    ]);
    expect(sample.deviation).toBeCloseTo(3.0277, 4);
  });

  test("of one or none", () => {
    const [one, none] = [new SortedSample([7]), new SortedSample([])];
    expect([one.mean, one.deviation, one.median]).toEqual([7, 0, 7]);
    expect([none.mean, none.deviation, none.median, none.least, none.most]).toEqual([0, 0, 0, 0, 0]);
  });

  test("the mode is the smaller of two that come up as often", () => {
    expect(mode([3, 2, 3, 2, 5])).toEqual({ value: 2, share: 0.4 });
    expect(mode([1, 3, 3])).toEqual({ value: 3, share: 2 / 3 });
    expect(mode([])).toEqual({ value: 0, share: 0 });
  });

  test.each([
    [50_000, 70_000, 60_000],
    [61_000, 69_000, 65_000],
    [1, 3, 1],
    [1_001, 1_004, 1_001],
    [999, 1_000, 1_000],
    [0.2, 0.6, 0],
    [7_000_000, 7_300_000, 7_200_000],
  ])("the roundest number of ms from %s to %s is %s", (least, most, rounded) => {
    expect(roundestWithin(least, most)).toBe(rounded);
  });
});
