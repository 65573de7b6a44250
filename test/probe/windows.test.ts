// The shape of windows as readings of them show it: roundings, anchors and lengths, each by few calls.
import { describe, expect, test } from "vitest";
import type { WindowClock } from "../../src/probe/offsets.ts";
import type { SeenCall } from "../../src/probe/seen.ts";
import { anchorOf, organizationWindow, roundingOf, userWindow } from "../../src/probe/windows.ts";

const clock: WindowClock = { loMs: 0, hiMs: 0, calls: [], basis: "edge" };

/** A status call, answered at once: the organization's window of REST. */
const status = (sentMs: number, resetAtMs: number, reset: number, current = 0): SeenCall =>
  ({
    ...{ number: sentMs, sentMs, receivedMs: sentMs, scope: "rest", headers: {} },
    statusScopes: { rest: { limit: 10, current, reset, resetAtMs }, graphql: null },
  }) as unknown as SeenCall;

/** A call of the user's, answered at once. */
const own = (sentMs: number, reset: number, remaining = 5, more: object = {}): SeenCall =>
  ({
    ...{ number: sentMs, sentMs, receivedMs: sentMs, scope: "rest", points: null, statusScopes: null },
    headers: { userScopeName: "rest_user", userLimit: 5, userRemaining: remaining, userReset: reset },
    ...more,
  }) as unknown as SeenCall;

describe("the rounding of `reset`", () => {
  const early = status(7_400, 10_000, 3);
  const late = status(7_600, 10_000, 2);

  test.each<[string, SeenCall[], string | null]>([
    ["2.4 s read as 3", [status(7_600, 10_000, 3)], "ceil"],
    ["2.4 s read as 2", [late], null],
    ["2.6 s read as 3", [early], null],
    ["2.6 s read as 2", [status(7_400, 10_000, 2)], "floor"],
    ["2.6 s read as 3, and 2.4 s as 2", [early, late], "round"],
    ["2.4 s read as 4", [status(7_600, 10_000, 4)], null],
    ["2.4 s read as 1", [status(7_600, 10_000, 1)], null],
    ["nothing", [], null],
  ])("%s", (_, calls, value) => {
    expect(roundingOf(calls, "rest", clock)?.value ?? null).toBe(value);
    expect([roundingOf(calls, "graphql", clock), roundingOf(calls, "rest", null)]).toEqual([null, null]);
  });

  test("is told by the first reading that excludes the most others", () => {
    const edges = { ...clock, hiMs: 1.5, calls: [own(5, 1)] };
    expect(roundingOf([early, late], "rest", edges)).toEqual({
      value: "round",
      isSure: true,
      why: "call 7400 at 00:00:07.400 showed reset 3 of a window until 00:00:10.000 by the target's clock, known by edge within 2 ms",
      calls: [early, ...edges.calls],
    });
    const sure = status(7_600, 10_000, 3);
    const trusted = roundingOf([early, sure], "rest", { ...clock, basis: "Date" });
    expect(trusted).toMatchObject({ value: "ceil", isSure: false, calls: [sure] });
  });
});

describe("the anchor", () => {
  const anchor = (calls: SeenCall[], windowSeconds: number | null = null, untouched = calls) => {
    const found = anchorOf(calls, untouched, "rest", windowSeconds);
    return found && [found.value, found.isSure, found.calls.map(({ sentMs }) => sentMs)];
  };

  test("is the first request where an idle window moves by less than was left", () => {
    const moving = [status(0, 10_000, 10), status(1_000, 11_000, 10), status(2_000, 12_000, 10)];
    expect(anchor(moving)).toEqual(["first-request", true, [0, 1_000]]);
    expect(anchor(moving.slice(0, 2))).toEqual(["first-request", false, [0, 1_000]]);
    expect(anchorOf(moving, moving, "rest", null)?.why).toBe(
      "with nothing counted reset_at moved by 1 s while reset showed 10, 2 times in all: an idle window moves with the clock",
    );
    // One that counted something, or moved by all that was left, may have ended.
    expect(anchor([status(0, 10_000, 10, 1), status(1_000, 11_000, 10)])).toBeNull();
    expect(anchor([status(0, 10_000, 10), status(1_000, 20_000, 10)])).toBeNull();
    expect(anchor([status(0, 10_000, 10), status(1_000, 9_000, 10)])).toBeNull();
  });

  test("is the epoch where an idle window stands for over a second, on the grid of its length", () => {
    const still = [status(0, 40_000, 40), status(1_011, 40_000, 39)];
    expect(anchor(still)).toEqual(["epoch", true, [0, 1_011]]);
    expect(anchor(still, 20)).toEqual(["epoch", true, [0, 1_011]]);
    expect(anchor(still, 30)).toEqual(["first-request", true, [0]]);
    expect(anchor([status(0, 40_000, 40), status(1_010, 40_000, 39)])).toBeNull();
    expect(anchor([status(0, 40_000, 40, 1), status(1_011, 40_000, 39)])).toBeNull();
    expect(anchor([status(0, 40_000, 40), status(1_011, 40_000, 39, 1)])).toBeNull();
    expect(anchor(still, null, [])).toBeNull();
  });

  test("is told by the grid alone where windows are of 20 s at least, and none is idle", () => {
    const used = [status(0, 40_000, 40, 1), status(500, 40_000, 40, 1)];
    expect(anchor(used, 20)).toEqual(["epoch", false, [500]]);
    expect(anchor(used, 10)).toBeNull();
    expect(anchor([...used, status(900, 41_000, 41, 1)], 10)).toEqual(["first-request", true, [900]]);
    expect(anchor([], 20)).toBeNull();
  });

  test.each<[string, SeenCall[], unknown]>([
    ["stands", [own(0, 9), own(2_200, 9)], "first-request"],
    ["falls by one", [own(0, 9), own(2_200, 8)], "first-request"],
    ["rises by one", [own(0, 8), own(2_200, 9)], "first-request"],
    ["falls by two", [own(0, 9), own(2_200, 7)], "epoch"],
    ["rises by two", [own(0, 8), own(2_200, 10)], null],
    ["was seen for a ms less", [own(0, 9), own(2_199, 7)], null],
    ["is short", [own(0, 7), own(2_200, 5)], null],
    ["is used in between", [own(0, 9), own(1_000, 8, 4), own(2_200, 7)], null],
  ])("is told by the user's idle window that %s", (_, calls, value) => {
    expect(anchor(calls, 1)?.slice(0, 2) ?? null).toEqual(value && [value, false]);
    expect(anchor(calls)?.[0] ?? null).toEqual(value);
  });
});

describe("the length of the organization's window", () => {
  const length = (calls: SeenCall[], anchor: "epoch" | "first-request" | null = null) => {
    const found = organizationWindow(calls, "rest", anchor, clock);
    return found && [found.value, found.isSure];
  };

  test("is that from end to end, if all that were seen agree", () => {
    const ends = [status(9_900, 10_000, 1, 1), status(10_100, 20_000, 10, 1)];
    expect(length(ends)).toEqual([10, true]);
    expect(length([...ends, status(19_900, 20_000, 1, 1), status(20_100, 30_000, 10)])).toEqual([10, true]);
    expect(length([...ends, status(19_900, 20_000, 1, 1), status(20_100, 40_000, 20)])).toBeNull();
    expect(organizationWindow(ends, "rest", null, null)?.why).toBe(
      "call 9900 at 00:00:09.900 showed current 1, reset 1, reset_at 00:00:10; call 10100 at 00:00:10.100 showed current 1, reset 10, reset_at 00:00:20",
    );
    // Calls half a window apart may have missed one; windows of a second are too short for that to matter.
    expect(length([status(9_500, 10_000, 1, 1), status(10_400, 11_000, 1)])).toEqual([1, true]);
    expect(length([status(9_100, 10_000, 1, 1), status(10_099, 12_000, 2)])).toEqual([2, true]);
    expect(length([status(9_100, 10_000, 1, 1), status(10_050, 11_900, 2)])).toBeNull();
  });

  test("is told by idle windows, which would open in the second of the reading", () => {
    const idle = [status(100, 10_000, 10), status(1_100, 11_000, 10)];
    expect(length(idle, "first-request")).toEqual([10, false]);
    expect(length(idle, "epoch")).toBeNull();
    expect(organizationWindow(idle, "rest", "first-request", null)).toBeNull();
    // The call may have been decided in either second.
    expect(length([status(999, 10_000, 10), status(1_100, 11_000, 10)], "first-request")).toBeNull();
  });
});

describe("the length of the user's window", () => {
  const length = (calls: SeenCall[], anchor: "epoch" | "first-request", scope: "rest" | "graphql" = "rest") =>
    userWindow(calls, scope, anchor, "ceil", clock)?.value ?? null;

  test("on a grid is that from one end to the next", () => {
    expect(length([own(9_500, 1), own(10_500, 10)], "epoch")).toBe(10);
    expect(length([own(9_500, 1), own(14_998, 6)], "epoch")).toBe(10);
    expect(length([own(9_500, 1), own(14_999, 6)], "epoch")).toBeNull();
    expect(length([own(9_500, 1), own(14_998, 16)], "epoch")).toBe(20);
    expect(length([own(9_500, 1), own(10_500, 1)], "epoch")).toBe(1);
    expect(length([own(9_500, 1), own(9_600, 1)], "epoch")).toBeNull();
    // Either of two ends fits a reading that spans a whole second.
    expect(length([own(9_500, 1), own(10_500, 10, 5, { receivedMs: 11_500 })], "epoch")).toBeNull();
  });

  test("from a first request is told where nothing is used", () => {
    expect(length([own(9_500, 8)], "first-request")).toBe(8);
    expect(length([own(9_500, 8, 4)], "first-request")).toBeNull();
    expect(userWindow([own(9_500, 8)], "rest", "first-request", null, clock)).toBeNull();
    expect(userWindow([own(9_500, 8)], "rest", null, "ceil", clock)).toBeNull();
    expect(userWindow([own(9_500, 8)], "rest", "first-request", "ceil", null)).toBeNull();
  });

  test("of GraphQL is told where no query of a point or more can have opened it", () => {
    const graphql = (sentMs: number, points: number | null) =>
      own(sentMs, 8, 5, {
        ...{ scope: "graphql", points },
        headers: { userScopeName: "graphql_user", userLimit: 5, userRemaining: 5, userReset: 8 },
      });
    const seen = (points: number | null, ms: number) =>
      length(
        [graphql(500, points), graphql(500 + ms, null)].slice(points === null ? 1 : 0),
        "first-request",
        "graphql",
      );
    expect(seen(null, 9_000)).toBe(8);
    expect(seen(1, 8_999)).toBeNull();
    expect(seen(1, 9_000)).toBe(8);
    expect(seen(0, 2_000)).toBe(8);
  });
});
