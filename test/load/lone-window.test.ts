// The law that a reading breaks is named after the call that it comes with, and after where its window stands.
import { describe, expect, test } from "vitest";
import {
  apart,
  type LoneCharge,
  LoneWindow,
  type WindowShown,
  type WindowTerms,
} from "../../src/load/lone-window.ts";
import { headerNames } from "../../src/wire/fields.ts";

const epoch: WindowTerms = {
  names: headerNames,
  reset: "ceil",
  isEpoch: true,
  isSigned: false,
  windowSeconds: 10,
};

/** A reading 1 ms after it was asked for, of a window of 10 s that ends at whole tens of seconds. */
const shown = (atMs: number, remaining: number, change: Partial<WindowShown> = {}): WindowShown => ({
  limit: 20,
  remaining,
  reset: 10 - Math.floor((atMs % 10_000) / 1_000),
  sentMs: atMs,
  receivedMs: atMs + 1,
  ...change,
});
const charge = (by: LoneCharge["by"], points: number): LoneCharge => ({
  by,
  least: points,
  most: points,
  needs: by === "admitted" ? points : 0,
  mayRoll: false,
});
const admitted = charge("admitted", 1);
const refused = charge("refused", 0);
const looked = charge("status", 0);

/** Returns the findings in the second of two readings; the first leaves 15. */
function found(second: WindowShown, by: LoneCharge, terms = epoch): string | null {
  const window = new LoneWindow(terms);
  expect(window.read(shown(2_500, 15), admitted)).toBeNull();
  return window.read(second, by);
}

test.each([
  ["an admitted call that took its point", shown(3_500, 14), admitted, null],
  [
    "an admitted call that took two",
    shown(3_500, 13),
    admitted,
    "conserved: RateLimit-Remaining fell by more than the call's cost",
  ],
  [
    "an admitted call that took none",
    shown(3_500, 15),
    admitted,
    "conserved: RateLimit-Remaining fell by less than the call's cost",
  ],
  [
    "a refused call that took a point",
    shown(3_500, 14),
    refused,
    "all-or-nothing: RateLimit-Remaining fell by a refused call",
  ],
  [
    "a refused call that gave one",
    shown(3_500, 16),
    refused,
    "monotone: RateLimit-Remaining rose within a window",
  ],
  [
    "a status call that took a point",
    shown(3_500, 14),
    looked,
    "status-free: RateLimit-Remaining fell by a status call",
  ],
  [
    "a body that shows another count",
    shown(3_500, 14),
    charge("body", 0),
    "conserved: the status shows another count than RateLimit-Remaining",
  ],
  [
    "a call that had too little left",
    shown(3_500, 0),
    charge("admitted", 16),
    "bounded: admitted with too little left in RateLimit-Remaining",
  ],
  ["a new window that begins with its limit", shown(12_500, 19), admitted, null],
  [
    "a new window that keeps the count",
    shown(12_500, 14),
    admitted,
    "recovers: RateLimit-Remaining did not recover at its reset",
  ],
  [
    "a new window that charges nothing",
    shown(12_500, 20),
    admitted,
    "conserved: RateLimit-Remaining begins too high",
  ],
  [
    "a reset that moves",
    shown(3_500, 14, { reset: 9 }),
    admitted,
    "reset-agrees: RateLimit-Reset moved within a window",
  ],
  ["another limit, which is another law's", shown(3_500, 40, { limit: 41 }), admitted, null],
])("%s", (_, second, by, expected) => {
  expect(found(second, by)).toBe(expected);
});

test("just enough left is no fault", () => {
  expect(found(shown(3_500, 0), charge("admitted", 15))).toBeNull();
});

describe("where a window may have rolled", () => {
  test("between two readings near its end, the old count and the new one are both right", () => {
    for (const remaining of [14, 19])
      expect(found(shown(9_999, remaining, { reset: 1 }), admitted)).toBeNull();
    expect(found(shown(9_999, 16, { reset: 1 }), admitted)).toBe(
      "conserved: RateLimit-Remaining fell by less than the call's cost",
    );
  });

  test("between decision and reading, it may show nothing of its call", () => {
    expect(found(shown(12_500, 20), { ...admitted, mayRoll: true })).toBeNull();
  });
});

describe("by whole milliseconds", () => {
  // The first reading was asked for at 2,500, came at 2,501, and said 8 s, rounded up: its window ends between
  // 2,500 + 7,000 - 2.8 and 2,502 + 8,000 + 2.8, by a slack of 2 ms and a ten-thousandth of 8 s.
  const less = "conserved: RateLimit-Remaining fell by less than the call's cost";
  const kept = "recovers: RateLimit-Remaining did not recover at its reset";
  test.each([
    ["a ms before the end it is the same window", shown(9_495, 19), less],
    ["from the end's first ms on it may be another", shown(9_496, 19), null],
    ["up to the end's last ms it may be the same", shown(10_504, 14), null],
    ["after it, it is another", shown(10_505, 14), kept],
    [
      "an end that a reset puts just before",
      shown(3_492, 14, { reset: 6 }),
      "reset-agrees: RateLimit-Reset moved within a window",
    ],
    ["an end that may still be the same", shown(3_493, 14, { reset: 6 }), null],
    ["a later end that may still be the same", shown(3_507, 14, { reset: 8 }), null],
    [
      "an end that a reset puts just behind",
      shown(3_508, 14, { reset: 8 }),
      "reset-agrees: RateLimit-Reset moved within a window",
    ],
  ])("%s", (_, second, fault) => {
    expect(found(second, admitted)).toBe(fault);
  });

  test("a window of 100 s ends within 12 ms more on either side", () => {
    const terms = { ...epoch, windowSeconds: 100 };
    const readAt = (atMs: number): string | null => {
      const window = new LoneWindow(terms);
      window.read(shown(0, 15, { reset: 100 }), admitted);
      return window.read(shown(atMs, 19, { reset: 1 }), admitted);
    };
    expect([readAt(98_985), readAt(98_986)]).toEqual([less, null]);
  });

  test("readings of one window narrow its end down, until one of another comes", () => {
    const window = new LoneWindow(epoch);
    window.read(shown(2_500, 15), admitted);
    // 4 s at 6,498 is an end up to 10,502.4.
    expect(window.read(shown(6_498, 14, { reset: 4 }), admitted)).toBeNull();
    expect(window.read(shown(10_503, 13), admitted)).toBe(kept);
    window.forget();
    expect(window.read(shown(10_600, 3), admitted)).toBeNull();
  });

  test("a reading that tells less of the end widens nothing", () => {
    const window = new LoneWindow(epoch);
    window.read(shown(6_498, 15, { reset: 4 }), admitted);
    expect(window.read(shown(6_600, 15, { reset: 4 }), looked)).toBeNull();
    expect(window.read(shown(10_503, 14), admitted)).toBe(kept);
  });

  test("an end that moved is the end from then on", () => {
    const window = new LoneWindow(epoch);
    window.read(shown(2_500, 15), admitted);
    expect(window.read(shown(3_500, 14, { reset: 9 }), admitted)).toMatch(/^reset-agrees/);
    expect(window.read(shown(4_500, 13, { reset: 8 }), admitted)).toBeNull();
  });

  // 10 s at 0 are an end between 0 + 9,000 - 3 and 2 + 10,000 + 3.
  test.each([
    [8_994, 19, less],
    [8_995, 19, null],
    [10_005, 14, null],
    [10_006, 14, kept],
  ])("at %i ms, whole seconds after the first, %i are left: %s", (atMs, remaining, fault) => {
    const window = new LoneWindow(epoch);
    window.read(shown(0, 15), admitted);
    expect(window.read(shown(atMs, remaining), admitted)).toBe(fault);
  });
});

test("a count that is clamped at 0 is no more than that", () => {
  const all = charge("other", 15);
  expect(found(shown(3_500, 0), all)).toBeNull();
  expect(found(shown(3_500, 1), all)).toBe("monotone: RateLimit-Remaining rose within a window");
});

describe("counts past the limit", () => {
  const overshoot = charge("other", 18);
  test.each([
    ["show 0 where they are clamped", false, 0, true],
    ["show less where they are signed", true, -3, true],
    ["show 0 by mistake where they are signed", true, 0, false],
    ["show either where nobody says", null, 0, true],
    ["show either where nobody says, below 0 too", null, -3, true],
  ])("%s", (_, isSigned, remaining, isRight) => {
    expect(found(shown(3_500, remaining), overshoot, { ...epoch, isSigned }) === null).toBe(isRight);
  });
});

test("a call that needs nothing is admitted past the limit", () => {
  const window = new LoneWindow({ ...epoch, isSigned: true });
  window.read(shown(2_500, -3), admitted);
  expect(window.read(shown(3_500, -3), looked)).toBeNull();
});

test("spans are apart where they have no instant in common", () => {
  const two = { least: 1, most: 2 };
  expect([2, 2.5].map((least) => apart(two, { least, most: 3 }))).toEqual([false, true]);
  expect([2, 2.5].map((least) => apart({ least, most: 3 }, two))).toEqual([false, true]);
});

describe("a window that is not open", () => {
  const terms = { ...epoch, isEpoch: false };
  test("shows another end each time that it is read", () => {
    const window = new LoneWindow(terms);
    expect(window.read(shown(2_500, 20, { reset: 10 }), looked)).toBeNull();
    expect(window.read(shown(3_900, 20, { reset: 10 }), looked)).toBeNull();
    expect(window.read(shown(5_900, 19, { reset: 10 }), admitted)).toBeNull();
    // Now it is open.
    expect(window.read(shown(7_900, 18, { reset: 10 }), admitted)).toBe(
      "reset-agrees: RateLimit-Reset moved within a window",
    );
  });

  test("is another one: its reset_at may be another, too", () => {
    const window = new LoneWindow(terms);
    window.read(shown(2_500, 15), admitted);
    expect(window.resetAtFault(10_001)).toBeNull();
    window.read(shown(12_500, 19), admitted);
    expect(window.resetAtFault(20_003)).toBeNull();
    window.forget();
    expect(window.resetAtFault(20_004)).toBeNull();
    window.read(shown(13_500, 18), admitted);
    expect(window.resetAtFault(20_005)).toBeNull();
  });

  test("admits what needs one, with one left", () => {
    const window = new LoneWindow(epoch);
    window.read(shown(2_500, 0), admitted);
    expect(window.read(shown(3_500, 0), { ...admitted, least: 0, most: 0, needs: 1 })).toBe(
      "bounded: admitted with too little left in RateLimit-Remaining",
    );
  });
});

describe("reset_at of a status", () => {
  const resetAtFault = (terms: WindowTerms, ...resetsAtMs: number[]): string | null => {
    const window = new LoneWindow(terms);
    window.read(shown(2_500, 15), admitted);
    return resetsAtMs.map((ms) => window.resetAtFault(ms)).at(-1) ?? null;
  };

  test("is a multiple of the window's length under epoch", () => {
    expect(resetAtFault(epoch, 10_000)).toBeNull();
    expect(resetAtFault(epoch, 10_001)).toBe(
      "reset-agrees: reset_at of the status is no multiple of the window's length",
    );
    expect(resetAtFault({ ...epoch, windowSeconds: null }, 10_001)).toBeNull();
    expect(resetAtFault({ ...epoch, isEpoch: false }, 10_001)).toBeNull();
  });

  test("stays the same within a window", () => {
    expect(resetAtFault({ ...epoch, isEpoch: false }, 10_001, 10_001)).toBeNull();
    expect(resetAtFault({ ...epoch, isEpoch: false }, 10_001, 10_002)).toBe(
      "reset-agrees: reset_at of the status changed within a window",
    );
  });
});

test.each([
  ["ceil", { least: 3, most: 4 }],
  ["floor", { least: 4, most: 5 }],
  ["round", { least: 3.5, most: 4.5 }],
  [null, { least: 3, most: 5 }],
] as const)("4 seconds by %s", (reset, expected) => {
  expect(new LoneWindow({ ...epoch, reset }).secondsLeft(4)).toEqual(expected);
});
