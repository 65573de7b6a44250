// Findings of probes, word for word, under small limits and large, with budgets that run out: see told.ts.
import { test } from "vitest";
import type { RulesInput } from "../../src/rules/rules.ts";
import { expectTold, type Probed } from "./told.ts";

const small: RulesInput = {
  organization: { rest: { limit: 12, windowSeconds: 10 }, graphql: { limit: 900, windowSeconds: 15 } },
  user: { rest: { limit: 7, windowSeconds: 20 }, graphql: { limit: 300, windowSeconds: 30 } },
};
const unenforced = { rest: { enforced: false }, graphql: { enforced: false } };

const worlds: Readonly<Record<string, Probed>> = {
  defaults: { rules: {} },
  "small limits": { rules: small },
  "small limits, refused calls counted": { rules: { ...small, semantics: { refused: "counted" } } },
  "signed remaining": { rules: { ...small, semantics: { refused: "counted", remaining: "signed" } } },
  "not enforced": { rules: { organization: unenforced } },
  "not enforced, users are": { rules: { organization: unenforced, semantics: { userEnforced: "always" } } },
  "narrow organization": { rules: { organization: { rest: { limit: 3 }, graphql: { limit: 40 } } } },
  "large limits": { rules: { user: { rest: { limit: 20_000 }, graphql: { limit: 900_000 } } } },
  "few calls allowed": { rules: {}, options: { allowance: { waitMs: 700_000, calls: 9 } } },
  "no time allowed": { rules: {}, options: { allowance: { waitMs: 1_000, calls: 120 } } },
};

test.each(Object.entries(worlds))("%s", expectTold);
