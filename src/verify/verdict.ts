// The verdict: what the oracle says of a trace (FORMAT.md, "The verdict").
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import type { LawName } from "../rules/laws.ts";
import { owners } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import { amount, maybe, ms, ofOwner, scope, text, whole } from "../trace/shapes.ts";
import type { QuotaOwner, RulesOwner, Whose } from "../trace/whose.ts";

/** A law of the verdict. */
const law = v.union(
  [v.picklist(["held", "violated"]), v.object({ skipped: text })],
  '"held", "violated" or {"skipped"}',
);
export type LawVerdict = Shape<typeof law>;

/** On how much a law rests: what it was tested by. */
const evidence = v.object({
  /** Readings of a window: one owner's headers in one answer, or one scope of a status body. */
  readings: whole,
  /** Refusals among the answers. */
  refusals: whole,
  windows: whole,
  /** Those of the windows that followed another of the same quota: a reset was seen. */
  resets: whole,
});
export type Evidence = Shape<typeof evidence>;

/** Methods by which the counts of windows were judged. */
const methods = v.object({
  /** Windows whose charges were put into places, one after the other. */
  places: whole,
  /** Windows whose counts were held between what must and what may have been charged. */
  bounds: whole,
  /** Readings of counts that were judged, and those of them that could have had one value alone. */
  readings: whole,
  pinned: whole,
});
export type Methods = Shape<typeof methods>;

/** Number of answers that named one quota that is none of the four. */
const otherQuota = v.object({
  scope,
  owner: v.picklist(owners),
  /** `null` for all names beyond those that are kept. */
  name: v.nullable(text),
  answers: whole,
  /** The first line that names it. */
  line: whole,
});
export type OtherQuota = Shape<typeof otherQuota>;

/** A semantics switch that a trace without rules shows. */
const inferred = v.looseObject({
  switch: text,
  scope,
  /** `null` where the trace does not tell, or contradicts all of them. */
  value: v.nullable(text),
  /** Reason against the other values, in one sentence, and the lines that show it. */
  explanation: text,
  lines: v.array(whole),
});
export interface Inferred extends Shape<v.ObjectSchema<(typeof inferred)["entries"], undefined>> {
  readonly switch: SwitchName;
  /** The values that the trace leaves, where it does not tell. */
  readonly candidates?: readonly string[];
  /** The value in words; left out where it is not told. */
  readonly words?: string;
}

/** Question that a trace cannot settle: it may be meant, or a fault. Rules are asked by scope, a policy by quota. */
const question = v.intersect([
  v.union([v.object({ scope }), v.object({ quota: text })]),
  v.object({
    /** The observation, with the question if it is meant. */
    question: text,
    /** Names from the fault catalogue that it would be, if it is not meant. */
    suspects: v.array(text),
    /** Lines that show it. */
    lines: v.array(whole),
  }),
]);
export type Question = Shape<typeof question>;

const share = v.pipe(amount, v.minValue(0, "a share from 0 to 1"), v.maxValue(1, "a share from 0 to 1"));
/** Amounts by which a window, or a run, is off. */
const amounts = v.object({
  /** Calls that were let through, and refused. */
  admitted: amount,
  refused: whole,
  /** Points (REST: calls) that were admitted above the limit, and their share of all that was admitted. */
  overAdmitted: amount,
  overAdmission: share,
  /** Calls that were refused although there was room. */
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
  /** The count before and after its charge; equal for what only reads. */
  from: amount,
  to: amount,
});
export type CountPlace = Shape<typeof place>;

/** One contradiction between the trace and a law. */
const violation = v.object({
  law: text,
  /** Names from the fault catalogue that fit, the likeliest first. */
  suspects: v.array(text),
  /** The window, on the clients' clock; `null` where the law is about one answer alone. */
  window: v.nullable(window),
  /** Number of times that it was seen. */
  count: whole,
  /** Line numbers, from 1 = the header, of the smallest set that shows it. */
  lines: v.array(whole),
  /** One sentence with the arithmetic. */
  explanation: text,
  /** The answers of that window around the breach, by place, at most 200; where the law is about its counts. */
  places: v.optional(v.object({ limit: amount, answers: v.array(place) })),
});
export interface ViolationFacts extends Shape<typeof violation> {
  readonly law: LawName;
}
export type Violation<W extends Whose = Whose> = W & ViolationFacts;

/** Members that are the same whoever owns the windows. */
const common = v.object({
  /** `unknown`: nothing in the trace could be judged. */
  verdict: v.picklist(["ok", "violated", "unknown"], '"ok", "violated" or "unknown"'),
  records: whole,
  windows: whole,
  /** Number of violations in all. Absent if none of them is left out. */
  violationsFound: v.optional(whole),
  methods: v.optional(methods),
  /** Questions that only rules, or the policy, can settle. Absent if there are none. */
  questions: v.optional(v.array(question)),
  /** Quotas of other names, where answers spoke of any: they are not judged. */
  otherQuotas: v.optional(v.array(otherQuota)),
  /** Under a policy: quotas of which nothing is judged, or not all, and why. */
  notJudged: v.optional(v.array(v.object({ quota: text, why: text }))),
  /** Findings that its owner accepts (`expect: {overAdmission: "<1%"}`). Absent if there are none. */
  accepted: v.optional(v.array(v.object({ expectation: text, explanation: text }))),
});

/** Reads a verdict back: another version may know more laws, or fewer. */
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
  /** On how much each law rests. */
  readonly evidence?: Readonly<Record<LawName, Evidence>>;
  /** The likeliest first, at most so many as `judge` was asked to keep. */
  readonly violations: readonly Violation<W>[];
  /** Switches that a trace without rules showed. */
  readonly inferred?: readonly Inferred[];
  /** Of all windows together, and of those that are off, the worst first, at most 100. */
  readonly amounts?: Amounts & { readonly windows: readonly WindowAmounts<W>[] };
}

/** Verdict on a trace of version 1, and one on a trace of version 2, by the quotas of its policy. */
export type RulesVerdict = Verdict<RulesOwner>;
export type QuotaVerdict = Verdict<QuotaOwner>;

/** The reason of laws on counts where none is judged. */
export const noCounts = "no quota of this policy has counts that are judged";
