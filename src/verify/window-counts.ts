// The counts of one window, judged by the method that fits them: by places where the count only grows and each
// call's own charge shows, by bounds where points are given back, or where nothing is known of the charging.
import { type BoundsInput, judgeBounds } from "./bounds.ts";
import type { Finding } from "./finding.ts";
import type { Mark } from "./mark.ts";
import { judgePlaces } from "./places.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import { type Suspicion, suspicionsOf } from "./suspicion.ts";

export interface CountsInput {
  readonly setting: QuotaSetting;
  readonly marks: readonly Mark[];
  /** Calls that show a later window, and may have been charged to this one. */
  readonly others: readonly Mark[];
  readonly limit: number;
  /** Whether the window surely opened after the trace began, and so at a count of 0. */
  readonly fromZero: boolean;
  readonly complete: boolean;
  readonly certainFrom: number;
  readonly previous: PreviousWindow | null;
}

/** What the window before one showed; a guess at what went wrong goes by it. */
export interface PreviousWindow {
  /** Its highest count. */
  readonly count: number;
  /** Whether it began with the count of the one before. */
  readonly carried: boolean;
}

/** What was found if the limit was enforced all the while, and what stands otherwise. */
export interface CountsResult {
  readonly enforced: readonly Suspicion[];
  readonly otherwise: readonly Suspicion[];
}

export function judgeCounts(input: CountsInput): CountsResult {
  noteJudged(input);
  const binding = bindingOf(input.setting);
  if (binding === "never") {
    const otherwise = found(input, false);
    return { enforced: otherwise, otherwise };
  }
  const enforced = found(input, true);
  // What holds where a 0 shows the limit holds all the more where it hides the count.
  if (enforced.length === 0 || binding === "always") return { enforced, otherwise: enforced };
  return { enforced, otherwise: found(input, false) };
}

/**
 * Whether the limit bounds the count, so that a `remaining` of 0 shows a count of just the limit (FORMAT.md,
 * "Hidden places"): not where refusals are counted or calls overshoot, or where that is unknown.
 */
function bindingOf({ terms, name }: QuotaSetting): "always" | "if-enforced" | "never" {
  if (terms.refused !== "uncounted" || terms.charging === "postpaid" || terms.charging === null)
    return "never";
  return name.owner === "user" && terms.userEnforced === "always" ? "always" : "if-enforced";
}

function found(input: CountsInput, binding: boolean): readonly Suspicion[] {
  const { charging } = input.setting.terms;
  const given = { ...input, time: input.setting.time, startedBy: input.setting.startedBy, binding };
  if (charging === "reserved" || charging === null)
    return suspicionsOf(input, judgeBounds(given), { points: 0, calls: 0 });
  const { findings, loose } = judgePlaces(given);
  const hidden = !binding && input.marks.some((mark) => mark.clamped);
  return suspicionsOf(input, hidden ? [...findings, ...shortfalls(given, findings)] : findings, loose);
}

/** Hidden places can still be too few for what was surely charged. */
function shortfalls(input: BoundsInput, findings: readonly Finding[]): readonly Finding[] {
  if (findings.some(({ kind }) => kind === "overlap" || kind === "fall")) return [];
  return judgeBounds(input).filter(({ kind }) => kind === "short");
}

function noteJudged({ setting, marks, fromZero, complete }: CountsInput): void {
  const { docket } = setting;
  docket.judged("conserved");
  docket.judged("monotone");
  if (bindingOf(setting) !== "never" && fromZero) docket.judged("bounded");
  if (marks.some(({ role }) => role === "status")) docket.judged("status-free");
  if (marks.some(({ role }) => role === "refused")) docket.judged("all-or-nothing");
  if (!fromZero || !complete) return;
  docket.judged("isolated");
  if (marks.some(({ role }) => role === "admitted" || role === "refused")) docket.judged("recovers");
}
