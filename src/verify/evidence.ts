// The evidence of each law (FORMAT.md, `evidence`): counts of what tested it, so that "held" says more than that
// nothing was found.
import { type LawName, lawNames } from "../rules/laws.ts";
import type { Evidence } from "./verdict.ts";

/** Evidence while it is counted. */
export type Tested = { -readonly [Member in keyof Evidence]: Evidence[Member] };

export const nothingTested = (): Tested => ({ readings: 0, refusals: 0, windows: 0, resets: 0 });

export type LawEvidence = Readonly<Record<LawName, Tested>>;

export const lawEvidence = (): LawEvidence =>
  Object.fromEntries(lawNames.map((law) => [law, nothingTested()])) as Record<LawName, Tested>;

/** Tells whether a law was tested at all. */
export const isTested = ({ readings, refusals, windows, resets }: Evidence): boolean =>
  readings + refusals + windows + resets > 0;

export function addWindow(tested: Tested, readings: number, refusals: number, isNext: boolean): void {
  tested.readings += readings;
  tested.refusals += refusals;
  tested.windows += 1;
  if (isNext) tested.resets += 1;
}

export function addAll(tested: Tested, { readings, refusals, windows, resets }: Evidence): void {
  tested.readings += readings;
  tested.refusals += refusals;
  tested.windows += windows;
  tested.resets += resets;
}
