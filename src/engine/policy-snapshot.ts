// The state of a limiter by policy, as plain JSON. A snapshot may come from a file, so that it is read like any input.
import * as v from "valibot";
import type { Policy, Quota } from "../policy/policy.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const values = v.record(v.string(), v.string());

const schema = v.strictObject({
  format: v.literal("spillway-policy-limiter"),
  version: v.literal(1),
  /** Earliest time, ms; earlier ones count as this (POLICY.md §2.1). */
  floorMs: whole,
  /** Values of `enforced` that were set while running. */
  enforced: v.array(v.strictObject({ quota: v.string(), key: values, enforced: v.boolean() })),
  counts: v.array(
    v.strictObject({
      quota: v.string(),
      key: values,
      state: v.strictObject({ endsAt: whole, count: whole, seenMs: whole }),
    }),
  ),
});

export type PolicySnapshot = v.InferOutput<typeof schema>;

/** @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong */
export function parsePolicySnapshot(policy: Policy, input: unknown): PolicySnapshot {
  const parsed = v.safeParse(schema, input);
  const problems = parsed.success
    ? [...misplaced(policy, parsed.output, "enforced"), ...misplaced(policy, parsed.output, "counts")]
    : parsed.issues.map(snapshotProblem);
  if (!parsed.success || problems.length > 0)
    throw new SpillwayError("SNAPSHOT_INVALID", "this snapshot cannot be restored", { problems });
  return parsed.output;
}

/** Returns the mistake in a snapshot's form. */
const snapshotProblem = (issue: v.BaseIssue<unknown>): Problem => ({
  path: issue.path?.map(({ key }) => String(key)).join(".") ?? "snapshot",
  got: quote(issue.input),
  allowed: issue.expected ?? "a safe integer >= 0",
});

/** Returns the entries of unknown quotas, with keys of another form, or that occur twice. */
function misplaced({ quotas }: Policy, snapshot: PolicySnapshot, field: "enforced" | "counts"): Problem[] {
  const seen = new Set<string>();
  return snapshot[field].flatMap(({ quota, key }, index): Problem[] => {
    const path = `${field}.${index}`;
    const { key: own, enforced } = Object.hasOwn(quotas, quota) ? (quotas[quota] as Quota) : {};
    if (own === undefined)
      return [{ path: `${path}.quota`, got: quote(quota), allowed: Object.keys(quotas).join(", ") }];
    if (own.length !== Object.keys(key).length || own.some((attribute) => !Object.hasOwn(key, attribute)))
      return [
        { path: `${path}.key`, got: quote(key), allowed: `an object of ${own.join(", ") || "nothing"}` },
      ];
    if (field === "enforced" && typeof enforced === "object")
      return [{ path: `${path}.quota`, got: quote(quota), allowed: `${enforced.with}, which it follows` }];
    const name = JSON.stringify([quota, ...own.map((attribute) => key[attribute])]);
    const isKnown = seen.has(name);
    seen.add(name);
    return isKnown ? [{ path, got: quote(key), allowed: "each count once" }] : [];
  });
}
