// Rows of some paths alone: which are kept, in every format that has paths, and what is said where none is.
import { describe, expect, test } from "vitest";
import { trimmed } from "../../src/logs/request-path.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { lines, read } from "./reading.ts";

const targets = [
  "/v2/user",
  "/v2/user?page=2",
  "/v2/user/",
  "/v2/organizations/acme/pipelines",
  "/v1/graphql",
  "/health",
];
const at = (second: number): string => `2026-01-02T00:00:0${second}Z`;
const csv = lines("time,user,path,status,cost", ...targets.map((path, i) => `${at(i)},ann,${path},200,5`));
const ndjson = lines(
  ...targets.map((path, i) =>
    JSON.stringify({ time: at(i), user: "ann", url: `https://api.test${path}`, status: 200, cost: 5 }),
  ),
);
const accessLog = lines(
  ...targets.map(
    (path, i) => `203.0.113.1 - ann [02/Jan/2026:00:00:0${i} +0000] "POST ${path} HTTP/1.1" 200 512`,
  ),
);

test.each([
  ["/", "/"],
  ["//", "/"],
  ["a/", "a"],
  ["/v2/*//", "/v2/*"],
  ["/v2//*", "/v2//*"],
])("%s is read as %s", (path, read) => {
  expect(trimmed(path)).toBe(read);
});

describe.each([
  ["CSV", csv],
  ["JSON lines", ndjson],
  ["an access log", accessLog],
])("of %s", (_, log) => {
  const kept = async (...paths: string[]) =>
    (await read(log, { paths, graphqlCost: 5 })).rows.map((row) => Number(row.at.slice(17, 19)));

  test("one path stands for it with any query, and with a slash behind it", async () => {
    expect(await kept("/v2/user")).toEqual([0, 1, 2]);
    expect(await kept("/v2/user/")).toEqual([0, 1, 2]);
  });

  test("several globs keep what fits any of them", async () => {
    expect(await kept("/v2/*", "/v1/graphql")).toEqual([0, 1, 2, 4]);
    expect(await kept("/v2/**")).toEqual([0, 1, 2, 3]);
    expect(await kept("**")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("globs that nothing fits are an error that names paths of the log", async () => {
    const error = await codedErrorOf(read(log, { paths: ["/v3/**"], graphqlCost: 5 }));
    expect(error.code).toBe("LOG_INVALID");
    expect(error.message).toContain("none of 6 rows");
    expect(error.problems[0]).toMatchObject({ path: "--path", got: "/v3/**" });
    expect(error.problems[0]?.allowed).toContain('"/v2/user", "/v2/organizations/acme/pipelines"');
  });
});
