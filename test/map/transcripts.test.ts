// Records of answers as people keep them: which request each belongs to, when it came, and what no one reads of it.
import { describe, expect, test } from "vitest";
import { isPlainWord, type SeenAnswers } from "../../src/map/seen.ts";
import { readTranscript } from "../../src/map/transcripts.ts";

const answer = "HTTP/1.1 200 OK\nx-ratelimit-limit: 9\n\n{}";
const read = (text: string): SeenAnswers[] => readTranscript(text, "answer.txt", new Set());
const first = (text: string): SeenAnswers => read(text)[0] as SeenAnswers;
const asked = (words: string): SeenAnswers => first(`$ curl ${words}\n${answer}\n`);

describe("the request of a curl command", () => {
  test("is a GET of the URL's path, by no caller that is known", () => {
    expect(asked("-i 'https://api.example.com/v1/a%20b?page=2'")).toEqual({
      method: "GET",
      segments: ["v1", "a b"],
      graphql: null,
      auth: null,
      caller: "",
      status: 200,
      headers: { "x-ratelimit-limit": "9" },
      body: {},
      atMs: null,
    });
  });

  test.each([
    ...["-o", "--output", "-A", "--user-agent", "-e", "-m", "--max-time", "-b", "--cookie", "-w"],
    ...["-d", "--data-raw", "--json", "-H", "-u", "-X"],
  ])("the argument of %s is no URL of it", (option) => {
    const { segments } = asked(
      `-i https://api.example.com/v1/right ${option} https://other.example.com/wrong`,
    );
    expect(segments).toEqual(["v1", "right"]);
  });

  test.each([
    ["-d a=1", "POST"],
    ["--data-raw a=1", "POST"],
    ["--json '{}'", "POST"],
    ["-X PUT -d a=1", "PUT"],
    ["--request DELETE", "DELETE"],
    ["-X patch", "PATCH"],
    ["-XPUT", "PUT"],
    ["-skX DELETE", "DELETE"],
    ["-isXPATCH -o X", "PATCH"],
    ["-da=1", "POST"],
    ["-oX", "GET"],
    ["-H 'Accept: */*'", "GET"],
  ])("%s: its method is %s", (words, method) => {
    expect(asked(`-i ${words} https://api.example.com/v1/a`)).toMatchObject({
      method,
      segments: ["v1", "a"],
    });
  });

  test.each([
    ["-u ann:secret-1", { header: "Authorization", form: "Basic {token}" }],
    ["-H 'Authorization: Bearer abc-123'", { header: "Authorization", form: "Bearer {token}" }],
    ["-H'X-Api-Key: abc-123'", { header: "X-Api-Key", form: "{token}" }],
    ["-H 'authorization: abc-123'", { header: "authorization", form: "{token}" }],
    ["-H 'X-Api-Key: abc-123' -H 'Cookie: a=1'", { header: "X-Api-Key", form: "{token}" }],
    ["-H 'X-Api-Key: abc' -H 'Authorization: Token d'", { header: "Authorization", form: "Token {token}" }],
    ["-H 'Cookie: session=1'", null],
    ["-H 'X-CSRF-Token: abc'", null],
    ["-H 'Idempotency-Key: abc'", null],
  ])("%s: its credential is %j", (words, auth) => {
    expect(asked(`-i https://api.example.com/v1/a ${words}`).auth).toEqual(auth);
  });

  test("goes on behind a backslash, and a quoted word is one word", () => {
    const lines = `$ curl -i \\\n  -H "X-Note: say \\"hi\\" -X PUT" \\\n  https://api.example.com/v1/a\n${answer}`;
    expect(first(lines)).toMatchObject({ method: "GET", segments: ["v1", "a"] });
  });

  test.each([
    ["/graphql", '{"query": "mutation { a }"}', "mutation"],
    ["/graphql", '{"query": " query { mutation }"}', "query"],
    ["/admin/graphql.json", "mutation M { a }", "mutation"],
    ["/v1/mutation", '{"query": "mutation { a }"}', null],
  ])("to %s with %s is of GraphQL: %s", (path, body, kind) => {
    expect(asked(`-i https://api.example.com${path} -d '${body}'`).graphql).toBe(kind);
  });
});

describe("answers of curl", () => {
  test("each belongs to the command above it", () => {
    const text = ["/v1/a", "/v1/b"].map((path) => `$ curl -i https://x.example${path}\n${answer}`).join("\n");
    expect(read(text).map(({ segments }) => segments?.at(-1))).toEqual(["a", "b"]);
  });

  test("interim ones are left out, and a proxy's to CONNECT", () => {
    const text = `HTTP/1.1 200 Connection established\n\nHTTP/1.1 100 Continue\nx: y\n\n${answer}`;
    expect(read(text)).toHaveLength(1);
    expect(first(text).headers).toEqual({ "x-ratelimit-limit": "9" });
  });

  test("of -v: marked lines are heads, the others the body", () => {
    const text = [
      '$ curl -v -d \'{"query":"mutation { a }"}\' https://x.example/graphql',
      "*   Trying 127.0.0.1:443...",
      "> POST /graphql HTTP/2",
      "> Authorization: Bearer abc-123",
      ">",
      "< HTTP/2 103",
      "< link: a",
      "< HTTP/2 429",
      "< retry-after: 7",
      "<",
      '{"a":',
      "1}",
      "> GET /v1/next HTTP/2",
      ">",
      "< HTTP/2 200",
      "< x-ratelimit-limit: 9",
    ].join("\n");
    expect(read(text)).toMatchObject([
      { method: "POST", graphql: "mutation", status: 429, headers: { "retry-after": "7" }, body: { a: 1 } },
      { method: "GET", segments: ["v1", "next"], auth: null, status: 200, body: undefined },
    ]);
  });

  test.each([
    '{\n  "a": {\n    "b": 1\n  }\n}\n* Connection #0 to host x.example left intact',
    '{"a":{"b":1}}* Connection #0 to host x.example left intact',
    '{ [13 bytes data]\n{"a":{"b":1}}* Closing connection 0',
  ])("a body is whole, however many lines it has, and whatever -v says behind it", (body) => {
    const text = `> GET /v1/a HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< a: b\n< \n${body}\n`;
    expect(first(text).body).toEqual({ a: { b: 1 } });
  });

  test("a head that -i prints once more in front of the body is none of it", () => {
    const text = `> GET /v1/a HTTP/1.1\n< HTTP/1.1 200 OK\n< a: b\n<\nHTTP/1.1 200 OK\na: b\n\n{"c":1}`;
    expect(first(text)).toMatchObject({ headers: { a: "b" }, body: { c: 1 } });
  });

  test("doubled headers are joined, and the Date header is their time", () => {
    const text = "HTTP/1.1 200 OK\nX-A: 1\nx-a: 2\nDate: Mon, 23 Nov 2026 10:00:00 GMT\n\n<html>";
    expect(first(text)).toMatchObject({
      headers: { "x-a": "1, 2" },
      atMs: Date.UTC(2026, 10, 23, 10),
      body: undefined,
    });
  });
});

describe("a HAR", () => {
  const har = (...entries: object[]): string => JSON.stringify({ log: { entries } });
  const entry = {
    startedDateTime: "2026-11-23T10:00:00.000Z",
    time: 12.4,
    request: { method: "POST", url: "https://x.example/v1/a", headers: [] },
    response: { status: 200, headers: [{ name: "A", value: "b" }], content: { text: '{"c":1}' } },
  };

  test("an entry's answer came when it had taken its time", () => {
    expect(first(har(entry))).toMatchObject({
      method: "POST",
      segments: ["v1", "a"],
      headers: { a: "b" },
      body: { c: 1 },
      atMs: Date.UTC(2026, 10, 23, 10) + 12,
    });
    expect(first(har({ ...entry, time: -1 })).atMs).toBe(Date.UTC(2026, 10, 23, 10));
    expect(first(har({ ...entry, startedDateTime: undefined })).atMs).toBeNull();
  });

  test("an entry that no answer came to is left out; a body in base64 is not read", () => {
    const lost = { ...entry, response: { ...entry.response, status: 0 } };
    const packed = {
      ...entry,
      response: { status: 100, headers: [{ name: "A" }], content: { encoding: "base64", text: "1" } },
    };
    expect(read(har(lost, packed))).toMatchObject([{ status: 100, headers: {}, body: undefined }]);
  });
});

describe("JSON lines", () => {
  const line = (members: object): SeenAnswers => first(JSON.stringify({ status: 200, ...members }));
  const headers = { "x-ratelimit-limit": "9" };

  test.each([
    [1_795_428_000, 1_795_428_000_000],
    ["1795428000.25", 1_795_428_000_250],
    [1_795_428_000_001, 1_795_428_000_001],
    ["2026-11-23T10:00:00Z", Date.UTC(2026, 10, 23, 10)],
    ["soon", null],
  ])("time %s is %s ms", (time, atMs) => {
    expect(line({ time }).atMs).toBe(atMs);
  });

  test.each([
    "sent_http_x_ratelimit_limit",
    "upstream_http_x_ratelimit_limit",
    "response_header_x_ratelimit_limit",
    "X-RateLimit-Limit",
  ])("%s is the header", (name) => {
    expect(line({ [name]: 9 }).headers).toEqual(headers);
  });

  test("a header's value may be a list, as Caddy writes it", () => {
    expect(line({ resp_headers: { "X-Ratelimit-Limit": ["9"] } }).headers).toEqual(headers);
  });

  test("members are found four levels down, and no deeper", () => {
    const within = (depth: number): object =>
      depth === 0 ? { "x-ratelimit-limit": 9 } : { [`level${depth}`]: within(depth - 1) };
    expect(line(within(4)).headers).toEqual(headers);
    expect(line(within(5)).headers).toEqual({});
  });

  test("the first member of a role counts; the user is the caller", () => {
    const { method, segments, caller, status } = line({ verb: "put", path: "/v1/a", code: 500, user: "ann" });
    expect({ method, segments, caller, status }).toEqual({
      method: "PUT",
      segments: ["v1", "a"],
      caller: "ann",
      status: 200,
    });
  });

  test("lines that are damaged, or of no answer, are left out", () => {
    const lines = ['{"status": 200', '{"status": 99}', '{"status": "none"}', '{"status": 100}'];
    expect(read(lines.join("\r\n")).map(({ status }) => status)).toEqual([100]);
  });
});

test("an access log tells method, path, status and caller", () => {
  const line = '﻿1.2.3.4 - ann [23/Nov/2026:10:00:00 +0000] "HEAD /v1/a?b=c HTTP/1.1" 304 5';
  expect(read(`${line}\nnot a line\n`)).toMatchObject([
    { method: "HEAD", segments: ["v1", "a"], status: 304, headers: {}, atMs: null, caller: "ann" },
  ]);
});

test("a plain word may be written; one that is long, odd, or the most of a secret may not", () => {
  const secrets = new Set(["orders-key"]);
  expect(
    ["things", "v2", "2.1", "build_minutes", "list.json", "a".repeat(32), "key"].filter(
      (text) => !isPlainWord(text, secrets),
    ),
  ).toEqual([]);
  expect(
    ["a".repeat(33), "81723", "a1b2", "orders", "_x"].filter((text) => isPlainWord(text, secrets)),
  ).toEqual([]);
});

describe("what may be secret", () => {
  const secretsOf = (words: string, more = ""): Set<string> => {
    const secrets = new Set<string>();
    readTranscript(
      `$ curl -i ${words}\nHTTP/1.1 200 OK\nx-ratelimit-limit: 9\n${more}\n{}\n`,
      "answer.txt",
      secrets,
    );
    return secrets;
  };

  test.each([
    ["'https://x.example/a?page=two&signature=abcd'", "abcd"],
    ["'https://x.example/a?code=9f8e7d6c5b4a39281706'", "9f8e7d6c5b4a39281706"],
    ["https://ann:hunter-2@x.example/a", "hunter-2"],
    ["https://x.example/a -H 'Cookie: a=wxyz; b=uvst'", "uvst"],
    ["https://x.example/a -H 'Authorization: Bearer qwer-1'", "qwer-1"],
  ])("of %s is %s, whole and in its parts", (words, secret) => {
    expect(secretsOf(words)).toContain(secret);
  });

  test("of the answer is its cookie; plain words and short ones are none", () => {
    expect([...secretsOf("'https://x.example/a?page=two&token=abc'", "set-cookie: sid=feed-beef\n")]).toEqual(
      ["sid=feed-beef", "feed-beef"],
    );
  });
});

test("an answer behind an interim one has its own headers alone", () => {
  const lines = [
    "> GET /v1/a HTTP/1.1",
    "> Host: x",
    "< HTTP/1.1 100 Continue",
    "< x-ratelimit-limit: 1",
    "< HTTP/1.1 200 OK",
  ];
  const { headers, status } = first(`${[...lines, "< x-ratelimit-remaining: 8", "{}"].join("\n")}\n`);
  expect([status, headers]).toEqual([200, { "x-ratelimit-remaining": "8" }]);
});

test.each([
  [250.4, 250],
  [0, 0],
  [-1, 0],
  ["soon", 0],
])("an answer of a HAR comes %s ms after its request", (time, afterMs) => {
  const startedDateTime = "2026-11-23T10:00:00.000Z";
  const entry = {
    ...{ startedDateTime, time, request: { method: "GET", url: "https://x.example/a", headers: [] } },
    response: { status: 200, headers: [{ name: "x-ratelimit-limit", value: "9" }], content: {} },
  };
  const { atMs } = first(JSON.stringify({ log: { entries: [entry] } }));
  expect(atMs).toBe(Date.parse(startedDateTime) + afterMs);
});
