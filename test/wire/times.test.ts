// Forms of time (POLICY.md §8): each reads its own values. A value that a form can tell from its own is unread.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TimeForm } from "../../src/policy/wire-data.ts";
import { timeForms } from "../../src/policy/wire-words.ts";
import { readTime, writeTime } from "../../src/wire/times.ts";
import { property } from "../support/property.ts";

/** Every form that reads a text, and its ms. */
const readings = (text: string): Partial<Record<TimeForm, number | null>> =>
  Object.fromEntries(
    timeForms.flatMap((form) => {
      const time = readTime(form, text);
      return time === null ? [] : [[form, time.afterMs ?? time.atMs]];
    }),
  );

/** A span in seconds, which is one in ms, too: no form can tell. */
const seconds = (count: number) => ({
  "delta-s": count * 1000,
  "delta-s-float": count * 1000,
  "delta-ms": count,
});

describe("values that APIs send", () => {
  test.each([
    ["Retry-After of most", "60", seconds(60)],
    ["a window that ends now", "0", seconds(0)],
    ["Shopify's Retry-After", "2.0", { "delta-s-float": 2000 }],
    ["Discord's reset-after", "0.317", { "delta-s-float": 317 }],
    ["RapidAPI's seconds to the end of a month", "2163603", seconds(2_163_603)],
    ["Prisjakt's reset in ms", "86399999", seconds(86_399_999)],
    // Ten digits are no span of seconds. A span of ms may have twelve, so that it reads an instant of seconds.
    [
      "GitHub's reset",
      "1795305600",
      { "epoch-s": 1_795_305_600_000, "epoch-s-float": 1_795_305_600_000, "delta-ms": 1_795_305_600 },
    ],
    ["Discord's reset", "1795305600.25", { "epoch-s-float": 1_795_305_600_250 }],
    [
      "Linear's reset, which two clients took for seconds",
      "1795305600250",
      { "epoch-ms": 1_795_305_600_250 },
    ],
    ["OpenAI's reset", "6m0s", { "go-duration": 360_000 }],
    ["OpenAI's reset of a bucket", "120ms", { "go-duration": 120 }],
    ["Traefik's X-Retry-In", "1m59.25s", { "go-duration": 119_250 }],
    ["Traefik's X-Retry-In below 1 ms", "712.4µs", { "go-duration": 1 }],
    ["the same as fetch reads it", "712.4Âµs", { "go-duration": 1 }],
    ["microseconds", "2500µs", { "go-duration": 3 }],
    ["the same as fetch reads them", "2500Âµs", { "go-duration": 3 }],
    ["the same in ASCII", "2500us", { "go-duration": 3 }],
    ["nanoseconds", "2500000ns", { "go-duration": 3 }],
    ["a long duration", "1h2m3.5s", { "go-duration": 3_723_500 }],
    ["Anthropic's reset", "2026-11-22T00:00:05Z", { rfc3339: 1_795_305_605_000 }],
    ["Akamai's X-RateLimit-Next", "2026-11-22T00:00:05.250+01:00", { rfc3339: 1_795_302_005_250 }],
    ["Retry-After as a date", "Sun, 22 Nov 2026 00:00:05 GMT", { "http-date": 1_795_305_605_000 }],
    ["a date in the past", "Sun, 06 Nov 1994 08:49:37 GMT", { "http-date": 784_111_777_000 }],
    ["an instant in the past", "1000000000", { "epoch-s": 1e12, "epoch-s-float": 1e12, "delta-ms": 1e9 }],
    ["a million million", "1000000000000", { "epoch-ms": 1e12 }],
  ] as const)("%s: %s", (_, text, read) => {
    expect(readings(text)).toEqual(read);
  });

  test.each([
    [
      "lemlist's date, as JavaScript prints one",
      "Sun Nov 22 2026 00:00:05 GMT+0000 (Coordinated Universal Time)",
    ],
    ["a date of RFC 850", "Sunday, 22-Nov-26 00:00:05 GMT"],
    ["a date of C", "Sun Nov 22 00:00:05 2026"],
    ["a date without its time", "2026-11-22"],
    ["a date and a time without their zone", "2026-11-22 00:00:05"],
    ["a day that there is not", "Tue, 31 Feb 2026 00:00:00 GMT"],
    ["another", "2026-02-30T00:00:00Z"],
    ["a second that there is not", "Sun, 22 Nov 2026 23:59:60 GMT"],
    ["a word", "soon"],
    ["a sentence", "in 5 seconds"],
    ["nothing", ""],
    ["a span that is over", "-1"],
    ["a sign", "+5"],
    ["an exponent", "1e3"],
    ["another base", "0x10"],
    ["other digits", "٤٢"],
    ["separated digits", "1,000"],
    ["the same twice", "42, 42"],
    ["a parameter", "42;w=60"],
    ["half a number", "1."],
    ["no number", "NaN"],
    ["no end", "Infinity"],
    ["a duration that is over", "-5s"],
    ["a duration without its unit", "1m30"],
    ["a duration beyond all", "99999999999999999999h"],
    ["more digits than an instant has", "123456789012345"],
  ])("%s is none: %s", (_, text) => {
    expect(readings(text)).toEqual({});
  });
});

const alike: Readonly<Record<string, readonly TimeForm[]>> = {
  "delta-s": ["delta-s-float", "delta-ms"],
  "delta-s-float": ["delta-s", "delta-ms"],
  "delta-ms": ["delta-s", "delta-s-float", "epoch-s", "epoch-s-float"],
  "epoch-s": ["epoch-s-float", "delta-ms"],
  "epoch-s-float": ["epoch-s", "delta-ms"],
};
/** From 2001-09-09T01:46:40Z to 2128: every instant that a limit resets at, for some time to come. */
const instant = fc.integer({ min: 1_000_000_000_000, max: 4_999_999_999_999 });
const round = fc.constantFrom("ceil", "floor", "round");

property([fc.constantFrom(...timeForms), instant, fc.nat(3_000_000_000), round])(
  "what a form writes it reads, within its grid; forms that can tell do not read it",
  (form, nowMs, spanMs, rounding) => {
    const atMs = nowMs + spanMs;
    const text = String(writeTime({ form }, atMs, nowMs, rounding));
    const time = readTime(form, text);
    expect(Math.abs((time?.atMs ?? nowMs + (time?.afterMs ?? Number.NaN)) - atMs)).toBeLessThan(
      time?.gridMs ?? 0,
    );
    const others = timeForms.filter((other) => other !== form && readTime(other, text) !== null);
    expect(alike[form] ?? []).toEqual(expect.arrayContaining(others));
  },
);

property([
  fc.constantFrom(...timeForms),
  fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."0123456789.-:TZhms, ") })),
])("a time is a whole number of ms, or none", (form, text) => {
  const time = readTime(form, text);
  if (time !== null) expect(Number.isSafeInteger(time.afterMs ?? time.atMs)).toBe(true);
});
