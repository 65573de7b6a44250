// Findings of probes, word for word, with the calls that they took: under each value of every switch, under small limits
// and large, of a busy organization, with budgets that run out. `npm test -- test/probe/pinned.test.ts -u` writes the files
// of `pinned/` anew; read the difference.
import { expect, test } from "vitest";
import type { ProbeOptions, ProbeReport } from "../../src/probe/probe.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";
import { probeVirtually, type VirtualOptions } from "./virtual.ts";

/** Long enough to see GraphQL's window end. */
const patient = { allowance: { waitMs: 700_000, calls: 120 } };

interface Probed {
  readonly rules: RulesInput;
  readonly virtual?: VirtualOptions;
  readonly options?: Partial<ProbeOptions>;
}

const small: RulesInput = {
  organization: { rest: { limit: 12, windowSeconds: 10 }, graphql: { limit: 900, windowSeconds: 15 } },
  user: { rest: { limit: 7, windowSeconds: 20 }, graphql: { limit: 300, windowSeconds: 30 } },
};
const unenforced = { rest: { enforced: false }, graphql: { enforced: false } };

const worlds: Readonly<Record<string, Probed>> = {
  defaults: { rules: {} },
  ...Object.fromEntries(
    Object.entries(switchValues).flatMap(([name, values]) =>
      values.map((value) => [`${name} ${String(value)}`, { rules: { semantics: { [name]: value } } }]),
    ),
  ),
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

const lineOf = ({
  name,
  scope,
  value,
  confidence,
  evidence,
  needs,
}: ProbeReport["findings"][number]): string =>
  `- ${scope ?? "both"} ${name}: ${JSON.stringify(value)} (${confidence}): ${evidence}${needs === undefined ? "" : `; needs ${needs}`}`;

test.each(Object.entries(worlds))("%s", async (name, { rules, virtual, options = patient }) => {
  const { findings, used, failed, ended, defaults, startedAt, endedAt, trace } = await probeVirtually(
    rules,
    virtual,
    options,
  );
  const text = [
    ...findings.map(lineOf),
    `used ${JSON.stringify(used)}, failed ${failed}, ended ${JSON.stringify(ended)}, ms ${endedAt - startedAt}`,
    `defaults ${defaults.join(", ")}; lines of the trace ${trace.length}`,
    "",
  ].join("\n");
  await expect(text).toMatchFileSnapshot(`./pinned/${name.replaceAll(/[^a-zA-Z]+/g, "-")}.md`);
});
