// The verdict: what the oracle says of a trace (FORMAT.md, "The verdict").
import type { LawName } from "../rules/laws.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import type { QuotaOwner, RulesOwner, Whose } from "../trace/whose.ts";

/** A law of the verdict. */
export type LawVerdict = "held" | "violated" | { readonly skipped: string };

/** On how much a law rests: what it was tested by. */
export interface Evidence {
  /** Readings of a window: one owner's headers in one answer, or one scope of a status body. */
  readonly readings: number;
  /** Refusals among the answers. */
  readonly refusals: number;
  readonly windows: number;
  /** Those of the windows that followed another of the same quota: a reset was seen. */
  readonly resets: number;
}

/** Methods by which the counts of windows were judged. */
export interface Methods {
  /** Windows whose charges were put into places, one after the other. */
  readonly places: number;
  /** Windows whose counts were held between what must and what may have been charged. */
  readonly bounds: number;
  /** Readings of counts that were judged, and those of them that could have had one value alone. */
  readonly readings: number;
  readonly pinned: number;
}

/** Number of answers that named one quota that is none of the four. */
export interface OtherQuota {
  readonly scope: Scope;
  readonly owner: Owner;
  /** `null` for all names beyond those that are kept. */
  readonly name: string | null;
  readonly answers: number;
  /** The first line that names it. */
  readonly line: number;
}

/** A semantics switch that a trace without rules shows. */
export interface Inferred {
  readonly switch: SwitchName;
  readonly scope: Scope;
  /** `null` where the trace does not tell, or contradicts all of them. */
  readonly value: string | null;
  /** The values that the trace leaves, where it does not tell. */
  readonly candidates?: readonly string[];
  /** The value in words; left out where it is not told. */
  readonly words?: string;
  /** Reason against the other values, in one sentence, and the lines that show it. */
  readonly explanation: string;
  readonly lines: readonly number[];
}

/** Question that a trace cannot settle: it may be meant, or a fault. Rules are asked by scope, a policy by quota. */
export type Question = ({ readonly scope: Scope } | { readonly quota: string }) & QuestionFacts;

interface QuestionFacts {
  /** The observation, with the question if it is meant. */
  readonly question: string;
  /** Names from the fault catalogue that it would be, if it is not meant. */
  readonly suspects: readonly string[];
  /** Lines that show it. */
  readonly lines: readonly number[];
}

/** Amounts by which a window, or a run, is off. */
export interface Amounts {
  /** Calls that were let through, and refused. */
  readonly admitted: number;
  readonly refused: number;
  /** Points (REST: calls) that were admitted above the limit, and their share of all that was admitted. */
  readonly overAdmitted: number;
  readonly overAdmission: number;
  /** Calls that were refused although there was room. */
  readonly wronglyRefused: number;
  /** Age of the oldest reading when it was shown, ms. `null` if none is known to lag. */
  readonly stalenessMs: number | null;
}

/** One quota's window that is off. */
export type WindowAmounts<W extends Whose = Whose> = W & WindowAmountsFacts;

interface WindowAmountsFacts extends Amounts {
  readonly window: { readonly opensAt: number; readonly endsAt: number };
  readonly limit: number;
}

/** One answer of an accused window, for the picture of its places. */
export interface CountPlace {
  readonly line: number;
  readonly role: "admitted" | "refused" | "status" | "other";
  readonly sent: number;
  readonly received: number;
  /** The count before and after its charge; equal for what only reads. */
  readonly from: number;
  readonly to: number;
}

/** One contradiction between the trace and a law. */
export type Violation<W extends Whose = Whose> = W & ViolationFacts;

export interface ViolationFacts {
  readonly law: LawName;
  /** Names from the fault catalogue that fit, the likeliest first. */
  readonly suspects: readonly string[];
  /** The window, ms since the epoch on the clients' clock; `null` where the law is about one answer alone. */
  readonly window: { readonly opensAt: number; readonly endsAt: number } | null;
  /** Number of times that it was seen. */
  readonly count: number;
  /** Line numbers, from 1 = the header, of the smallest set that shows it. */
  readonly lines: readonly number[];
  /** One sentence with the arithmetic. */
  readonly explanation: string;
  /** The answers of that window around the breach, by place, at most 200; where the law is about its counts. */
  readonly places?: { readonly limit: number; readonly answers: readonly CountPlace[] } | undefined;
}

export interface Verdict<W extends Whose = Whose> {
  /** `unknown`: nothing in the trace could be judged. */
  readonly verdict: "ok" | "violated" | "unknown";
  readonly records: number;
  readonly windows: number;
  readonly laws: Readonly<Record<LawName, LawVerdict>>;
  /** On how much each law rests. */
  readonly evidence?: Readonly<Record<LawName, Evidence>>;
  /** The likeliest first, at most so many as `judge` was asked to keep. */
  readonly violations: readonly Violation<W>[];
  /** Number of violations in all. Absent if none of them is left out. */
  readonly violationsFound?: number;
  readonly methods?: Methods;
  /** Switches that a trace without rules showed. */
  readonly inferred?: readonly Inferred[];
  /** Questions that only rules, or the policy, can settle. Absent if there are none. */
  readonly questions?: readonly Question[];
  /** Of all windows together, and of those that are off, the worst first, at most 100. */
  readonly amounts?: Amounts & { readonly windows: readonly WindowAmounts<W>[] };
  /** Quotas of other names, where answers spoke of any: they are not judged. */
  readonly otherQuotas?: readonly OtherQuota[];
  /** Under a policy: quotas of which nothing is judged, or not all, and why. */
  readonly notJudged?: readonly { readonly quota: string; readonly why: string }[];
  /** Findings that its owner accepts (`expect: {overAdmission: "<1%"}`). Absent if there are none. */
  readonly accepted?: readonly { readonly expectation: string; readonly explanation: string }[];
}

/** Verdict on a trace of version 1, and one on a trace of version 2, by the quotas of its policy. */
export type RulesVerdict = Verdict<RulesOwner>;
export type QuotaVerdict = Verdict<QuotaOwner>;

/** The reason of laws on counts where none is judged. */
export const noCounts = "no quota of this policy has counts that are judged";
