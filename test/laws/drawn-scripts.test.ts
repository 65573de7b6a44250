// A seed draws the scripts that it drew before: who kept a `--seed` finds the same counterexample. The first script of each
// kind of limiter in words, and a digest of many. `npm test -- test/laws/drawn-scripts.test.ts -u` writes the file of
// `pinned/` anew; so does a new version of fast-check.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type LimiterSubject, scriptArbitrary, usualProfile } from "../../src/laws/arbitraries.ts";
import { quotaEngine } from "../../src/laws/engine-factory.ts";
import { quotaScripts } from "../../src/laws/quotas/drawn.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "../policy/policies.ts";
import { digestOf } from "../support/digest.ts";

const startMs = Date.UTC(2026, 0, 1);

const subjects: Readonly<Record<string, Omit<LimiterSubject, "startMs">>> = {
  "any rules": {},
  "given rules": { rules: parseRules({ users: { "acme/u1": { rest: { limit: 4 } } } }) },
  "by key": { keyed: true, opensToMs: 1, algorithm: "token-bucket", scopes: ["rest"] },
  "windows that end late": { endsLate: true, semantics: { anchor: ["first-request"] } } as Omit<
    LimiterSubject,
    "startMs"
  >,
};

/** Every kind of operation comes often. */
const profile = { ...usualProfile, status: 8, enforce: 6, sweep: 6, snapshot: 6, back: 12, edge: 20 };

function told(name: string, scripts: readonly { readonly ops: readonly object[] }[]): string {
  const digest = digestOf(scripts);
  const first = scripts.find(({ ops }) => ops.length > 5)?.ops ?? [];
  return [`## ${name}: ${digest}`, ...first.map((op) => JSON.stringify(op))].join("\n");
}

test("of one seed are the same", async () => {
  const by = { seed: 7, numRuns: 60 };
  const texts = Object.entries(subjects).map(([name, subject]) =>
    told(name, fc.sample(scriptArbitrary({ ...subject, startMs }, profile), by)),
  );
  const policy = parsePolicy(inference);
  for (const limits of ["any", "given"] as const)
    texts.push(
      told(
        `a policy, ${limits} limits`,
        fc.sample(quotaScripts(policy, { ...quotaEngine, limits }, profile, startMs), by),
      ),
    );
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/drawn-scripts.md");
});

test("by a policy ask for nothing alone only of what is used: whether that opens a window is left open", () => {
  const policy = parsePolicy({
    version: 2,
    name: "tokens",
    quotas: {
      tokens: { algorithm: { kind: "fixed-window", limit: 4, windowSeconds: 10 }, key: ["account"] },
    },
    operations: { infer: { uses: { tokens: "declared" } } },
    routes: [{ path: "/**", operation: "infer" }],
    auth: { attributes: ["account"] },
    wire: { revision: "1", readings: [] },
  });
  const scripts = fc.sample(quotaScripts(policy, quotaEngine, profile, startMs), { seed: 7, numRuns: 300 });
  const calls = scripts.map(({ ops }) => ops.filter(({ do: kind }) => kind === "call"));
  expect(calls.flat().some((op) => "cost" in op && op.cost === 0)).toBe(true);
  expect(calls.filter(([first]) => first !== undefined && "cost" in first && first.cost === 0)).toEqual([]);
});
