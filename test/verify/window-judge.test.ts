// Windows of one quota, by marks that are set: which of its calls surely belong to a window, which others it may have
// held, and which rows a long one lets go.
import { describe, expect, test } from "vitest";
import { Hypotheses } from "../../src/verify/hypotheses.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import type { SpanTotals } from "../../src/verify/span-totals.ts";
import type { Terms } from "../../src/verify/terms.ts";
import { longest, shortest } from "../../src/verify/window.ts";
import { add, type Given, minute, quotaOf, shown, status } from "./one-quota.ts";

/** Number of accusations, and evidence for calls of other users, of marks. */
function found(
  given: Given,
  ...marks: readonly Mark[]
): readonly [accused: number, isolated: number | undefined] {
  const made = quotaOf(given);
  add(made, ...marks);
  const { violations, evidence } = made.verdict();
  return [violations.length, evidence?.isolated.windows];
}
const accused = (given: Given, ...marks: readonly Mark[]): number => found(given, ...marks)[0];
const at = (sent: number, count: number, given: Partial<Mark> = {}): Mark => shown(sent / 1000, count, given);
const points = (least: number, held = least) => ({ cost: held, asked: held, least, most: least, held });

describe("a window that held nothing when the trace began", () => {
  /** Earliest opening of a window whose end is known to 1 s. */
  const opened = minute - 500 - longest(minute);
  const gap = shown(20, 3);

  test("opened later", () => {
    expect(found({ startedBy: opened }, gap)).toEqual([1, 1]);
    expect(found({ startedBy: opened + 1 }, gap)).toEqual([0, 0]);
    expect(found({ startedBy: opened + 1, windowMsMost: minute - 10 }, gap)).toEqual([1, 1]);
    expect(found({ startedBy: opened - 10, windowMsMost: minute + 20 }, gap)).toEqual([0, 0]);
  });

  test("without rules opened after the window before it", () => {
    const given = { windowMs: null, windowMsMost: null };
    const gapNext = shown(61, 3);
    expect(found({ ...given, startedBy: minute - 500 }, shown(1, 1), gapNext)).toEqual([1, 1]);
    expect(found({ ...given, startedBy: minute - 499 }, shown(1, 1), gapNext)).toEqual([0, 0]);
    expect(found(given, gap)).toEqual([0, 0]);
  });

  test("or shows a first charge of a call that was sent since, by clocks that err", () => {
    const isolated = (sent: number): number | undefined => found({ startedBy: 5000 }, at(sent, 1))[1];
    expect([isolated(5009), isolated(5010)]).toEqual([0, 1]);
  });

  test("and that calls charge on completion holds none that were under way then, a minute later", () => {
    const given = (startedBy: number): Given => ({ startedBy, terms: { charging: "postpaid" } });
    expect(found(given(opened - 60_000), gap)).toEqual([1, 1]);
    expect(found(given(opened - 59_999), gap)).toEqual([0, 0]);
    expect(found(given(opened - 59_999), shown(20, 1))).toEqual([0, 0]);
    expect(found({ startedBy: opened - 59_999 }, shown(20, 1))).toEqual([0, 1]);
  });
});

describe("a call that was charged to the window which it shows", () => {
  /** Tells whether a call of two points, sent then, surely was: a later reading shows one. */
  const isSure = (
    sent: number,
    end: Mark["end"],
    anchor: "epoch" | "first-request",
    ...before: readonly Mark[]
  ) =>
    accused(
      { startedBy: -1_000_000, complete: false, terms: { charging: "reserved", anchor } },
      ...before,
      at(sent, 2, { ...points(2), end }),
      at(30_000, 1, { ...status, end }),
    ) > 0;
  const end = { from: 64_000, to: 66_500 };
  /** Latest opening of that window, by clocks that err. */
  const opened = Math.ceil(66_500 - shortest(minute) + 10);
  const ending = (from: number, to: number): Mark => at(-30_000, 3, { end: { from, to } });

  test("was sent after its latest opening", () => {
    for (const anchor of ["epoch", "first-request"] as const)
      expect([isSure(opened - 1, end, anchor), isSure(opened, end, anchor)]).toEqual([false, true]);
  });

  test("or after the end of the window before, if no other fits between, and no grid says when it opened", () => {
    const before = ending(5000, 6000);
    expect([6009, 6010].map((sent) => isSure(sent, end, "first-request", before))).toEqual([false, true]);
    expect([opened - 1, opened].map((sent) => isSure(sent, end, "epoch", before))).toEqual([false, true]);
    const later = ending(5000, 7000);
    expect([opened - 1, opened].map((sent) => isSure(sent, end, "first-request", later))).toEqual([
      false,
      true,
    ]);
    const early = ending(6507 - minute, 6000 - minute + 1000);
    expect([6010, opened].map((sent) => isSure(sent, end, "first-request", early))).toEqual([false, true]);
  });
});

describe("calls that show a later window", () => {
  const reserved = { charging: "reserved" } as const;
  /** A window whose last reading shows so much; it ends by 60.5 s, and one call of a point is its own. */
  const first = (count: number, to = 60_500): readonly Mark[] => {
    const end = { from: 59_500, to };
    return [at(20_000, 1, { end }), at(59_000, count, { ...status, received: 61_000, end })];
  };
  const next = { end: { from: 119_500, to: 120_500 } };
  /** A call that held a point in either window, and gave it back. */
  const held = (sent: number): Mark => at(sent, 0, { ...points(0, 1), received: 61_900, ...next });

  test("may have been charged to an earlier one, if they were sent before its end and give points back", () => {
    const of = (sent: number, terms: Partial<Terms>) =>
      accused({ terms, startedBy: -1000 }, ...first(2), held(sent));
    expect([of(60_509, reserved), of(60_510, reserved)]).toEqual([0, 1]);
    expect(of(60_509, {})).toBe(1);
  });

  /** Tells whether rows are asked for that had gone, and whether anything is found. */
  const asks = (count: number, to: number, ...calls: readonly Mark[]): readonly [boolean, boolean] => {
    const open = new OpenWindows({ rowsMost: 4, all: new Set() });
    const made = quotaOf({ terms: reserved, startedBy: -1000, open });
    add(made, ...first(count, to), ...calls);
    for (let second = 63; second < 71; second++) add(made, shown(second, second - 62, next));
    made.quota.close(75_000);
    expect([made.quota.closed, open.size(open.last(0)) < 8]).toEqual([0, true]);
    made.quota.close(100_000);
    expect(made.quota.closed).toBe(1);
    return [open.held.asked.size > 0, made.said().length > 0];
  };

  test("are known from a window's opening, if its other rows had gone", () => {
    expect(asks(2, 60_500, held(60_509))).toEqual([false, false]);
    expect(asks(2, 60_500, held(60_510))).toEqual([false, true]);
    expect(asks(3, 60_500, held(60_509), held(60_512))).toEqual([true, true]);
    expect(asks(3, 60_500, held(60_509), held(60_508))).toEqual([false, false]);
  });

  test("count once in what is told of how windows were judged", () => {
    const methods = (rowsMost: number) => {
      const open = new OpenWindows({ rowsMost, all: new Set() });
      const made = quotaOf({ terms: reserved, startedBy: -1000, open });
      add(made, ...first(2), held(60_509));
      // The fourth is under way as the fifth is sent, so that the latter could have another value.
      for (let second = 63; second < 71; second++)
        add(made, shown(second, second - 62, { ...next, ...(second === 66 && { received: 67_005 }) }));
      made.quota.close(75_000);
      return made.verdict().methods;
    };
    expect(methods(4)).toEqual(methods(Number.POSITIVE_INFINITY));
    expect(methods(4)).toEqual({ places: 0, bounds: 2, readings: 11, pinned: 8 });
  });

  test("are not known from it, if the end of the earlier window comes after it", () => {
    // The later window opens by 60.516 s.
    expect(asks(2, 60_505, held(60_509))[0]).toBe(false);
    expect(asks(2, 60_508, held(60_509))[0]).toBe(true);
    expect(asks(1, 60_508, held(60_509))[0]).toBe(true);
  });
});

describe("a long window", () => {
  const first = Array.from({ length: 8 }, (_, at) => shown(at + 1, at + 1));
  /** Numbers of rows that a window holds after each closing. */
  const sizes = (
    given: Given,
    marks: readonly (readonly Mark[])[],
    all: readonly number[] = [],
  ): number[] => {
    const open = new OpenWindows({ rowsMost: 2, all: new Set(all) });
    const made = quotaOf({ startedBy: -1000, ...given, open });
    return marks.map((some) => {
      add(made, ...some);
      made.quota.close(20_000);
      return open.size(open.first(0));
    });
  };

  test("lets three quarters of its rows go, and more once it holds twice as many", () => {
    const more = (second: number): readonly Mark[] => [shown(second, second)];
    expect(sizes({}, [first, more(9), more(10)])).toEqual([2, 3, 1]);
    expect(sizes({}, [first.slice(0, 1), first.slice(1, 2)])).toEqual([1, 1]);
    const off = [shown(1, 1), shown(2, 1), shown(3, 2), shown(4, 3)];
    expect(sizes({}, [off, [shown(5, 5)]])).toEqual([4, 5]);
  });

  test("keeps of rows that have gone when their calls were sent, and where they stand", () => {
    /** Tells whether rows are asked for, once six of eight have gone and one call more came. */
    const asks = (later: Mark): boolean => {
      const open = new OpenWindows({ rowsMost: 2, all: new Set() });
      const made = quotaOf({ startedBy: -1000, open });
      const long = [at(100, 7, { received: 6_500 }), at(200, 8, { received: 6_600 })];
      add(made, ...first.slice(0, 6), ...long);
      made.quota.close(20_000);
      expect(open.size(open.first(0))).toBe(2);
      add(made, later);
      made.quota.finish();
      return open.held.asked.size > 0;
    };
    expect([asks(at(50, 9, { received: 5_989 })), asks(at(50, 9, { received: 5_990 }))]).toEqual([
      true,
      false,
    ]);
    expect([asks(at(7_000, 6)), asks(at(7_000, 10)), asks(at(7_000, 8, status))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("lets rows go that show its limit, where that binds", () => {
    const full = Array.from({ length: 8 }, (_, at) =>
      shown(at + 1, 10, { ...(at === 0 ? points(10) : status), clamped: true }),
    );
    expect(sizes({}, [full])).toEqual([2]);
    expect(sizes({ terms: { refused: "counted" } }, [full])).toEqual([8]);
    expect(sizes({ startedBy: 0 }, [full])).toEqual([8]);
  });

  test.each<[string, Given, readonly Mark[], readonly number[]]>([
    ["shows two limits", {}, [...first, shown(9, 9, { limit: 11 })], []],
    [
      "has totals that look at its calls",
      { totals: { looks: true, close: () => {} } as unknown as SpanTotals },
      first,
      [],
    ],
    ["is judged without rules", { hypotheses: new Hypotheses("rest", null) }, first, []],
    ["may hide counts", { terms: { charging: "reserved", refused: "counted" } }, first, []],
    ["has to hold all", {}, first, [0]],
    [
      "was seen idle",
      { terms: { anchor: "first-request" } },
      [...first, shown(9, 0, { ...status, end: { from: 68_500, to: 69_500 } })],
      [],
    ],
  ])("lets no row go that %s", (_name, given, marks, all) => {
    const held = marks.filter(({ end }) => end.to === 60_500).length;
    expect(sizes(given, [marks], all)).toEqual([held]);
  });

  test.each<[string, Given]>([
    ["totals do not look", { totals: { looks: false, close: () => {} } as unknown as SpanTotals }],
    ["points are given back", { terms: { charging: "reserved" } }],
    ["refusals are counted", { terms: { refused: "counted" } }],
    ["it opens with its first call", { terms: { anchor: "first-request" } }],
  ])("lets rows go, though %s", (_name, given) => {
    expect(sizes(given, [first])).toEqual([2]);
  });
});

describe("answers of an idle window", () => {
  /** A window that opens by 20.506 s and ends from 79.5 s on, and a status that shows nothing used. */
  const isItsReading = (sent: number): boolean =>
    accused(
      { terms: { anchor: "first-request" } },
      shown(20, 1, { end: { from: 79_500, to: 80_500 } }),
      at(sent, 0, { ...status, end: { from: sent + 59_500, to: sent + 60_500 } }),
    ) > 0;

  test("are readings of one that surely was open", () => {
    const opened = Math.ceil(80_500 - shortest(minute) + 10);
    expect([opened - 1, opened].map(isItsReading)).toEqual([false, true]);
    // It is answered 10 ms later, by clocks that err by 10 ms and count milliseconds.
    expect([79_479, 79_480].map(isItsReading)).toEqual([true, false]);
  });

  test("are those of the next window, if they came after this one", () => {
    const later = (sent: number): number =>
      accused(
        { terms: { anchor: "first-request" } },
        shown(20, 1, { end: { from: 79_500, to: 80_500 } }),
        shown(95, 1, { end: { from: 154_500, to: 155_500 } }),
        at(sent, 0, { ...status, end: { from: sent + 59_500, to: sent + 60_500 } }),
      );
    expect([later(85_000), later(100_000)]).toEqual([0, 1]);
  });
});

test("a window that begins with the count before, and one that does so again, name what may carry it over", () => {
  const first = (...counts: readonly number[]) => {
    const made = quotaOf();
    add(made, ...counts.map((count, window) => shown(60 * window + 1, count)));
    return made.verdict().violations.map(({ suspects }) => suspects[0]);
  };
  expect(first(10, 10)).toEqual(["new-reset-old-count"]);
  expect(first(10, 8)).not.toContain("new-reset-old-count");
  expect(first(10, 10, 10)).toEqual(["lost-expiry", "new-reset-old-count"]);
});
