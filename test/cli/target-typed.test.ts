// Verbs that call a target on this machine, as they are typed.
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import { TypedIn } from "./typed.ts";

const token: Token = { token: "secret-of-ann", user: "ann", organization: "acme", scopes: tokenScopes };

let here: TypedIn;
beforeAll(async () => {
  here = await TypedIn.of({ "tokens.json": JSON.stringify([token]) });
});
afterAll(() => here.remove());
const ran = (command: string) => here.run(command);

describe("a target on this machine", () => {
  let url = "";
  const app = buildApp({ rules: parseRules({}), tokens: [token], now: Date.now });
  beforeAll(async () => {
    await app.listen({ port: 0, host: "127.0.0.1" });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  });
  afterAll(() => app.close());
  const at = (command: string, more = "") => ran(`${command} --target ${url} --tokens tokens.json${more}`);

  test("shows its status", async () => {
    const { code, said } = await at("status");
    expect([code, said.length, said[0]]).toEqual([0, 5, "acme at TIME"]);
    expect((await at("status", " --json")).json()).toMatchObject({ organization: "acme" });
    const byPolicy = await at("status", " --policy github");
    expect([byPolicy.code, byPolicy.said]).toEqual([3, []]);
  });

  test("is not audited in a dry run, nor without consent", async () => {
    const dry = await at("audit", " --policy default --dry-run --only other-user,cost-as-told");
    expect([dry.code, dry.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "This will call http://HOST as 1 caller, under the policy buildkite:",
          "  1 experiment, about 20 calls; 0 windows used up, never two in a row of one quota",
          "  about 144 ms, at most 5 min; what does not fit is said to be not exercised",
          "  The policy's samples are sent. Other calls of these quotas may be refused meanwhile.",
        ],
      ]
    `);
    const json = await at("audit", " --policy default --dry-run --json");
    expect(Object.keys(json.json())).toEqual(["calls", "windowsEmptied", "ms"]);
    const asked = await at("audit", " --policy default");
    expect([asked.code, asked.aside[0]]).toEqual([
      2,
      "error USAGE nothing was called: nobody is there to say yes",
    ]);
  });
});
