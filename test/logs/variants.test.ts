// Readers of single texts and lines, for each text below and all that it becomes by one byte more, less, or changed: how
// many of these are read, how many different results they have, and a digest of all results.
// `npm test -- test/logs/variants.test.ts -u` writes `pinned/variants.txt` anew; read the difference. The readers of
// lines must also read what the slow way reads (`scanners.test.ts`).
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { AccessLogFormat, isAddressList, splitAccessLog, splitRequest } from "../../src/logs/access-log.ts";
import {
  ADDRESS,
  Cells,
  DURATION,
  METHOD,
  PATH,
  roles,
  SCOPE,
  STATUS,
  TIME,
  USER,
} from "../../src/logs/cells.ts";
import { CsvFormat, splitCsv } from "../../src/logs/csv.ts";
import { decimal, isNamed, methodOf, scopeOf, statusOf, whole } from "../../src/logs/field-values.ts";
import { globMatcher } from "../../src/logs/glob.ts";
import { InstantReader } from "../../src/logs/instant.ts";
import { JsonLinesFormat } from "../../src/logs/json-lines.ts";
import { type LineFormat, NOT_SCANNED } from "../../src/logs/line-format.ts";
import { RequestPath } from "../../src/logs/request-path.ts";
import { looksSecret, withoutSecrets } from "../../src/logs/secrets.ts";
import { layoutOf, WordLines } from "../../src/logs/words.ts";

const encoder = new TextEncoder();
const letters = '\0\t\r "*+,-./059:;=@AEZ[\\]`ampu{}~ü';

/** A text, and what one byte more, less, or changed makes of it. */
function* variantsOf(text: string): Generator<string> {
  yield text;
  for (let at = 0; at < text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    yield before;
    yield before + after;
    yield before + text[at] + text.slice(at);
    for (const letter of letters) if (letter !== text[at]) yield before + letter + after;
  }
}

/** Returns a line of the pin. @param read returns `null` for what is not read */
function pinned(text: string, read: (variant: string) => unknown): string {
  const hash = createHash("sha256");
  const results = new Set<string>();
  let [all, taken] = [0, 0];
  for (const variant of variantsOf(text)) {
    const result = read(variant);
    const shown = JSON.stringify(result) ?? "nothing";
    all += 1;
    if (result !== null) taken += 1;
    results.add(shown);
    hash.update(`${variant}\n${shown}\n`);
  }
  return `${taken} of ${all}, ${results.size} results, ${hash.digest("hex").slice(0, 8)}: ${text}`;
}

/** Text behind a line, as in a block of lines. */
const behind = '"}],"\n'.repeat(4);

/** Reads a line the fast way: where it ends, and its fields; `null` if it is left to the slow way. */
const scanned = (format: LineFormat) => {
  const cells = new Cells();
  return (line: string) => {
    const { buffer } = encoder.encode(`${line}\n${behind}`);
    cells.clear();
    const end = format.scan(new DataView(buffer), 0, cells);
    return end === NOT_SCANNED ? null : [end, format.isRow, ...roles.map((_, role) => cells.text(role))];
  };
};

/** Reads a text between bytes that would change it, were one too many read. */
const placed =
  (read: (view: DataView, from: number, to: number) => unknown) =>
  (text: string): unknown => {
    const bytes = encoder.encode(`777${text}777`);
    const result = read(new DataView(bytes.buffer), 3, bytes.length - 3);
    return typeof result === "number" && (Number.isNaN(result) || result < 0) ? null : result;
  };

const cells = new Cells();
const field = (role: number, read: (written: Cells) => unknown) => (text: string) => {
  cells.write(roles.map((_, at) => (at === role ? text : "7")));
  const result = read(cells);
  return result === -1 || result === false ? null : result;
};

const json = new JsonLinesFormat([
  { path: ["ts"], role: TIME },
  { path: ["req", "user"], role: USER },
  { path: ["req"], role: ADDRESS },
  { path: ["status"], role: STATUS },
]);
const selected = new JsonLinesFormat(
  [
    { path: ["metric"], role: roles.indexOf("select") },
    { path: ["type"], role: roles.indexOf("selectToo") },
  ],
  ["m", "Point"],
);
const access = new AccessLogFormat([ADDRESS, null, USER, TIME, PATH, STATUS, null, null, null, DURATION]);
const paths = new RequestPath("/:organization/limits", "/graphql/");
const plainPaths = new RequestPath("/limits/");
const pathBy = (reader: RequestPath) =>
  placed((view, from, to) => {
    const { pathFrom, pathTo, organizationFrom, organizationTo, kind } = Object.assign(reader, {
      kind: reader.read(view, from, to),
    });
    return [kind, pathFrom, pathTo, organizationFrom, organizationTo];
  });
const instants = (zone: number, order: "day-first" | "month-first") => {
  const reader = new InstantReader(zone, order);
  return placed((view, from, to) => reader.read(view, from, to));
};
const words = (text: string) => {
  const layout = layoutOf([text]);
  return layout && [layout.names.length, layout.isW3c, [...(new WordLines(layout).fieldsOf(text) ?? [])]];
};

const readers: readonly (readonly [string, (text: string) => unknown, readonly string[]])[] = [
  [
    "a time",
    instants(90, "day-first"),
    [
      "1767323045",
      "17673230456789.5",
      "1767323045.6789",
      "1767323045678",
      "1767323045678901",
      "1767323045678901234",
      "2024-02-29T03:04:05.678Z",
      "2100-02-28 23:59:60,5+05:30",
      "2026/12/31_03:04 GMT",
      "1969-12-31T23:59:59.1-0930",
      "2026-01-02",
      "[02/Jan/2026:04:04:05 +0100]",
      "30 Sep 2026 13:04",
      "31-aug-2026 03:04:05.5 utc",
      "2.1.2026, 3:04:05,678",
      "29/02/2024 12:04:05 PM",
      "9/11/2026 1:04\u202fam",
    ],
  ],
  ["a time, its month first", instants(0, "month-first"), ["11/30/2026 8:00:03 AM", "2-3-2026 23:04"]],
  [
    "a line of JSON",
    scanned(json),
    [
      '{"ts":1767323045.67,"req":{"user":"al","x":[1,{}]},"status":200}',
      '{ "ts" : 1767323045678901 , "n" : [ true , false , null , -0.5e+3 ] }\r',
      '{"req":{"a":"\\u00e4\\n","user":17},"req":null,"ts":0.12}',
      '{"status":123456789012345,"req":"x","ts":"2026","o":{"a":{"b":[]}}}',
      '{"req":{ },"o":{}}',
      "{}",
    ],
  ],
  ["a line of JSON that is selected", scanned(selected), ['{"metric":"m","type":"Point"}']],
  [
    "a line of CSV",
    scanned(new CsvFormat(",", [TIME, null, USER])),
    ["1767323045,,alice", "a,größe of it,c\r"],
  ],
  ["a line between tabs", scanned(new CsvFormat("\t", [TIME, USER])), ["1767\tb"]],
  ["fields of CSV", (line) => splitCsv(line, ";"), ['a;"b;""c""";', '"";x\r']],
  [
    "a line of an access log",
    scanned(access),
    [
      '1.2.3.4 - al [02/Jan] "GET /a?b c HTTP/1.1" 200 5 "-" "c \\" d" 0.1',
      '1.2.3.4 - - [x] "-" 400 0 - - rt=0.1\r',
      '1.2.3.4 - - [x] "GET /" 400 0',
    ],
  ],
  [
    "fields of an access log",
    splitAccessLog,
    ['www.a:80 1.2.3.4, 10.0.0.7 - al ice [x y] "GET / \\"" 200 5 "-" rt="1 2" =x'],
  ],
  ["a request", splitRequest, ["GET /a b HTTP/1.1"]],
  ["addresses", (text) => isAddressList(text) || null, ["203.0.113.9, 2001:db8::7", "1.2.3.4:80"]],
  [
    "words",
    words,
    [
      "#Fields: date time c-ip",
      'a=1 time="2026" d=x.y e=[f g]',
      '[2026-01-02T03:04:05Z] "GET / HTTP/1.1" 200 - 0 5 3 2 "-"',
      'h 2026-01-02T03:04:05Z lb 1.2.3.4:28 10.0.0.1:80 0 0 0 200 200 3 3 "GET http://a/ x"',
      '2026-01-02T03:04:05Z lb 1.2.3.4:28 10.0.0.1:80 0 0 0 200 200 3 3 "GET http://a/ x"',
      '2026-01-02T03:04:05Z "GET / x" 200 - via_upstream - "-" 0 5 3',
      'a haproxy[14]: 10.0.1.2:33 [06/Feb] http-in static/s1 10/0/30/69/+109 200 +27 - - ---- 1/1/1/1/0 0/0 {1} "GET /i HTTP/1.1"',
    ],
  ],
  ["a whole number", placed(whole), ["503.00", "2147483647", "9"]],
  ["a number", placed(decimal), ["0.120", "123456789012345", "1.5e-3"]],
  ["a status", field(STATUS, statusOf), ["200", "099", "-"]],
  ["a method", field(METHOD, methodOf), ["GET", "head", "Post", "-"]],
  ["a scope", field(SCOPE, scopeOf), ["REST", "GraphQL"]],
  ["a name", field(USER, (each) => isNamed(each, USER)), ["-", "ab"]],
  [
    "a path",
    pathBy(paths),
    ["/acme/limits/", "https://a.example:80/graphql?q=/x#y", "/v2/organizations/acme/pipelines//"],
  ],
  ["a path of a status without an organization", pathBy(plainPaths), ["/limits", "http://a/limits/?"]],
  [
    "a path by a glob",
    (path) => ["/a/*", "/a/**", "/**/b?", "*"].map((glob) => globMatcher(glob)(path)),
    ["/a/b0"],
  ],
  [
    "a glob",
    (glob) => ["/a/b", "/a/b/c", "/a//b"].map((path) => globMatcher(glob)(path)),
    ["/a/*", "/**/b", "/?/**"],
  ],
  [
    "a secret",
    (text) => looksSecret(text) || null,
    ["Bearer x", "ghp_1", "eyJhbGciOi.", "a1b2c3d4e5f6a7b8c9d0e1f2", "0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f"],
  ],
  [
    "a line without secrets",
    (line) => withoutSecrets(line, false),
    ["http://u:p@h/?my_token=ab&x Basic abc 2026-01-02T03:04Z a1b2c3d4e5f6a7b8c9d0e"],
  ],
  ["a line without any long word", (line) => withoutSecrets(line, true), ["-1.5 words abcdef sk-1"]],
];

test("readers of texts and lines", async () => {
  const lines = readers.flatMap(([name, read, texts]) =>
    texts.map((text) => `${name}: ${pinned(text, read)}`.replaceAll("\r", "\\r").replaceAll("\t", "\\t")),
  );
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/variants.txt");
});
