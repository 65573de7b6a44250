// The fast way to read a line of version 2 against the slow one: whatever it takes it reads as JSON.parse does, and it takes
// nothing that JSON.parse or the checks of members refuse. And it takes what our own writers write.
//   LINES=200000 npx vitest run --config test/vitest.config.ts test/trace/quota-scanner.test.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { Block, newline } from "../../src/trace/blocks.ts";
import { Names } from "../../src/trace/names.ts";
import { parseLine } from "../../src/trace/parse-line.ts";
import { encodeQuotaCall, QuotaLineReader } from "../../src/trace/quota-lines.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { QuotaScanner } from "../../src/trace/quota-scanner.ts";
import { quotaHeader } from "./samples.ts";

const runs = Number(process.env["LINES"] ?? 3000);
const reader = new QuotaLineReader(quotaHeader);
/** One scanner for all lines, since what it remembers of earlier lines must not change what it says of later ones. */
const scanner = new QuotaScanner(new Names(), reader.quotas, reader.operations);

function blockOf(line: Uint8Array): Block {
  const block = new Block();
  block.add(line);
  block.add(Uint8Array.of(newline));
  block.end = block.filled;
  block.line = 2;
  return block;
}

/** @returns whether the fast way took it; then both agree */
function agrees(line: Uint8Array): boolean {
  const block = blockOf(line);
  const found = scanner.scan(block, 0);
  if (found === null) return false;
  const end = block.bytes.indexOf(newline);
  expect(scanner.next).toBe(end + 1);
  expect(found).toEqual(reader.read(parseLine(block, 0, end), 2));
  return true;
}

const time = fc.integer({ min: 1_767_322_800_000, max: 1_767_322_890_000 });
const often = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: rare });
const whole = often<number | null>(
  fc.oneof(fc.integer({ min: -5, max: 100_000 }), fc.constantFrom(null, 2_678_400_000, -1, 0)),
  fc.constantFrom(999_999_999_999_999, 2 ** 53 - 1),
);
const reset = fc.oneof(
  fc.constant(null),
  fc.record({ afterMs: whole, atMs: fc.constant(null), gridMs: fc.constantFrom(1, 1000) }),
  fc.record({ afterMs: fc.constant(null), atMs: time, gridMs: fc.constantFrom(1, 1000) }),
);
const calls: fc.Arbitrary<QuotaCall> = fc.record(
  {
    sent: time,
    received: time,
    client: often(fc.constantFrom("agents/1", "agents/2", ""), fc.constantFrom("größe", 'q"q')),
    call: fc.nat(),
    caller: fc.constantFrom({}, { organization: "acme", user: "u1" }, { user: "}{" }, { user: "ü" }),
    operation: fc.constantFrom("rest", "graphql", "status", "other"),
    cost: fc.constantFrom(null, 1, 20, 2 ** 40),
    status: fc.constantFrom(0, 200, 404, 429, 503),
    outcome: fc.constantFrom("admitted", "refused", "exempt", "unknown"),
    readings: fc.array(
      fc.record({
        quota: fc.constantFrom("rest", "rest_user", "graphql", "graphql_user"),
        limit: whole,
        remaining: whole,
        used: whole,
        reset: reset.map((each) => (each?.afterMs === null && each.atMs === null ? null : each)),
      }),
      { maxLength: 5 },
    ),
    actual: fc.constantFrom(0, 1),
    by: fc.constantFrom("rest", "secondary"),
    retryAfterMs: fc.nat(),
    retryAt: time,
    date: time,
    via: fc.constant("cache"),
    wanted: time,
    attempt: fc.nat(),
  },
  {
    requiredKeys: [
      "sent",
      "received",
      "client",
      "call",
      "caller",
      "operation",
      "cost",
      "status",
      "outcome",
      "readings",
    ],
  },
);

const bytesOf = (line: string): Uint8Array => new TextEncoder().encode(line);
/** Damage: a byte in place of another. */
const damaged = fc
  .tuple(calls, fc.nat(), fc.constantFrom(...'0192-,:"[]{}\\ ne.\u0001'))
  .map(([call, at, byte]) => {
    const line = encodeQuotaCall(call);
    const place = at % line.length;
    return bytesOf(line.slice(0, place) + byte + line.slice(place + 1));
  });

test("reads as the slow one does, damaged or not", () => {
  let taken = 0;
  const unusual = fc.record({ unread: fc.array(fc.string(), { minLength: 1 }), error: fc.string() });
  const line = fc.oneof(
    calls.map((call) => bytesOf(encodeQuotaCall(call))),
    fc.tuple(calls, unusual).map(([call, more]) => bytesOf(encodeQuotaCall({ ...call, ...more }))),
    damaged,
  );
  fc.assert(
    fc.property(line, (each) => {
      if (agrees(each)) taken += 1;
    }),
    { numRuns: runs },
  );
  expect(taken).toBeGreaterThan(runs / 20);
});

test("takes what our writers write of a call that was answered, with any of the members that are often there", () => {
  const base = { sent: 1_767_322_800_123, received: 1_767_322_800_130, client: "agents/1", call: 7 };
  const reading = { quota: "rest", limit: 200, remaining: -3, used: null };
  const call: QuotaCall = {
    ...base,
    caller: { organization: "acme", user: "u1" },
    operation: "rest",
    cost: 1,
    status: 429,
    outcome: "refused",
    readings: [
      { ...reading, reset: { afterMs: 12_000, atMs: null, gridMs: 1000 } },
      { ...reading, reset: { afterMs: null, atMs: 1_767_322_860_000, gridMs: 1 } },
      { ...reading, reset: null },
    ],
  };
  const more = {
    by: "rest",
    retryAfterMs: 12_000,
    retryAt: 5,
    date: 1_767_322_800_000,
    wanted: base.sent,
    attempt: 1,
  };
  for (const each of [call, { ...call, ...more }, { ...call, actual: 0, via: "cache" as const }])
    expect(agrees(bytesOf(encodeQuotaCall(each)))).toBe(true);
});
