// Verdicts on drawn traces, word for word, judged with rules, without, and by quotas. Names, sentences and lines stand in
// `pinned/`, with a digest of the whole. `npm test -- test/verify/verdicts-*.test.ts -u` writes the files anew; read the
// difference.
import { expect } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { judge } from "../../src/verify/judge.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { digestOf } from "../support/digest.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { brokenDeployments } from "./broken.ts";
import { bytesOf, type History, numbered, play, type World } from "./history.ts";
import { workload } from "./workload.ts";

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

export async function judged(name: string, { rules }: World, history: History): Promise<string> {
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

export const options = { calls: 90, graphqlCharge: "reserved", showsRules: true } as const;

/** Low limits, so that a minute has refusals. */
export const limits: RulesInput = {
  organization: { rest: { limit: 14, windowSeconds: 10 }, graphql: { limit: 150, windowSeconds: 20 } },
  user: { rest: { limit: 8, windowSeconds: 10 }, graphql: { limit: 90, windowSeconds: 20 } },
};

/** @param name name of the file in `pinned/` */
export const expectTold = (name: string, texts: readonly string[]): Promise<void> =>
  expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot(`./pinned/${name}.md`);

/** Judges broken deployments, from one of the catalogue to another, exclusive. */
export async function judgedFaults(from: number, to: number): Promise<string[]> {
  const texts: string[] = [];
  for (const [seed, { fault, make, change, epochOnly = false }] of brokenDeployments.entries()) {
    if (seed < from || seed >= to) continue;
    const drawn = workload(seed, { ...options, epochOnly });
    const world = { ...drawn, rules: parseRules({ ...limits, semantics: drawn.rules.semantics }) };
    const { header, lines } = play(world, make(world.rules));
    const shown = lines.map(({ line, call }) => ({ line, call: change?.(call) ?? call }));
    texts.push(await judged(fault, world, { header, lines: shown }));
  }
  return texts;
}

/** Place of the first fault that is in what answers show, not in counts. */
export const firstShown = brokenDeployments.findIndex(({ fault }) => fault === "headers-missing-on-429");
