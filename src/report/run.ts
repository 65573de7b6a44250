// A run folder's contents, as data, and the schemas that read it back: a folder may have been edited, cut off,
// or written by another version.
import * as v from "valibot";
import type { Policy } from "../policy/policy.ts";
import { type FigureName, figureNames } from "../rules/figures.ts";
import type { Rules } from "../rules/rules.ts";
import type { Summary } from "../summary/summary.ts";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import { type TraceHeader, traceSources } from "../trace/record.ts";
import type { Verdict } from "../verify/verdict.ts";

/** run.json: what was run, and how to run it again. */
export interface RunRecord {
  readonly format: "spillway-run";
  readonly version: 1;
  readonly driver: "simulator" | "k6" | "node";
  readonly scenario: {
    readonly name: string;
    readonly description: string | null;
    /** Its file as it was named, or `null` for one that came as a value. */
    readonly file: string | null;
  };
  readonly seed: number;
  /** Ms since the epoch, on the clock of the trace: virtual for the simulator. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Time that it was meant to last, ms. */
  readonly durationMs: number;
  /** Origin of the target's URL; `null` for the simulator. */
  readonly target: string | null;
  /** The shell command that repeats it; no token is ever in it. */
  readonly command: string;
  /** `{ spillway, node, k6 }` and whatever else made the run what it was. */
  readonly versions: Readonly<Record<string, string>>;
  /** The rules that the target claims to follow, where they are known. */
  readonly rules: Rules | null;
  /** The policy that it claims to follow, where the trace speaks of the quotas of one. */
  readonly policy?: Policy | undefined;
  /** The scenario's expectations, as written. */
  readonly expect: Readonly<Record<string, string>>;
  /** Lateness at which calls left, ms of the run's clock; only Node's driver measures it. */
  readonly lateness?:
    | {
        readonly calls: number;
        readonly p50Ms: number;
        readonly p99Ms: number;
        readonly maxMs: number;
      }
    | undefined;
  /** Ctrl-C, or an end before its time: what was done until then is kept. */
  readonly interrupted: boolean;
  /** Facts that a reader must know: `the target stopped answering after 12 s`. */
  readonly notes: readonly string[];
}

/** The members of a record that say what its trace claims to follow. */
export const limitsIn = (
  header: Pick<TraceHeader, "version" | "rules"> | Pick<QuotaTraceHeader, "version" | "policy">,
): Pick<RunRecord, "rules" | "policy"> =>
  header.version === 1 ? { rules: header.rules } : { rules: null, policy: header.policy };

/** A run folder, read back. */
export interface Run {
  readonly record: RunRecord;
  readonly summary: Summary;
  /** `null` where the run was not judged. */
  readonly verdict: Verdict | null;
}

/** The files of a run folder. `k6/` holds what k6 left. */
export const runFiles = {
  record: "run.json",
  trace: "trace.ndjson",
  verdict: "verdict.json",
  summary: "summary.json",
  markdown: "summary.md",
  junit: "junit.xml",
  html: "report.html",
} as const;

/** The folder in a run's folder that holds each picture of its page as SVG, and its numbers as CSV. */
export const picturesFolder = "pictures";
/** The folder in a run's folder that holds what k6 left. */
export const k6Folder = "k6";

type FigureEntry = v.GenericSchema<number | null | undefined, number | null>;
type FigureEntries = Record<FigureName, FigureEntry>;

const text = v.string("text");
const whole = v.pipe(v.number("a whole number"), v.safeInteger("a whole number"));
const ms = v.pipe(
  v.number("milliseconds since the epoch"),
  // The span that a Date can have.
  v.check((value) => Math.abs(value) <= 8.64e15, "milliseconds since the epoch"),
);
const amount = v.number("a number");

export const recordSchema = v.object({
  format: v.literal("spillway-run", '"spillway-run"'),
  version: v.literal(1, "1, the version that this spillway reads"),
  driver: v.picklist(["simulator", "k6", "node"], '"simulator", "k6" or "node"'),
  scenario: v.object({ name: text, description: v.nullable(text), file: v.nullable(text) }),
  seed: whole,
  startedAt: ms,
  endedAt: ms,
  durationMs: v.pipe(amount, v.minValue(0, "milliseconds")),
  target: v.nullable(text),
  command: text,
  versions: v.record(text, text),
  // Checked by `parseRules`.
  rules: v.nullable(v.record(text, v.unknown(), "rules or null")),
  // Checked by `parsePolicy`.
  policy: v.optional(v.record(text, v.unknown(), "a policy")),
  expect: v.record(text, text),
  lateness: v.optional(v.object({ calls: whole, p50Ms: amount, p99Ms: amount, maxMs: amount })),
  interrupted: v.boolean("true or false"),
  notes: v.array(text),
});

/** Figures that runs kept by earlier versions lack. */
const laterFigures: readonly FigureName[] = ["finishedMs", "windowsExhausted", "refusedFirstSecondShare"];
const entryOf = (name: FigureName): FigureEntry =>
  laterFigures.includes(name) ? v.optional(v.nullable(amount), null) : v.nullable(amount);
const figures = v.object(
  Object.fromEntries(figureNames.map((name) => [name, entryOf(name)])) as FigureEntries,
);
const scope = v.picklist(["rest", "graphql"], '"rest" or "graphql"');
const rulesOwner = { org: text, user: v.nullable(text), scope };
const quotaOwner = { quota: text, key: v.record(text, text) };

/** Words on a window, by organization, user and scope, or by a policy's quota. */
const ofOwner = <E extends v.ObjectEntries>(entries: E) =>
  v.union([v.object({ ...rulesOwner, ...entries }), v.object({ ...quotaOwner, ...entries })]);

export const summarySchema = v.object({
  format: v.literal("spillway-summary", '"spillway-summary"'),
  version: v.literal(1, "1, the version that this spillway reads"),
  source: v.picklist(traceSources),
  scenario: v.nullable(text),
  seed: v.nullable(whole),
  startedAt: ms,
  endedAt: ms,
  records: whole,
  figures,
  populations: v.array(v.object({ name: text, clients: whole, figures, waitsMs: v.array(amount) })),
  users: v.array(v.object({ org: text, user: text, figures })),
  usersSeen: whole,
  refusedBy: v.optional(v.record(text, whole)),
  windows: v.array(
    ofOwner({
      opensAt: ms,
      endsAt: ms,
      limit: v.nullable(whole),
      highest: v.nullable(amount),
      admitted: whole,
      refused: whole,
    }),
  ),
  windowsSeen: whole,
  levels: v.optional(
    v.array(
      v.object({
        ...quotaOwner,
        limit: v.nullable(whole),
        highest: v.nullable(amount),
        admitted: whole,
        refused: whole,
      }),
    ),
  ),
});

const windowEnds = v.object({ opensAt: ms, endsAt: ms });
const share = v.pipe(amount, v.minValue(0, "a share from 0 to 1"), v.maxValue(1, "a share from 0 to 1"));
const amounts = v.object({
  admitted: amount,
  refused: whole,
  overAdmitted: amount,
  overAdmission: share,
  wronglyRefused: whole,
  stalenessMs: v.nullable(amount),
});
const place = v.object({
  line: whole,
  role: v.picklist(["admitted", "refused", "status", "other"]),
  sent: ms,
  received: ms,
  from: amount,
  to: amount,
});

export const verdictSchema = v.nullable(
  v.object({
    verdict: v.picklist(["ok", "violated", "unknown"], '"ok", "violated" or "unknown"'),
    records: whole,
    windows: whole,
    laws: v.record(
      text,
      v.union(
        [v.picklist(["held", "violated"]), v.object({ skipped: text })],
        '"held", "violated" or {"skipped"}',
      ),
    ),
    evidence: v.optional(
      v.record(text, v.object({ readings: whole, refusals: whole, windows: whole, resets: whole })),
    ),
    violations: v.array(
      ofOwner({
        law: text,
        suspects: v.array(text),
        window: v.nullable(windowEnds),
        count: whole,
        lines: v.array(whole),
        explanation: text,
        places: v.optional(v.object({ limit: amount, answers: v.array(place) })),
      }),
    ),
    violationsFound: v.optional(whole),
    methods: v.optional(v.object({ places: whole, bounds: whole, readings: whole, pinned: whole })),
    inferred: v.optional(
      v.array(
        v.looseObject({
          switch: text,
          scope,
          value: v.nullable(text),
          explanation: text,
          lines: v.array(whole),
        }),
      ),
    ),
    amounts: v.optional(
      v.object({
        ...amounts.entries,
        windows: v.array(ofOwner({ ...amounts.entries, window: windowEnds, limit: amount })),
      }),
    ),
    questions: v.optional(
      v.array(
        v.intersect([
          v.union([v.object({ scope }), v.object({ quota: text })]),
          v.object({ question: text, suspects: v.array(text), lines: v.array(whole) }),
        ]),
      ),
    ),
    otherQuotas: v.optional(
      v.array(
        v.object({
          scope,
          owner: v.picklist(["organization", "user"]),
          name: v.nullable(text),
          answers: whole,
          line: whole,
        }),
      ),
    ),
    notJudged: v.optional(v.array(v.object({ quota: text, why: text }))),
    accepted: v.optional(v.array(v.object({ expectation: text, explanation: text }))),
  }),
);
