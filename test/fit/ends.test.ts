// The end of sessions, by sessions that are set: at both sides of each bound.
import { describe, expect, test } from "vitest";
import { endsByTime, surelyEndByTime } from "../../sim/fit/ends.ts";
import type { Sessions, WorkSession } from "../../sim/fit/sessions.ts";

const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

interface Given {
  readonly jobs?: number;
  readonly spells?: number;
  readonly lengthMs?: number;
  /** From its last call to its end, ms. */
  readonly waitMs?: number;
}
const sessionOf = ({ jobs = 5, spells = jobs, lengthMs = 60_000, waitMs = 0 }: Given): WorkSession => ({
  ...{ jobs, spells, startMs: 1_000, lastMs: 1_000 + lengthMs, endMs: 1_000 + lengthMs + waitMs },
});

describe("sessions", () => {
  /** Pauses of 9,999 ms on the average, and gaps that are so many times shorter. */
  const end = (sessions: readonly Given[], times = 1, otherwise?: boolean, off = 0) => {
    const pausesMs = many(1_000, (place) => 9_999 * (place % 2 === 0 ? 1 - off : 1 + off));
    const cut = { sessions: sessions.map(sessionOf), pausesMs, sizes: [], gapsMs: [10_000 / times - 1] };
    return endsByTime(cut as Sessions, otherwise);
  };
  const both = (sessions: readonly Given[], times = 1) =>
    [true, false].map((otherwise) => end(sessions, times, otherwise));
  const either = [true, false];
  const byTime = [true, true];
  const byNumber = [false, false];

  test("tell their end if eight of them have five calls", () => {
    // Each last wait tells a time three to one.
    expect(
      both(
        many(8, () => ({})),
        3,
      ),
    ).toEqual(byTime);
    expect(
      both(
        many(7, () => ({})),
        3,
      ),
    ).toEqual(either);
    expect(
      end(
        many(7, () => ({})),
        3,
      ),
    ).toBe(false);
    expect(both([...many(7, () => ({})), { jobs: 4 }], 3)).toEqual(either);
  });

  // Of ten, so many are a third larger or smaller than the others: four lie 2.4 times the doubt beside, two 1.5 times.
  const spread = (count: number, of: (factor: number) => Given): Given[] =>
    many(10, (place) => of(place >= count ? 1 : place % 2 === 0 ? 4 / 3 : 3 / 4));

  /** Ten whose sizes and lengths tell nothing. */
  const ten = (changes: Given = {}) => spread(2, (factor) => ({ jobs: 60 * factor, ...changes }));

  test("end by what their last waits tell a hundred to one", () => {
    // Ten waits: 1.585 to the tenth power is 100.
    expect([1.58, 1.59, 1 / 1.58, 1 / 1.59].map((times) => both(ten(), times))).toEqual([
      ...[either, byTime, either, byNumber],
    ]);
    // A session waited on its own, too: (5,800 + 10,000) / 10,000 is 1.58.
    expect([5_800, 5_900].map((waitMs) => both(ten({ waitMs })))).toEqual([either, byTime]);
  });

  test("of no pauses are told by their last waits, which are a ms longer than they seem", () => {
    const waiting = (waitMs: number) =>
      [true, false].map((otherwise) => {
        const sessions = ten({ waitMs }).map(sessionOf);
        return endsByTime({ sessions, pausesMs: [0], sizes: [], gapsMs: [0] }, otherwise);
      });
    expect([0.58, 0.59].map(waiting)).toEqual([either, byTime]);
  });

  test("with several calls at once tell nothing by their last waits", () => {
    expect([both(ten({ spells: 4 }), 9), both(ten(), 9)]).toEqual([either, byTime]);
  });

  test("end after a time if their numbers of calls surely spread more, and after a number if their lengths do", () => {
    const sizes = (count: number) => both(spread(count, (factor) => ({ jobs: 60 * factor })));
    expect([sizes(4), sizes(2)]).toEqual([byTime, either]);
    const lengths = (count: number) => both(spread(count, (factor) => ({ lengthMs: 60_000 * factor })));
    expect([lengths(4), lengths(2)]).toEqual([byNumber, either]);
    const alike = both(spread(4, (factor) => ({ jobs: 60 * factor, lengthMs: 60_000 * factor })));
    expect(alike).toEqual(either);
  });

  test("of no length spread by their numbers of calls alone", () => {
    expect(both(spread(4, (factor) => ({ jobs: 60 * factor, lengthMs: 0 })))).toEqual(byTime);
    expect(both(many(10, (place) => ({ lengthMs: 1 + (place % 2) })))).toEqual(byNumber);
  });

  test("are polls if nothing else tells, and pauses are even", () => {
    const polled = (off: number) => end(ten(), 1, undefined, off);
    expect([polled(0.34), polled(0.36)]).toEqual([true, false]);
    const instant = { sessions: ten().map(sessionOf), pausesMs: [0], sizes: [], gapsMs: [0] };
    expect(endsByTime(instant)).toBe(false);
  });

  test("that are all alike tell nothing", () => {
    expect(both(many(8, () => ({ jobs: 8, lengthMs: 8 })))).toEqual(either);
  });
});

describe("callers", () => {
  /** Callers with one session each, whose numbers of calls or lengths are so many times those of the middle one. */
  const cutOf = (factors: readonly number[], of: (factor: number) => Given, gapsMs = [1_000]): Sessions[] =>
    factors.map((factor) => ({ sessions: [sessionOf(of(factor))], pausesMs: [], sizes: [], gapsMs }));
  /** Deviation `off` of logarithms. */
  const apart = (off: number) => [off, off, 0, -off, -off].map(Math.exp);
  const bySizes = (off: number, jobs = 100, lengthMs = 60_000) =>
    surelyEndByTime(cutOf(apart(off), (factor) => ({ jobs: jobs * factor, lengthMs })));

  test("whose numbers of calls differ far more than their lengths surely stay for a time", () => {
    // (1e-4 + off * off) / 1e-4 to the power of 5 / 2 is 100 for 0.02305.
    expect([0.0226, 0.0235].map((off) => bySizes(off))).toEqual([false, true]);
    expect(surelyEndByTime(cutOf(apart(1), (factor) => ({ jobs: 100, lengthMs: 60_000 * factor })))).toBe(
      false,
    );
    expect(
      surelyEndByTime(cutOf(apart(1), (factor) => ({ jobs: 100 * factor, lengthMs: 60_000 * factor }))),
    ).toBe(false);
  });

  test("tell so if there are five", () => {
    const five = cutOf(apart(1), (factor) => ({ jobs: 100 * factor }));
    expect([surelyEndByTime(five), surelyEndByTime(five.slice(1))]).toEqual([true, false]);
    // One of them has a short session alone.
    const short = {
      sessions: [sessionOf({ jobs: 1, lengthMs: 0 })],
      pausesMs: [],
      sizes: [],
      gapsMs: [1_000],
    };
    expect(surelyEndByTime([...five.slice(1), short])).toBe(false);
    expect(surelyEndByTime([...five, short])).toBe(true);
  });

  test("tell so by sessions of five gaps, not by shorter ones", () => {
    // In the middle, sessions of 5.5 and of 4.5 gaps.
    expect([bySizes(0.05, 5.5, 5_000), bySizes(0.05, 4.5, 4_000)]).toEqual([true, false]);
    // Gaps of 1 and 3 s are 2 s; a gap that holds an instant is of 2.5 s: 10 calls and 6,562.5 ms are five of them.
    const uneven = (lengthMs: number) =>
      surelyEndByTime(cutOf(apart(0.05), (factor) => ({ jobs: 10 * factor, lengthMs }), [1_000, 3_000]));
    expect([uneven(7_200), uneven(6_000)]).toEqual([true, false]);
    // The one in the middle has five gaps exactly: of gaps of 1 s, 5 calls and 4.5 s.
    const middle = (lengthMs: number) =>
      surelyEndByTime(cutOf(apart(1), (factor) => ({ jobs: factor === 1 ? 5 : 100 * factor, lengthMs })));
    expect([middle(4_500), middle(4_499)]).toEqual([true, false]);
    const whole = cutOf(apart(0.05), (factor) => ({ jobs: 100 * factor }));
    const short = sessionOf({ jobs: 1, lengthMs: 0 });
    expect(
      surelyEndByTime(
        whole.map((each, at) => (at < 2 ? { ...each, sessions: [...each.sessions, short] } : each)),
      ),
    ).toBe(true);
  });
});
