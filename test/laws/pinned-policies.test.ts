// Laws on policies of other APIs, kept by the engine: how many answers a few runs of each law judged, and a digest of the
// whole report. `npm test -- test/laws/pinned-policies.test.ts -u` writes the file of `pinned/` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { quotaEngine } from "../../src/laws/engine-factory.ts";
import { checkQuotaInterleavings } from "../../src/laws/quotas/interleavings.ts";
import { checkQuotaLaws } from "../../src/laws/quotas/kit.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";

async function told(preset: string): Promise<string> {
  const policy = parsePolicy(presets[preset]?.policy);
  const report = await checkQuotaLaws(quotaEngine, policy, { seed: 11, runs: 2 });
  const overlaps = await checkQuotaInterleavings(quotaEngine, policy, { seed: 11, runs: 1 });
  const judged = report.laws.filter(({ outcome }) => outcome === "no-counterexample");
  return [
    `## ${preset}, ${createHash("sha256")
      .update(JSON.stringify([report, overlaps]))
      .digest("hex")
      .slice(0, 12)}`,
    judged.map(({ law, judged: answers }) => `${law} ${answers}`).join(", "),
    `overlapping: ${overlaps.outcome}`,
  ].join("\n");
}

test("few runs of each policy", async () => {
  const texts: string[] = [];
  for (const name of ["buildkite", "github", "anthropic", "discord"]) texts.push(await told(name));
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/policies.md");
});
