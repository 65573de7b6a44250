// Numbers as people read them, the same on every machine: no locale, no time zone.

import { duration } from "../rules/duration.ts";
import { type FigureName, type FigureReference, figureNames, unitOf } from "../rules/figures.ts";
import { shortName } from "../rules/printable.ts";
import { count } from "../rules/words.ts";
import type { Figures } from "../summary/summary.ts";

/** Returns `5.9%`. A share near 0 or 1 is not rounded to 0% or 100%. */
export function share(value: number): string {
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent < 100 && percent > 99.9) return ">99.9%";
  return `${Math.round(percent * 10) / 10}%`;
}

/** Returns `2026-01-01 00:00:05 UTC`, with milliseconds if there are any. */
export function instant(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23).replace(/\.000$/, "")} UTC`;
}

/** Returns a note as a sentence. Its first word may be a name, whose letters stay as they are. */
export const noteWords = (note: string): string => `Note: ${note}${/[.!?]$/.test(note) ? "" : "."}`;

/** Returns `acme/agent-17`, or `acme` if the user is `null`. */
export const ownerName = (org: string, user: string | null): string =>
  user === null ? shortName(org) : `${shortName(org)}/${shortName(user)}`;

/** Figures that are told even if they are 0: a reader asks for them. */
const askedFor: readonly FigureName[] = ["calls", "admitted", "refused"];

/** Returns the figures that a table of one or two runs tells. */
export const figuresTold = (ours: Figures, theirs: Figures | null): readonly FigureName[] =>
  figureNames.filter((name) => askedFor.includes(name) || Boolean(ours[name]) || Boolean(theirs?.[name]));

/** Returns a figure in its unit; `–` if there was nothing to measure. */
export function figureText(name: FigureReference["name"], value: number | null): string {
  if (value === null) return "–";
  if (name === "fairness") return String(Math.round(value * 1000) / 1000);
  const unit = unitOf(name);
  return unit === "share" ? share(value) : unit === "ms" ? duration(value) : count(value);
}
