// Meanings of columns: by their names, then by their values; and changes by flags.
import { describe, expect, test } from "vitest";
import { guessMapping, type LogMapping, type MappingFlags } from "../../src/logs/mapping.ts";
import { sniffLog } from "../../src/logs/sniff.ts";
import { lines } from "./reading.ts";

function mappingOf(log: string, flags: MappingFlags = {}): LogMapping {
  return guessMapping(sniffLog(new TextEncoder().encode(log), true, "log"), flags, "log");
}

/** Roles in the order of the columns. */
function rolesOf(log: string, flags: MappingFlags = {}): string {
  const { uses } = mappingOf(log, flags);
  return uses
    .toSorted((a, b) => a.index - b.index)
    .map(({ role, column, why }) => `${column}=${role}${why === "by its name" ? "" : ` (${why})`}`)
    .join(" ");
}

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
