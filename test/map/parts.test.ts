// The small parts of a proposal: routes that part calls, lists of named quotas, and what headers' names say.
import { describe, expect, test } from "vitest";
import { bodyPlaces, headerPlaces, numberAt, templateOf } from "../../src/map/fields.ts";
import { namedField, periodOf } from "../../src/map/header-names.ts";
import { isAboutLimits, pathsTo, samplePath, shapeOf } from "../../src/map/paths.ts";
import type { SeenAnswers } from "../../src/map/seen.ts";
import { structuredFields } from "../../src/map/structured.ts";

const seen = (more: Partial<SeenAnswers>): SeenAnswers => ({
  method: "GET",
  segments: null,
  graphql: null,
  auth: null,
  caller: "",
  status: 200,
  headers: {},
  body: undefined,
  atMs: null,
  ...more,
});
const segments = (path: string): string[] => path.split("/").slice(1);
const none = new Set<string>();
const shape = (path: string) => shapeOf(segments(path), none);
const shapes = (paths: readonly string[]) => paths.map(shape);

test("ids and secrets of a path become placeholders, words stay", () => {
  expect(shape("/v2/things/81723/parts")).toEqual(["v2", "things", null, "parts"]);
  expect(shapeOf(segments("/v2/hunter/parts"), new Set(["hunter"]))).toEqual(["v2", null, "parts"]);
});

test.each<[own: string[], others: string[], paths: string[] | null]>([
  [["/v2/things"], [], ["/v2/**"]],
  [["/v2/things"], ["/v2/search"], ["/v2/things/**"]],
  [["/v2/things/81723", "/v2/things"], ["/v2/search"], ["/v2/things/**"]],
  [["/81723/things/99/parts/7"], ["/81723/search"], ["/{id}/things/**"]],
  [["/81723/v2/99123/parts"], ["/81723/v2/99123/rest"], ["/{id}/v2/{id2}/parts/**"]],
  [["/v2/things"], ["/v2"], ["/v2/things/**"]],
  [["/v2"], ["/v2/things"], null],
  [["/v2/things"], ["/v2/things"], null],
  // An id may be the other's word.
  [["/v2/things/x"], ["/v2/81723/x"], null],
  [["/v1/a", "/v2/b"], ["/v3/c"], ["/v1/**", "/v2/**"]],
  [["/81723"], [], null],
  [["/v2/81723/parts"], ["/v2"], ["/v2/{id}/**"]],
])("calls of %j beside those of %j are led by %j", (own, others, paths) => {
  expect(pathsTo(shapes(own), shapes(others))).toEqual(paths);
});

test("a path about limits ends with a word of limits", () => {
  const about = ["/rate_limit", "/v2/rate-limits", "/account/quota", "/me/usage", "/v1/limits"];
  const not = ["/limits/x", "/v1/things", "/limited"];
  const tells = (path: string): boolean => isAboutLimits(seen({ segments: segments(path) }));
  expect([about.filter(tells), not.filter(tells)]).toEqual([about, []]);
  expect(isAboutLimits(seen({}))).toBe(false);
});

test("the sample is the first call that may be made again as it is", () => {
  const made = [
    seen({}),
    seen({ method: "POST", segments: ["post"] }),
    seen({ status: 300, segments: ["moved"] }),
    seen({ segments: ["things", "81723"] }),
    seen({ status: 299, segments: ["v2", "things"] }),
    seen({ segments: ["later"] }),
  ];
  expect(samplePath(made, none)).toBe("/v2/things");
  expect(samplePath(made.slice(0, 4), none)).toBeNull();
});

describe("lists of named quotas", () => {
  const lists = (...headers: Record<string, string>[]) =>
    structuredFields(
      headers.map((each) => seen({ headers: each })),
      new Set(["hunter"]),
    );

  test("are read by the parameters that were seen", () => {
    expect(
      lists(
        { "ratelimit-policy": '"burst";q=100;w=60', ratelimit: '"burst";r=9;t=4', date: '"x";q=1' },
        { "ratelimit-policy": '"daily";q=1000', "x-acme-ratelimit": '"burst";r=1' },
      ),
    ).toEqual({
      quotas: ["burst", "daily"],
      headers: {
        "ratelimit-policy": { list: { ".": "{quota}", q: "{limit}", w: "{window}" } },
        ratelimit: { list: { ".": "{quota}", r: "{remaining}", t: "{reset}" } },
        "x-acme-ratelimit": { list: { ".": "{quota}", r: "{remaining}" } },
      },
    });
  });

  test.each([
    ["a number", "100"],
    ["a word", "burst;q=100"],
    ["no list at all", '"burst'],
    ["of no known parameter", '"burst";x=1'],
    ["named by a secret", '"hunter";q=1'],
    ["with one member that is none", '"burst";q=1, 7'],
  ])("are left out where one value is %s", (_name, value) => {
    expect(lists({ ratelimit: value })).toBeNull();
    expect(lists({ ratelimit: '"burst";q=1' }, { ratelimit: value })?.headers ?? {}).toEqual(
      value.includes("x=1") ? { ratelimit: { list: { ".": "{quota}", q: "{limit}" } } } : {},
    );
  });

  test("are headers of that name alone", () => {
    for (const name of ["ratelimit-x", "a-b-c-ratelimit", "ratelimits", "x1-ratelimit"])
      expect(lists({ [name]: '"burst";q=1' })).toBeNull();
  });
});

test.each([
  ["day", 86_400],
  ["app_24hour", 86_400],
  ["15minute", 900],
  ["requests_minute", 60],
  ["second", 1],
  ["0hour", null],
  ["week", null],
  ["", null],
  ["minute_requests", null],
])("the period of %j has %j s", (label, seconds) => {
  expect(periodOf(label)).toBe(seconds);
});

test.each([
  ["x-ratelimit-limit-per-minute", { role: "limit", label: "minute" }],
  ["x-ratelimit-daily", { role: "limit", label: "day" }],
  ["x-ratelimit-requests", null],
  ["x-minute", null],
  ["x-ratelimit-reset-ms", { role: "reset", label: "" }],
  ["x-ratelimit-window-seconds", { role: "window", label: "" }],
  ["x-ratelimit-remaining-ms", { role: "remaining", label: "ms" }],
  ["limit-of-remaining", { role: "remaining", label: "limit_of" }],
])("the header %s says %j", (name, field) => {
  expect(namedField(name)).toEqual(field);
});

describe("limits of bodies", () => {
  const placesOf = (body: unknown) =>
    bodyPlaces([seen({ body })]).map(({ at, role, label, values }) => [at, role, label, ...values]);
  const counts = { limit: 10, remaining: 9 };
  const deep = (levels: number): unknown => (levels === 0 ? counts : { in: deep(levels - 1) });

  test("stand beside what is left, under the name above them", () => {
    expect(
      placesOf({ core: { ...counts, resetAt: "soon", note: "x", used: null }, search: { remaining: 3 } }),
    ).toEqual([
      ["/core/limit", "limit", "core", [0, "10"]],
      ["/core/remaining", "remaining", "core", [0, "9"]],
      ["/core/resetAt", "reset", "core", [0, "soon"]],
    ]);
    expect(placesOf({ remaining: 3, reset: 7 }).map(([at]) => at)).toEqual(["/remaining", "/reset"]);
    expect(placesOf({ limit: 3, reset: 7 })).toEqual([]);
    expect(placesOf({ limit: 3, leftOvers: 7 })).toEqual([]);
    expect(placesOf([counts])).toEqual([]);
  });

  test("are found six levels down, and under plain names", () => {
    expect(placesOf(deep(6))).toHaveLength(2);
    expect(placesOf(deep(7))).toEqual([]);
    expect(placesOf({ "a b": counts })).toEqual([]);
  });
});

describe("a header whose name says a limit beside others of its name", () => {
  const rolesOf = (headers: Record<string, string>): string[] =>
    headerPlaces([seen({ headers })], []).places.map(({ at, role, label }) => `${at} ${role} ${label}`);

  test("is read, and is none alone", () => {
    expect(rolesOf({ "x-minute-limit": "30", "x-minute-remaining": "29", "x-minute-used": "1" })).toEqual([
      "x-minute-limit limit minute",
      "x-minute-remaining remaining minute",
      "x-minute-used used minute",
    ]);
    expect(rolesOf({ "x-limit-day": "30", "x-reset-day": "9" })).toEqual([
      "x-limit-day limit day",
      "x-reset-day reset day",
    ]);
    expect(rolesOf({ "x-minute-limit": "30", "x-hour-remaining": "29" })).toEqual([
      "x-hour-remaining remaining hour",
    ]);
    expect(rolesOf({ "x-limited": "30", "x-remaining": "29" })).toEqual(["x-remaining remaining "]);
  });
});

test("a time without a label is of the only quota that counts show", () => {
  const labelOfReset = (...labels: string[]) => {
    const counts = labels.map((label) => [`x-ratelimit-remaining-${label}`, "5"]);
    const headers = Object.fromEntries([...counts, ["x-ratelimit-reset", "9"]]);
    return headerPlaces([seen({ headers })], []).places.find(({ role }) => role === "reset")?.label;
  };
  expect([labelOfReset(), labelOfReset("day"), labelOfReset("day", "minute")]).toEqual(["", "day", ""]);
});

test.each<[labels: string[], quotas: string[]]>([
  [["requests"], [""]],
  [["day"], ["day"]],
  [
    ["requests-minute", "tokens-minute"],
    ["requests_minute", "tokens_minute"],
  ],
  [
    ["app-requests", "app-tokens"],
    ["requests", "tokens"],
  ],
  [
    ["app", "app-tokens"],
    ["", "tokens"],
  ],
  [
    ["app", "apps-tokens"],
    ["app", "apps_tokens"],
  ],
  [
    ["my-app-requests", "my-app-tokens", "my-app-day"],
    ["requests", "tokens", "day"],
  ],
])("headers of %j are of the quotas %j: words that all share name the API", (labels, quotas) => {
  const headers = Object.fromEntries(labels.map((label) => [`x-ratelimit-remaining-${label}`, "5"]));
  expect(headerPlaces([seen({ headers })], []).places.map(({ label }) => label)).toEqual(quotas);
});

describe("a header that names its numbers", () => {
  const text = "total=100; remaining=99; resets=41";
  const places = (...values: string[]) =>
    headerPlaces(
      values.map((value) => seen({ headers: { "x-acme-quota": value } })),
      [],
    ).places;

  test("has a place for each", () => {
    expect(
      places(text, text.replace("99", "98")).map(({ role, values }) => [role, ...values.values()]),
    ).toEqual([
      ["limit", "100", "100"],
      ["remaining", "99", "98"],
      ["reset", "41", "41"],
    ]);
    const [place] = places(text);
    expect(place && templateOf(place)).toBe("total={limit}; remaining={remaining}; resets=*");
    expect(place && numberAt(place, "", 0, "limit")).toBe(100);
    expect(place && numberAt(place, "", 1, "limit")).toBeNull();
  });

  test("has none where values differ in more than numbers, a word comes twice, or is no part", () => {
    for (const values of [[text, "left=1; total=2"], ["total=1; limit=2"], ["total=1; window=2"]])
      expect(places(...values).filter(({ whole }) => whole !== undefined)).toEqual([]);
  });
});
