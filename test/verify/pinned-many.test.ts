// Verdicts on many drawn traces, a line each, with a digest: of small worlds in which one thing is changed, and of drawn
// policies, kept to and not. What the few of `drawn.test.ts` do not meet shows here.
// `npm run test:long -- test/verify/pinned-many.test.ts -u` writes `pinned/many*.md` anew; read the difference.
// @module-tag long
import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { policies, populations, surroundings, traceOf } from "../sim/drawn-policies.ts";
import { digestOf } from "../support/digest.ts";
import { byAnswers, byQuotas, claims, drawnTraces, forms } from "./drawn-changes.ts";

test("one change each", async () => {
  const drawn = drawnTraces(60, 12, 10);
  const lines = [...(await byAnswers(drawn)), ...(await byQuotas(drawn))];
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/many.md");
});

test("drawn policies, kept to and not", async () => {
  const worlds = fc.sample(
    fc.record({ policy: policies, clients: populations, seed: fc.nat(), around: surroundings }),
    { numRuns: 300, seed: 13 },
  );
  const [ways, beliefs] = [Object.entries(forms), Object.entries(claims)];
  const rows: string[] = [];
  for (const [at, { policy, clients, seed, around }] of worlds.entries()) {
    const { header, lines } = traceOf(policy, { seed, populations: clients, ...around });
    const [form, change] = ways[at % ways.length] as (typeof ways)[0];
    const [claim, believe] = beliefs[at % beliefs.length] as (typeof beliefs)[0];
    const changed = lines.map(({ line, call }) => ({ line, call: change(call, line) }));
    const verdicts = [
      await judgeQuotas(header, lines),
      await judgeQuotas(header, changed, { callsBetweenClosings: 8 }),
      await judgeQuotas({ ...header, policy: believe(header.policy) }, lines),
    ];
    const broken = verdicts.map(({ violations }) => [...new Set(violations.map(({ law }) => law))].join(" "));
    const digest = digestOf(verdicts);
    rows.push(
      `${at}: ${lines.length} calls; ${broken[0] || "ok"}; ${form}: ${broken[1] || "ok"}; ${claim}: ${broken[2] || "ok"}; ${digest}`,
    );
  }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot("./pinned/many-policies.md");
});
