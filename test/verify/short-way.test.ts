// The short way through the judge is taken: calls that are as they should be become no objects, and neither do the
// answers of windows in which nothing is found. `ways.test.ts` holds it to the long way.
import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import type { RulesInput } from "../../src/rules/rules.ts";
import { CallBatch } from "../../src/trace/batch.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { verify } from "../../src/verify/verify.ts";
import { Window } from "../../src/verify/window.ts";
import { bytesOf } from "./history.ts";
import { graphql, headerOf, linesOf, refused, rest, status } from "./traces.ts";

const golden = (name: string) =>
  createReadStream(fileURLToPath(new URL(`../golden/${name}.trace.ndjson`, import.meta.url)));

test("by most calls and windows of a right deployment", async () => {
  const objects = vi.spyOn(CallBatch.prototype, "callAt");
  const explained = vi.spyOn(Window.prototype, "views", "get");
  const { verdict, records } = await verify(golden("first-request-polled-ok"));
  const long = objects.mock.calls.length;
  objects.mockClear();
  explained.mockClear();
  const epoch = await verify(golden("graphql-prepaid-ok"));
  expect([verdict, epoch.verdict]).toEqual(["ok", "ok"]);
  // Status calls go the long way, and no others, whichever client makes them.
  expect([long, records]).toEqual([47, 93]);
  expect([objects.mock.calls.length, epoch.records]).toEqual([2, 24]);
  expect(explained).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test("not by a window in which something is found", async () => {
  const explained = vi.spyOn(Window.prototype, "views", "get");
  await verify(golden("double-count-bad"));
  expect(explained).toHaveBeenCalled();
  vi.restoreAllMocks();
});

describe("one call takes the short way", () => {
  /** Tells whether it does, once its verdict was held to that of the long way. */
  async function isShort(call: TraceCall, rules: RulesInput = {}): Promise<boolean> {
    const [header, lines] = [headerOf({ rules }), linesOf([rest({ at: 500, count: 1 }), call])];
    const byObjects = await judge(header, lines);
    const objects = vi.spyOn(CallBatch.prototype, "callAt");
    const byColumns = await verify(bytesOf({ header, lines }));
    const long = objects.mock.calls.length;
    vi.restoreAllMocks();
    expect(byColumns).toEqual(byObjects);
    return long === 0;
  }
  const at = { at: 1000, count: 2 };
  const points = (cost: number, actual = cost, changes: Partial<TraceCall> = {}): TraceCall =>
    graphql({ at: 1000, count: actual }, cost, actual, changes);
  const noHeaders = Object.fromEntries(
    ["scopeName", "limit", "remaining", "reset"].flatMap((name) => [
      [name, null],
      [`user${name[0]?.toUpperCase()}${name.slice(1)}`, null],
    ]),
  );

  test.each<[string, TraceCall, boolean, RulesInput?]>([
    ["that was admitted", rest(at), true],
    ["of GraphQL", points(9), true],
    ["of nobody known", rest(at, { user: null }), false],
    ["of no known cost", rest(at, { cost: null }), false],
    ["without headers", rest(at, noHeaders), false],
    ["of the status", status(at), false],
    ["that no quota counts", rest(at, { kind: "other" }), false],
    ["answered 100", rest(at, { status: 100 }), true],
    ["that had headers, and no status", rest(at, { status: 0 }), false],
    ["answered 404", rest(at, { status: 404 }), true],
    ["answered 401", rest(at, { status: 401 }), false],
    ["answered 500", rest(at, { status: 500 }), false],
    ["of GraphQL, answered 404", points(9, 9, { status: 404 }), false],
    ["that shows nothing used", rest(at, { remaining: 200 }), true],
    ["that shows more than the limit left", rest(at, { remaining: 201 }), false],
    ["that shows less than nothing left", rest(at, { remaining: -1 }), false],
    ["that shows more than the user's limit left", rest(at, { userRemaining: 51 }), false],
    ["that shows another limit", rest(at, { limit: 201 }), false],
    [
      "that shows another limit, a window later",
      rest({ at: 61_000, count: 1, ends: 120_000 }, { limit: 201 }),
      false,
    ],
    ["that shows another user's limit", rest(at, { userLimit: 49 }), false],
    ["that shows a whole window left", rest(at, { reset: 60 }), true],
    ["that shows more than a window left", rest(at, { reset: 61 }), false],
    ["that shows a second left", rest(at, { userReset: 1 }), true],
    ["that shows no second left", rest(at, { userReset: 0 }), false],
    [
      "that shows no second left, where that is right",
      rest(at, { userReset: 0 }),
      true,
      { semantics: { reset: "floor" } },
    ],
    ["of as many points as the user's limit", points(5000), true],
    ["of a point more", points(5001, 5000), false],
    [
      "of as many points as the limit",
      points(300, 300, { limit: 300, remaining: 0 }),
      true,
      { organization: { graphql: { limit: 300 } } },
    ],
    [
      "of a point more than the limit",
      points(301, 300, { limit: 300, remaining: 0 }),
      false,
      { organization: { graphql: { limit: 300 } } },
    ],
  ])("%s", async (_name, call, expected, rules) => {
    expect(await isShort(call, rules)).toBe(expected);
  });

  const body = (changes: object, call = refused({ at: 1000, count: 50 }, "rest_user")): TraceCall => ({
    ...call,
    refusal: { ...(call.refusal as object), ...changes },
  });
  const wait = (retryAfter: number): TraceCall =>
    refused({ at: 1000, count: 50 }, "rest_user", { retryAfter, userReset: 59 });
  const counts: RulesInput = { semantics: { refused: "counted" } };
  const bare = (remaining: number, userRemaining: number): TraceCall =>
    rest(at, { status: 429, remaining, userRemaining });
  test.each<[string, TraceCall, boolean, RulesInput?]>([
    ["by the user's window, which is full", refused({ at: 1000, count: 50 }, "rest_user"), true],
    ["by the user's window, which has room", refused({ at: 1000, count: 49 }, "rest_user"), false],
    [
      "by the user's window, where both are full",
      body({}, refused({ at: 1000, count: 200 }, "rest_user")),
      false,
    ],
    ["by the organization's window, which is full", refused({ at: 1000, count: 200 }, "rest"), true],
    ["by the organization's window, which has room", refused({ at: 1000, count: 199 }, "rest"), false],
    ["by no window that it names, and one is full", bare(0, 7), true],
    ["by no window that it names, and the user's is full", bare(7, 0), true],
    ["by no window that it names, and none is full", bare(1, 1), false],
    ["with another limit", body({ limit: 51 }), false],
    ["without numbers", body({ limit: undefined, current: undefined, reset: undefined }), true],
    ["with a reset that is a second less", body({ reset: 58 }), true],
    ["with a reset that is a second more", body({ reset: 60 }), true],
    ["with a reset that is two seconds less", body({ reset: 57 }), false],
    ["with a reset that is two seconds more", body({ reset: 61 }), false],
    ["with a wait a second less", wait(58), true],
    ["with a wait a second more", wait(60), true],
    ["with a wait two seconds less", wait(57), false],
    ["with a wait two seconds more", wait(61), false],
    ["with a count below the limit", body({ current: 49 }), false],
    ["with a count above it that remaining hides", body({ current: 51 }), true],
    ["with a count of its limit, where it is counted itself", body({ current: 50 }), false, counts],
    ["with a count above it, where it is counted itself", body({ current: 51 }), true, counts],
    ["with the greatest count that a row holds", body({ current: 2 ** 31 - 1 }), true],
    ["with a greater one", body({ current: 2 ** 31 }), false],
    [
      "with a count above it, where remaining would show it",
      body({ current: 51 }),
      false,
      { semantics: { remaining: "signed" } },
    ],
    ["of points that do not fit", points(10, 0, { status: 429, userRemaining: 9 }), true],
    ["of points that fit", points(10, 0, { status: 429, userRemaining: 10 }), false],
    [
      "of points that need not fit",
      points(10, 0, { status: 429, userRemaining: 9 }),
      false,
      { semantics: { graphqlCharge: "postpaid" } },
    ],
    [
      "of any points, by a full window",
      points(10, 0, { status: 429, userRemaining: 0 }),
      true,
      { semantics: { graphqlCharge: "postpaid" } },
    ],
  ])("refused %s", async (_name, call, expected, rules) => {
    expect(await isShort(call, rules)).toBe(expected);
  });
});
