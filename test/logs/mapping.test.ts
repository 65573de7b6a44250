// Meanings of columns: by their names, then by their values; and changes by flags.
import { describe, expect, test } from "vitest";
import { type CallerFlags, callerMapping } from "../../src/logs/caller-sources.ts";
import { roles } from "../../src/logs/cells.ts";
import { harMapping } from "../../src/logs/har.ts";
import { guessMapping, type LogMapping, type MappingFlags } from "../../src/logs/mapping.ts";
import { type LogSample, sniffLog } from "../../src/logs/sniff.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { codedError } from "../support/coded-error.ts";
import { lines } from "./reading.ts";

const sampleOf = (log: string, isWhole = true): LogSample =>
  sniffLog(new TextEncoder().encode(log), isWhole, "log");

function mappingOf(log: string, flags: MappingFlags = {}): LogMapping {
  return guessMapping(sampleOf(log), flags, "log");
}

/** Roles in the order of the columns. */
function rolesOf(log: string, flags: MappingFlags = {}): string {
  const { uses } = mappingOf(log, flags);
  return uses
    .toSorted((a, b) => a.index - b.index)
    .map(({ role, column, why }) => `${column}=${role}${why === "by its name" ? "" : ` (${why})`}`)
    .join(" ");
}

describe("dates of numbers alone", () => {
  const log = (...times: readonly string[]) => lines("time,user", ...times.map((time) => `${time},al`));

  test("have the order that the first rows show, or that is told", () => {
    expect(mappingOf(log("5/11/2026 8:00", "13/11/2026 8:00")).dates).toBe("day-first");
    expect(mappingOf(log("5/11/2026 8:00", "5/13/2026 8:00")).dates).toBe("month-first");
    expect(mappingOf(log("5/11/2026 8:00"), { dates: "month-first" }).dates).toBe("month-first");
    expect(mappingOf(log("1767323045")).dates).toBe("day-first");
  });

  test("of which nothing shows the order are refused, with both choices", () => {
    expect(codedError(() => mappingOf(log("5/11/2026 8:00", "6/11/2026 8:00")))).toMatchObject({
      code: "LOG_INVALID",
      message: expect.stringContaining("the first times of this log may have the day or the month first"),
      problems: [{ path: "log", got: '"5/11/2026 8:00"', allowed: "dates of which one number is above 12" }],
      hint: "--dates day-first or --dates month-first tells which",
    });
  });
});

describe("a column", () => {
  test.each([
    [
      "timestamp,userId,httpMethod,request_uri,statusCode,latency_ms",
      "1767323045,7,GET,/x,200,5",
      "timestamp=time userId=user httpMethod=method request_uri=path statusCode=status latency_ms=duration",
    ],
    [
      "@timestamp,client_ip,url,code",
      "2026-01-02T03:04:05Z,203.0.113.9,https://a.b/x,200",
      "@timestamp=time client_ip=address url=path code=status",
    ],
    ["Date;API-Key;Complexity", "2026-01-02;abc;503", "Date=time API-Key=user Complexity=cost"],
    [
      "started_at,org_slug,actor,scope,requested_points,actual_points",
      "1767323045678,acme,al,graphql,5,3",
      "started_at=time org_slug=organization actor=user scope=scope requested_points=cost actual_points=actual",
    ],
    // A column whose name fits, but not what stands there.
    [
      "time,status,state,user",
      "1767323045,running,200,al",
      "time=time state=status (by what stands there) user=user",
    ],
    [
      "when,who,what,outcome",
      "1767323045,203.0.113.9,/x,200",
      "when=time (by what stands there) who=address (by what stands there) what=path (by what stands there) outcome=status (by what stands there)",
    ],
    ["time,referer,user", "1767323045,https://a.b/x,al", "time=time user=user"],
    // A column that says nothing goes behind one that does, whatever their names.
    ["time,user,client,org", "1767323045,-,al,-", "time=time client=user org=organization"],
  ])("of %s", (names, row, expected) => {
    expect(rolesOf(lines(names, row))).toBe(expected);
  });

  test("of what a program notes is no status, though ms stand behind a comma", () => {
    const row = "2026-01-02 03:04:05,123 ann GET /x 200";
    expect(() => mappingOf(lines(row, row))).toThrow("this log tells when, but not who asked for what");
  });

  test("that is named by a flag is taken as it is, and for nothing else", () => {
    const log = lines("time,user,owner,path", "1767323045,al,bo,/x");
    expect(rolesOf(log, { columns: { user: "owner", organization: "user" } })).toBe(
      "time=time user=organization (as told) owner=user (as told) path=path",
    );
  });

  test("of JSON may be one that the first rows do not have", () => {
    const log = lines('{"time":1767323045,"user":"al"}');
    const use = mappingOf(log, { columns: { cost: "extensions.points" } }).uses[0];
    expect(use).toMatchObject({ role: "cost", path: ["extensions", "points"], index: -1 });
    expect(() => mappingOf(log, { columns: { user: "usr" } })).toThrow("this log has no such column");
  });
});

describe("tokens", () => {
  test.each([
    ["time,token", "1767323045,abc", true],
    ["time,api_key_id", "1767323045,abc", true],
    ["time,http_authorization", "1767323045,Bearer abc", true],
    ["time,user", "1767323045,bkua_0123456789", true],
    ["time,user", "1767323045,alice", false],
    ["time,user", "1767323045,123e4567-e89b-12d3-a456-426614174000", false],
  ])("%s: %s", (names, row, isToken) => {
    const flags = names.includes("authorization") ? { columns: { user: "http_authorization" } } : {};
    const { userIsToken, hasTokens } = mappingOf(lines(names, row), flags);
    expect([userIsToken, hasTokens]).toEqual([isToken, isToken]);
  });

  test("may stand in a column that is not used", () => {
    const { userIsToken, hasTokens } = mappingOf(lines("time,user,api_token", "1767323045,al,abc"));
    expect([userIsToken, hasTokens]).toEqual([false, true]);
  });

  test("are what a flag says they are", () => {
    const flags = { tokenColumn: "who" };
    expect(mappingOf(lines("time,who", "1767323045,al"), flags).userIsToken).toBe(true);
  });
});

describe("durations", () => {
  test.each([
    ["duration_ms", "5", "ms"],
    ["durationMs", "0.5", "ms"],
    ["elapsed_us", "5", "us"],
    ["latencyNanos", "5", "ns"],
    ["took_seconds", "5", "s"],
    ["request_time", "5", "s"],
    ["duration", "0.123", "s"],
    ["duration", "12.5", "ms"],
    ["duration", "250", "ms"],
  ])("in a column %s like %s are in %s", (name, value, unit) => {
    expect(mappingOf(lines(`time,user,${name}`, `1767323045,al,${value}`)).durationUnit).toBe(unit);
  });

  test("in event.duration of the Elastic Common Schema are in ns", () => {
    const row = { time: 1767323045, user: "al", event: { duration: 1_200_000 } };
    expect(mappingOf(lines(JSON.stringify(row))).durationUnit).toBe("ns");
  });

  test.each([
    ["time,user,request_time", "end"],
    ["end_time,user,duration", "end"],
    ["finished,user,duration", "end"],
    ["time,user,duration", "start"],
  ])("with %s a row's time is its %s", (names, expected) => {
    const log = lines(names, "1767323045,al,5");
    const flags = names.startsWith("finished") ? { columns: { time: "finished" } } : {};
    expect(mappingOf(log, flags).timeIs).toBe(expected);
    expect(mappingOf(log, { ...flags, timeIs: "start", durationUnit: "ns" })).toMatchObject({
      timeIs: "start",
      durationUnit: "ns",
    });
  });
});

test.each([
  ["CSV", "time,user\n", (row: number) => `2026-01-02T03:04:05Z,u${row}\n`],
  ["JSON", "", (row: number) => `{"time":"2026-01-02T03:04:05Z","user":"u${row}"}\n`],
])("a log's columns are guessed by its first 200 rows: %s", (_, header, rowOf) => {
  const log = header + Array.from({ length: 500 }, (_, row) => rowOf(row)).join("");
  const { columns } = sniffLog(new TextEncoder().encode(log), true, "log");
  expect(columns.map(({ name, values }) => [name, values.length, values.at(-1)])).toEqual([
    ["time", 200, "2026-01-02T03:04:05Z"],
    ["user", 200, "u199"],
  ]);
});

describe("a share of a column's values decides", () => {
  const rolesBy = (values: readonly string[], name = "status"): string =>
    rolesOf(lines(`time,${name},user`, ...values.map((value) => `1767323045,${value},al`)));

  test("half of them where the name fits, four of five where values alone tell", () => {
    expect(rolesBy(["200", "x"])).toBe("time=time status=status user=user");
    expect(rolesBy(["200", "x", "x"])).toBe("time=time user=user");
    expect(rolesBy(["200", "200", "200", "200", "x"], "outcome")).toBe(
      "time=time outcome=status (by what stands there) user=user",
    );
    expect(rolesBy(["200", "200", "200", "x"], "outcome")).toBe("time=time user=user");
    expect(rolesBy(["-", "-"], "outcome")).toBe("time=time user=user");
  });

  test("more than half of its rows must have a value, or another column of such a name is taken", () => {
    const roleOf = (...rows: readonly string[]): string =>
      rolesOf(lines("time,user,client", ...rows.map((row) => `1767323045,${row}`)));
    expect(roleOf("al,bo", "-,bo")).toBe("time=time client=user");
    expect(roleOf("al,bo", "-,bo", "al,bo")).toBe("time=time user=user");
    expect(roleOf("al,-", "-,bo")).toBe("time=time user=user");
  });
});

test("durations of logs without words for them: seconds up to a minute, some of them below one", () => {
  const unitOf = (...values: readonly string[]): string =>
    mappingOf(lines("time,user,duration", ...values.map((value) => `1767323045,al,${value}`))).durationUnit;
  expect([
    unitOf("0.5", "60"),
    unitOf("0.5", "60.1"),
    unitOf("0.999", "2"),
    unitOf("1.0", "2.5"),
    unitOf("0", "1"),
    unitOf(),
  ]).toEqual(["s", "ms", "s", "ms", "ms", "ms"]);
});

test.each([
  ["/v2/organizations/acme/x,/v2/organizations/acme", "acme"],
  ["/v2/organizations/acme/x,/v2/organizations/other", null],
  ["/v2/user,https://a.b/v2/organizations/acme?x=1", "acme"],
  ["/v2/user,/v2/organizations/", null],
])("the only organization of the paths %s is %j", (paths, organization) => {
  const rows = paths.split(",").map((path) => `1767323045,${path},al`);
  expect(mappingOf(lines("time,path,user", ...rows)).organization).toBe(organization);
});

describe("a log's format", () => {
  const json = '{"time":1767323045,"user":"al"}';
  const point =
    '{"metric":"http_req_duration","type":"Point","data":{"time":"2026-01-02T03:04:05Z","value":3}}';
  const access = '203.0.113.9 - al [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 12';

  test.each<[LogSample["format"], readonly string[]]>([
    ["ndjson", [json, json, "x,y"]],
    ["csv", [json, "a,b", "a,b"]],
    ["k6", [point, point, json]],
    ["ndjson", [point, json]],
    ["access-log", [access, access, "a,b"]],
    ["csv", [access, "a,b,c,d,e", "a,b,c,d,e"]],
    ["har", [' {"log": {"entries": []}}']],
    ["trace", ['{"format":"spillway-trace","version":1}', json]],
    ["parquet", ["PAR1"]],
    ["csv", [...Array.from({ length: 11 }, () => "a,b"), ...Array.from({ length: 30 }, () => json)]],
    ["ndjson", [...Array.from({ length: 11 }, () => json), ...Array.from({ length: 30 }, () => "a,b")]],
  ])("is %s by what most of its first twenty lines are", (format, each) => {
    expect(sampleOf(lines(...each)).format).toBe(format);
  });

  test("is told without the last line, where that is cut and not the only one", () => {
    const cut = `${access}\n203.0.113.9 - al [02/J`;
    expect(sampleOf(cut, false).columns[0]?.values).toEqual(["203.0.113.9"]);
    expect(sampleOf(access, false).columns[0]?.values).toEqual(["203.0.113.9"]);
    expect(sampleOf(`time,user\n1767323045,al\n1767323046,b`, true).columns[1]?.values).toEqual(["al", "b"]);
    expect(sampleOf(`time,user\n1767323045,al\n1767323046,b`, false).columns[1]?.values).toEqual(["al"]);
  });

  test("of a table is its separator, and whether its first line names the columns", () => {
    const tableOf = (...each: readonly string[]) => {
      const { separator, hasHeader, columns } = sampleOf(lines(...each));
      return [separator, hasHeader, columns.map(({ name, values }) => [name, ...values])];
    };
    expect(tableOf("time;user", "1767323045;al,bo", "time;user", "1;2;3")).toEqual([
      ";",
      true,
      [
        ["time", "1767323045"],
        ["user", "al,bo"],
      ],
    ]);
    expect(tableOf("1767323045\tal", "1767323046\tbo")).toEqual([
      "\t",
      false,
      [
        ["column1", "1767323045", "1767323046"],
        ["column2", "al", "bo"],
      ],
    ]);
    expect(tableOf("when, who ,", "2026-01-02,al,-1.5").slice(1)).toEqual([
      true,
      [
        ["when", "2026-01-02"],
        ["who", "al"],
        ["column3", "-1.5"],
      ],
    ]);
    expect(tableOf("-1.5,al", "2,bo")[1]).toBe(false);
    expect(tableOf("2026-01-02,al", "2026-01-02,bo")[1]).toBe(false);
  });

  test("of JSON has every member as a column, to the sixth key", () => {
    const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } }, list: [1, 2], none: null };
    const { columns } = sampleOf(lines(JSON.stringify(deep), JSON.stringify({ x: true })));
    expect(columns).toEqual([
      { name: "a.b.c.d.e.f", path: ["a", "b", "c", "d", "e", "f"], values: [undefined, undefined] },
      { name: "list", path: ["list"], values: [undefined, undefined] },
      { name: "none", path: ["none"], values: [undefined, undefined] },
      { name: "x", path: ["x"], values: [undefined, "true"] },
    ]);
  });
});

describe("the source of a caller's attribute", () => {
  const algorithm = { kind: "fixed-window", limit: 9, windowSeconds: 60 } as const;
  const policyOf = (key: readonly string[], more: Partial<PolicyInput> = {}) =>
    parsePolicy({
      version: 2,
      name: "keyed",
      quotas: { calls: { algorithm, key: [...key] } },
      operations: { read: { uses: { calls: 1 } } },
      routes: [{ path: "/x", operation: "read" }],
      auth: { header: "X-Key", form: "{token}", attributes: [...key] },
      ...more,
    });
  const none: CallerFlags = { columns: {}, values: {}, hasOrganization: false };
  const sourcesOf = (
    key: readonly string[],
    log: string,
    flags: Partial<CallerFlags> = {},
    more: Partial<PolicyInput> = {},
  ) => {
    const sample = sampleOf(log);
    const mapping = sample.format === "har" ? harMapping : guessMapping(sample, {}, "log");
    const { sources, further, authHeader } = callerMapping(
      policyOf(key, more),
      { sample, mapping },
      { ...none, ...flags },
      "log",
    );
    expect(authHeader).toBe(more.auth?.header ?? "X-Key");
    return { sources: Object.fromEntries(sources), further };
  };
  const field = (place: number) => ({ kind: "field", role: roles.length + place });
  const table = lines("time,user,plan,Model-Id", "1767323045,al,pro,m1");

  test("is what an option says, else a column of its name, else the user", () => {
    expect(sourcesOf(["user", "plan", "model_id", "who"], table, { values: { who: "me" } })).toEqual({
      sources: {
        user: { kind: "user" },
        plan: field(0),
        model_id: field(1),
        who: { kind: "value", text: "me" },
      },
      further: [
        { index: 2, path: ["plan"], role: roles.length },
        { index: 3, path: ["Model-Id"], role: roles.length + 1 },
      ],
    });
    const twice = { columns: { one: "plan", two: "plan", three: "user", four: "time" } };
    expect(sourcesOf(["one", "two", "three", "four"], table, twice)).toEqual({
      sources: {
        one: field(0),
        two: field(0),
        three: { kind: "user" },
        four: { kind: "field", role: roles.indexOf("time") },
      },
      further: [{ index: 2, path: ["plan"], role: roles.length }],
    });
  });

  test.each<[key: string[], columns: string, flags: Partial<CallerFlags>, sources: object | null]>([
    [["customer"], "time,user", {}, { customer: { kind: "user" } }],
    [["tenant"], "time,user", {}, { tenant: { kind: "user" } }],
    [["tenant"], "time,user", { hasOrganization: true }, { tenant: { kind: "organization" } }],
    [["tenant"], "time,path", { hasOrganization: true }, { tenant: { kind: "organization" } }],
    [["tenant"], "time,path", {}, null],
    [["tenant", "team"], "time,user", {}, null],
    [["tenant", "customer"], "time,user", {}, null],
    [
      ["tenant", "customer"],
      "time,org,user",
      {},
      { tenant: { kind: "organization" }, customer: { kind: "user" } },
    ],
    [
      ["tenant", "customer"],
      "time,org,ip",
      {},
      { tenant: { kind: "organization" }, customer: { kind: "user" } },
    ],
    [["customer", "person"], "time,user", {}, null],
    [["customer"], "time,path", {}, null],
  ])("of the key %j in %s is found by who calls", (key, names, flags, sources) => {
    const values: Record<string, string> = {
      time: "1767323045",
      user: "al",
      org: "acme",
      ip: "203.0.113.9",
      path: "/x",
    };
    const log = lines(
      names,
      names
        .split(",")
        .map((name) => values[name])
        .join(","),
    );
    if (sources !== null) expect(sourcesOf(key, log, flags)).toEqual({ sources, further: [] });
    else
      expect(codedError(() => sourcesOf(key, log, flags))).toMatchObject({
        code: "LOG_INVALID",
        message: expect.stringContaining("this log does not tell whose calls share a count"),
      });
  });

  test("is the header or the member of a body that its routes name, or their text, or the path", () => {
    const routed = (attribute: object): Partial<PolicyInput> => ({
      auth: { header: "X-Key", form: "{token}", attributes: ["user"] },
      routes: [{ path: "/x/{kind}", operation: "read", attributes: { model: attribute } } as never],
    });
    const key = ["user", "model", "kind"];
    const user = { kind: "user" } as const;
    expect(sourcesOf(key, table, {}, routed({ header: "model-id" }))).toEqual({
      sources: { user, model: field(0) },
      further: [{ index: 3, path: ["Model-Id"], role: roles.length }],
    });
    expect(sourcesOf(key, table, {}, routed({ pointer: "/a/plan" })).further).toEqual([
      { index: 2, path: ["plan"], role: roles.length },
    ]);
    expect(sourcesOf(key, table, {}, routed({ text: "big" }))).toEqual({
      sources: { user, model: { kind: "value", text: "big" } },
      further: [],
    });
    expect(sourcesOf(key, '{"log":{}}', {}, routed({ header: "model-id" }))).toEqual({
      sources: { user, model: field(0) },
      further: [{ index: -1, path: [], role: roles.length, source: { header: "model-id" } }],
    });
    expect(codedError(() => sourcesOf(key, table, {}, routed({ header: "x-none" }))).problems).toEqual([
      {
        path: "quotas.calls.key",
        got: "no model in log",
        allowed: "a column that tells the model, or one model for all rows",
      },
    ]);
  });

  test("cannot be what an option mistakes", () => {
    const wrong = (flags: Partial<CallerFlags>, log = table) => {
      const { code, problems, hint } = codedError(() => sourcesOf(["user", "plan"], log, flags));
      return [code, ...problems, hint];
    };
    expect(wrong({ columns: { plam: "user" } })).toEqual([
      "USAGE",
      { path: "--caller-column", got: '"plam"', allowed: "user, plan" },
      "did you mean plan?",
    ]);
    expect(wrong({ values: { elephant: "x" } })).toEqual([
      "USAGE",
      { path: "--caller", got: '"elephant"', allowed: "user, plan" },
      undefined,
    ]);
    expect(wrong({ columns: { plan: "plam" } })).toEqual([
      "USAGE",
      { path: "--caller-column plan", got: '"plam"', allowed: "time, user, plan, Model-Id (log)" },
      "did you mean --caller-column plan=plan?",
    ]);
    expect(wrong({ columns: { plan: "elephant" } })).toContain(undefined);
    const json = lines('{"time":1767323045,"user":"al"}');
    expect(sourcesOf(["user", "plan"], json, { columns: { plan: "far.off" } }).further).toEqual([
      { index: -1, path: ["far", "off"], role: roles.length },
    ]);
    expect(wrong({ columns: { plan: "usr" } }, json)[3 - 1]).toBe("did you mean --caller-column plan=user?");
  });

  test("in a trace is the trace's own, but for what an option says", () => {
    const trace = lines('{"format":"spillway-trace","version":1}');
    const sample = sampleOf(trace);
    const mapping = {
      sources: new Map([["plan", { kind: "value", text: "pro" }]]),
      further: [],
      authHeader: "X-Key",
    };
    expect(
      callerMapping(
        policyOf(["user", "plan"]),
        { sample, mapping: harMapping },
        { ...none, values: { plan: "pro" } },
        "log",
      ),
    ).toEqual(mapping);
  });
});
