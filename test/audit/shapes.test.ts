// Other shapes of one request: what of it differs from the plain one, by the shape; and requests that cannot have it.
import { expect, test } from "vitest";
import { shapes } from "../../src/audit/experiments/shapes.ts";
import { Lab } from "../../src/audit/lab.ts";
import type { Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const caller = { index: 0, name: "ann", attributes: { user: "ann" } } as const;
const labOf = (form: string | readonly string[]) =>
  new Lab({
    policy: parsePolicy({
      version: 2,
      name: "own",
      quotas: {
        requests: { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 10 }, key: ["user"] },
      },
      operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
      routes: [{ path: "/**", operation: "call" }],
      auth: { header: "Authorization", form, attributes: ["user"] },
      wire: { revision: "1", readings: [] },
    } as never),
    callers: [caller],
    ...{ alone: true, spend: 1, isTls: false, beganMs: 0, untilMs: 9_000 },
  });
const lab = labOf("Bearer {token}");
const plainOf = (path: string, more: Partial<Shot> = {}): Shot => ({
  ...lab.shot(caller, "call"),
  ...{ path, headers: { Accept: "*/*" }, ...more },
});

/** Returns what each way of a shape differs in; or why the request cannot have it. */
function differs(name: string, plain: Shot, of = lab): readonly object[] | string {
  const shape = shapes.find((each) => each.name === name);
  if (shape === undefined) throw new RangeError(name);
  const why = shape.lacks?.(of, plain) ?? null;
  if (why !== null) return why;
  return shape.make(plain, of).map((shot) => {
    const { headers, ...rest } = shot;
    const other = Object.entries(rest).filter(([key, value]) => plain[key as keyof Shot] !== value);
    const added = Object.entries(headers).filter(([key, value]) => plain.headers[key] !== value);
    expect(headers).toMatchObject({ Accept: expect.any(String) });
    return Object.fromEntries([...other, ...added]);
  });
}

const posted = plainOf("/", { method: "POST", body: "{}" });

test.each<[name: string, ways: readonly object[]]>([
  ["head", [{ method: "HEAD" }]],
  ["gzip", [{ "Accept-Encoding": "gzip" }, { "Accept-Encoding": "gzip, deflate, br" }]],
  ["if-none-match", [{ "If-None-Match": "*" }]],
  ["with-a-body", [{ body: "{}", "Content-Type": "application/json" }]],
  [
    "forwarded-for",
    [
      { "X-Forwarded-For": "203.0.113.7" },
      { Forwarded: "for=203.0.113.8;proto=https;by=203.0.113.1" },
      { "X-Real-IP": "203.0.113.9" },
      { "X-User-Id": "somebody-else" },
      Object.fromEntries(
        ["X-Client-IP", "True-Client-IP", "CF-Connecting-IP"].map((header) => [header, "203.0.113.10"]),
      ),
    ],
  ],
  [
    "other-client",
    [
      { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0)" },
      { Accept: "application/json;q=0.9, */*", "Accept-Language": "de, en;q=0.5" },
      { Cookie: "spillway=1" },
    ],
  ],
  ["method-override", [{ "X-HTTP-Method-Override": "HEAD" }, { "X-HTTP-Method-Override": "OPTIONS" }]],
  ["letter-case-of-scheme", [{ Authorization: "bearer $TOKEN" }, { Authorization: "BEARER $TOKEN" }]],
  ["on-a-connection-of-its-own", [{ way: "lone" }, { way: "lone" }]],
  ["pipelined", [{ way: "pipelined" }, { way: "pipelined" }, { way: "pipelined" }]],
  ["http-1.0", [{ way: "http/1.0" }]],
  ["cut-off-while-sending", [{ way: "cut-sending" }]],
  ["cut-off-while-waiting", [{ way: "cut-waiting" }]],
  ["cut-off-while-reading", [{ way: "cut-reading" }]],
])("a call in the shape %s", (name, ways) => {
  expect(differs(name, plainOf("/rooms"))).toEqual(ways);
});

test.each(["head", "if-none-match", "with-a-body"])("the shape %s is a GET's alone", (name) => {
  expect(differs(name, posted)).toBe("the sample is no GET");
});

test("a method is overridden by another one", () => {
  expect(differs("method-override", posted)).toEqual([
    { "X-HTTP-Method-Override": "GET" },
    { "X-HTTP-Method-Override": "OPTIONS" },
  ]);
});

const slashed = "the path ends with a slash";
const bare = "the path ends without a letter";
const nameless = "no name stands in the path";
test.each<[path: string, query: string, slash: string, capitals: string, encoded: string, named: string]>([
  ["/", "/?spillway=1", slashed, bare, bare, nameless],
  ["/42", "/42?spillway=1", "/42/", bare, bare, nameless],
  ["/ab", "/ab?spillway=1", "/ab/", "/AB", "/%61b", nameless],
  ["/ab/?c=d", "/ab/?c=d&spillway=1", slashed, "/AB/?c=d", "/%61b/?c=d", nameless],
  ["/ab/c?d=e", "/ab/c?d=e&spillway=1", "/ab/c/?d=e", "/ab/C?d=e", "/ab/%63?d=e", nameless],
  ["/ann/Zz", "/ann/Zz?spillway=1", "/ann/Zz/", "/ann/ZZ", "/ann/Z%7a", "/ANN/Zz"],
  ["/annie", "/annie?spillway=1", "/annie/", "/ANNIE", "/%61nnie", nameless],
])("the path %s in other spellings", (path, query, slash, upper, encoded, named) => {
  const spelt = (name: string) => {
    const ways = differs(name, plainOf(path));
    return typeof ways === "string" ? ways : (ways as { path: string }[]).map((way) => way.path).join();
  };
  expect(
    ["query-string", "trailing-slash", "letter-case-of-path", "percent-encoded", "letter-case-of-name"].map(
      spelt,
    ),
  ).toEqual([query, slash, upper, encoded, named]);
});

test("a credential has other letters by its first form, if it has a scheme", () => {
  const of = (form: string | readonly string[]) =>
    differs("letter-case-of-scheme", plainOf("/"), labOf(form));
  expect(of(["Token {token}", "Bearer {token}"])).toEqual([
    { Authorization: "token $TOKEN" },
    { Authorization: "TOKEN $TOKEN" },
  ]);
  for (const form of ["{token}", "key={token}"]) expect(of(form)).toBe("the credential has no scheme");
});

test("HTTP/2 is tried with and without an encoding, where the target is https", () => {
  const shape = shapes.find(({ name }) => name === "http-2");
  expect(shape?.lacks?.(lab, posted)).toBe("the target is no https");
  expect(shape?.make(posted, lab).map(({ way, headers }) => [way, headers["Accept-Encoding"]])).toEqual([
    ["http/2", undefined],
    ["http/2", "gzip"],
  ]);
});

test("calls that are cut off may be charged less, and those in a row are sent together", () => {
  const of = (key: "charges" | "together") =>
    Object.fromEntries(
      shapes.flatMap((shape) => (shape[key] === undefined ? [] : [[shape.name, shape[key]]])),
    );
  expect(of("charges")).toEqual({
    "cut-off-while-sending": "nothing",
    "cut-off-while-waiting": "once at most",
  });
  expect(of("together")).toEqual({ pipelined: true });
});
