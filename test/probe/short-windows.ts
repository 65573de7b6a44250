// A reference deployment over real sockets on loopback whose windows are short: a whole probe takes seconds.
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Serving, serve } from "../../src/service/serve.ts";
import { tellsTime } from "../support/quick-clock.ts";
import { tokenOf } from "./virtual.ts";

export const short: RulesInput = {
  organization: { rest: { limit: 40, windowSeconds: 4 }, graphql: { limit: 400, windowSeconds: 5 } },
  user: { rest: { limit: 15, windowSeconds: 4 }, graphql: { limit: 100, windowSeconds: 5 } },
  semantics: {
    anchor: { graphql: "first-request" },
    reset: { rest: "floor", graphql: "round" },
    refused: { rest: "counted" },
    retryAfter: { graphql: false },
  },
};
export const tokens = [tokenOf("prober"), tokenOf("other")];
export const { token } = tokenOf("prober");

const servings: Serving[] = [];

/** Starts a deployment of these rules. @returns its URL */
export async function serving(rules: RulesInput): Promise<string> {
  const started = await serve({ rules: parseRules(rules), tokens, port: 0, closeWithinMs: 100 });
  tellsTime(started.app.server);
  servings.push(started);
  return started.url;
}

export async function closeServings(): Promise<void> {
  for (const one of servings.splice(0)) await one.close();
}
