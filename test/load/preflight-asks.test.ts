// The one status call before a run, as a target sees it, and its errors.
import { expect, test } from "vitest";
import { parseTarget } from "../../src/connect/target.ts";
import { preflight } from "../../src/load/preflight.ts";
import type { Token } from "../../src/rules/tokens.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { fakeTarget } from "./support.ts";

const ann: Token = { token: "t", user: "ann", organization: "acme", scopes: ["read_accounts"] };

test("it is asked by the first token that may read it, or by the first of all; without tokens, not at all", async () => {
  const asked: string[] = [];
  const { url, close } = await fakeTarget(({ method, url: path, headers }, response) => {
    asked.push(`${method} ${path} by ${headers.authorization}`);
    response.writeHead(asked.length > 2 ? 401 : 200).end('{"scopes": {"rest": {}}}');
  });
  const target = parseTarget("target", url);
  const bob: Token = { token: "b", user: "bob", organization: "beta", scopes: [] };
  await preflight(target, [bob, ann]);
  await preflight(target, [bob]);
  await preflight(target, []);
  const path = "/v2/organizations/beta/rate_limit";
  expect(asked).toEqual(["GET /v2/organizations/acme/rate_limit by Bearer t", `GET ${path} by Bearer b`]);
  const unreachable = { code: "TARGET_UNREACHABLE" };
  const allowed = "200 and the status of the organization's limits";
  expect(await codedErrorOf(preflight(target, [bob]))).toMatchObject({
    ...unreachable,
    problems: [{ path: `GET ${url}${path}`, got: "401: the token of bob is not known there", allowed }],
    hint: "is this the tokens file of this target?",
  });
  await close();
  expect(await codedErrorOf(preflight(target, [bob]))).toMatchObject({
    ...unreachable,
    problems: [{ path: `GET ${url}${path}`, got: "connection refused", allowed }],
  });
});
