// Verdicts on drawn traces, word for word: right deployments under each value of each switch, and one of each fault, judged
// with rules, without, and by quotas. Names, sentences and lines stand in `pinned/verdicts.md`, with a digest of the whole.
// `npm test -- test/verify/pinned.test.ts -u` writes the file anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { switches, switchNames } from "../../src/rules/switches.ts";
import { judge } from "../../src/verify/judge.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { brokenDeployments } from "./broken.ts";
import { bytesOf, type Fate, type History, numbered, play, type World } from "./history.ts";
import { workload } from "./workload.ts";

const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);

/** So many violations of a verdict are told; the digest knows the others. */
const toldMost = 2;

function told(way: string, verdict: Verdict): string[] {
  const { violations, inferred = [], questions = [] } = verdict;
  return [
    `- ${way}: ${verdict.verdict}, ${digestOf(verdict)}`,
    ...violations
      .slice(0, toldMost)
      .map(
        ({ law, lines, explanation, suspects }) =>
          `  - ${law} ${lines}: ${explanation} ${suspects.slice(0, 2)}`,
      ),
    ...questions.map(({ question, suspects, lines }) => `  - ${lines}: ${question} ${suspects}`),
    ...inferred
      .filter(({ value }) => value !== null)
      .map((one) => `  - ${one.switch} of ${one.scope} is ${one.value}, ${one.lines}: ${one.explanation}`),
  ];
}

async function judged(name: string, { rules }: World, history: History): Promise<string> {
  const { header, lines } = numbered(history);
  const byQuotas = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
  return [
    `## ${name}`,
    // From bytes, calls go the short way, by columns.
    ...told("with rules", await verify(bytesOf({ header: { ...header, rules }, lines }))),
    ...told("without", await judge({ ...header, rules: null }, lines, { callsBetweenClosings: 16 })),
    ...told("by quotas", await judgeQuotas(headerByQuotas(header, rules), byQuotas)),
  ].join("\n");
}

const options = { calls: 90, graphqlCharge: "reserved", showsRules: true } as const;

/** Low limits, so that a minute has refusals. */
const limits: RulesInput = {
  organization: { rest: { limit: 14, windowSeconds: 10 }, graphql: { limit: 150, windowSeconds: 20 } },
  user: { rest: { limit: 8, windowSeconds: 10 }, graphql: { limit: 90, windowSeconds: 20 } },
};

const fates: readonly Fate[] = ["timeout", "timeout-undecided", "bad-gateway", "failed", "lost", "unseen"];

test("right deployments, under every switch, and every fault", async () => {
  const texts: string[] = [];
  const values = switchNames.flatMap((name) => switches[name].values.map((value) => ({ [name]: value })));
  for (const [seed, semantics] of values.entries()) {
    const world = {
      ...workload(seed, { ...options, epochOnly: true }),
      rules: parseRules({ ...limits, semantics }),
    };
    texts.push(
      await judged(`right, ${JSON.stringify(semantics)}`, world, play(world, new Limiter(world.rules))),
    );
  }
  // Clients give up, answers fail, lines are missing, users are unknown, limits are switched off and on.
  for (const [index, fate] of fates.entries()) {
    const drawn = workload(100 + index, { ...options, epochOnly: index % 2 === 0 });
    const world: World = {
      ...{ ...drawn, rules: parseRules({ ...limits, semantics: drawn.rules.semantics }), errorMs: index % 3 },
      flips: index % 2 === 0 ? [] : [{ atMs: 4000, org: "acme", scope: "rest", lookMs: 50 }],
      plans: drawn.plans.map((plan, at) =>
        at % 9 === 4 ? { ...plan, fate, anonymous: at % 2 === 0 } : plan,
      ),
    };
    texts.push(await judged(`right, ${fate}`, world, play(world, new Limiter(world.rules))));
  }
  for (const [seed, { fault, make, change, epochOnly = false }] of brokenDeployments.entries()) {
    const drawn = workload(seed, { ...options, epochOnly });
    const world = { ...drawn, rules: parseRules({ ...limits, semantics: drawn.rules.semantics }) };
    const { header, lines } = play(world, make(world.rules));
    const shown = lines.map(({ line, call }) => ({ line, call: change?.(call) ?? call }));
    texts.push(await judged(fault, world, { header, lines: shown }));
  }
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/verdicts.md");
});
