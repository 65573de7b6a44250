// Progress by a clock of the test's: a line that is redrawn on a terminal, a line every few seconds elsewhere.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openTerminal } from "../../src/cli/terminal.ts";

let said: string[] = [];
beforeEach(() => {
  said = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** What is written where progress is told every 250 ms for so long. */
function told(isTerminal: boolean, forMs: number): string[] {
  const was = process.stderr.isTTY;
  process.stderr.isTTY = isTerminal;
  let nowMs = 0;
  const terminal = openTerminal(false, () => nowMs);
  for (; nowMs <= forMs; nowMs += 250) terminal.progress(`${nowMs} ms`);
  terminal.progress(null);
  process.stderr.isTTY = was;
  return said;
}

describe("progress", () => {
  test("off a terminal is a line every five seconds, from the second second on", () => {
    expect(told(false, 14_000)).toEqual(["2000 ms\n", "7000 ms\n", "12000 ms\n"]);
  });

  test("off a terminal is nothing for what is over in two seconds", () => {
    expect(told(false, 1_750)).toEqual([]);
  });

  test("on a terminal replaces its line, and clears it", () => {
    expect(told(true, 500)).toEqual([
      "\r\u001b[2K0 ms",
      "\r\u001b[2K250 ms",
      "\r\u001b[2K500 ms",
      "\r\u001b[2K",
    ]);
  });
});
