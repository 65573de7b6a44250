// The target's clock as ends of windows and `Date` headers bound it.
import { describe, expect, test } from "vitest";
import { problemOf } from "../../src/probe/contact.ts";
import { dateOffset, edgeOffset, edges, span, windowClock } from "../../src/probe/offsets.ts";
import type { SeenCall } from "../../src/probe/seen.ts";
import { shownFields } from "../../src/wire/fields.ts";

/** A status call on the way for 10 ms. */
function look(sentMs: number, resetAtMs: number, reset: number, current = 1, dateMs: number | null = null) {
  const window = { limit: 10, current, reset, resetAtMs };
  const call = { sentMs, receivedMs: sentMs + 10, dateMs, statusScopes: { rest: window, graphql: null } };
  return call as unknown as SeenCall;
}

describe("a window's end", () => {
  test.each<[string, SeenCall[], number]>([
    ["between two calls that are close", [look(9_000, 10_000, 1), look(9_980, 20_000, 10)], 1],
    ["between calls a second apart", [look(9_000, 10_000, 1), look(9_990, 20_000, 10)], 0],
    ["that moved by what was left", [look(9_000, 10_000, 10), look(9_500, 20_000, 10)], 1],
    ["that moved by less than what was left", [look(9_000, 10_001, 10), look(9_500, 20_000, 10)], 0],
    ["that moved by less than a second", [look(9_000, 10_000, 0), look(9_500, 10_999, 1)], 0],
    ["that moved by a second", [look(9_000, 10_000, 0), look(9_500, 11_000, 1)], 1],
    ["of an idle window", [look(9_000, 10_000, 1, 0), look(9_500, 20_000, 10, 0)], 0],
    [
      "of an idle window that stood still for 1,100 ms",
      [look(7_000, 10_000, 3), look(7_500, 15_000, 3, 0), look(8_610, 15_000, 1, 0), look(9_000, 20_000, 9)],
      2,
    ],
    [
      "of an idle window that stood still for a ms less",
      [look(7_000, 10_000, 3), look(7_500, 15_000, 3, 0), look(8_609, 15_000, 1, 0), look(9_000, 20_000, 9)],
      1,
    ],
    ["where nothing moved", [look(9_000, 10_000, 1), look(9_500, 10_000, 1)], 0],
  ])("%s", (_, calls, found) => {
    expect(edges(calls, "rest")).toHaveLength(found);
    expect(edges(calls, "graphql")).toEqual([]);
  });

  test("bounds the clock by the calls around it, and two of them more closely", () => {
    const first = [look(9_900, 10_000, 1), look(10_040, 20_000, 10)] as const;
    expect(edgeOffset(first, "rest")).toEqual({ loMs: -51, hiMs: 100, calls: [...first] });
    const second = [look(19_970, 20_000, 1), look(20_060, 30_000, 10)] as const;
    const [, opener] = first;
    const all = [...first, ...second];
    expect(edgeOffset(all, "rest")).toEqual({ loMs: -51, hiMs: 30, calls: [...first, ...second] });
    expect(opener).toBeDefined();
    const ahead = [look(20_500, 22_000, 1), look(20_600, 32_000, 10)];
    expect(edgeOffset([...first, ...ahead], "rest")).toBeNull();
    expect(edgeOffset([], "rest")).toBeNull();
  });
});

test("`Date` is whole seconds rounded down, and up to 100 ms late", () => {
  const calls = [look(5_400, 0, 0, 0, 5_000), look(6_950, 0, 0, 0, 6_000), look(7_000, 0, 0)];
  expect(dateOffset(calls)).toEqual({ loMs: -411, hiMs: 150, calls: [calls[0], calls[1]] });
  expect(dateOffset([look(7_000, 0, 0)])).toBeNull();
});

test("the clock is that of the scope's own windows, else of the other's, else of `Date`", () => {
  const ends = [look(9_900, 10_000, 1), look(10_040, 20_000, 10)];
  expect(windowClock(ends, "rest")).toMatchObject({ basis: "edge", loMs: -51, hiMs: 100 });
  expect(windowClock(ends, "graphql")).toMatchObject({ basis: "other scope's edge", loMs: -51, hiMs: 100 });
  expect(windowClock([look(5_400, 0, 0, 0, 5_000)], "rest")).toMatchObject({ basis: "Date" });
  expect(windowClock([look(5_400, 0, 0)], "rest")).toBeNull();
  expect(span(look(1_000, 0, 0), { loMs: -5, hiMs: 20, calls: [] })).toEqual([995, 1_031]);
});

describe("an answer in place of a status", () => {
  const headers = Object.fromEntries(shownFields.map((field) => [field, null]));
  const at = { statusScopes: null, headers, error: null, body: null };
  const scopes = { rest: null, graphql: null };
  test.each<[object, string | null]>([
    [{ status: 0, error: "ECONNREFUSED" }, "is it running, and is this its address?"],
    [{ status: 300 }, "name the address that it leads to: redirects are not followed"],
    [{ status: 399 }, "name the address that it leads to: redirects are not followed"],
    [{ status: 400, body: { no: 1 } }, "is this the API's address?"],
    [{ status: 401 }, "is this a token of this target?"],
    [{ status: 403 }, "it needs the scope read_accounts"],
    [{ status: 404 }, "is this the organization's slug (case matters), and the API's address?"],
    [{ status: 429 }, "wait, then try again: it should be free"],
    [{ status: 500 }, "is it healthy?"],
    [{ status: 599 }, "is it healthy?"],
    [{ status: 200, statusScopes: scopes, body: "<html>" }, null],
    [{ status: 200, body: " \n<html>" }, "is this the API's address, or a website's or proxy's?"],
    [{ status: 201, body: "<html>" }, "is this the API's address, or a website's or proxy's?"],
    [{ status: 200, body: {} }, null],
  ])("%j: %s", (seen, hint) => {
    expect(problemOf({ ...at, ...seen } as unknown as SeenCall)?.hint ?? null).toBe(hint);
  });

  test.each<[object, string]>([
    [{ status: 307 }, '307, a redirect to "nowhere"'],
    [{ status: 308, location: "/login?next=/v2#top" }, '308, a redirect to "/login"'],
    [{ status: 503 }, "503, again and again"],
    [{ status: 418, body: "tea" }, '418 and "tea"'],
    [{ status: 404, body: "<p>" }, "404: no such organization there, or the token is not of it"],
    [{ status: 201, body: "<p>" }, "201 and HTML"],
  ])("%j is got as %s", (seen, got) => {
    expect(problemOf({ ...at, ...seen } as unknown as SeenCall)?.got).toBe(got);
  });
});
