// A reset that counts milliseconds falls by as many as pass from answer to answer.
import { describe, expect, test } from "vitest";
import type { Mark } from "../../src/verify/mark.ts";
import { endSuspects, fallsByMs } from "../../src/verify/suspects.ts";
import { markOf } from "./marks.ts";

const mark = (sent: number, reset: number, tookMs = 0): Mark =>
  markOf({ sent: 1_000 + sent, received: 1_000 + sent + tookMs, reset });

describe("a reset falls by milliseconds", () => {
  test.each([
    ["by as many as passed", mark(0, 60_000), mark(500, 59_500), true],
    ["whichever is named first", mark(500, 59_500), mark(0, 60_000), true],
    ["by two more, which clocks may differ", mark(0, 60_000), mark(500, 59_498), true],
    ["but not by three more", mark(0, 60_000), mark(500, 59_497), false],
    ["nor by three less", mark(0, 60_000), mark(500, 59_503), false],
    ["by what the ways took, too", mark(0, 60_000, 4), mark(500, 59_490, 4), true],
    ["and by no more", mark(0, 60_000, 4), mark(500, 59_489, 4), false],
    ["where seconds would not have fallen", mark(0, 60), mark(500, 60), false],
    ["which ten do not tell from none", mark(0, 60_000), mark(10, 59_990), false],
    ["and eleven do", mark(0, 60_000), mark(11, 59_989), true],
  ])("%s", (_name, earlier, later, expected) => {
    expect(fallsByMs(earlier, later)).toBe(expected);
  });
});

describe("milliseconds in place of seconds are suspected", () => {
  const asked = (ms: number, known: boolean) =>
    endSuspects(mark(0, 60_000), mark(500, 59_500), { ms, known }, false, false);

  test("first, where no rules tell the length, and it is shown as a million or more", () => {
    expect(asked(1_000_000, false)[0]).toBe("reset-in-ms");
  });

  test.each([
    ["rules tell the length", 2_000_000, true],
    ["the longest reset that was shown could be seconds", 999_999, false],
  ])("not where %s", (_name, ms, known) => {
    expect(asked(ms, known)).not.toContain("reset-in-ms");
  });
});
