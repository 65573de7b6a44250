// The JSON Schema that editors use says what the parser does. `npm test -- test/policy/json-schema -u` makes it anew.
import { toJsonSchema } from "@valibot/to-json-schema";
import { Ajv, type AnySchema } from "ajv";
import { expect, test } from "vitest";
import { policySchema } from "../../src/policy/schema.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "./policies.ts";

const { properties, required, ...parsed } = toJsonSchema(policySchema, {
  errorMode: "ignore",
  /** The only check of a list's members is that none comes twice. */
  overrideAction: ({ valibotAction, jsonSchema }) =>
    valibotAction.type === "check_items" ? { ...jsonSchema, uniqueItems: true } : undefined,
});
/** Checks by functions of valibot are left out: the parser says them. A `base` is filled in before the parser. */
const made = {
  title: "A policy of spillway: an API's limits as data",
  ...parsed,
  properties: { base: { type: "string", minLength: 1 }, ...properties },
  anyOf: [{ required: ["base"] }, { required }],
};

test("the published schema is the parser's", async () => {
  await expect(`${JSON.stringify(made, null, 2)}\n`).toMatchFileSnapshot(
    "../../src/policy/policy.schema.json",
  );
});

test("what the parser takes, it takes; what has another form, it refuses", () => {
  const takes = new Ajv({ strict: false }).compile(made as AnySchema);
  const buildkite = policyOf(parseRules({}));
  for (const policy of [inference, buildkite]) expect(takes(JSON.parse(JSON.stringify(policy)))).toBe(true);
  expect(takes({ version: 2, base: "github", quotas: {} })).toBe(true);
  expect(takes({ version: 2, name: "mine", quotas: {} })).toBe(false);
  for (const changed of [
    { version: 3 },
    { quotas: { rest: { ...buildkite.quotas["rest"], algorithm: { kind: "leaky" } } } },
    { quotas: { rest: { ...buildkite.quotas["rest"], limits: 5 } } },
    { operations: { rest: { uses: { rest: -1 } } } },
    { overrides: [{ match: {}, quotas: { rest: { limit: 0 } } }] },
    { quotas: { rest: { ...buildkite.quotas["rest"], key: ["user", "user"] } } },
    { operations: { rest: { uses: { rest: 1 }, samples: [{ path: "/", headers: ["x"] }] } } },
  ])
    expect(takes({ ...buildkite, ...changed }), JSON.stringify(changed)).toBe(false);
});
