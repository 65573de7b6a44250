// A run folder's contents, as data, and the schemas that read it back. A folder may have been edited, cut off, or
// written by another version.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import type { Policy } from "../policy/policy.ts";
import type { Rules } from "../rules/rules.ts";
import type { Summary } from "../summary/summary.ts";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceHeader } from "../trace/record.ts";
import { amount, ms, text, version, whole, yes } from "../trace/shapes.ts";
import type { Verdict } from "../verify/verdict.ts";

/** run.json: what was run, and how to run it again. */
export const recordSchema = v.object({
  format: v.literal("spillway-run", '"spillway-run"'),
  version,
  driver: v.picklist(["simulator", "k6", "node"], '"simulator", "k6" or "node"'),
  /** Scenario. `file` is its path as it was named, or `null` if the scenario was given as a value. */
  scenario: v.object({ name: text, description: v.nullable(text), file: v.nullable(text) }),
  seed: whole,
  /** Start on the clock of the trace, which is virtual for the simulator. */
  startedAt: ms,
  endedAt: ms,
  /** Planned length, ms. */
  durationMs: v.pipe(amount, v.minValue(0, "milliseconds")),
  /** Origin of the target's URL; `null` for the simulator. */
  target: v.nullable(text),
  /** Shell command that repeats the run. It never holds a token. */
  command: text,
  /** `{ spillway, node, k6 }`, and other versions that shaped the run. */
  versions: v.record(text, text),
  /** Rules that the target claims to follow, if known. Checked by `parseRules`. */
  rules: v.nullable(v.record(text, v.unknown(), "rules or null")),
  /** Policy that the target claims to follow, if the trace is about its quotas. Checked by `parsePolicy`. */
  policy: v.optional(v.record(text, v.unknown(), "a policy")),
  /** Expectations of the scenario, as written. */
  expect: v.record(text, text),
  /** Laws by which a limiter of somebody else's is judged. Absent: all. Another version may know more laws. */
  claims: v.optional(v.array(text)),
  /** Lateness at which calls left, ms of the run's clock. Only Node's driver measures it. */
  lateness: v.optional(v.object({ calls: whole, p50Ms: amount, p99Ms: amount, maxMs: amount })),
  /** True after Ctrl-C or another early end. The results until then are kept. */
  interrupted: yes,
  /** Facts that a reader must know: `the target stopped answering after 12 s`. */
  notes: v.array(text),
});

export interface RunRecord extends Omit<Shape<typeof recordSchema>, "rules" | "policy"> {
  readonly rules: Rules | null;
  readonly policy?: Policy | undefined;
}

/** Returns the members of a record that say what its trace claims to follow. */
export const limitsIn = (
  header: Pick<TraceHeader, "version" | "rules"> | Pick<QuotaTraceHeader, "version" | "policy">,
): Pick<RunRecord, "rules" | "policy"> =>
  header.version === 1 ? { rules: header.rules } : { rules: null, policy: header.policy };

export interface Run {
  readonly record: RunRecord;
  readonly summary: Summary;
  /** `null` if the run was not judged. */
  readonly verdict: Verdict | null;
}

/** Files of a run folder. `k6/` holds k6's own files. */
export const runFiles = {
  record: "run.json",
  trace: "trace.ndjson",
  verdict: "verdict.json",
  summary: "summary.json",
  markdown: "summary.md",
  junit: "junit.xml",
  html: "report.html",
} as const;

/** Folder in a run's folder that holds each picture of its page as SVG, and its numbers as CSV. */
export const picturesFolder = "pictures";
/** Folder in a run's folder that holds k6's own files. */
export const k6Folder = "k6";
