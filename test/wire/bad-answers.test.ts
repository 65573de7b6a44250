// Answers with values that nobody documents: each is read, or named as unread. None ends the reader.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import { headerText } from "../../src/wire/fields.ts";
import { put } from "../../src/wire/pointer.ts";
import { type ReadAnswer, readAnswer } from "../../src/wire/read-answer.ts";
import { property } from "../support/property.ts";

type Headers = Readonly<Record<string, string>>;

const named = Object.entries(presets).map(([name, preset]) => {
  const policy = parsePolicy(preset.policy);
  return { name, policy, wire: wireOf(policy) };
});

/** Reads an answer to a call of the preset's first operation. */
function read(preset: string, headers: Headers, body?: unknown, status = 200): ReadAnswer {
  const found = named.find(({ name }) => name === preset);
  if (found === undefined) throw new RangeError(`no preset ${preset}`);
  const [operation] = Object.values(found.policy.operations);
  const quotas = Object.keys(operation?.uses ?? {});
  return readAnswer(found.wire, { status, headers, body }, { quotas, isStatus: false });
}

const legacy = (values: Readonly<Record<string, string>>): ReadAnswer =>
  read(
    "express-rate-limit",
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`X-RateLimit-${name}`, value])),
  );

describe("a reset", () => {
  test("in the past is read as it is", () => {
    expect(legacy({ Limit: "5", Reset: "1000000000" }).readings).toMatchObject([
      { limit: 5, reset: { atMs: 1_000_000_000_000 } },
    ]);
  });

  test.each([
    "1795305600.5",
    "1000000000000",
    "60",
    "soon",
    "-1",
    "Sun, 22 Nov 2026 00:00:05 GMT",
    "1795305600, 1795305600",
  ])("of another form is unread, and what stands beside it is read: %s", (Reset) => {
    const { readings, unread } = legacy({ Limit: "5", Remaining: "3", Reset });
    expect(readings).toMatchObject([{ limit: 5, remaining: 3, reset: null }]);
    expect(unread).toEqual([{ at: "X-RateLimit-Reset", text: Reset }]);
  });
});

test("a remaining below 0 is read as it is", () => {
  expect(legacy({ Limit: "5", Remaining: "-1" })).toMatchObject({
    readings: [{ remaining: -1 }],
    unread: [],
  });
});

describe("a header that came twice", () => {
  test("is unread where it is one number", () => {
    const { readings, unread } = legacy({ Limit: "200, 200", Remaining: "3" });
    expect(readings).toMatchObject([{ limit: null, remaining: 3 }]);
    expect(unread).toEqual([{ at: "X-RateLimit-Limit", text: "200, 200" }]);
  });

  test("is a list where the format has one", () => {
    const lines = ['"burst";r=5;t=1', '"daily";r=7;t=9'];
    const { readings, unread } = read("ietf-11", { ratelimit: headerText(lines) });
    expect(readings.map(({ quota, remaining }) => [quota, remaining])).toEqual([
      ["burst", 5],
      ["daily", 7],
    ]);
    expect(unread).toEqual([]);
  });

  test.each([
    ["ietf-06", "RateLimit-Limit", "200, 200"],
    ["ietf-07", "RateLimit", "200, 200"],
    ["ietf-07", "RateLimit", "soon"],
    ["ietf-11", "RateLimit", "200, 200"],
    ["ietf-11", "RateLimit", '"burst";r=5, "burst";r=6'],
    ["envoy-filter", "x-ratelimit-limit", "10;w=1, 10;w=1"],
    ["kong", "Retry-After", "42, 42"],
    ["traefik", "X-Retry-In", "1s, 2s"],
  ])("%s: %s of %s is unread", (preset, at, text) => {
    expect(read(preset, { [at]: text })).toMatchObject({
      readings: [],
      retryAfter: null,
      unread: [{ at, text }],
    });
  });
});

test("what the first place of an advice does not tell, the next one does", () => {
  const advised = read("traefik", { "X-Retry-In": "soon", "Retry-After": "2" }, undefined, 429);
  expect(advised).toMatchObject({ retryAfter: { afterMs: 2000 }, unread: [] });
});

test("advice in no form is unread, at each of its places, and a long one is cut", () => {
  const advised = read("traefik", { "X-Retry-In": "soon", "Retry-After": "x".repeat(2_000) }, undefined, 429);
  expect(advised).toMatchObject({
    retryAfter: null,
    unread: [
      { at: "X-Retry-In", text: "soon" },
      { at: "Retry-After", text: "x".repeat(1_000) },
    ],
  });
});

describe("fifty quotas on one answer", () => {
  const names = Array.from({ length: 50 }, (_, index) => `quota-${index}`);

  test("are read of a list", () => {
    const { readings, unread } = read("ietf-11", {
      RateLimit: names.map((name, index) => `"${name}";r=${index};t=60`).join(", "),
      "RateLimit-Policy": names.map((name) => `"${name}";q=100;w=60`).join(", "),
    });
    expect(readings.map(({ quota, limit, remaining }) => [quota, limit, remaining])).toEqual(
      names.map((name, index) => [name, 100, index]),
    );
    expect(unread).toEqual([]);
  });

  test("are read of a body", () => {
    const statuses = names.map((name, index) => ({
      currentLimit: { name, requestsPerUnit: 100 },
      limitRemaining: index,
      durationUntilReset: "60s",
    }));
    const { readings, unread } = read("envoy-json", {}, { statuses });
    expect(readings.map(({ quota, remaining }) => [quota, remaining])).toEqual(
      names.map((name, index) => [name, index]),
    );
    expect(unread).toEqual([]);
  });
});

const strange = [
  "soon",
  "-1",
  "1.5",
  "1000000000000",
  "1e3",
  "200, 200",
  "Sun, 06 Nov 1994 08:49:37 GMT",
  "Tue, 31 Feb 2026 00:00:00 GMT",
  "٤٢",
  "{limit}",
  '"a";r=1;r=2',
  "a=1, a=2",
  "9".repeat(5000),
  "(",
  ";;;",
];
const numeric = /\{(limit|remaining|used|reset|window)\}/;

describe.each(named)("$name", ({ policy, wire }) => {
  const [operation = ""] = Object.keys(policy.operations);
  const quotas = Object.keys(policy.operations[operation]?.uses ?? {});
  const ask = (headers: Headers, body: unknown, status: number, isStatus: boolean): ReadAnswer =>
    readAnswer(wire, { status, headers, body }, { quotas, isStatus });
  const isTold = ({ readings, retryAfter, unread }: ReadAnswer): boolean =>
    readings.length + unread.length > 0 || retryAfter !== null;

  test.each(strange.map((text) => [text.slice(0, 40), text]))(
    "of %s, each place is read or unread",
    (_, text) => {
      for (const row of wire.readings) {
        const isStatus = !row.on.includes("admitted");
        for (const [at, form] of Object.entries(row.headers))
          if (numeric.test(JSON.stringify(form)) && row.on.some((kind) => kind !== "refused"))
            expect(isTold(ask({ [at]: text }, undefined, 200, isStatus)), at).toBe(true);
        for (const [at, form] of Object.entries(row.body))
          if (numeric.test(JSON.stringify(form)) && row.on.some((kind) => kind !== "refused"))
            expect(
              isTold(ask({}, put(undefined, at, text, { quota: quotas[0] ?? "" }), 200, isStatus)),
              at,
            ).toBe(true);
      }
      for (const place of wire.retryAfter) {
        const answer =
          "header" in place
            ? ask({ [place.header]: text }, undefined, 429, false)
            : ask({}, put(undefined, place.pointer, text), 429, false);
        expect(isTold(answer), JSON.stringify(place)).toBe(true);
      }
    },
  );

  const places = wire.readings.flatMap(({ headers }) => Object.keys(headers));
  const value = fc.oneof(fc.constantFrom(...strange), fc.string());
  property(
    [
      fc.dictionary(fc.constantFrom("retry-after", ...places), value),
      fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.constantFrom("text", null, [], 5)),
      fc.constantFrom(0, 200, 301, 400, 403, 429, 500, 503),
      fc.boolean(),
    ],
    { numRuns: 100 },
  )("reads numbers or nothing of any answer", (headers, body, status, isStatus) => {
    const { readings, retryAfter } = ask(headers, body, status, isStatus);
    const times = [retryAfter, ...readings.map(({ reset }) => reset)].flatMap((time) =>
      time === null ? [] : [time.afterMs ?? time.atMs],
    );
    const numbers = readings.flatMap(({ limit, remaining, used, windowSeconds }) =>
      [limit, remaining, used, windowSeconds].filter((number) => number !== null),
    );
    expect([...times, ...numbers].every(Number.isSafeInteger)).toBe(true);
  });
});
