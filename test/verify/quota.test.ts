// One count with its windows, by marks that are set: which answers belong to a window, when it is judged, and what is
// known of it then.
import { describe, expect, test } from "vitest";
import type { Span } from "../../src/verify/clock.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { NONE } from "../../src/verify/mark-rows.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import type { SpanTotals } from "../../src/verify/span-totals.ts";
import { TargetPhase } from "../../src/verify/target-phase.ts";
import type { Terms } from "../../src/verify/terms.ts";
import { shortest } from "../../src/verify/window.ts";
import type { WindowShapes } from "../../src/verify/window-shapes.ts";
import { markOf } from "./marks.ts";
import { add, type Given, type Made, minute, quotaOf, shown, status, user } from "./one-quota.ts";

describe("answers of one window", () => {
  test("are judged together once no answer can belong to it any more: half a length after its end", () => {
    const made = quotaOf();
    add(made, shown(1, 1), shown(2, 2), shown(61, 1));
    const closedAt = (watermark: number) => {
      made.quota.close(watermark);
      return [made.quota.closed, made.quota.resets];
    };
    expect(closedAt(minute + 500 + minute / 2)).toEqual([0, 0]);
    expect(closedAt(minute + 501 + minute / 2)).toEqual([1, 0]);
    expect(closedAt(3 * minute)).toEqual([2, 1]);
    const { violations, evidence, methods } = made.verdict();
    expect(violations).toEqual([]);
    expect(methods).toEqual({ places: 2, bounds: 0, readings: 3, pinned: 3 });
    expect(evidence?.["reset-agrees"]).toEqual({ readings: 0, refusals: 0, windows: 2, resets: 1 });
    expect(evidence?.["limit-agrees"].windows).toBe(0);
    expect(evidence?.conserved).toMatchObject({ readings: 3, windows: 2, resets: 1 });
  });

  test("without rules show its limit and its end by themselves, if there are two", () => {
    const made = quotaOf({ windowMs: null, windowMsMost: null });
    const refused = { role: "refused", least: 0, most: 0, held: 0 } as const;
    add(made, shown(1, 1), shown(2, 1, refused), shown(61, 1), shown(121, 1), shown(122, 2));
    const { evidence } = made.verdict();
    expect(evidence?.["limit-agrees"]).toEqual({ readings: 4, refusals: 1, windows: 2, resets: 1 });
    expect(evidence?.["reset-agrees"]).toMatchObject({ windows: 3, resets: 2 });
  });

  test("are asked whether a call was charged at all", () => {
    const charged = (...marks: readonly Mark[]): boolean => {
      const made = quotaOf();
      add(made, ...marks);
      made.quota.finish();
      return made.quota.isCharged;
    };
    expect([charged(shown(1, 1)), charged(shown(1, 0, status)), charged()]).toEqual([true, false, false]);
  });

  test("with two limits are accused of that, and their counts are not judged", () => {
    const made = quotaOf();
    add(made, shown(1, 1), shown(2, 7, { limit: 12 }));
    expect(made.said()).toEqual(["lines 1 and 2 show the same window with limits 10 and 12"]);
    const kept = quotaOf();
    add(kept, shown(1, 1), shown(2, 7));
    expect(kept.said()).toEqual([expect.stringMatching(/^line 2 /)]);
  });

  test("with two dates are accused of that", () => {
    const dated = (second: number, resetAt: number | null) => shown(second, 0, { ...status, resetAt });
    const said = (...dates: readonly (number | null)[]): string[] => {
      const made = quotaOf();
      add(made, ...dates.map((date, at) => dated(at + 1, date)));
      return made.said();
    };
    expect(said(minute, null, minute)).toEqual([]);
    expect(said(null, minute, minute + 1000)).toEqual([
      "lines 2 and 3 show the same window with reset_at 1970-01-01T00:01:00.000Z and 1970-01-01T00:01:01.000Z",
    ]);
  });
});

describe("windows that end too near each other", () => {
  const at = (second: number, count: number, from: number, width = 1000): Mark =>
    shown(second, count, { end: { from, to: from + width } });
  const near = "which is nearer than a window of 60 s";

  test("are accused, and not judged by counts; the others are", () => {
    const made = quotaOf();
    // The second window's count of 5 has no charges before it: that of the third window is accused.
    add(made, at(1, 1, minute), at(2, 5, 1.5 * minute), at(130, 4, 2.5 * minute));
    expect(made.said()).toEqual([
      `line 1 was told reset 59 and line 2 reset 58: they show windows that end at least 29.0 s apart, ${near}`,
      "line 130 was told remaining 6 of 10, but no call took (0, 3]: 3 requests of this window are charged that no call explains",
    ]);
    expect(made.quota.resets).toBe(2);
  });

  test("of three on the grid within a length are a window that slides", () => {
    const weight = (anchor: Terms["anchor"], ...ends: readonly number[]): number => {
      const made = quotaOf({ terms: { anchor } });
      add(made, ...ends.map((end, index) => at(index + 1, index + 1, end)));
      made.quota.finish();
      return made.docket.clues.weight("window-slides");
    };
    expect(weight("epoch", 60_000, 75_000, 90_000)).toBe(2);
    expect(weight("first-request", 60_000, 75_000, 90_000)).toBe(1);
    expect(weight("epoch", 60_000, 75_000)).toBe(1);
    // From the first end to the last's a length, less what clocks drift.
    expect(weight("epoch", 60_000, 90_000, 118_993)).toBe(2);
    expect(weight("epoch", 60_000, 90_000, 118_994)).toBe(1);
  });

  test("off the grid are accused where windows lie on one", () => {
    const said = (given: Given): string[] => {
      const made = quotaOf(given);
      add(made, at(1, 1, minute), at(61, 1, 2.5 * minute));
      return made.said();
    };
    expect(said({})).toEqual([expect.stringContaining("off the grid of 60 s")]);
    expect(said({ terms: { anchor: "first-request" } })).toEqual([]);
    expect(said({ windowMs: null, windowMsMost: null })).toEqual([]);
  });
});

describe("a window that follows another", () => {
  const told = (...windows: readonly Mark[]) => {
    const made = quotaOf();
    const clues: boolean[][] = [];
    made.docket.clues.window = (_name, ...carried) => void clues.push(carried);
    add(made, ...windows);
    made.quota.finish();
    return clues;
  };
  /** The window of a minute by its number, whose count stood so high before its only charge. */
  const at = (number: number, before: number): Mark => shown(60 * number + 1, before + 1);

  test("is a clue where it begins with nine tenths of that one's count, or with less", () => {
    expect(told(at(0, 9), at(1, 9))).toEqual([[true, false]]);
    expect(told(at(0, 9), at(1, 8))).toEqual([[false, false]]);
    expect(told(at(0, 9), at(1, 9), at(2, 9), at(3, 0))).toEqual([
      ...[
        [true, false],
        [true, true],
        [false, true],
      ],
    ]);
  });

  test("is none where that one's count was one at most", () => {
    expect([told(at(0, 0), at(1, 0)), told(at(0, 1), at(1, 0))]).toEqual([[], [[false, false]]]);
    expect(told(shown(1, 0, status), at(1, 4), at(2, 0))).toEqual([[false, false]]);
    // It was carried over, though that is no clue yet.
    expect(told(at(0, 0), at(1, 1), at(2, 0))).toEqual([[false, true]]);
  });
});

test("marks may be taken without a look at them where rules tell windows apart", () => {
  const taken = (given: Given, mark: Partial<Mark> = {}): boolean => {
    const open = new OpenWindows();
    const { quota } = quotaOf({ ...given, open });
    open.rows.give(shown(1, 1, mark));
    return open.take(quota.number, 10);
  };
  const opensFirst: Given = { terms: { anchor: "first-request" } };
  expect([taken({}), taken({}, { count: 0 }), taken(opensFirst), taken(opensFirst, { count: 0 })]).toEqual([
    ...[true, true, true, false],
  ]);
  expect([taken({ windowMs: null }), taken({ phase: new TargetPhase(2000) })]).toEqual([false, false]);
  const shapes = {} as WindowShapes;
  expect([taken({ shapes }), taken({ windowMs: null, shapes })]).toEqual([false, false]);
  const width = (to: number): boolean => taken({}, { end: { from: 50_000, to } });
  expect([width(79_996), width(79_998)]).toEqual([true, false]);
  // Not of a window that is over.
  const open = new OpenWindows();
  const made = quotaOf({ open });
  add(made, shown(1, 1));
  const over = (): boolean => {
    open.rows.give(shown(2, 2, { end: { from: 60_500, to: 60_600 }, sent: 60_510 }));
    return open.take(made.quota.number, 10);
  };
  made.quota.close(minute);
  expect(over()).toBe(true);
  made.quota.close(2 * minute);
  expect(over()).toBe(false);
});

describe("the last window on the grid", () => {
  const last = (given: Given, ...marks: readonly Mark[]) => {
    const made = quotaOf(given);
    add(made, ...marks);
    made.quota.finish();
    return made.quota.lastOnGrid;
  };
  const end = (from: number, to: number) => ({ end: { from, to } });

  test("is the one that was judged last, with the lines that bound its end", () => {
    const ends = { name: user, lengthMs: minute };
    expect(last({}, shown(1, 1), shown(61, 1))).toEqual({
      ...{ ...ends, end: { from: 119_500, to: 120_500 }, lines: [61] },
    });
    expect(last({}, shown(1, 1, end(59_000, 60_100)), shown(2, 2, end(59_900, 61_000)))).toEqual({
      ...{ ...ends, end: { from: 59_900, to: 60_100 }, lines: [1, 2] },
    });
  });

  test("is none without windows, without rules, off the grid, and where windows contradict each other", () => {
    expect(last({})).toBeNull();
    expect(last({ windowMs: null, windowMsMost: null }, shown(1, 1))).toBeNull();
    expect(last({ terms: { anchor: "first-request" } }, shown(1, 1))).toBeNull();
    expect(last({}, shown(1, 1), shown(2, 2, end(90_000, 91_000)))).toBeNull();
  });
});

describe("an answer whose window is not known", () => {
  const whole = { from: 0, to: 200_000 };
  const unknown = (made: Made, span: Span = whole) => made.quota.deferrals.unknowns.within(span);

  test("may have charged any that was open: one that tells its end too roughly", () => {
    const width = (to: number): number => {
      const made = quotaOf();
      add(made, shown(1, 1, { end: { from: 50_000, to } }));
      return unknown(made).calls;
    };
    // Half a length, less what clocks drift, tells windows apart.
    expect([width(79_996), width(79_998)]).toEqual([0, 1]);
  });

  test("is one that comes after its window was judged, or that may", () => {
    const late = (from: number): number => {
      const made = quotaOf();
      add(made, shown(1, 1));
      made.quota.close(2 * minute);
      expect(made.quota.closed).toBe(1);
      add(made, shown(2, 2, { end: { from, to: minute + 900 } }));
      made.quota.finish();
      return unknown(made).calls;
    };
    expect([late(minute - 500), late(minute + 500), late(minute + 501)]).toEqual([1, 1, 0]);
  });

  test("explains as many points as it may have charged, while it was under way", () => {
    const made = quotaOf();
    made.quota.addUnknown(10_000, 10_020, 3);
    made.quota.addUnknown(20_000, null, 5);
    made.quota.addUnknown(30_000, null, 0);
    made.quota.addUnknown(30_000, null, -1);
    expect(unknown(made)).toEqual({ points: 8, calls: 2 });
    // Between 9,990 and 10,031, by clocks that err.
    const within = (from: number, to: number): number => unknown(made, { from, to }).calls;
    expect([within(0, 9_990), within(0, 9_991), within(10_031, 19_990), within(10_032, 19_990)]).toEqual([
      ...[0, 1, 1, 0],
    ]);
    expect([within(11_000, 19_990), within(11_000, 19_991), within(90_000, 90_001)]).toEqual([0, 1, 1]);
  });

  test("explains a gap; so do calls of unknown keys, from then on and before", () => {
    const gap = (explain: (made: Made) => void): number => {
      const made = quotaOf();
      add(made, shown(1, 1), shown(2, 3));
      explain(made);
      return made.said().length;
    };
    expect(gap(() => {})).toBe(1);
    expect(gap(({ quota }) => quota.addUnknown(1500, null, 1))).toBe(0);
    expect(gap(({ quota }) => quota.becomeIncomplete())).toBe(0);
    const made = quotaOf({ startedBy: -minute });
    add(made, shown(1, 1));
    made.quota.close(2 * minute);
    made.quota.becomeIncomplete();
    add(made, shown(61, 1));
    // Whose calls are not all known is not evidence for what others leave alone.
    expect(made.verdict().evidence?.isolated.windows).toBe(1);
  });

  test("may have been charged to a window that is over, if it was sent before its end and gives points back", () => {
    const late = (sent: number, terms: Partial<Terms>): number => {
      const made = quotaOf({ terms });
      add(made, shown(1, 1));
      made.quota.close(2 * minute);
      add(made, shown(sent / 1000, 1, { end: { from: 119_500, to: 120_500 } }));
      return unknown(made).calls;
    };
    const charging = (when: "reserved" | "postpaid"): number => late(60_509, { charging: when });
    // The window ended by 60.5 s, by a clock that may be 10 ms off.
    expect([charging("reserved"), charging("postpaid"), late(60_509, {})]).toEqual([1, 0, 0]);
    expect(late(60_510, { charging: "reserved" })).toBe(0);
  });

  test("is no reading of any, though it came while one was surely open", () => {
    const said = (given: Given, mark: Mark): readonly string[] => {
      const made = quotaOf({ startedBy: -minute, ...given });
      add(made, shown(20, 1, { end: { from: 79_500, to: 80_500 } }), mark);
      return made.said();
    };
    const opensFirst = { anchor: "first-request" } as const;
    expect(said({}, shown(40, 7, { ...status, end: { from: 0, to: 2 * minute } }))).toEqual([]);
    expect(
      said({ terms: opensFirst }, shown(40, 7, { ...status, end: { from: 0, to: 2 * minute } })),
    ).toEqual([]);
    const end = { from: 99_500, to: 100_500 };
    const returned = shown(40, 0, { end, least: 1, most: 1, held: 2 });
    expect(said({ terms: { ...opensFirst, charging: "reserved" } }, returned)).toEqual([]);
  });

  test("of unknown cost is a reading, and may have charged anything", () => {
    const made = quotaOf();
    const vague = {
      asked: Number.POSITIVE_INFINITY,
      most: Number.POSITIVE_INFINITY,
      held: Number.POSITIVE_INFINITY,
    };
    add(made, shown(1, 1), shown(2, 4, { ...vague, cost: null, least: 0 }), shown(3, 5));
    expect(unknown(made)).toEqual({ points: Number.POSITIVE_INFINITY, calls: 1 });
    expect(made.said()).toEqual([]);
    expect(made.verdict().methods?.readings).toBe(3);
  });

  test("is added to totals of spans with what it surely charged, and with the window judged last", () => {
    const told: unknown[] = [];
    const totals = {
      looks: true,
      outside: (line: number, sent: number, received: number, points: number) =>
        void told.push([line, sent, received, points]),
      judge: (
        _open: unknown,
        window: number,
        previous: number,
        next: number,
        _columns: unknown,
        until: number,
      ) => void told.push([window, previous, next, until]),
      close: (watermark: number) => void told.push(watermark),
      finish: (_enforcement: unknown, _docket: unknown, counts: unknown) => void told.push(counts),
    } as unknown as SpanTotals;
    const made = quotaOf({ totals });
    const wide = { end: { from: 0, to: minute } };
    add(
      made,
      shown(1, 1, wide),
      shown(2, 1, { ...wide, role: "refused" }),
      shown(3, 1, { ...wide, least: 0 }),
    );
    made.quota.addCharge(9, 9000, 9010, 2);
    made.quota.addCharge(9, 9000, 9010, 0);
    add(made, shown(10, 1), shown(61, 1));
    made.quota.finish();
    expect(told).toEqual([
      ...[
        [1, 1000, 1010, 1],
        [9, 9000, 9010, 2],
      ],
      ...[
        [0, NONE, 1, Number.POSITIVE_INFINITY],
        [1, 0, NONE, Number.POSITIVE_INFINITY],
      ],
      ...[Number.POSITIVE_INFINITY, { windows: 2, resets: 1 }],
    ]);
  });
});

describe("an idle window of those that open with a first call", () => {
  const open = (given: Given = {}) =>
    quotaOf({ ...given, terms: { anchor: "first-request", ...given.terms } });
  const idle = (second: number, given: Partial<Mark> = {}): Mark =>
    shown(second, 0, {
      ...status,
      end: { from: 1000 * second + minute - 500, to: 1000 * second + minute + 500 },
      ...given,
    });

  test("belongs to none; on a grid it does", () => {
    const closed = (made: Made): number => {
      add(made, idle(1), idle(20), idle(40));
      made.quota.finish();
      return made.quota.closed;
    };
    expect([closed(open()), closed(quotaOf())]).toEqual([0, 3]);
  });

  test("is no window's whose call was charged: its count of 0 is wrong", () => {
    const said = (made: Made): number => {
      add(made, shown(1, 0));
      return made.said().length;
    };
    expect([said(open()), said(open({ terms: { charging: "reserved" } }))]).toEqual([1, 0]);
  });

  test("cannot be shown to a call that was under way after a window, and before any later one ended", () => {
    const placed = (sent: number, received: number, given: Given = {}, watermark = 0): boolean => {
      const made = open({ ...given, terms: { charging: "reserved" } });
      add(made, shown(1, 1));
      made.quota.close(watermark);
      add(made, shown(0, 0, { sent, received, end: { from: 119_500, to: 120_500 } }));
      made.quota.finish();
      return made.quota.closed === 2;
    };
    // The window ended between 59.5 and 60.5 s, by clocks that may be 10 ms off. The next one lasts a minute.
    const latest = Math.ceil(59_500 + shortest(minute) - 10);
    for (const watermark of [0, 100_000]) {
      const sent = (at: number): boolean => placed(at, at + 10, {}, watermark);
      expect([sent(60_510), sent(60_511)]).toEqual([false, true]);
      const received = (at: number): boolean => placed(61_000, at, {}, watermark);
      expect([received(latest - 1), received(latest)]).toEqual([true, false]);
    }
    expect(placed(61_000, 61_010, { windowMs: null, windowMsMost: null })).toBe(false);
  });

  test("is forgotten a length and a half after it was read", () => {
    const suspect = (watermark: number) => {
      const made = open();
      add(made, idle(10));
      made.quota.close(watermark);
      add(made, shown(20, 1, { end: { from: 69_800, to: 70_200 } }));
      return made.verdict().violations[0]?.suspects[0];
    };
    expect([suspect(100_010), suspect(100_011)]).toEqual(["status-opens-window", "windows-back-to-back"]);
  });

  test("shows that a status call opened the window, if it was read just then", () => {
    const suspects = (second: number) => {
      const made = open();
      add(made, idle(second), shown(20, 1, { end: { from: 69_800, to: 70_200 } }));
      return made.verdict().violations.map(({ suspects: named, lines }) => [named[0], lines]);
    };
    expect(suspects(10)).toEqual([["status-opens-window", [10, 20]]]);
    expect(suspects(2)).toEqual([["windows-back-to-back", [20]]]);
  });
});

test("windows of a short length are told apart by their common phase", () => {
  const narrow = { from: 3_900, to: 4_100 };
  const made = quotaOf({ windowMs: 2000, windowMsMost: 2000, phase: new TargetPhase(2000) });
  const wide = (sent: number, from: number, count: number) =>
    markOf({ line: sent, sent, received: sent + 10, count, reset: 1, end: { from, to: from + 1500 } });
  add(made, markOf({ line: 1, sent: 2100, received: 2110, reset: 2, end: narrow }));
  add(made, wide(2300, 3000, 2), wide(4100, 5000, 1));
  expect(made.said()).toEqual([]);
  expect([made.quota.closed, made.quota.deferrals.unknowns.within({ from: 0, to: 9000 }).calls]).toEqual([
    2, 0,
  ]);
});
