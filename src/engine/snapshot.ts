// The memory of a limiter, as plain JSON. A snapshot may come from a file, so it is read like any input.
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const name = v.string();
const window = v.strictObject({ resetAtMs: count, current: count, seenMs: count });
const windows = v.strictObject({ rest: window, graphql: window });

const schema = v.strictObject({
  format: v.literal("spillway-limiter"),
  version: v.literal(1),
  /** Earlier times count as this (SPEC.md §2.8). */
  floorMs: count,
  /** `enforced` where it was set while running. */
  enforced: v.array(v.strictObject({ organization: name, rest: v.boolean(), graphql: v.boolean() })),
  organizations: v.array(v.strictObject({ organization: name, windows })),
  users: v.array(v.strictObject({ organization: name, user: name, windows })),
});

export type LimiterSnapshot = v.InferOutput<typeof schema>;

/** @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong */
export function parseSnapshot(input: unknown): LimiterSnapshot {
  const parsed = v.safeParse(schema, input);
  const problems = parsed.success
    ? [...repeated(parsed.output, "organizations"), ...repeated(parsed.output, "users")]
    : parsed.issues.map(snapshotProblem);
  if (!parsed.success || problems.length > 0)
    throw new SpillwayError("SNAPSHOT_INVALID", "this snapshot cannot be restored", { problems });
  return parsed.output;
}

/** Returns what is wrong with a snapshot's form. */
export const snapshotProblem = (issue: v.BaseIssue<unknown>): Problem => ({
  path: issue.path?.map(({ key }) => String(key)).join(".") ?? "snapshot",
  got: quote(issue.input),
  allowed: issue.expected ?? "a safe integer >= 0",
});

function repeated(snapshot: LimiterSnapshot, field: "organizations" | "users"): Problem[] {
  const seen = new Set<string>();
  return snapshot[field].flatMap((entry, index) => {
    const key = JSON.stringify([entry.organization, "user" in entry ? entry.user : null]);
    const known = seen.has(key);
    seen.add(key);
    return known
      ? [{ path: `${field}.${index}`, got: quote(entry.organization), allowed: "each name once" }]
      : [];
  });
}
