// Lines of words as load balancers, proxies and web servers write them, in the forms that their manuals show.
import { describe, expect, test } from "vitest";
import { lines, type Row, read } from "./reading.ts";

const row = (changes: Partial<Row> = {}): Row => ({
  at: "2026-01-02T03:04:05.000Z",
  caller: "acme/203.0.113.9",
  kind: "rest",
  cost: 1,
  actual: null,
  status: 200,
  durationMs: null,
  ...changes,
});
const path = "/v2/organizations/acme/pipelines";

describe("of AWS's load balancers, each connection has another port, and the time is when the answer went out", () => {
  const application = (time: string, client: string, status: number): string =>
    `https ${time} app/my-lb/50dc6c495c0c9188 ${client} 10.0.0.1:80 0.086 0.048 0.037 ${status} ${status} 34 366 "GET https://www.example.com:443${path}?a=b HTTP/1.1" "curl/7.46.0 \\"x\\"" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "-" 0 ${time} "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"`;

  test("application", async () => {
    const { rows, unread, files } = await read(
      lines(
        application("2026-01-02T03:04:05.048000Z", "203.0.113.9:2817", 200),
        application("2026-01-02T03:04:06.048000Z", "203.0.113.9:2818", 429),
        application("2026-01-02T03:04:07.048000Z", "2001:db8::7:2819", 200),
      ),
    );
    expect(files[0]?.sample.format).toBe("words");
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row({ durationMs: 48 }),
      row({ at: "2026-01-02T03:04:06.000Z", status: 429, durationMs: 48 }),
      row({ at: "2026-01-02T03:04:07.000Z", caller: "acme/2001:db8::7", durationMs: 48 }),
    ]);
  });

  test("classic", async () => {
    const { rows } = await read(
      lines(
        `2026-01-02T03:04:05.001Z my-loadbalancer 203.0.113.9:2817 10.0.0.1:80 0.000073 0.001 0.000057 200 200 0 29 "GET http://www.example.com:80${path} HTTP/1.1" "curl/7.38.0" - -`,
      ),
    );
    expect(rows).toEqual([row({ durationMs: 1 })]);
  });
});

describe("a line #Fields: names the words", () => {
  test("of IIS, again in the middle of a file", async () => {
    const head = [
      "#Software: Microsoft Internet Information Services 10.0",
      "#Version: 1.0",
      "#Date: 2026-01-02 03:04:05",
      "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status sc-substatus sc-win32-status time-taken",
    ];
    const { rows, unread } = await read(
      lines(
        ...head,
        `2026-01-02 03:04:05 10.0.0.1 GET ${path} a=b 443 - 203.0.113.9 curl/8 200 0 0 0`,
        ...head,
        `2026-01-02 03:04:06 10.0.0.1 GET ${path} - 443 alice 203.0.113.9 curl/8 429 0 0 500`,
      ),
    );
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row({ durationMs: 0 }),
      row({ at: "2026-01-02T03:04:05.000Z", caller: "acme/alice", status: 429, durationMs: 500 }),
    ]);
  });

  test("anew from the middle of a file on, as IIS writes it when its settings change", async () => {
    const { rows, unread } = await read(
      lines(
        "#Fields: date time c-ip cs-method cs-uri-stem sc-status",
        `2026-01-02 03:04:05 203.0.113.9 GET ${path} 200`,
        "#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status",
        `2026-01-02 03:04:06 10.0.0.1 GET ${path} 203.0.113.7 429`,
      ),
    );
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row(),
      row({ at: "2026-01-02T03:04:06.000Z", caller: "acme/203.0.113.7", status: 429 }),
    ]);
  });

  test("of CloudFront, between tabs", async () => {
    const fields = ["date", "time", "x-edge-location", "c-ip", "cs-method", "cs-uri-stem", "sc-status"];
    const { rows } = await read(
      lines(
        "#Version: 1.0",
        `#Fields: ${fields.join(" ")}`,
        ["2026-01-02", "03:04:05", "FRA2", "203.0.113.9", "GET", path, "200"].join("\t"),
      ),
    );
    expect(rows).toEqual([row()]);
  });
});

describe("the place tells the words", () => {
  test("of Envoy", async () => {
    const { rows } = await read(
      lines(
        `[2026-01-02T03:04:05.000Z] "GET ${path} HTTP/2" 200 - 0 154 12 11 "203.0.113.9" "curl/8 [a]" "cc21d9b0" "example.com" "10.0.35.28:80"`,
        `[2026-01-02T03:04:06.000Z] "GET ${path} HTTP/2" 429 RL 0 0 1 - "203.0.113.9" "curl/8" "cc21d9b1" "example.com" "-"`,
      ),
    );
    expect(rows).toEqual([
      row({ durationMs: 12 }),
      row({ at: "2026-01-02T03:04:06.000Z", status: 429, durationMs: 1 }),
    ]);
  });

  test("of Istio, whose callers are addresses of connections where no header is forwarded", async () => {
    const { rows } = await read(
      lines(
        `[2026-01-02T03:04:05.000Z] "GET ${path} HTTP/1.1" 200 - via_upstream - "-" 0 135 5 2 "-" "curl/8" "84961386" "httpbin:8000" "10.44.1.27:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 203.0.113.9:37652 outbound_.8000 default`,
      ),
    );
    expect(rows).toEqual([row({ durationMs: 5 })]);
  });
});

test("of HAProxy behind what syslog writes, whose times name no zone", async () => {
  const line = (time: string, timers: string, status: number): string =>
    `Jan  2 03:04:05 lb haproxy[14389]: 203.0.113.9:33317 [${time}] http-in static/srv1 ${timers} ${status} 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu|curl/8 (x y)} {} "GET ${path} HTTP/1.1"`;
  const { rows, unread, examples } = await read(
    lines(
      line("02/Jan/2026:03:04:05.000", "10/0/30/69/109", 200),
      line("02/Jan/2026:03:04:06.000", "10/-1/-1/-1/+7", 429),
      "Jan  2 03:04:07 lb haproxy[14389]: Connect from 10.0.1.2:33312 to 10.0.3.31:8012 (www/HTTP)",
    ),
    { zone: 60, unreadMost: 1 },
  );
  expect(rows).toEqual([
    row({ at: "2026-01-02T02:04:05.000Z", durationMs: 109 }),
    row({ at: "2026-01-02T02:04:06.000Z", status: 429, durationMs: 7 }),
  ]);
  expect([unread, examples[0]?.why]).toEqual([1, "its words stand in no known place"]);
});

describe("words name themselves", () => {
  test("in logfmt, in any order", async () => {
    const { rows, unread } = await read(
      lines(
        `time=2026-01-02T03:04:05Z level=info msg="request done" method=GET path=${path} status=200 user=alice duration_ms=7`,
        `level=info time=2026-01-02T03:04:06Z user=alice status=429 method=GET path="${path}?a=b" note`,
      ),
    );
    expect(unread).toBe(0);
    expect(rows).toEqual([
      row({ caller: "acme/alice", durationMs: 7 }),
      row({ at: "2026-01-02T03:04:06.000Z", caller: "acme/alice", status: 429 }),
    ]);
  });

  test("whatever ends in port is no address and keeps its number", async () => {
    const log = lines(`ts=2026-01-02T03:04:05Z path=${path} status=200 user=- transport=mq:1883`);
    const { rows } = await read(log, { flags: { columns: { user: "transport" } } });
    expect(rows).toEqual([row({ caller: "acme/mq:1883" })]);
  });

  test("behind a time, as Heroku's router writes it", async () => {
    const { rows } = await read(
      lines(
        `2026-01-02T03:04:05.000000+00:00 heroku[router]: at=info method=GET path="${path}" host=api.example.com request_id=8601b555 fwd="203.0.113.9" dyno=web.1 connect=1ms service=3ms status=200 bytes=12 protocol=https`,
      ),
    );
    expect(rows).toEqual([row()]);
  });
});

test("a line that was cut off is unread, and said so; comments and blank lines are none", async () => {
  const fields = "#Fields: date time c-ip cs-method cs-uri-stem sc-status";
  const cut = await read(lines(fields, `2026-01-02 03:04:05 203.0.113.9 GET ${path} 200`, "", "2026-01-02"), {
    unreadMost: 1,
  });
  expect(cut.rows).toEqual([row()]);
  expect(cut.examples).toMatchObject([{ line: 4, why: "its time cannot be read" }]);
});

test("words without names, in no known place, are told by --format words alone as unknown", async () => {
  const plain = lines("GET /a 200", "GET /b 200");
  await expect(read(plain)).rejects.toMatchObject({ code: "LOG_INVALID" });
  await expect(read(plain, { format: "words" })).rejects.toMatchObject({
    code: "LOG_INVALID",
    problems: [{ path: "log", got: expect.stringContaining("GET") }],
  });
});
