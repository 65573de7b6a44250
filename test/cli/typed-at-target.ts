// Commands as they are typed, at a deployment of the default rules that one user may call.
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import { TypedIn } from "./typed.ts";

const token: Token = { token: "secret-of-ann", user: "ann", organization: "acme", scopes: tokenScopes };

/** Starts a deployment for the tests around it. @returns what types `COMMAND --target URL --tokens FILE` and more words */
export function typedAtTarget(): (command: string, more?: string) => ReturnType<TypedIn["run"]> {
  let here: TypedIn;
  let url = "";
  const app = buildApp({ rules: parseRules({}), tokens: [token], now: Date.now });
  beforeAll(async () => {
    here = await TypedIn.of({ "tokens.json": JSON.stringify([token]) });
    await app.listen({ port: 0, host: "127.0.0.1" });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await app.close();
    await here.remove();
  });
  return (command, more = "") => here.run(`${command} --target ${url} --tokens tokens.json${more}`);
}
