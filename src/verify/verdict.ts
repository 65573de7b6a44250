// The verdict: what the oracle says of a trace (FORMAT.md, "The verdict").
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import type { LawName } from "../rules/laws.ts";
import { owners } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import { amount, maybe, ms, ofOwner, scope, text, whole } from "../trace/shapes.ts";
import type { QuotaOwner, RulesOwner, Whose } from "../trace/whose.ts";

const law = v.union(
  [v.picklist(["held", "violated"]), v.object({ skipped: text })],
  '"held", "violated" or {"skipped"}',
);
export type LawVerdict = Shape<typeof law>;

/** Counts of what tested a law. */
const evidence = v.object({
  /** Number of readings of a window: one owner's headers in one answer, or one scope of a status body. */
  readings: whole,
  refusals: whole,
  windows: whole,
  /** Number of windows that followed another of the same quota, so that a reset was seen. */
  resets: whole,
});
export type Evidence = Shape<typeof evidence>;

/** Methods by which the counts of windows were judged. */
const methods = v.object({
  /** Number of windows whose charges were put into places, one after the other. */
  places: whole,
  /** Number of windows whose counts were held between what must and what may have been charged. */
  bounds: whole,
  /** Number of judged readings of counts, and of those that could have had one value alone. */
  readings: whole,
  pinned: whole,
});
export type Methods = Shape<typeof methods>;

/** A quota of another name than the four, with the number of answers that named it. */
const otherQuota = v.object({
  scope,
  owner: v.picklist(owners),
  /** Name of the quota; `null` for all names beyond those that are kept. */
  name: v.nullable(text),
  answers: whole,
  /** First line that names it. */
  line: whole,
});
export type OtherQuota = Shape<typeof otherQuota>;

/** A semantics switch that a trace without rules shows. */
const inferred = v.looseObject({
  switch: text,
  scope,
  /** Value of the switch; `null` if the trace does not tell it, or contradicts all values. */
  value: v.nullable(text),
  /** Reason against the other values, in one sentence, and the lines that show it. */
  explanation: text,
  lines: v.array(whole),
});
export interface Inferred extends Shape<v.ObjectSchema<(typeof inferred)["entries"], undefined>> {
  readonly switch: SwitchName;
  /** Values that the trace leaves possible. Absent if it tells one. */
  readonly candidates?: readonly string[];
  /** Value in words. Absent if the trace does not tell it. */
  readonly words?: string;
}

/** A question that a trace cannot settle: is something meant, or a fault? By rules it names a scope, else a quota. */
const question = v.intersect([
  v.union([v.object({ scope }), v.object({ quota: text })]),
  v.object({
    /** The observation, and the question whether it is meant. */
    question: text,
    /** Names of faults that it would be if it is not meant, from the fault catalogue. */
    suspects: v.array(text),
    lines: v.array(whole),
  }),
]);
export type Question = Shape<typeof question>;

const share = v.pipe(amount, v.minValue(0, "a share from 0 to 1"), v.maxValue(1, "a share from 0 to 1"));
/** Amounts by which a window, or a run, is off. */
const amounts = v.object({
  /** Number of admitted calls, and of refused ones. */
  admitted: amount,
  refused: whole,
  /** Points (REST: calls) admitted above the limit, and their share of all admitted points. */
  overAdmitted: amount,
  overAdmission: share,
  /** Number of calls refused although there was room. */
  wronglyRefused: whole,
  /** Age of the oldest reading when it was shown, ms. `null` if none is known to lag. */
  stalenessMs: maybe,
});
export type Amounts = Shape<typeof amounts>;

const window = v.object({ opensAt: ms, endsAt: ms });
/** One quota's window that is off. */
const windowFacts = v.object({ ...amounts.entries, window, limit: amount });
export type WindowAmounts<W extends Whose = Whose> = W & Shape<typeof windowFacts>;

/** One answer of an accused window, for the picture of its places. */
const place = v.object({
  line: whole,
  role: v.picklist(["admitted", "refused", "status", "other"]),
  sent: ms,
  received: ms,
  /** Count before and after the call's charge; equal if it charged nothing. */
  from: amount,
  to: amount,
});
export type CountPlace = Shape<typeof place>;

/** One contradiction between the trace and a law. */
const violation = v.object({
  law: text,
  /** Names of faults that fit, from the fault catalogue, the likeliest first. */
  suspects: v.array(text),
  /** Window, ms since the epoch on the clients' clock; `null` if the law is about one answer alone. */
  window: v.nullable(window),
  /** Number of times that the breach was seen. */
  count: whole,
  /** Line numbers (the header is line 1) of the smallest set that shows it. */
  lines: v.array(whole),
  /** Explanation in one sentence, with the arithmetic. */
  explanation: text,
  /** Answers of the window around the breach, by place, at most 200. Present if the law is about counts. */
  places: v.optional(v.object({ limit: amount, answers: v.array(place) })),
});
export interface ViolationFacts extends Shape<typeof violation> {
  readonly law: LawName;
}
export type Violation<W extends Whose = Whose> = W & ViolationFacts;

/** Members that do not depend on the owner of the windows. */
const common = v.object({
  /** Result. `unknown`: nothing in the trace could be judged. */
  verdict: v.picklist(["ok", "violated", "unknown"], '"ok", "violated" or "unknown"'),
  records: whole,
  windows: whole,
  /** Number of violations in all. Absent if none of them is left out. */
  violationsFound: v.optional(whole),
  methods: v.optional(methods),
  /** Questions that only rules, or the policy, can settle. Absent if there are none. */
  questions: v.optional(v.array(question)),
  /** Quotas of other names that answers named; they are not judged. Absent if there are none. */
  otherQuotas: v.optional(v.array(otherQuota)),
  /** Under a policy: quotas that are not judged, or not wholly, and why. */
  notJudged: v.optional(v.array(v.object({ quota: text, why: text }))),
  /** Findings that the owner accepts (`expect: {overAdmission: "<1%"}`). Absent if there are none. */
  accepted: v.optional(v.array(v.object({ expectation: text, explanation: text }))),
});

/** Schema that reads a verdict back. A verdict of another version may have more laws, or fewer. */
export const verdictSchema = v.nullable(
  v.object({
    ...common.entries,
    laws: v.record(text, law),
    evidence: v.optional(v.record(text, evidence)),
    violations: v.array(ofOwner(violation.entries)),
    inferred: v.optional(v.array(inferred)),
    amounts: v.optional(v.object({ ...amounts.entries, windows: v.array(ofOwner(windowFacts.entries)) })),
  }),
);

export interface Verdict<W extends Whose = Whose> extends Shape<typeof common> {
  readonly laws: Readonly<Record<LawName, LawVerdict>>;
  /** Counts of what tested each law. */
  readonly evidence?: Readonly<Record<LawName, Evidence>>;
  /** Violations, the likeliest first, at most as many as `judge` was asked to keep. */
  readonly violations: readonly Violation<W>[];
  /** Switches that a trace without rules showed. */
  readonly inferred?: readonly Inferred[];
  /** Amounts of all windows together, and of those that are off, the worst first, at most 100. */
  readonly amounts?: Amounts & { readonly windows: readonly WindowAmounts<W>[] };
}

/** Verdict on a trace of version 1, and on one of version 2, by the quotas of its policy. */
export type RulesVerdict = Verdict<RulesOwner>;
export type QuotaVerdict = Verdict<QuotaOwner>;

/** Reason why laws on counts are skipped if no counts are judged. */
export const noCounts = "no quota of this policy has counts that are judged";
