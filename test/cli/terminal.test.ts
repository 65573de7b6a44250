// Progress by a clock of the test's: a line that is redrawn on a terminal, a line every few seconds elsewhere.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isColored, pc, printedLine } from "../../src/cli/colors.ts";
import { tellError } from "../../src/cli/program.ts";
import {
  describeError,
  describeUnexpected,
  endProgress,
  openTerminal,
  type Terminal,
} from "../../src/cli/terminal.ts";
import { SpillwayError } from "../../src/rules/errors.ts";

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

/** Returns the output of a task that tells its progress every 250 ms for a time. */
function told(isTerminal: boolean, forMs: number): string[] {
  const was = process.stderr.isTTY;
  process.stderr.isTTY = isTerminal;
  let nowMs = 0;
  const terminal = openTerminal(false, () => nowMs);
  for (; nowMs <= forMs; nowMs += 250) terminal.progress(`${nowMs} ms`);
  endProgress();
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

  test.each([false, true])("obeys no name, on a terminal: %s", (isTerminal) => {
    const was = process.stderr.isTTY;
    process.stderr.isTTY = isTerminal;
    let nowMs = 0;
    const terminal = openTerminal(false, () => nowMs);
    nowMs = 5_000;
    terminal.progress("2 left for \u001b[2Jacme\n\u202e");
    process.stderr.isTTY = was;
    expect(said.join("").replace("\r\u001b[2K", "").trimEnd()).toBe("2 left for \ufffd[2Jacme \ufffd");
  });

  test.each([false, true])("ends before the error of its command, on a terminal: %s", (isTerminal) => {
    vi.useFakeTimers();
    const was = process.stderr.isTTY;
    process.stderr.isTTY = isTerminal;
    const code = process.exitCode;
    openTerminal(false).progress("half of it");
    tellError(new SpillwayError("USAGE", "no more"), []);
    vi.advanceTimersByTime(20_000);
    vi.useRealTimers();
    process.stderr.isTTY = was;
    process.exitCode = code;
    const [before, after] = said.join("").split("error");
    expect(before).toBe(isTerminal ? "\r\u001b[2Khalf of it\r\u001b[2K" : "");
    expect(after).not.toContain("half");
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

describe("lines for people", () => {
  /** All that is written, on standard output behind `>`, by a terminal of so many columns. */
  function written(json: boolean, act: (terminal: Terminal, pass: (ms: number) => void) => void): string[] {
    const was = { isTTY: process.stderr.isTTY, columns: process.stderr.columns };
    process.stderr.isTTY = true;
    process.stderr.columns = 12;
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      said.push(`>${text}`);
      return true;
    });
    let nowMs = 0;
    act(
      openTerminal(json, () => nowMs),
      (ms) => {
        nowMs += ms;
      },
    );
    Object.assign(process.stderr, was);
    return said;
  }

  test("take the place of progress, which is drawn ten times a second and no wider than the terminal", () => {
    const clear = "\r\u001b[2K";
    const lines = written(false, (terminal, pass) => {
      terminal.progress("one");
      pass(99);
      terminal.progress("two");
      pass(1);
      terminal.progress("three and more");
      terminal.say("a", "b");
      terminal.say("c");
      terminal.progress("later");
      pass(100);
      terminal.progress("four");
      terminal.document("d\n");
      pass(100);
      terminal.progress("five");
      terminal.result({});
    });
    expect(lines).toEqual([
      ...[`${clear}one`, `${clear}three and m`, clear, ">a\nb\n", ">c\n"],
      ...[`${clear}four`, clear, ">d\n", `${clear}five`, clear],
    ]);
  });

  test("are drawn in the place of those before", () => {
    const lines = written(false, (terminal) => {
      terminal.redraw(["a", "b"]);
      terminal.redraw(["c"]);
      terminal.redraw([]);
    });
    expect(lines).toEqual([">\r\u001b[0Ja\nb\n", ">\u001b[2A\r\u001b[0Jc\n", ">\u001b[1A\r\u001b[0J\n"]);
  });

  test.each([
    [false, [">a\n", ">d\n"]],
    [true, ["a\n", '>{\n  "b": 1\n}\n', '>{"c":2}\n', ">d\n"]],
  ])("stand aside of a result under --json: %s", (json, expected) => {
    const lines = written(json, (terminal) => {
      terminal.say("a");
      terminal.result({ b: 1 });
      terminal.resultLine({ c: 2 });
      terminal.document("d\n");
    });
    expect(lines).toEqual(expected);
  });

  test("tell an error and its next step, as JSON, too", () => {
    const problem = { path: "p", got: "1", allowed: "2" };
    const error = new SpillwayError("USAGE", "no", { problems: [problem], hint: "go on" });
    expect(describeError(error, false)).toBe("error USAGE no\n  p: got 1, allowed: 2\nnext go on");
    expect(JSON.parse(describeError(error, true))).toEqual({
      ...{ code: "USAGE", message: "no", ...problem, problems: [problem], next: "go on" },
    });
    const bare = JSON.parse(describeError(new SpillwayError("USAGE", "no"), true)) as unknown;
    expect(bare).toMatchObject({ problems: [], next: null });
    expect(describeUnexpected(new Error("odd"), false)).toBe(
      "unexpected error: odd\nnext this is a bug in spillway; --debug shows where",
    );
    expect(JSON.parse(describeUnexpected("odd", true))).toMatchObject({
      code: "UNEXPECTED",
      message: "odd",
      path: null,
    });
  });
});

describe("what is printed", () => {
  test.each([
    ["the codes of a terminal", "\u001b[2Jok\u0007\u009b1A", "\ufffd[2Jok\ufffd\ufffd1A"],
    ["colours of a name's own", "\u001b[32mok\u001b[39m", "\ufffd[32mok\ufffd[39m"],
    ["what turns the order of reading round", "\u202eko\u2066\u200f", "\ufffdko\ufffd\ufffd"],
    ["ends of lines", "a\r\nb\rc\u2028d\u0085e", "a b c d e"],
    ["letters of every kind", "Zoë 東京 שלום 👩‍💻", "Zoë 東京 שלום 👩‍💻"],
  ])("has no raw %s", (_, text, printed) => {
    expect(printedLine(text)).toBe(printed);
  });

  test("says the ends of a line that is too long", () => {
    const line = printedLine(`begin ${"x".repeat(1_000_000)} end`);
    expect(line).toHaveLength(2003);
    expect(line).toMatch(/^begin x+ … x+ end$/);
  });

  test("is the first twenty problems of an error, and how many more there are", () => {
    const problems = Array.from({ length: 100_000 }, (_, n) => ({
      path: `p${n}`,
      got: "\u001bx\ny",
      allowed: "z",
    }));
    const lines = describeError(new SpillwayError("USAGE", "no", { problems }), false).split("\n");
    expect(lines).toHaveLength(22);
    expect([lines[20], lines[21]]).toEqual(["  p19: got \ufffdx y, allowed: z", "  and 99980 more"]);
  });
});

describe("colors", () => {
  test("are printed where they are wanted, beside names that obey none of their own", () => {
    const line = `${pc.bold(pc.red("no"))} \u001b[32m${pc.dim("x")}`;
    expect(printedLine(line, true)).toBe(
      "\u001b[1m\u001b[31mno\u001b[39m\u001b[22m \ufffd[32m\u001b[2mx\u001b[22m",
    );
    expect(printedLine(line, false)).toBe("no \ufffd[32mx");
    expect(printedLine(pc.red("x".repeat(2_000)), true)).toBe(`\u001b[31m${"x".repeat(2_000)}\u001b[39m`);
    expect(printedLine(pc.red("x".repeat(2_001)), true)).toBe(`${"x".repeat(1_000)} … ${"x".repeat(1_000)}`);
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>, boolean | undefined, boolean]>([
    ["on a terminal", [], {}, true, true],
    ["off a terminal", [], {}, undefined, false],
    ["on a terminal that is dumb", [], { TERM: "dumb" }, true, false],
    ["on another terminal", [], { TERM: "xterm" }, true, true],
    ["by NO_COLOR", [], { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    ["by FORCE_COLOR", [], { FORCE_COLOR: "1" }, undefined, true],
    ["by FORCE_COLOR=0", [], { FORCE_COLOR: "0" }, true, false],
    ["by FORCE_COLOR=false", [], { FORCE_COLOR: "false" }, true, false],
    ["by --color", ["--color"], { NO_COLOR: "1" }, undefined, true],
    ["by --no-color", ["--no-color"], { FORCE_COLOR: "1" }, true, false],
    ["by --color=true", ["--color=true"], { NO_COLOR: "1" }, undefined, true],
    ["by --color=false", ["--color=false"], { FORCE_COLOR: "1" }, true, false],
    ["by both", ["--color", "--no-color"], {}, true, false],
  ])("%s", (_, argv, env, isTTY, colored) => {
    expect(isColored({ argv, env, stdout: isTTY === undefined ? {} : { isTTY } })).toBe(colored);
  });
});

describe("JSON", () => {
  test("escapes what a terminal obeys, and is read as it was", () => {
    const out = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const value = { "\u009b2J": "\u202e\u001b\u2028 東京" };
    openTerminal(true).result(value);
    const text = String(out.mock.calls[0]?.[0]);
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028]/u);
    expect(text).toContain("東京");
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe("progress without news", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("is told again, as it is by then, until it is cleared or a line for people comes", () => {
    vi.spyOn(process.stdout, "write").mockImplementation(() => true);
    const was = process.stderr.isTTY;
    process.stderr.isTTY = false;
    const terminal = openTerminal(false, Date.now);
    const startedMs = Date.now();
    terminal.progress(() => `waiting for ${Date.now() - startedMs} ms`);
    vi.advanceTimersByTime(12_000);
    terminal.say("done");
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual(["waiting for 2000 ms\n", "waiting for 7000 ms\n", "waiting for 12000 ms\n"]);
    process.stderr.isTTY = was;
  });
});
