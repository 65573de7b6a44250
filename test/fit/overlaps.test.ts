// Many people behind one name, by calls that are set: at both sides of each bound.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import { overlapByChance } from "../../sim/fit/overlaps.ts";

const slackMs = 6;
const job = (startMs: number, lastsMs: number): RecordedJob =>
  ({ startMs, first: { endMs: startMs + lastsMs } }) as unknown as RecordedJob;

interface Given {
  /** Number of pairs of calls that overlap, each pair two hours after the one before. */
  readonly pairs?: number;
  /** Length of each call of a pair, and time from its first to its second call, ms. */
  readonly lastsMs?: number;
  readonly apartMs?: number;
  /** Number of long pauses among twice as many short ones, and their lengths, ms. */
  readonly long?: number;
  readonly longMs?: number;
  readonly shortMs?: number;
}

/** Calls of no length, with pauses; then calls in pairs. */
function found({
  pairs = 5,
  lastsMs = 30 * minuteMs,
  apartMs = 10 * minuteMs,
  long = 40,
  longMs = 60_000,
  shortMs = 1_000,
}: Given) {
  let atMs = 20 * hourMs;
  const jobs = [job(atMs, 0)];
  for (let pause = 0; pause < 3 * long; pause++) {
    atMs += pause % 3 === 2 ? longMs : shortMs;
    jobs.push(job(atMs, 0));
  }
  const fromMs = Math.ceil(atMs / hourMs) * hourMs + hourMs;
  for (let pair = 0; pair < pairs; pair++) {
    const startMs = fromMs + 2 * hourMs * pair;
    jobs.push(job(startMs, lastsMs + slackMs), job(startMs + apartMs, lastsMs + slackMs));
  }
  return overlapByChance(jobs, slackMs);
}

describe("calls of many people behind one name", () => {
  test("overlap five times at least", () => {
    expect([found({}), found({ pairs: 4 })]).toEqual([true, false]);
  });

  test("overlap by more than a slack", () => {
    // A second call 30 minutes after the first would begin as that one ends, but for the slack.
    const begun = (ms: number) => found({ apartMs: 30 * minuteMs - ms });
    expect([begun(0), begun(1)]).toEqual([false, true]);
  });

  test("overlap half as often as by chance at least, and four times as often at most", () => {
    // Two calls in an hour, each of an hour, overlap twice by chance.
    const lasting = (minutes: number) => found({ lastsMs: minutes * minuteMs, apartMs: minuteMs });
    expect([60, 60.1, 7.5, 7.4].map(lasting)).toEqual([true, false, true, false]);
  });

  test("have thirty pauses that are more than ten times as long as the usual one", () => {
    expect([10_001, 10_000].map((longMs) => found({ longMs }))).toEqual([true, false]);
    // Most calls follow at once.
    expect(found({ shortMs: 0, longMs: 5 })).toBe(true);
    // Each pair comes after such a pause, too.
    expect([25, 24].map((long) => found({ long }))).toEqual([true, false]);
  });
});
