// The fast way to read a line against the slow one: whatever it takes it reads as JSON.parse does, and it takes nothing
// that JSON.parse or the checks of members refuse. And it takes what our own writers write, or it would be of no use.
//   LINES=200000 npx vitest run --config test/vitest.config.ts test/trace/line-scanner.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallBatch } from "../../src/trace/batch.ts";
import { checkCall } from "../../src/trace/batch-reader.ts";
import { Block, newline } from "../../src/trace/blocks.ts";
import { LineScanner } from "../../src/trace/line-scanner.ts";
import { Names } from "../../src/trace/names.ts";
import { parseLine } from "../../src/trace/parse-line.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { call } from "./samples.ts";

const runs = Number(process.env["LINES"] ?? 3000);

/** One scanner for all lines, since what it remembers of earlier lines must not change what it says of later ones. */
const names = new Names();
const scanner = new LineScanner(names);
const batch = new CallBatch(names);

/** One block for all lines, as a trace has: a fresh one costs more than the line. */
const block = new Block();

function blockOf(line: Uint8Array): Block {
  block.filled = 0;
  block.add(line);
  block.add(Uint8Array.of(newline));
  block.end = block.filled;
  block.line = 2;
  return block;
}

/** Reads a line the fast way; `null` where it leaves it to the slow one. */
function fast(block: Block): TraceCall | null {
  batch.bytes = block.bytes;
  const end = scanner.scan(block, 0, batch, 0);
  if (end === -1) return null;
  expectSame(end, block.bytes.indexOf(newline) + 1);
  return batch.callAt(0);
}

function slow(block: Block): TraceCall {
  const value = parseLine(block, 0, block.bytes.indexOf(newline));
  checkCall(value, block.line);
  return value;
}

/** An assertion for a hundred thousand values, of which only one that differs takes the time of `expect`. */
function expectSame<T>(got: T, wanted: T): void {
  if (got !== wanted) expect(got).toBe(wanted);
}

const known = (value: object): string => JSON.stringify(Object.entries(value));

function agrees(line: Uint8Array): boolean {
  const block = blockOf(line);
  const found = fast(block);
  if (found === null) return false;
  // Members that the format does not know are passed over, and a line that has some is left to the slow way.
  expectSame(known(found), known(slow(block)));
  return true;
}

const encoder = new TextEncoder();
const header = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.constantFrom(null, -1, -14, 0, 50_000, 999_999_999, 1_000_000_000, 2 ** 31, 2 ** 53 - 1, "5, 5", "1e3"),
);
const name = fc.constantFrom(
  "agents/1",
  "agents/2",
  "acme",
  "a",
  "größe",
  'q"q',
  "back\\slash",
  "\u007f",
  "",
);
const text = fc.oneof(fc.constantFrom("used up, it resets in 25 s", "timeout", "", "ü", "\t"), fc.string());
const body = fc.oneof(
  fc.constantFrom({}, { rest: { limit: 200, current: 3, list: [1, "}{", []] } }, null, 7, "x", [1]),
  fc.jsonValue(),
);

const calls: fc.Arbitrary<TraceCall> = fc
  .record(
    {
      sent: fc.constantFrom(1_767_322_800_123, 1_767_322_800_124, 5, 1.5, 999_999_999_999, 1e15),
      client: name,
      call: fc.oneof(fc.nat(), fc.constantFrom(2 ** 40)),
      org: name,
      user: fc.oneof(name, fc.constant(null)),
      scope: fc.constantFrom("rest" as const, "graphql" as const),
      kind: fc.constantFrom("call" as const, "status" as const, "other" as const),
      cost: fc.constantFrom(null, 0, 1, 503, 2 ** 35),
      status: fc.constantFrom(0, 200, 429, 502, 100, 999),
      limit: header,
      remaining: header,
      reset: header,
      userLimit: header,
      userRemaining: header,
      userReset: header,
      actual: fc.constantFrom(0, 1),
      retryAfter: header,
      warning: text,
      userWarning: text,
      body,
      refusal: body,
      error: text,
      wanted: fc.constantFrom(1_767_322_800_000, 0),
      attempt: fc.nat(4),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((changes) => {
    const named = call(changes as Partial<TraceCall>);
    if (named.scope === "graphql")
      Object.assign(named, { scopeName: "graphql", userScopeName: "graphql_user" });
    if (named.status === 0 || named.status === 502) Object.assign(named, bare);
    return named;
  });

const bare = {
  scopeName: null,
  limit: null,
  remaining: null,
  reset: null,
  userScopeName: null,
  userLimit: null,
  userRemaining: null,
  userReset: null,
};

/** Small damage: a byte changed, put in or taken out. */
const damage = fc.record({
  at: fc.nat(),
  byte: fc.oneof(fc.constantFrom(...encoder.encode('0123456789"\\{}[],:.-+eE \t\r\0nulltrue')), fc.nat(255)),
  kind: fc.constantFrom("change", "put", "take" as const),
});

function damaged(
  line: Uint8Array,
  { at, byte, kind }: typeof damage extends fc.Arbitrary<infer T> ? T : never,
) {
  const place = at % line.length;
  const after = line.subarray(kind === "put" ? place : place + 1);
  return Uint8Array.of(...line.subarray(0, place), ...(kind === "take" ? [] : [byte]), ...after);
}

/** Members written in odd ways, that JSON takes or does not. */
const oddities: readonly (readonly [RegExp, string])[] = [
  [/"cost":1/, '"cost":1e0'],
  [/"cost":1/, '"cost":01'],
  [/"cost":1/, '"cost":-0'],
  [/"cost":1/, '"cost":+1'],
  [/"cost":1/, '"cost":1.0'],
  [/"cost":1/, '"cost":'],
  [/"sent":\d+/, '"sent":'],
  [/"sent":\d+/, '"sent":01767322800123'],
  [/"sent":\d/, '"sent":0'],
  [/"sent":(\d+)/, '"sent":$1.5'],
  [/"sent":(\d+)/, '"sent":$14'],
  [/"remaining":\d+/, '"remaining":-0'],
  [/"remaining":\d+/, '"remaining":-05'],
  [/"remaining":\d+/, '"remaining":1152921504606846976'],
  [/"limit":200/, '"limit":200,"limit":100'],
  [/"limit":200/, '"limit":200,"Limit":100'],
  [/"status":200/, '"status":2000'],
  [/"status":200/, '"status":007'],
  [/"status":200/, '"status":99'],
  [/"user":"agent-17"/, '"user":null'],
  [/"user":"agent-17"/, '"user":nul'],
  [/"user":"agent-17"/, '"user":"agent-17'],
  [/"client":"agents/, '"client":"\\u0061gents'],
  [/}$/, ',"later":1}'],
  [/}$/, ',"attempt":1,"wanted":1767322800123}'],
  [/}$/, ',"attempt":01}'],
  [/}$/, ',"actual":2}'],
  [/}$/, ',"body":{"a":01}}'],
  [/}$/, ',"body":{"a":1}'],
  [/}$/, ',"body":{]}}'],
  [/}$/, ',"body":{"a":"}"},"refusal":{}}'],
  [/}$/, ',"error":timeout}'],
  [/}$/, "}}"],
  [/}$/, "} "],
  [/}$/, "}\r"],
  [/}$/, "}\r\r"],
  [/}$/, "},"],
  [/^{/, " {"],
  [/^{/, "\uFEFF{"],
  [/":/g, '": '],
  [/^.*$/, ""],
];

const options = { numRuns: runs };

describe("the fast way to read a line", () => {
  test("reads calls as the slow one does", () => {
    fc.assert(
      fc.property(calls, (each) => {
        agrees(encoder.encode(encodeCall(each)));
      }),
      options,
    );
  });

  test("takes no line that was damaged but reads as the slow one does", () => {
    fc.assert(
      fc.property(calls, fc.array(damage, { minLength: 1, maxLength: 3 }), (each, damages) => {
        const whole = encoder.encode(encodeCall(each));
        agrees(whole);
        agrees(damages.reduce(damaged, whole));
        agrees(whole);
      }),
      options,
    );
  });

  test.each(oddities)("agrees with the slow one where %s became %j", (from, to) => {
    for (const each of [call(), call({ kind: "status" }), call({ wanted: 1_767_322_800_123, attempt: 0 })]) {
      agrees(encoder.encode(encodeCall(each)));
      agrees(encoder.encode(encodeCall(each).replace(from, to)));
    }
  });

  test("takes no time that is no digits, in the first line that it reads", () => {
    const own = new Names();
    const fresh = new CallBatch(own);
    const line = encodeCall(call()).replace(/"sent":\d{8}/, `"sent":${"\0".repeat(8)}`);
    const odd = blockOf(encoder.encode(line));
    fresh.bytes = odd.bytes;
    expect(new LineScanner(own).scan(odd, 0, fresh, 0)).toBe(-1);
  });

  test("takes a line cut anywhere for none, unless it is whole", () => {
    const line = encoder.encode(
      encodeCall(call({ refusal: { a: 1 }, wanted: 1_767_322_800_123, attempt: 0 })),
    );
    expect(agrees(line)).toBe(true);
    for (let length = 0; length < line.length; length++) expect(agrees(line.subarray(0, length))).toBe(false);
  });

  test("takes what our own writers write", () => {
    const usual: readonly Partial<TraceCall>[] = [
      {},
      { user: null, cost: null, kind: "status", body: { rest: { limit: 200 }, graphql: {} } },
      { kind: "other", status: 403, cost: null },
      { ...bare, status: 0, error: "timeout" },
      { scope: "graphql", cost: 503, actual: 20, scopeName: "graphql", userScopeName: "graphql_user" },
      {
        status: 429,
        remaining: 0,
        retryAfter: 60,
        warning: "w",
        userWarning: "u",
        refusal: { message: "no" },
      },
      { remaining: -14, wanted: 1_767_322_800_123, attempt: 2 },
    ];
    for (const changes of usual) expect(agrees(encoder.encode(encodeCall(call(changes))))).toBe(true);
    expect(agrees(encoder.encode(`${encodeCall(call())}\r`))).toBe(true);
  });

  test("keeps the habits of more clients than it has room for apart", () => {
    const odd = (index: number) =>
      call({ client: `agents/${index}`, org: `org-${index % 3}`, user: `u-${index}` });
    for (let round = 0; round < 2; round++)
      for (let index = 0; index < 12_000; index++)
        expectSame(agrees(encoder.encode(encodeCall(odd(index)))), true);
  });
});
