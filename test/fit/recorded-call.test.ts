// A recorded call tells what it was made of.
import fc from "fast-check";
import { expect } from "vitest";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import { property } from "../support/property.ts";

const kind = { operation: "rest", asked: undefined, free: false, cost: 1, actual: 1, key: "rest" };
const saidByOne = { remaining: 0, reset: 7, userRemaining: 3, userReset: 9, retryAfter: 7 };
/** Instants of this century, and lengths of up to a day, with fractions of ms as some logs have them. */
const instants = fc.double({ min: 1e12, max: 4e12, noNaN: true });
const lengths = fc.oneof(fc.nat(86_400_000), fc.double({ min: 0, max: 86_400_000, noNaN: true }));

property([
  instants,
  lengths,
  fc.option(lengths),
  fc.constantFrom(-1, 0, 1, 7),
  fc.constantFrom(0, 200, 429, 503),
  fc.constantFrom(null, saidByOne),
])(
  "a call tells its instants to the bit, and all other facts",
  (atMs, tookMs, earlierMs, attempt, status, said) => {
    const wantedMs = atMs - (earlierMs ?? 0);
    const given = { atMs, endMs: atMs + tookMs, wantedMs, attempt, status, said, kind };
    const call = new RecordedCall(given);
    expect([call.atMs, call.endMs, call.wantedMs]).toEqual([atMs, atMs + tookMs, wantedMs]);
    expect([call.attempt, call.status, call.said, call.kind]).toEqual([attempt, status, said, kind]);
  },
);
