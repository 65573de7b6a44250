// Deployments that are audited in this process: right ones and wrong ones, in windows of seconds.
import { experiments } from "../../src/audit/experiments.ts";
import { type Audited, type AuditOptions, audit } from "../../src/audit/run.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { injectFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import type { ServerTls } from "../../src/service/listen.ts";
import { type Serving, serve } from "../../src/service/serve.ts";

/** Lengths of windows, s: of REST, and of GraphQL. */
type Windows = readonly [rest: number, graphql: number];

export const rulesOf = ([rest, graphql]: Windows): RulesInput => ({
  organization: {
    rest: { limit: 200, windowSeconds: rest },
    graphql: { limit: 20_000, windowSeconds: graphql },
  },
  user: { rest: { limit: 50, windowSeconds: rest }, graphql: { limit: 5_000, windowSeconds: graphql } },
});

const users = (organization: string, count: number): Token[] =>
  Array.from({ length: count }, (_, index) => ({
    token: `planted-secret-${organization}-${index}`,
    user: `user-${index}`,
    organization,
    scopes: tokenScopes,
  }));
const longName = "u".repeat(1024);

/** Callers whose names are one with another's once they are joined, cased, normalized or cut off. */
const lookingAlike = [
  ["0", "acme-user"],
  ["USER-0", "acme"],
  ["x/y", "acme"],
  ["y", "acme/x"],
  ["zo\u00eb", "acme"],
  ["zoe\u0308", "acme"],
  [`${longName}1`, "acme"],
  [`${longName}2`, "acme"],
].map(([user = "", organization = ""], index) => ({
  token: `planted-secret-alike-${index}`,
  user,
  organization,
  scopes: tokenScopes,
}));

export const tokens = [...users("acme", 8), ...users("globex", 3), ...lookingAlike];

const callers = tokens.map(({ token, user, organization }) => ({
  token,
  attributes: { organization, user },
}));

/** Starts the reference deployment, with a fault of the catalogue or without. */
export async function deployed(
  fault: string | null,
  windows: Windows = [5, 8],
  tls?: ServerTls,
): Promise<{ readonly serving: Serving; readonly rules: Rules }> {
  const chosen = fault === null ? null : parseFault(fault);
  const rules = parseRules({
    ...rulesOf(windows),
    ...(chosen === null ? {} : { semantics: semanticsFor(chosen.fault) }),
    ...(fault === "unenforced-refuses" ? { organizations: { acme: { rest: { enforced: false } } } } : {}),
  });
  const faulty = chosen === null ? {} : injectFault(chosen, rules, seededRandom(1));
  return { serving: await serve({ rules, tokens, port: 0, tls, ...faulty }), rules };
}

type Options = Partial<
  Pick<AuditOptions, "alone" | "maxMs" | "experiments" | "spend" | "earlier" | "signal" | "tokens" | "tls">
>;

/** Audits a deployment, by rules or by a policy. */
export function audited(url: string, limits: Rules | Policy, options: Options = {}): Promise<Audited> {
  const isPolicy = "quotas" in limits;
  return audit({
    target: parseTarget("target", url),
    policy: isPolicy ? limits : policyOf(limits),
    rules: isPolicy ? null : limits,
    tokens: isPolicy ? policyCallers(limits) : callers,
    experiments,
    alone: true,
    spend: 1,
    maxMs: 60_000,
    timeoutMs: 20_000,
    ...options,
  });
}

export const policyCallers = ({ auth: { attributes } }: Policy) =>
  Array.from({ length: 10 }, (_, index) => ({
    token: `planted-secret-${index}`,
    attributes: Object.fromEntries(
      attributes.map((name, place) => [name, `${name}-${place === 0 ? index : 0}`]),
    ),
  }));

/** Findings of an audit, as `experiment: law`. */
export const found = ({ result }: Audited): string[] =>
  result.rows.flatMap(({ name, broken }) => broken.map(({ law, got }) => `${name}: ${law}, ${got}`));
