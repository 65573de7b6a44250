// Findings of a probe, word for word, with the calls that it took. `npm test -- test/probe/pinned-*.test.ts -u` writes the
// files of `pinned/` anew; read the difference.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ProbeOptions, ProbeReport } from "../../src/probe/probe.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { probeVirtually, type VirtualOptions } from "./virtual.ts";

/** Long enough to see GraphQL's window end. */
const patient = { allowance: { waitMs: 700_000, calls: 120 } };

export interface Probed {
  readonly rules: RulesInput;
  readonly virtual?: VirtualOptions;
  readonly options?: Partial<ProbeOptions>;
}

const lineOf = ({
  name,
  scope,
  value,
  confidence,
  evidence,
  needs,
}: ProbeReport["findings"][number]): string =>
  `- ${scope ?? "both"} ${name}: ${JSON.stringify(value)} (${confidence}): ${evidence}${needs === undefined ? "" : `; needs ${needs}`}`;

/** @param name name of the world, and of its file in `pinned/` */
export async function expectTold(name: string, { rules, virtual, options = patient }: Probed): Promise<void> {
  const said: string[] = [];
  const onProgress: ProbeOptions["onProgress"] = (progress) => void said.push(JSON.stringify(progress));
  const report = await probeVirtually(rules, virtual, { ...options, onProgress });
  const { findings, used, failed, ended, defaults, startedAt, endedAt, trace } = report;
  const digest = createHash("sha256")
    .update(JSON.stringify([report, said]))
    .digest("hex")
    .slice(0, 12);
  const text = [
    ...findings.map(lineOf),
    `used ${JSON.stringify(used)}, failed ${failed}, ended ${JSON.stringify(ended)}, ms ${endedAt - startedAt}`,
    `defaults ${defaults.join(", ")}; lines of the trace ${trace.length}`,
    `all of it, and what was said meanwhile: ${digest}`,
    "",
  ].join("\n");
  await expect(text).toMatchFileSnapshot(`./pinned/${name.replaceAll(/[^a-zA-Z]+/g, "-")}.md`);
}
