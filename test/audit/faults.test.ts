// The audit by a network, in its own time: some faults of the catalogue are found, and nothing is in right deployments,
// on the same busy processor.
// @module-tag long
// @module-tag real-time
// @module-tag paced
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { audited, deployed, found as words } from "./deployment.ts";

/** Laws that name a fault rightly, of which one is enough, and the experiments that go where it shows. */
const named: Readonly<Record<string, readonly [laws: readonly LimiterLawName[], only: string]>> = {
  "race-read-then-write": [["bounded", "conserved"], "calls-at-once last-place-8"],
  "status-charged": [["status-free"], "status-is-free"],
  "scheme-letters-pick-key": [["conserved"], "twin-letter-case-of-scheme"],
  "rearmed-per-hit": [["reset-agrees"], "window-watched"],
  "status-opens-window": [["reset-agrees"], "pause-then-status-then-call"],
  "per-instance-counters": [["conserved", "twice-at-most"], "calls-at-once twin-head"],
  "reset-truncated": [["reset-agrees", "honest-wait"], "reset-of-the-last-second reset-is-kept"],
  "headers-doubled": [["headers-present"], "headers-on-every-answer"],
};

// A race shows by chance, and on a busy processor a window may end before its experiment: two audits, if one finds nothing.
test.concurrent.each(Object.keys(named))("%s is found, and named by its law", { retry: 1 }, async (name) => {
  const [laws, only] = named[name] ?? [[], ""];
  const chosen = only.split(" ").map((each) => experiments.find((one) => one.name === each));
  const { serving, rules } = await deployed(name);
  try {
    const made = await audited(serving.url, rules, {
      experiments: chosen.filter((one) => one !== undefined),
      maxMs: 40_000,
    });
    expect(chosen).not.toContain(undefined);
    const found = made.result.rows.flatMap(({ broken }) => broken.map(({ law }) => law));
    const said = made.result.rows.map((row) => `${row.name} ${row.state} ${row.why ?? ""}`);
    expect(found, [...words(made), ...said].join("\n")).toEqual(
      expect.arrayContaining([expect.toBeOneOf([...laws])]),
    );
  } finally {
    await serving.close();
  }
});

test.concurrent.each([true, false])("nothing is found in the right deployment, alone: %s", async (alone) => {
  const { serving, rules } = await deployed(null);
  try {
    const made = await audited(serving.url, rules, { alone });
    expect(words(made)).toEqual([]);
    const kept = made.result.rows.filter(({ state }) => state === "kept");
    // A busy processor may leave one or the other unexercised, as no TLS and no cached answers do.
    expect(kept.length).toBeGreaterThan(experiments.length - 18);
  } finally {
    await serving.close();
  }
});
