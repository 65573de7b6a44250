// Whose a request was: users by name, token or address; organizations by column, path, or what is known of the user.
import { describe, expect, test } from "vitest";
import { Callers } from "../../src/logs/callers.ts";
import { digest, lines, read } from "./reading.ts";

const callersOf = async (log: string, options = {}): Promise<string[]> =>
  (await read(log, options)).rows.map(({ caller }) => caller);

describe("the organization", () => {
  test("is the column's, else the path's", async () => {
    const log = lines(
      "time,org,user,path",
      "1767323045,acme,alice,/v2/organizations/other/x",
      "1767323046,,alice,/v2/organizations/other/x",
    );
    expect(await callersOf(log)).toEqual(["acme/alice", "other/alice"]);
  });

  test("of a call without one is that which its user named last, then the given one, then `default`", async () => {
    const log = lines(
      "time,user,path,cost",
      "1767323045,alice,/v1/graphql,9",
      "1767323046,alice,/v2/organizations/one/x,",
      "1767323047,alice,/v1/graphql,9",
      "1767323048,bob,/v2/organizations/two/x,",
      "1767323049,alice,/v2/user,",
      "1767323050,carol,/v2/user,",
    );
    const rest = ["one/alice", "one/alice", "two/bob", "one/alice"];
    expect(await callersOf(log)).toEqual(["default/alice", ...rest, "default/carol"]);
    expect(await callersOf(log, { organization: "acme" })).toEqual(["acme/alice", ...rest, "acme/carol"]);
  });

  test("is the only one that the first rows name, where a row names none", async () => {
    const log = lines(
      "time,user,path,cost",
      "1767323045,a,/v1/graphql,9",
      "1767323046,b,/v2/organizations/one/x,",
    );
    expect(await callersOf(log)).toEqual(["one/a", "one/b"]);
  });

  test("of other APIs' paths is `default`, and their status endpoint can be named", async () => {
    const log = lines("time,user,method,path", "1767323045,a,GET,/rate_limit", "1767323046,a,GET,/repos/a/b");
    const { rows } = await read(log, { statusPath: "/rate_limit", graphqlPath: "/graphql" });
    expect(rows.map(({ caller, kind }) => `${caller} ${kind}`)).toEqual([
      "default/a status",
      "default/a rest",
    ]);
  });
});

describe("the user", () => {
  test("is the address where no user is named, and everyone where nothing is", async () => {
    const log = lines(
      "time,user,ip,path",
      "1767323045,-,203.0.113.9,/x",
      "1767323046,,,/x",
      "1767323047,al,,/x",
    );
    expect(await callersOf(log)).toEqual(["default/203.0.113.9", "default/everyone", "default/al"]);
    expect((await read(log)).anonymous).toBe(1);
  });

  test("may be one of very many, in several organizations each", () => {
    const callers = new Callers(digest);
    const organizations = ["a", "b", "c"].map((name) => callers.organization(name));
    for (let round = 0; round < 2; round++)
      for (let user = 0; user < 2000; user++)
        for (const organization of organizations)
          expect(callers.of(callers.user(`u${user}`), organization)).toBe(3 * user + organization);
    expect(callers.list[3 * 1234 + 1]).toEqual({ organization: "b", user: "u1234" });
  });
});

describe("what a call counts (SPEC.md §2.6)", () => {
  test.each([
    ["GET", "/v2/organizations/acme/rate_limit", 200, "status"],
    ["HEAD", "/v2/organizations/acme/rate_limit/?a=b", 401, "status"],
    ["POST", "/v2/organizations/acme/rate_limit", 405, "rest"],
    ["GET", "/v2/organizations/acme/rate_limits", 404, "rest"],
    ["GET", "/v2/organizations//rate_limit", 404, "rest"],
    ["GET", "/v2/organizations/acme", 401, "other"],
    ["GET", "/v2/organizations/acme", 403, "other"],
    ["GET", "/v2/organizations/acme/nothing", 404, "rest"],
    ["DELETE", "/v2/organizations/acme", 405, "rest"],
    ["POST", "/v1/graphql", 200, "graphql"],
    ["POST", "https://api.example.com/v1/graphql/#x", 429, "graphql"],
    ["POST", "/v1/graphql", 400, "other"],
    ["POST", "/v1/graphql", 413, "other"],
    ["POST", "/v1/graphql", 415, "other"],
    ["GET", "/v1/graphql", 405, "other"],
    ["", "/v1/graphql", 0, "graphql"],
  ])("%s %s answered %i is %s", async (method, path, status, kind) => {
    const { rows } = await read(
      lines("time,user,method,path,status,cost", `1767323045,a,${method},${path},${status},503`),
      { flags: { columns: { method: "method" } } },
    );
    const cost = kind === "graphql" ? 503 : kind === "rest" ? 1 : 0;
    expect(rows.map((row) => [row.kind, row.cost])).toEqual([[kind, cost]]);
  });
});
