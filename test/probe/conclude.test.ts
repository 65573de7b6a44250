// What calls show, whatever they were made for: limits, enforcement, hidden counts, and whether status and headers agree.
import { describe, expect, test } from "vitest";
import { conclude, windowsOf } from "../../src/probe/conclude.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import type { SeenCall } from "../../src/probe/seen.ts";

interface Window {
  readonly limit?: number;
  readonly current?: number;
  readonly reset?: number;
  readonly enforced?: boolean;
}
const sentAt = (number: number): number => Date.UTC(2026, 0, 2, 3, 4, number);
const call = (number: number, more: object = {}): SeenCall =>
  ({
    ...{ number, what: "GET /a", scope: "rest", kind: "call", status: 200, points: null, actual: null },
    ...{ sentMs: sentAt(number), receivedMs: sentAt(number) + 10, dateMs: null, headers: {}, body: null },
    ...{ statusScopes: null, ...more },
  }) as unknown as SeenCall;

/** Headers of both windows: the organization's limit and what remains, and the user's. */
const shown = (organization: readonly [number, number], user: readonly [number, number], reset = 40) => ({
  ...{ scopeName: "rest", limit: organization[0], remaining: organization[1], reset },
  ...{ userScopeName: "rest_user", userLimit: user[0], userRemaining: user[1], userReset: reset },
});
const status = (number: number, window: Window | null, headers: object = {}): SeenCall =>
  call(number, {
    ...{ what: "GET status", kind: "status", headers },
    statusScopes: {
      rest: window && { limit: 10, current: 0, reset: 40, enforced: true, resetAtMs: sentAt(60), ...window },
      graphql: null,
    },
  });

const graphqlStatus = call(1, {
  ...{ what: "GET status", kind: "status" },
  statusScopes: {
    rest: null,
    graphql: { limit: 10, current: 0, reset: 40, enforced: true, resetAtMs: sentAt(60) },
  },
});

function said(name: FindingName, ...calls: readonly SeenCall[]) {
  const finding = conclude(calls, 0).find((each) => each.name === name && each.scope !== "graphql");
  if (finding === undefined) throw new RangeError(name);
  const { value, confidence, evidence, needs } = finding;
  return [value, confidence, evidence, needs, finding.calls];
}

describe("a limit", () => {
  test("is certain by two readings that agree, by the last of them", () => {
    expect(said("organizationLimit", status(1, {}), status(2, {}))).toEqual([
      ...[10, "certain", "2 readings, the last at call 2 at 03:04:02.000", null, [2]],
    ]);
    expect(said("organizationLimit", status(1, {}))).toEqual([
      ...[10, "likely", "1 reading, the last at call 1 at 03:04:01.000", null, [1]],
    ]);
    expect(said("organizationLimit", status(1, { limit: 9 }), status(2, {}), status(3, {}))).toEqual([
      ...[10, "likely", "3 readings, the last at call 3 at 03:04:03.000; 1 other value before", null, [3]],
    ]);
  });

  test("is shown by headers, too, and is one at least", () => {
    const one = status(1, { limit: 1 }, shown([1, 1], [1, 1]));
    expect(said("organizationLimit", one)[1]).toBe("certain");
    expect(said("userLimit", one, call(2, { headers: shown([1, 1], [1, 0]) })).slice(0, 2)).toEqual([
      1,
      "certain",
    ]);
    const unseen = [
      null,
      "not seen",
      "no answer showed it as a whole number",
      "answers with the eight headers",
      [],
    ];
    expect(said("userLimit", status(1, {}, shown([10, 10], [0, 0])))).toEqual(unseen);
    expect(said("organizationLimit", status(1, { limit: 0 }))).toEqual(unseen);
  });
});

test("enforcement is certain where all bodies agree", () => {
  expect(said("enforced", status(1, {}), status(2, {}))).toEqual([
    ...[true, "certain", "2 status bodies, the last at call 2 at 03:04:02.000", null, [2]],
  ]);
  expect(said("enforced", status(1, {}), status(2, { enforced: false })).slice(0, 2)).toEqual([
    false,
    "likely",
  ]);
});

test("a window that stands idle tells its anchor before any call of its scope, and not after one", () => {
  const idle = [status(2, {}), status(4, { reset: 38 })];
  const anchorAfter = (...calls: readonly SeenCall[]) => said("anchor", ...calls, ...idle)[0];
  expect([anchorAfter(), anchorAfter(call(1, { scope: "graphql" })), anchorAfter(call(1))]).toEqual([
    ...["epoch", "epoch", null],
  ]);
});

test("a scope that no status shows has no findings of its own", () => {
  const found = conclude([call(1)], 0);
  expect(found.filter(({ scope }) => scope === "rest").map(({ name, needs }) => [name, needs])).toEqual(
    ["organizationLimit", "organizationWindow", "enforced", "anchor", "reset"].map((name) => [
      ...[name, "a status endpoint as SPEC.md §4 has it"],
    ]),
  );
});

describe("remaining", () => {
  const remaining = (...calls: readonly SeenCall[]) => said("remaining", status(1, {}), ...calls).slice(0, 3);
  const unseen = [null, "not seen", "no count was seen above its limit"];
  const left = (user: number, more: object = {}) => ({ headers: shown([10, 5], [5, user]), ...more });

  test("below 0 is signed, of either window", () => {
    expect(remaining(call(2, left(-1)))).toEqual([
      ...["signed", "certain", "call 2 at 03:04:02.000 showed remaining -1 of the user's window"],
    ]);
    expect(remaining(call(2, { headers: shown([10, -3], [5, 1]) }))[2]).toBe(
      "call 2 at 03:04:02.000 showed remaining -3 of the organization's window",
    );
    expect(remaining(call(2, left(0)))).toEqual(unseen);
  });

  test("0 beside a body's count above its limit is clamped", () => {
    const refused = (current: number, user = 0) =>
      call(
        2,
        left(user, { status: 429, body: { message: "no", scope: "rest_user", limit: 5, current, reset: 3 } }),
      );
    expect(remaining(refused(6))).toEqual([
      ...["clamped", "certain", "call 2 at 03:04:02.000 showed remaining 0 with current 6 of 5"],
    ]);
    expect([remaining(refused(5)), remaining(refused(6, 1))]).toEqual([unseen, unseen]);
  });

  test("0 after a call that cost more than was left is clamped, in one window", () => {
    const over = (user: number, second = 3, more: object = {}) =>
      remaining(call(2, left(user)), call(second, left(0, more)));
    const clamped = "was charged 1 after call 2 had shown remaining 0 of the user's window, and showed 0";
    expect(over(0)).toEqual(["clamped", "certain", `call 3 at 03:04:03.000 ${clamped}`]);
    expect(said("remaining", status(1, {}, shown([10, 5], [5, 0])), call(2, left(0))).slice(0, 2)).toEqual([
      "clamped",
      "certain",
    ]);
    expect([over(1), over(0, 3, { status: 429 }), over(0, 3, { kind: "status" })]).toEqual([
      ...[unseen, unseen, unseen],
    ]);
    // 39 s are surely left of the window, from sending to receipt.
    expect(over(0, 41, { receivedMs: sentAt(41) })[0]).toBeNull();
    expect([over(0, 40)[0], over(0, 41)[0]]).toEqual(["clamped", null]);
  });
});

test("remaining of a scope is told by its own calls, and by charges that are known", () => {
  const left = (remaining: number) => ({
    ...{ scopeName: "graphql", limit: 10, remaining: 5, reset: 40 },
    ...{ userScopeName: "graphql_user", userLimit: 5, userRemaining: remaining, userReset: 40 },
  });
  const query = (number: number, more: object) =>
    call(number, { scope: "graphql", headers: left(0), ...more });
  const body = { message: "no", scope: "graphql_user", limit: 5, current: 6, reset: 3 };
  const calls = [
    status(1, {}),
    query(2, { actual: 1 }),
    query(3, { status: 429, body }),
    query(4, { actual: null }),
  ];
  expect(said("remaining", ...calls)[0]).toBeNull();
  const of = (...made: readonly SeenCall[]) =>
    conclude([graphqlStatus, ...made], 0).find(
      ({ name, scope }) => name === "remaining" && scope === "graphql",
    )?.value;
  expect(of(...calls.slice(1, 3))).toBe("clamped");
  expect(of(query(2, { actual: 1 }), query(3, { actual: null }))).toBeNull();
  expect(of(query(2, { actual: 1 }), query(3, { actual: 2 }))).toBe("clamped");
});

describe("windows of 20 s", () => {
  const at = (sentMs: number, more: object): SeenCall =>
    call(1, { number: sentMs, sentMs, receivedMs: sentMs, headers: {}, ...more });
  const window = (
    sentMs: number,
    resetAtMs: number,
    current: number,
    lengthMs = 20_000,
    more: object = {},
  ) => {
    const reset = Math.ceil((resetAtMs - sentMs) / 1000);
    const rest = { limit: 10, current, reset, resetAtMs, enforced: true };
    expect(reset * 1000).toBeLessThanOrEqual(lengthMs);
    return at(sentMs, {
      ...{ what: "GET status", kind: "status" },
      statusScopes: { rest, graphql: null },
      ...more,
    });
  };
  const own = (sentMs: number, reset: number) => at(sentMs, { headers: shown([10, 5], [5, 2], reset) });
  const owns = [own(19_800, 1), own(20_300, 20)];
  const ends = [window(19_900, 20_000, 1), window(20_100, 40_000, 1)];
  const seen = (current: number, ...calls: readonly SeenCall[]) =>
    [window(15_300, 20_000, current), window(17_600, 20_000, current), ...calls].sort(
      (a, b) => a.sentMs - b.sentMs,
    );
  const dated = (sentMs: number) => window(sentMs, 20_000, 0, 20_000, { dateMs: 15_000 });

  test.each<[string, readonly SeenCall[], boolean]>([
    ["that end, and stood idle before", seen(0, ...owns, ...ends), true],
    ["that end, and lie on the grid", seen(1, ...owns, ...ends), false],
    ["that stood idle, by the clock of Date", seen(0, ...owns, dated(15_000), dated(15_950)), false],
  ])("%s, make the user's as sure", (_, calls, isSure) => {
    const { anchor, user } = windowsOf(calls, "rest");
    expect([anchor?.value, user?.value, user?.isSure]).toEqual(["epoch", 20, isSure]);
    expect(said("userWindow", ...calls).slice(0, 2)).toEqual([20, isSure ? "certain" : "likely"]);
  });

  test.each([
    [1, "windows of one second are the same under both anchors"],
    [2, "no window was idle long enough, and none was seen to end"],
  ])("or of %d s tell no anchor where none is idle", (seconds, why) => {
    const after = 10_000 + 1000 * seconds;
    const calls = [window(9_900, 10_000, 1, 1000), window(10_100, after, 1, 1000 * seconds)];
    expect(said("organizationWindow", ...calls).slice(0, 2)).toEqual([seconds, "certain"]);
    expect(said("anchor", ...calls)[2]).toBe(why);
  });
});

describe("agreement of status and headers", () => {
  const pair = (number: number, headers: readonly [number, number], window: Window = {}, reset = 40) =>
    status(number, { current: 3, ...window }, shown(headers, [5, 5], reset));
  const agreed = (...calls: readonly SeenCall[]) => said("agreement", ...calls).slice(0, 3);
  const all = (count: number) => [
    ...[true, "certain", `${count} of ${count} status answers have headers that say what their bodies say`],
  ];

  test("is that of limit and remaining, and of reset within a second", () => {
    expect(agreed(pair(1, [10, 7]), pair(2, [10, 7], {}, 41), pair(3, [10, 7], {}, 39))).toEqual(all(3));
    expect(agreed(pair(1, [10, 0], { current: 12 }), pair(2, [10, -2], { current: 12 }))).toEqual(all(2));
    for (const odd of [pair(1, [9, 7]), pair(1, [10, 6]), pair(1, [10, 7], {}, 42), pair(1, [10, 7], {}, 38)])
      expect(agreed(odd)).toEqual([
        ...[false, "certain"],
        "0 of 1 status answers have headers that say what their bodies say; call 1 at 03:04:01.000 does not",
      ]);
  });

  test("is likely where most agree, and others called meanwhile", () => {
    const others = [pair(1, [10, 7]), pair(2, [10, 6], { current: 4 })];
    const odd = pair(3, [10, 9], { current: 4 });
    expect(agreed(...others, odd)).toEqual([
      ...[true, "likely"],
      "2 of 3 status answers have headers that say what their bodies say; call 3 at 03:04:03.000 does not, while others called",
    ]);
    expect(agreed(...others, odd, pair(4, [10, 9], { current: 4 })).slice(0, 2)).toEqual([false, "likely"]);
    expect(agreed(pair(1, [10, 7]), pair(2, [10, 7]), pair(3, [10, 9])).slice(0, 2)).toEqual([
      false,
      "certain",
    ]);
  });

  test("is not seen without headers of whole numbers", () => {
    expect(
      said("agreement", status(1, {}), status(2, {}, { ...shown([1, 1], [1, 1]), reset: "soon" })),
    ).toEqual([
      ...[
        null,
        "not seen",
        "no status answer carried the headers of the organization's window as whole numbers",
      ],
      ...["a target that sends them", []],
    ]);
  });
});

test("clocks are told by the middle of what they may be ahead, or not seen", () => {
  const dated = (number: number, aheadMs: number) =>
    status(number, {}, {}) && ({ ...status(number, {}), dateMs: sentAt(number) + aheadMs } as SeenCall);
  // A date of a whole second, rounded down, 100 ms late at most.
  expect(said("dateClock", dated(1, 0), dated(2, 400))).toEqual([
    ...[745, "certain", "ahead by 389 to 1100 ms, by 2 calls", null, [2, 1]],
  ]);
  expect(said("dateClock", dated(1, 0), dated(2, 9000)).slice(2)).toEqual([
    ...["the Date headers contradict each other", "one clock behind all answers", []],
  ]);
  expect(said("dateClock", status(1, {}))[2]).toBe("no answer had a Date header");
  expect(said("windowClock", status(1, {})).slice(2)).toEqual([
    ...["no window was seen to end, or they contradict each other", "a longer --max-wait", []],
  ]);
});

test("advice on --max-wait is for the longest window seen, behind the waits of this probe", () => {
  const advised = (waitedMs: number) =>
    conclude([status(1, { reset: 60 }), status(2, { reset: 3 })], waitedMs).find(
      ({ name, scope }) => name === "organizationWindow" && scope === "rest",
    )?.needs;
  expect(advised(0)).toBe("a window's end: --max-wait 65s or more");
  expect(advised(89_500)).toBe("a window's end: --max-wait 155s or more");
});
