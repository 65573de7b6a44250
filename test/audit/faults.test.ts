// The audit against each fault of the catalogue that a network can show: found, and named by the right law. Right
// deployments stand among them, on the same busy processor: nothing is found in them.
// @module-tag real-time
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { audited, deployed, found, standIn } from "./deployment.ts";

/** The laws that name a fault rightly; one of them is enough. */
const laws: Readonly<Record<string, readonly LimiterLawName[]>> = {
  "race-read-then-write": ["bounded", "conserved"],
  "one-short": ["refusal-justified"],
  "one-extra": ["bounded"],
  "cost-ignored": ["conserved", "refusal-justified"],
  "cost-over-limit-admitted": ["refusal-justified"],
  "double-count": ["conserved"],
  "refused-counted": ["conserved", "all-or-nothing"],
  "narrow-drains-broad": ["all-or-nothing"],
  "status-charged": ["status-free"],
  "refusal-names-user": ["refusal-agrees"],
  "unenforced-refuses": ["unenforced-never-refuses"],
  "wrong-user-key": ["isolated"],
  "user-key-from-header": ["isolated"],
  "scopes-mixed": ["isolated"],
  "new-reset-old-count": ["recovers", "conserved"],
  "two-interleaved-windows": ["reset-agrees"],
  "lost-expiry": ["recovers", "conserved"],
  "immortal-by-polling": ["recovers", "conserved"],
  "rearmed-per-hit": ["reset-agrees"],
  "reset-all-sweep": ["monotone"],
  "double-roll": ["monotone", "conserved"],
  "status-opens-window": ["reset-agrees"],
  "windows-back-to-back": ["reset-agrees"],
  "organization-off-grid": ["reset-agrees"],
  "per-instance-counters": ["conserved", "twice-at-most"],
  "stale-replica-read": ["monotone"],
  "skewed-nodes": ["reset-agrees"],
  "limit-changes-mid-window": ["limit-agrees"],
  "reset-in-ms": ["reset-agrees"],
  "reset-epoch": ["reset-agrees"],
  "reset-zero": ["reset-agrees"],
  "reset-negative": ["reset-agrees"],
  "reset-truncated": ["reset-agrees", "honest-wait"],
  "reset-at-drifts": ["reset-agrees"],
  "reset-disagrees": ["reset-agrees"],
  "stale-cached-reset": ["reset-agrees"],
  "status-pristine": ["monotone"],
  "status-shares-user": ["monotone"],
  "headers-missing-on-429": ["headers-present"],
  "headers-missing-on-status": ["headers-present"],
  "headers-doubled": ["headers-present"],
  "wrong-scope-header": ["headers-present"],
  "remaining-of-laxer-window": ["limit-agrees"],
  "scheme-letters-pick-key": ["conserved"],
  "names-collide": ["isolated"],
  "status-refused-when-empty": ["status-free"],
  "headers-missing-on-404": ["headers-present"],
  "refusal-body-disagrees": ["refusal-agrees"],
  "refusal-shows-other-scope": ["headers-present"],
  "rejected-query-charged": ["conserved"],
  "first-calls-lost": ["conserved"],
  "rolls-early": ["reset-agrees", "monotone"],
};

/** A network shows those that the oracle, the checks of a load or the audit must catch, but for two: a count of 2^32, one instant. */
const visible = faults
  .filter(({ nets }) => nets.some((net) => net !== "P"))
  .map(({ name }) => name)
  .filter((name) => name !== "overflow" && name !== "boundary-inclusive");

test("each fault that a network shows has its law here", () => {
  expect(Object.keys(laws).toSorted()).toEqual(visible.toSorted());
});

/** Each has a server of its own, for some fifteen seconds: all of them under the oldest Node, one in eight under others. */
const tried = process.versions.node.startsWith("20.")
  ? visible
  : visible.filter((_, place) => place % 8 === 0);

test.concurrent.each(tried)("%s is found, and named by its law", async (name) => {
  const { serving, rules } = await deployed(name);
  try {
    const made = await audited(serving.url, rules, { maxMs: 40_000 });
    const named = made.result.rows.flatMap(({ broken }) => broken.map(({ law }) => law));
    expect(named, found(made).join("\n")).toEqual(
      expect.arrayContaining([expect.toBeOneOf(laws[name] as string[])]),
    );
  } finally {
    await serving.close();
  }
});

test.concurrent.each([true, false])("nothing is found in the right deployment, alone: %s", async (alone) => {
  const { serving, rules } = await deployed(null);
  try {
    const made = await audited(serving.url, rules, { alone });
    expect(found(made)).toEqual([]);
    const kept = made.result.rows.filter(({ state }) => state === "kept");
    // A busy processor may leave one or the other unexercised, as no TLS and no cached answers do.
    expect(kept.length).toBeGreaterThan(experiments.length - 12);
  } finally {
    await serving.close();
  }
});

test.concurrent("nothing is found in a right stand-in of github", async () => {
  const { policy } = presets["github"] as (typeof presets)[string];
  const shortened = Object.entries(policy.quotas).map(([name, quota]) => {
    const { algorithm } = quota;
    const isMinute = "windowSeconds" in algorithm && algorithm.windowSeconds === 60;
    return [name, isMinute ? { ...quota, algorithm: { ...algorithm, windowSeconds: 5 } } : quota];
  });
  const github = parsePolicy({ ...policy, quotas: Object.fromEntries(shortened) });
  const serving = await standIn(github);
  try {
    const made = await audited(serving.url, github);
    expect(found(made)).toEqual([]);
    const kept = made.result.rows.filter(({ state }) => state === "kept").length;
    expect(kept).toBeGreaterThan(30);
  } finally {
    await serving.close();
  }
});
