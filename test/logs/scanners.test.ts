// The fast way to find a line's fields against the slow one, for each format: whatever it takes it reads as the slow one
// does, and it takes nothing that the slow one refuses. And it takes what logs mostly are, or it would be of no use.
//   LINES=200000 npx vitest run --config test/vitest.config.ts test/logs/scanners.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AccessLogFormat } from "../../src/logs/access-log.ts";
import {
  ADDRESS,
  Cells,
  DURATION,
  METHOD,
  ORGANIZATION,
  PATH,
  roles,
  STATUS,
  TIME,
  USER,
} from "../../src/logs/cells.ts";
import { CsvFormat } from "../../src/logs/csv.ts";
import { JsonLinesFormat } from "../../src/logs/json-lines.ts";
import { type LineFormat, NOT_SCANNED } from "../../src/logs/line-format.ts";
import { Block, newline } from "../../src/trace/blocks.ts";

const runs = Number(process.env["LINES"] ?? 1000);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** One for all lines of a format, as when a log is read. */
const cellsOf = new Map<LineFormat, Cells>();
const numeric = new Set<number>([TIME, STATUS, DURATION]);

/** Tells whether the fast way takes a line; what it reads must be what the slow way reads. */
function agrees(format: LineFormat, line: Uint8Array): boolean {
  const block = new Block();
  block.add(line);
  block.add(Uint8Array.of(newline));
  // Earlier bytes of the buffer must not matter.
  block.add(encoder.encode('"}],"\n'.repeat(4)));
  const cells = cellsOf.get(format) ?? new Cells();
  cellsOf.set(format, cells);
  const end = format.scan(block.view, 0, cells);
  if (end === NOT_SCANNED) return false;
  const text = decoder.decode(line);
  expect(end, text).toBe(line.length + 1);
  // Fields of earlier lines must not matter either.
  const first = new Cells();
  format.scan(block.view, 0, first);
  expect(roles.map((_, role) => first.text(role))).toEqual(roles.map((_, role) => cells.text(role)));
  const isRow = format.isRow;
  const fast = roles.map((_, role) => cells.text(role));
  const slow = format.parse(text);
  if (slow === "no row") expect(isRow, text).toBe(false);
  else if ("why" in slow) expect(fast, `${text}: ${slow.why}`).toBeNull();
  else expect(fast.map(comparable), text).toEqual(slow.map((each, role) => comparable(each ?? "", role)));
  return true;
}

/** Numbers are numbers however they are written. */
const comparable = (text: string, role: number): string =>
  numeric.has(role) && /^\d+(?:\.\d+)?$/.test(text) ? String(Number(text)) : text;

const json = new JsonLinesFormat([
  { path: ["ts"], role: TIME },
  { path: ["req", "user"], role: USER },
  { path: ["req", "path"], role: PATH },
  { path: ["status"], role: STATUS },
  { path: ["took"], role: DURATION },
]);
const selected = new JsonLinesFormat(
  [
    { path: ["ts"], role: TIME },
    { path: ["metric"], role: roles.indexOf("select") },
    { path: ["type"], role: roles.indexOf("selectToo") },
  ],
  ["m", "Point"],
);
const csv = new CsvFormat(",", [TIME, null, USER, STATUS]);
const access = new AccessLogFormat([
  ADDRESS,
  null,
  USER,
  TIME,
  PATH,
  STATUS,
  null,
  null,
  ORGANIZATION,
  DURATION,
]);

const anyText = fc.oneof(
  fc.constantFrom("alice", "/v2/user", "größe", 'a"b', "a\\b", "", "-", "\u007f", " "),
  fc.string(),
);
const anyNumber = fc.oneof(
  fc.constantFrom(
    0,
    1767323045678,
    1767323045.678901,
    1767323045678901,
    2 ** 60,
    1e21,
    1e-7,
    0.12,
    -1,
    200,
    5e-324,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.nat(),
);
const value = fc.oneof(anyText, anyNumber, fc.constantFrom(null, true, false), fc.jsonValue());
const member = fc.tuple(
  fc.constantFrom("ts", "req", "status", "took", "user", "other", "metric", "type", "ü"),
  value,
);
const object = fc
  .tuple(
    fc.array(member, { maxLength: 8 }),
    fc.option(fc.array(member, { maxLength: 4 })),
    fc.constantFrom("", " ", "\t"),
  )
  .map(([members, request, blank]) => {
    const write = (list: readonly (readonly [string, unknown])[]): string =>
      `{${blank}${list.map(([key, each]) => `${JSON.stringify(key)}${blank}:${blank}${JSON.stringify(each)}`).join(`${blank},${blank}`)}${blank}}`;
    const text = write(members);
    return request === null
      ? text
      : text.replace("{", `{"req":${write(request)}${members.length > 0 ? "," : ""}`);
  });

const csvLine = fc
  .array(fc.oneof(anyText, fc.constantFrom('"a"', '"a,b"', '"a""b"', "1767323045", '"')), {
    minLength: 2,
    maxLength: 6,
  })
  .map((fields) => fields.join(","));

const accessField = fc.oneof(
  fc.constantFrom(
    "203.0.113.9",
    "-",
    "alice",
    "200",
    "0.123",
    "rt=0.5",
    'x="y z"',
    '"q \\" q"',
    '"-"',
    "[x]",
    "a=b=c",
    "=",
  ),
  anyText,
);
const accessLine = fc.oneof(
  fc
    .tuple(accessField, accessField, accessField, accessField, fc.array(accessField, { maxLength: 4 }))
    .map(
      ([user, request, status, bytes, more]) =>
        `203.0.113.9 - ${user} [02/Jan/2026:03:04:05 +0000] "${request}" ${[status, bytes, ...more].join(" ")}`,
    ),
  fc.array(accessField, { maxLength: 10 }).map((fields) => fields.join(" ")),
);

/** A line as it is read: it ends where the first line end is. */
const asLine = (text: string): Uint8Array => encoder.encode(text.replaceAll("\n", " "));

const damage = fc.tuple(
  fc.nat(),
  fc.constantFrom(0x00, 0x20, 0x22, 0x2c, 0x3d, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x30, 0x2e, 0x0d, 0x65),
);

function damaged(line: Uint8Array, [at, byte]: readonly [number, number]): Uint8Array {
  const copy = line.slice();
  if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
}

const formats: readonly (readonly [string, LineFormat, fc.Arbitrary<string>])[] = [
  ["JSON lines", json, object],
  ["JSON lines that are selected", selected, object],
  ["CSV", csv, csvLine],
  ["an access log", access, accessLine],
];

describe.each(formats)("the fast way to read %s", (_, format, written) => {
  test("reads as the slow one does, damaged or not", () => {
    fc.assert(
      fc.property(written, fc.array(damage, { maxLength: 3 }), (text, damages) => {
        const line = asLine(text);
        agrees(format, line);
        agrees(format, damages.reduce(damaged, line));
        agrees(format, asLine(`${text}\r`));
        agrees(format, line.subarray(0, line.length >> 1));
      }),
      { numRuns: runs },
    );
  });
});

describe("the fast way takes", () => {
  test.each([
    [json, '{"ts":1767323045678,"req":{"user":"alice","path":"/v2/user"},"status":200,"took":12.5}'],
    [
      json,
      '{"ts": 1767323045.678901, "n": [1, -2.5e+3, {"a": "\\u00e4\\n"}], "ok": true, "req": {"user": 17}}\r',
    ],
    [json, '{"ts":1767323045678901,"req":null,"took":0.120}'],
    [json, '{"req":{"user":"größe"}}'],
    [csv, "1767323045678,x,alice,200"],
    [csv, "1767323045678,,größe,200\r"],
    [
      access,
      '203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET /v2/user HTTP/1.1" 200 512 "-" "curl \\" x" 0.123',
    ],
    [access, '203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "-" 400 0 "-" "-" rt=0.1 a="b c"\r'],
  ])("%# %s", (format, text) => {
    expect(agrees(format, encoder.encode(text))).toBe(true);
  });

  test.each([
    ['{"ts":8999999999999999}', true],
    ['{"ts":9007199254740993}', false],
    ['{"ts":12345678901234567}', false],
    ['{"ts":1234567890.123456}', true],
    ['{"ts":1234567890.1234567}', false],
    ['{"ts":0.123456}', true],
    ['{"ts":0.1234567}', false],
    ['{"req":{"user":123456789012345}}', true],
    ['{"req":{"user":1234567890123456}}', false],
    ['{"req":{"user":1.5}}', false],
  ])("a number of JSON, if a double keeps its digits: %s, %s", (text, isTaken) => {
    expect(agrees(json, encoder.encode(text))).toBe(isTaken);
  });

  test.each(['a - b  "GET /v2/user HTTP/1.1" 200 5', "a - b [c]  200 5", "a - b [c] 200 5"])(
    "no line of an access log without its time or its request: %s",
    (text) => {
      expect(agrees(access, encoder.encode(text))).toBe(false);
    },
  );

  test("the method and the path of a request", () => {
    const cells = cellsOf.get(access) ?? new Cells();
    agrees(access, encoder.encode('a - b [c] "GET /v2/user?a=b c HTTP/1.1" 200 5'));
    expect([cells.text(METHOD), cells.text(PATH)]).toEqual(["GET", "/v2/user?a=b c"]);
  });
});
