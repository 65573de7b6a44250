// A small log of each format, as its program writes it, and what is read of it.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { encodeHeader } from "../../src/trace/write.ts";
import { call, header, line, text } from "../trace/samples.ts";
import { lines, type Row, read } from "./reading.ts";

const row = (changes: Partial<Row> = {}): Row => ({
  at: "2026-01-02T03:04:05.000Z",
  caller: "acme/alice",
  kind: "rest",
  cost: 1,
  actual: null,
  status: 200,
  durationMs: null,
  ...changes,
});

describe("an access log", () => {
  test("of Apache, common", async () => {
    const { rows, unread } = await read(
      lines(
        '203.0.113.9 - alice [02/Jan/2026:04:04:05 +0100] "GET /v2/organizations/acme/pipelines HTTP/1.1" 200 512',
        '203.0.113.9 - alice [02/Jan/2026:03:04:06 +0000] "GET /v2/organizations/acme/rate_limit/?x HTTP/1.1" 200 512',
        '2001:db8::7 - - [01/Jan/2026:19:04:07 -0800] "POST /v2/organizations/acme/pipelines HTTP/2.0" 429 -',
        '203.0.113.9 - alice [02/Jan/2026:03:04:08 +0000] "GET /v2/user HTTP/1.1" 403 12',
        '203.0.113.9 - alice [02/Jan/2026:03:04:09 +0000] "GET /v2/user" 200 12',
        '203.0.113.9 - - [02/Jan/2026:03:04:10 +0000] "-" 408 0',
      ),
    );
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row(),
      row({ at: "2026-01-02T03:04:06.000Z", kind: "status", cost: 0 }),
      row({ at: "2026-01-02T03:04:07.000Z", caller: "acme/2001:db8::7", status: 429 }),
      row({ at: "2026-01-02T03:04:08.000Z", kind: "other", cost: 0, status: 403 }),
      row({ at: "2026-01-02T03:04:09.000Z" }),
      row({
        at: "2026-01-02T03:04:10.000Z",
        caller: "acme/203.0.113.9",
        kind: "other",
        cost: 0,
        status: 408,
      }),
    ]);
  });

  test("of nginx, combined, with the request's time behind: a row began that much before its line, in whole seconds", async () => {
    const { rows, unread } = await read(
      lines(
        '203.0.113.9 - alice [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "curl/8 \\"a\\" [b]" 0.500',
        '203.0.113.9 - alice [02/Jan/2026:03:04:06 +0000] "GET /v2/organizations/acme/\\x22 HTTP/1.1" 404 5 "https://x.example/a b" "" 0.000',
      ),
    );
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row({ at: "2026-01-02T03:04:04.000Z", durationMs: 500 }),
      row({ at: "2026-01-02T03:04:06.000Z", status: 404, durationMs: 0 }),
    ]);
  });

  test("with named fields behind, with a virtual host in front, and with a user's name of two words", async () => {
    const named = await read(
      lines(
        '203.0.113.9 - alice [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "curl" rt=0.250 uct="0.001"',
      ),
    );
    expect(named.rows).toEqual([row({ at: "2026-01-02T03:04:04.750Z", durationMs: 250 })]);
    const hosts = await read(
      lines(
        'www.example.com:80 203.0.113.9 - alice [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "curl"',
        '203.0.113.9 - Alice Q [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "curl"',
      ),
    );
    expect(hosts.rows).toEqual([row(), row({ caller: "acme/Alice Q" })]);
  });

  test("of Apache with %D is in microseconds, and its time is when the request came", async () => {
    const { rows } = await read(
      lines(
        '203.0.113.9 - alice [02/Jan/2026:03:04:05 +0000] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "curl" 12500',
      ),
      { flags: { columns: { duration: "extra1" } } },
    );
    expect(rows).toEqual([row({ durationMs: 12.5 })]);
  });
});

describe("behind a proxy", () => {
  const time = "[02/Jan/2026:03:04:05 +0000]";
  const request = '"GET /v2/organizations/acme/x HTTP/1.1" 200 5';
  const json = (address: string, forwarded: string, path = "X-Forwarded-For"): string =>
    JSON.stringify({
      time: "2026-01-02T03:04:05Z",
      path: "/v2/organizations/acme/x",
      remote_addr: address,
      headers: { [path]: forwarded },
    });

  test.each([
    [
      "nginx's own format, with the proxies' list behind",
      [
        `10.0.0.1 - - ${time} ${request} "-" "curl" "203.0.113.9, 10.0.0.7"`,
        `10.0.0.1 - - ${time} ${request} "-" "curl" "2001:db8::7"`,
      ],
    ],
    [
      "the list in place of the address",
      [
        `203.0.113.9, 10.0.0.7, 10.0.0.8 - - ${time} ${request}`,
        `www.example.com:80 2001:db8::7, 10.0.0.7 - - ${time} ${request}`,
      ],
    ],
    ["the header as a member", [json("10.0.0.1", "203.0.113.9, 10.0.0.7"), json("10.0.0.1", "2001:db8::7")]],
    [
      "another header as a member",
      [json("10.0.0.1", "203.0.113.9", "x-real-ip"), json("10.0.0.1", "2001:db8::7", "x-real-ip")],
    ],
  ])("a caller is the first address of a request: %s", async (_, log) => {
    const { rows } = await read(lines(...log));
    expect(rows.map(({ caller }) => caller)).toEqual(["acme/203.0.113.9", "acme/2001:db8::7"]);
  });

  test.each([
    [
      "most requests came without one",
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address, place) =>
        json(address, place === 0 ? "203.0.113.9" : "-"),
      ),
    ],
    [
      "the last field is a server's",
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(
        (address) => `${address} - - ${time} ${request} "-" "curl" "192.0.2.1"`,
      ),
    ],
    [
      "the last field has ports",
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(
        (address, place) =>
          `${address} - - ${time} ${request} "-" "curl" 192.0.2.${place}:8080 192.0.2.7:${place}`,
      ),
    ],
  ])("a caller is who connected where %s", async (_, log) => {
    const { rows } = await read(lines(...log));
    expect(rows.map(({ caller }) => caller)).toEqual(["acme/10.0.0.1", "acme/10.0.0.2", "acme/10.0.0.3"]);
  });
});

describe("JSON lines", () => {
  test("with nested members, escapes, and members in any order", async () => {
    const { rows, files } = await read(
      lines(
        '{"ts":"2026-01-02T03:04:05.678Z","user":"alice","req":{"method":"POST","url":"https://api.example.com/v1/graphql"},"res":{"status":200},"cost":503,"actual":20,"durationMs":12.5}',
        '{ "req" : {"headers":{"a":[1,{"b":"}"}]},"url":"/v2/organizations/acme/x","method":"GET"}, "user":"\\u0061lice","ts":1767323046000, "res":{"status":"429"}}',
        "",
        '{"ts":"2026-01-02T04:04:07+01:00","user":null,"req":{"method":"GET","url":"/v2/organizations/acme/x"},"res":{"status":200}}',
      ),
    );
    expect(files[0]?.mapping.uses.map(({ role, column }) => `${role}: ${column}`)).toEqual([
      "time: ts",
      "status: res.status",
      "method: req.method",
      "path: req.url",
      "actual: actual",
      "cost: cost",
      "duration: durationMs",
      "user: user",
    ]);
    expect(rows).toEqual([
      row({ at: "2026-01-02T03:04:05.678Z", kind: "graphql", cost: 503, actual: 20, durationMs: 12.5 }),
      row({ at: "2026-01-02T03:04:06.000Z", status: 429 }),
      row({ at: "2026-01-02T03:04:07.000Z", caller: "acme/everyone" }),
    ]);
  });

  test("of nginx, with the request's line in one member", async () => {
    const { rows } = await read(
      lines(
        '{"time_iso8601":"2026-01-02T03:04:05+00:00","remote_addr":"203.0.113.9","remote_user":"","request":"GET /v2/organizations/acme/x HTTP/1.1","status":200,"request_time":0.120}',
      ),
    );
    expect(rows).toEqual([
      row({ at: "2026-01-02T03:04:04.880Z", caller: "acme/203.0.113.9", durationMs: 120 }),
    ]);
  });

  test("whose keys have dots in them", async () => {
    const { rows } = await read(
      lines(
        '{"@timestamp":"2026-01-02T03:04:05Z","user.name":"alice","url.path":"/v2/organizations/acme/x"}',
      ),
      { flags: { columns: { user: "user.name" } } },
    );
    expect(rows).toEqual([row({ status: 0 })]);
  });
});

describe("CSV", () => {
  test("with commas, quotes, a byte order mark and CRLF", async () => {
    const { rows } = await read(
      '\uFEFFtime,user,method,path,status,note\r\n2026-01-02T03:04:05Z,"alice",GET,"/v2/organizations/acme/a,""b""",200,"a ""b"", c"\r\n2026-01-02T03:04:06Z,größe,GET,/v2/organizations/acme/x,200,\r\n',
    );
    expect(rows).toEqual([row(), row({ at: "2026-01-02T03:04:06.000Z", caller: "acme/größe" })]);
  });

  test.each([";", "\t"])("with %j between columns", async (separator) => {
    const table = lines(
      ["time", "user", "path", "status"].join(separator),
      ["1767323045", "alice", "/v2/organizations/acme/a,b", "200"].join(separator),
    );
    expect((await read(table)).rows).toEqual([row()]);
  });

  test("without names of columns, which are told by what stands there then", async () => {
    const { rows, files } = await read(
      lines(
        "1767323045000,203.0.113.9,GET,/v2/organizations/acme/x,200",
        "1767323046000,203.0.113.9,GET,/,200",
      ),
    );
    expect(files[0]?.mapping.uses.map(({ role, column }) => `${role}: ${column}`)).toEqual([
      "time: column1",
      "status: column5",
      "method: column3",
      "path: column4",
      "address: column2",
    ]);
    expect(rows.map(({ caller }) => caller)).toEqual(["acme/203.0.113.9", "acme/203.0.113.9"]);
  });

  test("whose first line comes again, where files were put together", async () => {
    const { rows, unread } = await read(
      lines(
        "time,user,path",
        "1767323045,alice,/v2/organizations/acme/x",
        "time,user,path",
        "1767323045,alice,/",
      ),
    );
    expect([rows.length, unread]).toEqual([2, 0]);
  });

  test("tells GraphQL by a scope, or by a cost where there is no path", async () => {
    const scoped = await read(
      lines("time,org,user,scope,cost", "1767323045,acme,alice,graphql,1", "1767323045,acme,alice,rest,"),
    );
    expect(scoped.rows).toEqual([row({ kind: "graphql", status: 0 }), row({ status: 0 })]);
    const costs = await read(
      lines(
        "time,org,user,cost",
        "1767323045,acme,alice,503",
        "1767323045,acme,alice,1",
        "1767323045,acme,alice,",
      ),
    );
    expect(costs.rows.map(({ kind, cost }) => [kind, cost])).toEqual([
      ["graphql", 503],
      ["rest", 1],
      ["rest", 1],
    ]);
  });
});

test("HAR, with the caller by its token's fingerprint, and a query's points from its answer", async () => {
  const entry = (path: string, method: string, headers: object[], more: object = {}) => ({
    startedDateTime: "2026-01-02T12:04:05.000+09:00",
    time: 12.5,
    request: {
      method,
      url: `https://api.example.com${path}`,
      headers: [{ name: "Authorization", value: "Bearer abc" }],
    },
    response: { status: 200, headers },
    ...more,
  });
  const points = [
    { name: "RateLimit-Complexity-Requested", value: "503" },
    { name: "Ratelimit-Complexity-Actual", value: "20" },
  ];
  const { rows, unread } = await read(
    JSON.stringify(
      {
        log: {
          version: "1.2",
          entries: [
            entry("/v2/organizations/acme/x?a=/", "GET", []),
            entry("/v1/graphql", "POST", points),
            entry("/v1/graphql", "OPTIONS", [], { time: -1 }),
            entry("/v2/user", "GET", [], {
              request: { method: "GET", url: "https://api.example.com/v2/user" },
              response: { status: 200 },
            }),
          ],
        },
      },
      null,
      2,
    ),
  );
  const caller = "acme/token-ba7816";
  expect(unread).toBe(0);
  expect(rows).toEqual([
    row({ caller, durationMs: 12.5 }),
    row({ caller, kind: "graphql", cost: 503, actual: 20, durationMs: 12.5 }),
    row({ caller, kind: "other", cost: 0 }),
    row({ caller: "default/everyone", durationMs: 12.5 }),
  ]);
});

test("k6's --out json: one row a request, which began before the point's time", async () => {
  const point = (metric: string, value: number) =>
    `{"metric":"${metric}","type":"Point","data":{"time":"2026-01-02T04:04:05.250123456+01:00","value":${value},"tags":{"expected_response":"true","group":"","method":"GET","name":"http://127.0.0.1:4100/v2/organizations/acme/x","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://127.0.0.1:4100/v2/organizations/acme/x","user":"alice"}}}`;
  const { rows, files, unread } = await read(
    lines(
      '{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":[],"submetrics":null},"metric":"http_reqs"}',
      point("http_reqs", 1),
      '{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":[],"submetrics":null},"metric":"http_req_duration"}',
      point("http_req_duration", 250.4),
      point("http_req_waiting", 249),
      '{"metric":"vus","type":"Point","data":{"time":"2026-01-02T04:04:06+01:00","value":1,"tags":null}}',
    ),
  );
  expect(files[0]?.sample.format).toBe("k6");
  expect(unread).toBe(0);
  expect(rows).toEqual([row({ durationMs: 250.4 })]);
});

describe("a trace of our own", () => {
  test("gives calls as they were sent, with what is known of their costs", async () => {
    const at = Date.parse("2026-01-02T03:04:05Z");
    const times = { sent: at, received: at + 8, user: "alice" };
    const graphql = {
      ...times,
      scope: "graphql",
      scopeName: "graphql",
      userScopeName: "graphql_user",
    } as const;
    const log = text(
      encodeHeader(header),
      line({ ...times, call: 0 }),
      line({ ...graphql, call: 1, cost: 503, actual: 20 }),
      line({ ...times, call: 2, kind: "status", cost: null, body: {} }),
      line({ ...times, call: 3, kind: "other", cost: null, status: 401 }),
      line({ ...times, call: 4, user: null, org: "größe", status: 0, error: "timeout" }),
    );
    const { rows } = await read(log);
    expect(rows).toEqual([
      row({ durationMs: 8 }),
      row({ durationMs: 8, kind: "graphql", cost: 503, actual: 20 }),
      row({ durationMs: 8, kind: "status", cost: 0 }),
      row({ durationMs: 8, kind: "other", cost: 0, status: 401 }),
      row({ durationMs: 8, caller: `größe/${call().client}`, status: 0 }),
    ]);
    expect((await read(gzipSync(log))).rows).toEqual(rows);
  });
});

test("gzip is known by its first bytes, several members behind each other too", async () => {
  const parts = ["time,user\n1767323045,al", "ice\n"].map((part) => gzipSync(part));
  expect((await read(Buffer.concat(parts))).rows).toEqual([row({ caller: "default/alice", status: 0 })]);
});
