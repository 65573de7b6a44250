// Values of fields read from their bytes, against plain re-statements that read a text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Callers } from "../../src/logs/callers.ts";
import { Cells, METHOD, roles, SCOPE, STATUS, TIME, USER } from "../../src/logs/cells.ts";
import {
  decimal,
  isCapital,
  isNamed,
  methodOf,
  scopeOf,
  statusOf,
  whole,
} from "../../src/logs/field-values.ts";
import { PathFilter } from "../../src/logs/path-filter.ts";
import { defaultOrganization, GRAPHQL_CALL, REST_CALL } from "../../src/logs/rows.ts";
import { anonymousWords, unplacedWords } from "../../src/logs/unplaced-words.ts";
import { codedError } from "../support/coded-error.ts";
import { property } from "../support/property.ts";

/** A text between others that would change it, were one byte too many read. */
function placed(text: string, around: string): [view: DataView, from: number, to: number] {
  const bytes = new TextEncoder().encode(around + text + around);
  return [new DataView(bytes.buffer), around.length, bytes.length - around.length];
}

function cellsOf(role: number, text: string): Cells {
  const cells = new Cells();
  cells.write(roles.map((_, at) => (at === role ? text : "7")));
  return cells;
}

const edges = [
  ["", -1],
  ["0", 0],
  ["7", 7],
  ["000", 0],
  ["2147483647", 2_147_483_647],
  ["2147483648", -1],
  ["9999999999", -1],
  ["12345678901", -1],
  ["503.0", 503],
  ["503.", 503],
  ["503.000", 503],
  ["503.01", -1],
  [".0", -1],
  ["5 ", -1],
  ["/", -1],
  [":", -1],
  ["-5", -1],
] as const;

test("capitals are A to Z", () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte).filter(isCapital);
  expect(String.fromCharCode(...all)).toBe("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
});

test.each(edges)("the whole number of %j is %d", (text, value) => {
  for (const around of ["", "9", ".0"]) expect(whole(...placed(text, around))).toBe(value);
});

/** Numbers with and without a point, an exponent, a sign, or what is none at all. */
const numeric = fc.oneof(
  fc.nat(),
  fc.double({ min: 0, max: 1e21, noNaN: true }),
  fc.stringMatching(/^[0-9]{1,18}(\.[0-9]{0,18})?$/),
  fc.stringMatching(/^[-+.0-9eE/:]{1,8}$/),
);

property([numeric], { numRuns: 2000 })("a decimal is what Number gives, or -1", (number) => {
  const text = String(number);
  const isNumber = /^\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) && text.length <= 40;
  const value = isNumber && Number.isFinite(Number(text)) ? Number(text) : -1;
  for (const around of ["", "9", "."]) expect(decimal(...placed(text, around))).toBe(value);
});

test.each([
  ["9", 9],
  ["0.5", 0.5],
  ["123456789012345", 123_456_789_012_345],
  ["1234567890123456", 1_234_567_890_123_456],
  ["9007199254740993", 9_007_199_254_740_992],
  ["1234.5678901234", 1234.5678901234],
  ["0.1234567890123456", 0.1234567890123456],
  ["1.", -1],
  [".5", -1],
  ["1.2.3", -1],
  ["1e3", 1000],
  ["1e400", -1],
  [`${"1".repeat(40)}`, Number("1".repeat(40))],
  [`${"1".repeat(41)}`, -1],
])("the decimal of %s is %d", (text, value) => {
  expect(decimal(...placed(text, "9"))).toBe(value);
});

test.each([
  ["", 0],
  ["-", 0],
  ["0", 0],
  ["000", 0],
  ["2", -1],
  ["99", -1],
  ["100", 100],
  ["429", 429],
  ["999", 999],
  ["1000", -1],
  ["200.0", 200],
  ["ok", -1],
])("the status %j is %d: 0 for none, -1 for what is none", (text, status) => {
  expect(statusOf(cellsOf(STATUS, text))).toBe(status);
});

describe("words of a row", () => {
  test.each([
    ["", 0],
    ["-", 0],
    ["GET", 1],
    ["get", 1],
    ["HEAD", 2],
    ["Post", 3],
    ["PUT", 4],
    ["GETS", 4],
    ["PATCH", 4],
    ["x", 4],
  ])("the method %j has the number %d", (text, method) => {
    expect(methodOf(cellsOf(METHOD, text))).toBe(method);
  });

  test.each([
    ["", null],
    ["-", null],
    ["rest", REST_CALL],
    ["REST", REST_CALL],
    ["GraphQL", GRAPHQL_CALL],
    ["soap", -1],
  ])("the scope %j is %j", (text, scope) => {
    expect(scopeOf(cellsOf(SCOPE, text))).toBe(scope);
  });

  test.each([
    ["", false],
    ["-", false],
    ['"', false],
    ["a", true],
    ["--", true],
    ['"-', true],
  ])("a user %j is named: %j", (text, named) => {
    expect(isNamed(cellsOf(USER, text), USER)).toBe(named);
  });

  test("each field is its own, however long all of them are", () => {
    const cells = new Cells(2);
    const long = [...roles, "one", "two"].map((role, at) => `${role}\u{1f600}`.repeat(at * 40));
    for (const texts of [long, ["x"], long.toReversed()]) {
      cells.write(texts);
      expect(long.map((_, role) => cells.text(role))).toEqual(long.map((_, role) => texts[role] ?? ""));
      expect(cells.isEmpty(TIME)).toBe((texts[TIME] ?? "") === "");
    }
    cells.clear();
    expect(long.map((_, role) => cells.isEmpty(role))).not.toContain(false);
  });
});

test("each of a thousand users keeps the organization that it named last, and callers of its own", () => {
  const callers = new Callers((token) => token);
  const one = callers.organization("one");
  const two = callers.organization("two");
  const users = Array.from({ length: 1000 }, (_, at) => callers.user(`user-${at}`));
  expect(users.map((user) => callers.lastOrganization(user))).toEqual(users.map(() => -1));
  const first = users.map((user, at) => callers.of(user, at % 2 === 0 ? one : two));
  expect(users.map((user) => callers.lastOrganization(user))).toEqual(
    users.map((_, at) => (at % 2 === 0 ? one : two)),
  );
  const other = users.map((user, at) => callers.of(user, at % 2 === 0 ? two : one));
  expect(users.map((user, at) => callers.of(user, at % 2 === 0 ? one : two))).toEqual(first);
  expect(new Set([...first, ...other]).size).toBe(2000);
  expect(callers.list[first[701] ?? -1]).toEqual({ organization: "two", user: "user-701" });
  expect(users.map((_, at) => callers.user(`user-${at}`))).toEqual(users);
});

test("tokens whose digests begin alike have fingerprints as long as it takes; those of one digest share one", () => {
  const callers = new Callers(
    (token) => ({ a: "0123456789", b: "0123456789", c: "0123459999" })[token] ?? "",
  );
  expect(["a", "c", "b", "a"].map((token) => callers.fingerprint(token))).toEqual([
    "token-012345",
    "token-01234599",
    "token-012345",
    "token-012345",
  ]);
});

test("paths that no glob fits are told: the first five, and nothing where a row was kept", () => {
  const filter = new PathFilter(["/v2/*", "/v3"]);
  const others = Array.from({ length: 7 }, (_, at) => `/other-${at}`);
  for (const path of others) {
    expect(filter.fits(...placed(path, "/"))).toBe(false);
    filter.leftOut += 1;
  }
  const [problem] = codedError(() => filter.requireKept()).problems;
  const shown = others.slice(0, 5).map((path) => `"${path}"`);
  expect(problem).toMatchObject({ got: "/v2/*, /v3", allowed: `what fits some of ${shown.join(", ")}` });
  expect(filter.fits(...placed("/v2/x", "/"))).toBe(true);
  filter.kept += 1;
  filter.requireKept();
  new PathFilter(["/v2"]).requireKept();
});

test("rows that name no user are told", () => {
  expect([0, 252].map(anonymousWords)).toEqual([
    "",
    "No user stands in 252 rows, counted for one user, everyone.",
  ]);
});

test.each([
  [0, ["acme"], ""],
  [2, [defaultOrganization], ""],
  [
    1,
    ["acme", "acme"],
    "1 user: they are in one of their own, default, apart from acme. --organization acme puts",
  ],
  [
    2,
    ["acme", defaultOrganization],
    "2 users: they are in one of their own, default, apart from acme. --organization acme puts",
  ],
  [2, ["acme", "globex"], "apart from the others. --organization SLUG puts"],
  [2, ["of a strange name"], "--organization SLUG puts"],
])("%d users whom no row places, beside %j", (unplaced, organizations, words) => {
  const said = unplacedWords(unplaced, organizations);
  if (words === "") expect(said).toBe("");
  else expect(said).toContain(words);
});
