// Calls that come back as a policy says, by recordings small enough to count by hand.
import { describe, expect, test } from "vitest";
import { comingBack } from "../../sim/fit/again.ts";
import type { PlainRetry } from "../../sim/fit/policies.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";

const s = 1_000;
const beginMs = 700 * s;
const callsAt = (...times: readonly number[]): RecordedCall[] =>
  times.map((at) => ({ atMs: beginMs + at, endMs: beginMs + at }) as unknown as RecordedCall);
const stretch = (calls: readonly RecordedCall[], until: number) => ({ calls, untilMs: beginMs + until });
const fixed = (least: number, most = least): PlainRetry =>
  ({ kind: "fixed", wait: { least, most } }) as unknown as PlainRetry;

describe("calls that come back after a fixed wait", () => {
  test("are none where no call comes after it: all come evenly, and nothing is gained", () => {
    const calls = callsAt(0, 3 * s, 7 * s);
    const { gain, share, expected } = comingBack(fixed(10 * s), [stretch(calls, 20 * s)], 0);
    expect([gain, share, expected]).toEqual([expect.closeTo(0, 9), 0, 3]);
  });

  test("are none, and none are expected, where no wait is over", () => {
    const { gain, share, expected } = comingBack(fixed(10 * s), [stretch(callsAt(0, 3 * s), 5 * s)], 0);
    expect([gain, share, expected]).toEqual([expect.closeTo(0, 9), 0, 0]);
  });

  test("are no more than all, where a call came in the first part of its wait", () => {
    const calls = callsAt(0, 1 * s);
    const { share, expected } = comingBack(fixed(1 * s, 2 * s - 1), [stretch(calls, 1250)], 0);
    expect([share, expected]).toEqual([1, 0.25]);
  });

  test("are expected of calls whose wait is over, and of the part that is", () => {
    const of = (untilMs: number, slackMs = 0) =>
      comingBack(fixed(1 * s, 2 * s - 1), [stretch(callsAt(0, 60 * s), untilMs)], slackMs).expected;
    // The second call's wait is from 61 s to 62 s.
    expect([of(61 * s), of(61 * s + 250), of(62 * s), of(90 * s)]).toEqual([1, 1.25, 2, 2]);
    // From 60.9 s to 62.1 s by a slack of 0.1 s.
    expect([of(60_900, 100), of(61_500, 100), of(62_100, 100)]).toEqual([1, 1.5, 2]);
  });

  test("are all where each call comes after it", () => {
    const calls = callsAt(0, 10 * s, 20 * s, 30 * s, 40 * s);
    const { gain, share, expected } = comingBack(fixed(10 * s), [stretch(calls, 45 * s)], 0);
    // A ms of each is likely, in place of 45 s for all four.
    expect([gain, share, expected]).toEqual([
      expect.closeTo(4 * Math.log((45 * s) / 4), 3),
      expect.closeTo(1, 6),
      4,
    ]);
  });

  test("gain less if any instant of a longer span would do", () => {
    const calls = callsAt(0, 10 * s, 20 * s, 30 * s, 40 * s);
    const { gain, share } = comingBack(fixed(10 * s, 11 * s - 1), [stretch(calls, 45 * s)], 0);
    expect([gain, share]).toEqual([expect.closeTo(4 * Math.log(45 / 4), 3), expect.closeTo(1, 6)]);
  });

  test("are not told of calls of one volley, which count as one", () => {
    const volleys = callsAt(0, 20, 10 * s, 10 * s + 20, 20 * s, 20 * s + 99);
    const of = (volleyMs?: number) =>
      comingBack(
        fixed(10 * s),
        [{ ...stretch(volleys, 25 * s), ...(volleyMs === undefined ? {} : { volleyMs }) }],
        0,
      );
    const single = comingBack(fixed(10 * s), [stretch(callsAt(0, 10 * s, 20 * s), 25 * s)], 0);
    expect(of(100).gain).toBeCloseTo(single.gain - 2, 6);
    expect(of(100).share).toBeCloseTo(1, 6);
    // The last call is by itself.
    expect(of(99).gain).toBeLessThan(single.gain);
    expect(of().gain).toBe(of(0).gain);
  });

  test("of two stretches add up, and one without time or calls counts nothing", () => {
    const one = stretch(callsAt(0, 10 * s, 20 * s), 25 * s);
    const policy = fixed(10 * s);
    const alone = comingBack(policy, [one], 0);
    const two = comingBack(policy, [one, one, stretch(callsAt(5), 5), stretch([], 9)], 0);
    expect([two.gain, two.share, two.expected]).toEqual([
      expect.closeTo(2 * alone.gain, 6),
      expect.closeTo(alone.share, 6),
      2 * alone.expected,
    ]);
  });

  test("are half of them where every second call comes after it", () => {
    // Pairs that lie 10 s apart, each far from the others.
    const calls = callsAt(...[0, 37, 81, 132, 170, 219, 266, 305].flatMap((at) => [at * s, (at + 10) * s]));
    const { share, expected } = comingBack(fixed(10 * s), [stretch(calls, 400 * s)], 0);
    expect([share, expected]).toEqual([expect.closeTo(0.5, 2), 16]);
  });
});

test("calls that wait twice as long each time are attempts of one call, as far as waits grow", () => {
  const retry = { kind: "exponential", first: 10 * s, factor: 2, most: 80 * s, jitter: "none" } as PlainRetry;
  const starts = [0];
  for (const wait of [10, 20, 40, ...new Array(8).fill(80)])
    starts.push((starts.at(-1) as number) + wait * s);
  const of = (first: number) => {
    const calls = callsAt(...starts.slice(first));
    return comingBack(retry, [stretch(calls, (starts.at(-1) as number) + 5 * s)], 0);
  };
  expect(of(0)).toMatchObject({ share: expect.closeTo(1, 6), expected: 11 });
  // Without the first call, no wait is the one of its attempt.
  expect(of(1).share).toBeLessThan(0.1);
});

test("calls are told apart as attempts up to the eighth; later ones wait as long as it", () => {
  const retry = { kind: "exponential", first: s, factor: 2, most: 4_096 * s, jitter: "none" } as PlainRetry;
  const starts = [0];
  for (let wait = 0; wait < 12; wait++) starts.push((starts.at(-1) as number) + 2 ** wait * s);
  const { share, expected } = comingBack(retry, [stretch(callsAt(...starts), 20_000 * s)], 0);
  // Eight calls come back; the ninth waits longer than the eighth, and so all later ones are new.
  expect([share, expected]).toEqual([expect.closeTo(8 / 13, 2), 13]);
});
