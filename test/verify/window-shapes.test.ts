// Shapes of windows in a trace without rules, by marks that are set: at both sides of each bound, and against slow forms.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Span } from "../../src/verify/clock.ts";
import type { Docket } from "../../src/verify/docket.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { Window } from "../../src/verify/window.ts";
import { QuotaShape, WindowShapes } from "../../src/verify/window-shapes.ts";
import { markOf, time } from "./marks.ts";

const [drift, name] = [1e-4, rulesQuota("acme", null, "rest")];

function made(scope: "rest" | "graphql" = "rest") {
  const said: { readonly lines: readonly number[]; readonly [member: string]: unknown }[] = [];
  const take = (each: (typeof said)[number]): void => void said.push(each);
  const shapes = new WindowShapes(scope, time, { ask: take, accuse: take } as unknown as Docket);
  return { shapes, shape: new QuotaShape(), said };
}

/** An answer of the first call of its window, unless told; it is received when it is sent. */
const mark = (line: number, changes: Partial<Mark>): Mark =>
  markOf({ line, sent: 0, received: changes.sent ?? 0, reset: 10, end: { from: 0, to: 0 }, ...changes });

/** A window of these answers, whose first and last bound its end. */
const windowOf = (end: Span, ...marks: readonly [Mark, ...Mark[]]): Window =>
  ({ end, marks, fromMark: marks[0], toMark: marks.at(-1) }) as unknown as Window;
const until = (to: number, line = 1): Window =>
  windowOf({ from: to - 100, to }, mark(line, { role: "status" }));

/** Takes answers, and returns the values that are ruled out, with the lines. */
function observed(...marks: readonly Mark[]) {
  const { shapes, shape, said } = made();
  for (const each of marks) shapes.observe(name, shape, each);
  const against = [...shapes.anchor.against, ...shapes.rounding.against];
  return { shape, said, out: against.map(([value, { lines }]) => [value, ...lines]), against };
}

describe("any answer", () => {
  test("may show the longest reset so far, which windows last at least", () => {
    const { shape } = observed(...[30, 31, 31, 12].map((reset, at) => mark(at + 1, { reset })));
    expect([shape.longestMs, shape.longestLine]).toEqual([31_000, 2]);
  });

  test("that shows reset 0 tells that resets are not rounded up", () => {
    const { out, against } = observed(mark(1, { reset: 1 }), mark(2, { reset: 0 }), mark(3, { reset: 0 }));
    expect(out).toEqual([["ceil", 2]]);
    expect(against[0]?.[1].explanation).toBe("line 2 shows reset 0");
  });

  test("with a date fits the grid if some length from the longest reset on divides all dates", () => {
    const dates = [120, 180, 240, 90].map((second, at) => mark(at + 2, { resetAt: second * 1000 }));
    expect(observed(mark(1, { reset: 30 }), ...dates).out).toEqual([]);
    const { out, against, shape } = observed(mark(1, { reset: 31 }), ...dates);
    // Line 4 tells no more than lines 2 and 3.
    expect(out).toEqual([["epoch", 1, 2, 3, 5]]);
    expect(shape.divisor).toBe(30);
    expect(against[0]?.[1].explanation).toBe(
      "windows end at 00:02:00, 00:03:00, 00:01:30, and no length of 31 s or more, the longest reset that was shown " +
        "(line 1), divides the seconds of all of them",
    );
  });
});

describe("the end of an idle window", () => {
  const idle = (line: number, from: number, to: number, changes: Partial<Mark> = {}): Mark =>
    mark(line, { count: 0, reset: 10, end: { from, to }, ...changes });
  const first = idle(1, 0, 1_000);

  test("stands still on a grid, or moves by a length at least", () => {
    expect(observed(first, idle(2, 1_000, 2_000)).out).toEqual([]);
    expect(observed(first, idle(2, 1_001, 2_001)).out).toEqual([["epoch", 1, 2]]);
    // Clocks may drift apart by 100 ppm.
    const long = (to: number) => observed(idle(1, 0, 1_000, { reset: 10_001 }), idle(2, 8_000, to)).out;
    expect([long(10_000_000), long(9_999_999)]).toEqual([[], [["epoch", 1, 2]]]);
    const { against } = observed(first, idle(2, 3_000, 9_000));
    expect(against[0]?.[1].explanation).toBe(
      "between lines 1 and 2 the end of an idle window moved by 2.0 to 9.0 s, and windows last 10 s or more (line 1)",
    );
  });

  test("is compared with that of the last one that was a length away", () => {
    const next = idle(2, 10_000, 11_000);
    expect(observed(first, next, idle(3, 11_000, 12_000)).out).toEqual([]);
    expect(observed(first, next, idle(3, 11_001, 12_001)).out).toEqual([["epoch", 1, 2, 3]]);
  });

  test("is not that of a window with a call, or of a count that is not shown", () => {
    for (const changes of [{ count: 1 }, { clamped: true }])
      expect(observed(first, idle(2, 3_000, 4_000, changes)).out).toEqual([]);
  });
});

/** Closes windows, each after the one before, after an answer that shows this reset. */
function closed(longest: number, windows: readonly Window[], scope: "rest" | "graphql" = "rest") {
  const { shapes, shape, said } = made(scope);
  shapes.observe(name, shape, mark(1, { reset: longest }));
  for (const [at, window] of windows.entries())
    shapes.close(name, shape, window, windows[at - 1] ?? null, windows[at + 1] ?? null);
  const exhibit = shapes.anchor.against.get("epoch");
  return { shapes, shape, said, exhibit, left: shapes.anchor.left };
}

describe("a window's first call", () => {
  const left = (changes: Partial<Mark>, scope: "rest" | "graphql" = "rest") =>
    closed(60, [windowOf({ from: 0, to: 0 }, mark(2, { reset: 58, ...changes }))], scope).left;

  test("is told its whole length, within two seconds, if it opens the window", () => {
    expect([left({}), left({ reset: 59 })]).toEqual([["epoch"], ["epoch", "first-request"]]);
    const { shapes } = closed(60, [windowOf({ from: 0, to: 0 }, mark(2, { reset: 58 }))]);
    expect(shapes.anchor.against.get("first-request")).toEqual({
      lines: [1, 2],
      explanation:
        "line 2 was the first call of its window, count 1, and was told reset 58, though windows last 60 s or more " +
        "(line 1): it was open before",
    });
  });

  test.each<Partial<Mark>>([
    { role: "status" },
    { sure: false },
    { asked: 2 },
    { asked: 0 },
    { count: 2 },
    { count: 0 },
    { clamped: true },
  ])("is not one of %j", (changes) => {
    expect(left(changes)).toEqual(["epoch", "first-request"]);
  });

  test("is unknown where calls cost several points", () => {
    expect(left({}, "graphql")).toEqual(["epoch", "first-request"]);
  });
});

/** Lengths, whole seconds, of which some multiple lies within what two ends lie apart. */
function lengthsBetween(longest: number, one: Span, other: Span): number[] | null {
  const [least, most] = [(other.from - one.to) * (1 - drift), (other.to - one.from) * (1 + drift)];
  if (most > 20_000 * longest) return null;
  const lengths: number[] = [];
  for (let length = longest; 1000 * length <= most; length++)
    for (let times = 1; 1000 * length * times <= most; times++)
      if (1000 * length * times >= least && !lengths.includes(length)) lengths.push(length);
  return lengths;
}

describe("ends without dates", () => {
  test("lie whole lengths apart on a grid, as a slow form counts them", () => {
    const spans = fc.array(fc.tuple(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 0, max: 900 })), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), spans, (longest, steps) => {
        let from = 0;
        const ends = steps.map(([step, width]) => {
          from += step;
          return { from, to: from + width };
        });
        let lengths: readonly number[] | null = null;
        for (const [at, end] of ends.slice(1).entries()) {
          const own = lengthsBetween(longest, ends[at] as Span, end);
          if (lengths?.length === 0 || own === null) continue;
          lengths = lengths === null ? own : lengths.filter((length) => own.includes(length));
        }
        const windows = ends.map((end, at) => windowOf(end, mark(at + 2, { role: "status" })));
        const { shape, left } = closed(longest, windows);
        expect(shape.lengths).toEqual(lengths);
        expect(left.includes("epoch")).toBe(lengths?.length !== 0);
      }),
      { numRuns: 300 },
    );
  });

  test("are compared up to twenty lengths apart", () => {
    const lengths = (ms: number) =>
      closed(10_001, [windowOf({ from: 0, to: 0 }, mark(2, {})), windowOf({ from: ms, to: ms }, mark(2, {}))])
        .shape.lengths;
    expect([lengths(200_000_000) === null, lengths(200_000_001) === null]).toEqual([false, true]);
  });

  test("rule the grid out by the pairs that left fewer lengths: the first two, and the latest", () => {
    // Divisors of 120; of 60, too; of 30, too; of 45, too; and none.
    const windows = [0, 120, 180, 210, 255, 262].map((second, at) => until(second * 1000, at + 2));
    const { exhibit, left } = closed(12, windows);
    expect(left).toEqual(["first-request"]);
    expect(exhibit?.explanation).toBe(
      "no window length of 12 s or more fits how far apart windows end: the last two, by lines 6 and 7, 6.9 to 7.1 s",
    );
    expect(exhibit?.lines).toEqual([1, 2, 3, 4, 6, 7]);
    // Windows that leave as many lengths tell nothing.
    const even = [0, 60, 120, 180, 187].map((second, at) => until(second * 1000, at + 2));
    expect(closed(12, even).exhibit?.lines).toEqual([1, 2, 3, 5, 6]);
  });
});

describe("a rounding", () => {
  const roundings = ["ceil", "floor", "round"] as const;
  const answers = fc.array(
    fc.record({ sent: fc.integer({ min: 0, max: 3_000 }), reset: fc.integer({ min: 0, max: 3 }) }),
    { minLength: 1, maxLength: 3 },
  );

  /** Tells which are left after a window and the one that follows it, and what is said then. */
  function closedBefore(next: Window | null, ...own: readonly [Mark, ...Mark[]]) {
    const { shapes, shape, said } = made();
    shapes.close(name, shape, windowOf({ from: 0, to: 0 }, ...own), null, next);
    return { left: shapes.rounding.left, against: shapes.rounding.against, said };
  }
  const follow = (...marks: readonly [Mark, ...Mark[]]): Window => windowOf({ from: 0, to: 0 }, ...marks);

  test("is ruled out by a window that is shown after its end, or followed before it", () => {
    const isOut = (rounding: (typeof roundings)[number], own: readonly Mark[], next: readonly Mark[]) => {
      const ends = own.map(({ sent, received, reset }) =>
        time.windowEnd(sent, received, reset, rounding, { from: 0, to: 0 }),
      );
      const [from, to] = [Math.max(...ends.map((end) => end.from)), Math.min(...ends.map((end) => end.to))];
      const shownMs = Math.max(...own.map(({ sent }) => sent));
      const followedMs = Math.min(...next.map(({ received }) => received + 1));
      return to + 2 < shownMs || from > followedMs + 2;
    };
    fc.assert(
      fc.property(answers, answers, fc.integer({ min: 0, max: 3_000 }), (own, next, laterMs) => {
        const marks = own.map(({ sent, reset }, at) => mark(at + 2, { sent, reset })) as unknown as [Mark];
        const others = next.map(({ sent }, at) => mark(at + 9, { sent: sent + laterMs })) as unknown as [
          Mark,
        ];
        const { left, said } = closedBefore(follow(...others), ...marks);
        expect(left).toEqual(roundings.filter((each) => !isOut(each, marks, others)));
        expect(said).toHaveLength(left.length === 0 ? 1 : 0);
      }),
      { numRuns: 300 },
    );
  });

  test("is told with both answers, and by how much they are apart", () => {
    // Up, the end is by 10,002 ms, and two more are allowed.
    const shownAt = (sent: number) => closedBefore(null, mark(2, {}), mark(3, { sent, reset: 1 }));
    expect(shownAt(10_004).left).toEqual(["ceil", "floor", "round"]);
    expect(shownAt(10_005).left).toEqual(["floor", "round"]);
    expect(shownAt(10_006).against.get("ceil")).toEqual({
      lines: [2, 3],
      explanation:
        "line 2 was told reset 10, and at least 4 ms after the end that ceil gives that, line 3 was shown the same window",
    });
    // Up, it is from 8,998.1 ms on.
    const followed = (sent: number) =>
      closedBefore(follow(mark(5, { sent }), mark(4, { sent: 12_000 })), mark(2, {}));
    expect([followed(8_995).left.includes("ceil"), followed(8_996).left.includes("ceil")]).toEqual([
      false,
      true,
    ]);
    expect(followed(8_000).against.get("ceil")).toEqual({
      lines: [2, 5],
      explanation:
        "line 2 was told reset 10, and at least 997 ms before the end that ceil gives that, line 5 was shown the next window",
    });
  });

  test("of another kind is needed where none fits: the target is accused", () => {
    const { said } = closedBefore(null, mark(2, {}), mark(3, { sent: 20_000 }));
    expect(said).toMatchObject([
      {
        law: "reset-agrees",
        breach: "no value fits",
        ...{ org: "acme", user: null, scope: "rest", window: null, lines: [2, 3] },
        explanation: expect.stringMatching(
          /that ceil gives.*; but .*that floor gives.*; but .*that round gives/,
        ),
      },
    ]);
  });
});

test.each([0, 2])(
  "windows that neither lie on a grid nor open with their first call are asked about: %i",
  (short) => {
    const windows = [100, 160, 185].map((second, at) => {
      const reset = at === short ? 10 : 12;
      const to = 1000 * second;
      return windowOf({ from: to - 100, to }, mark(at + 2, { reset, sent: to - 1000 * reset }));
    });
    const { said, left } = closed(12, windows);
    expect(left).toEqual([]);
    expect(said).toMatchObject([
      {
        scope: "rest",
        question: expect.stringMatching(
          /^Windows neither lie on the grid of Unix time nor open with their first call: /,
        ),
        suspects: ["windows-back-to-back", "status-opens-window", "organization-off-grid"],
        lines: [1, 2, 3, 4],
      },
    ]);
  },
);

test("a window without answers is a mistake of the caller", () => {
  const { shapes, shape } = made();
  const empty = { end: { from: 0, to: 0 }, marks: [] } as unknown as Window;
  expect(() => shapes.close(name, shape, empty, null, null)).toThrow(
    new RangeError("a window without answers"),
  );
});
