// The counts of one window, judged under each hypothesis: by places if the count only grows and each call's charge
// shows, by bounds if points are given back.
import { type BoundsTask, judgeBounds } from "./bounds.ts";
import { type CountsInput, keptFrom, type Method, methodOf, type WindowInput } from "./counts-input.ts";
import type { LawFinding } from "./finding.ts";
import type { Hypothesis } from "./hypotheses.ts";
import { chargeOf, type Mark } from "./mark.ts";
import { type Overshoot, overshootOf } from "./overshoot.ts";
import { judgePlaces } from "./places.ts";
import type { QuotaName } from "./quota-name.ts";
import { type Suspicion, suspicionsOf } from "./suspicion.ts";
import type { Terms } from "./terms.ts";

/** Findings of one window under a hypothesis: `enforced` if limits were enforced throughout, `otherwise` if not. */
export interface CountsResult {
  readonly enforced: readonly Suspicion[];
  readonly otherwise: readonly Suspicion[];
  /** Amounts by which the window is off, if its limit was enforced. */
  readonly overshoot: Overshoot;
  readonly method: Method;
  /** Number of readings that could have had one value alone. */
  readonly pinned: number;
}

/** Judges a window under each of the hypotheses; hypotheses with the same result are judged once. */
export function judgeWindow(
  input: WindowInput,
  hypotheses: readonly Hypothesis[],
): ReadonlyMap<Hypothesis, CountsResult> {
  const matters = hypotheses.length === 1 ? null : whatMatters(input);
  const judged = new Map<string, CountsResult>();
  const results = new Map<Hypothesis, CountsResult>();
  for (const hypothesis of hypotheses) {
    const { terms } = hypothesis;
    const key = matters === null ? "" : matters.map((name) => terms[name]).join();
    let result = judged.get(key);
    if (result === undefined) {
      result = judgeCounts(under(terms, input, matters));
      judged.set(key, result);
    }
    results.set(hypothesis, result);
  }
  return results;
}

/** Returns the switches that this window's counts can depend on. Most windows have no refusals or hidden counts. */
function whatMatters({ setting, marks, others, limit }: WindowInput): readonly (keyof Terms)[] {
  const { name } = setting;
  const refusals = [...marks, ...others].some(({ role, asked }) => role === "refused" && asked > 0);
  const full = marks.some(({ clamped, count }) => clamped || count > limit);
  const matters: (keyof Terms)[] = [];
  if (name.scope === "graphql") matters.push("charging");
  if (refusals || full) matters.push("refused");
  if (refusals && name.owner === "organization") matters.push("refusedByUser");
  if (full) matters.push("remaining");
  if (full && name.owner === "user") matters.push("userEnforced");
  return matters;
}

/** Returns a window under terms. With one hypothesis from the start, its marks have the terms' charges already. */
function under(terms: Terms, input: WindowInput, matters: readonly string[] | null): CountsInput {
  const { owner } = input.setting.name;
  const charged = (mark: Mark): Mark => ({
    ...mark,
    ...chargeOf(mark, owner, terms),
    clamped: mark.clamped && terms.remaining !== "signed",
  });
  const isOpen = input.setting.terms.refused === null && matters?.length !== 0;
  return {
    ...input,
    terms,
    complete: input.complete && (terms.charging !== "postpaid" || input.settled),
    marks: isOpen ? input.marks.map(charged) : input.marks,
    others: terms.charging === "reserved" ? (isOpen ? input.others.map(charged) : input.others) : [],
    certainFrom: terms.charging === "at-decision" ? Number.NEGATIVE_INFINITY : input.openedBy,
  };
}

function judgeCounts(input: CountsInput): CountsResult {
  const binding =
    !input.fromZero && mayHavePassed(input) ? "never" : bindingOf(input.terms, input.setting.name);
  const { suspicions, findings, pinned } = foundEnforced(input, binding !== "never");
  const overshoot = overshootOf(input, findings);
  const method = methodOf(input.terms);
  // A finding under a 0 that shows the limit also holds under a 0 that hides the count.
  const same = suspicions.length === 0 || binding !== "if-enforced";
  const otherwise = same ? suspicions : found(input, false).suspicions;
  const overrun = overrunIn(input, overshoot, findings);
  const enforced = overrun.length === 0 ? suspicions : [...suspicions, ...suspicionsOf(input, overrun, none)];
  return { enforced, otherwise, overshoot, method, pinned };
}

/** Finds breaches as if the limit were enforced. After a count above the limit, a later 0 is no fallen count. */
function foundEnforced(input: CountsInput, binding: boolean): Found {
  const bound = found(input, binding);
  if (!binding || !bound.findings.some(({ kind }) => kind === "beyond")) return bound;
  const isHidden = (finding: LawFinding): boolean => finding.kind === "fall" && finding.later.clamped;
  const findings = bound.findings.filter((finding) => !isHidden(finding));
  if (findings.length === bound.findings.length) return bound;
  return { ...bound, findings, suspicions: suspicionsOf(input, findings, bound.loose) };
}

/**
 * Tells whether the limit bounds the count, so that a `remaining` of 0 shows a count of exactly the limit (FORMAT.md,
 * "Hidden places"). It does not if refusals are counted or calls overshoot.
 */
export function bindingOf(terms: Terms, name: QuotaName): "always" | "if-enforced" | "never" {
  if (terms.refused !== "uncounted" || terms.charging === "postpaid") return "never";
  return name.owner === "user" && terms.userEnforced === "always" ? "always" : "if-enforced";
}

const none = { points: 0, calls: 0 };

/** Tells whether findings already explain that more than the limit was admitted. */
const saysOvershot = (findings: readonly LawFinding[]): boolean =>
  findings.some((each) =>
    each.kind === "fall" ? each.least !== null : ["overlap", "beyond", "short"].includes(each.kind),
  );

/** Returns the calls that passed the limit of a window, unless other findings tell it. */
function overrunIn(
  input: CountsInput,
  { overAdmitted }: Overshoot,
  findings: readonly LawFinding[],
): readonly LawFinding[] {
  if (overAdmitted > 0) return saysOvershot(findings) ? [] : overrunOf(input);
  return findings.length === 0 ? overrunAfter(input) : [];
}

/** Returns the fewest calls of a window, seen from its start, that passed its limit together. */
function overrunOf(input: CountsInput): readonly LawFinding[] {
  return input.fromZero ? overrunBy(null, chargesOf(input), input.limit) : [];
}

/**
 * Returns the fewest calls that passed the limit after an answer that shows a count below it. A window's first calls may
 * be of the one before, so that their sum proves nothing; but a count holds all that are not.
 */
function overrunAfter(input: CountsInput): readonly LawFinding[] {
  const { marks, limit, fromZero, terms, setting } = input;
  if (!fromZero || terms.charging !== "reserved" || setting.givesBack) return [];
  if (marks.reduce((sum, { role, least }) => sum + (role === "admitted" ? least : 0), 0) <= limit) return [];
  const charges = chargesOf(input).toSorted((a, b) => a.sent - b.sent);
  let left = charges.reduce((sum, { least }) => sum + least, 0);
  let begun = 0;
  let best: { readonly mark: Mark; readonly sum: number; readonly begun: number } | null = null;
  for (const mark of marks.filter(({ clamped }) => !clamped).sort((a, b) => a.received - b.received)) {
    for (let next = charges[begun]; next !== undefined; next = charges[begun]) {
      if (setting.time.before(mark.received, next.sent)) break;
      left -= next.least;
      begun += 1;
    }
    const sum = mark.count + left;
    if (left > 0 && sum >= (best?.sum ?? 0)) best = { mark, sum, begun };
  }
  return best === null ? [] : overrunBy(best.mark, charges.slice(best.begun), limit);
}

/** Returns the calls that were surely charged to a window. */
const chargesOf = ({ marks, certainFrom }: CountsInput): readonly Mark[] =>
  marks.filter(({ role, sent, least }) => role === "admitted" && sent >= certainFrom && least > 0);

/** Returns the fewest of some calls that pass a limit. @param after answer whose count they add to, if any */
function overrunBy(after: Mark | null, charges: readonly Mark[], limit: number): readonly LawFinding[] {
  const together: Mark[] = [];
  let sum = after?.count ?? 0;
  for (const mark of charges.toSorted((a, b) => b.least - a.least || a.received - b.received)) {
    if (sum > limit) break;
    sum += mark.least;
    together.push(mark);
  }
  return sum > limit ? [{ kind: "overrun", after, marks: together, sum }] : [];
}

/** Tells whether a window that was open at the start may have passed its limit before, by unknown terms. */
const mayHavePassed = ({ marks, limit, setting: { startedBy } }: CountsInput): boolean =>
  marks.some(({ count, role, sent }) => count > limit || (role === "admitted" && sent < startedBy));

interface Found {
  readonly suspicions: readonly Suspicion[];
  readonly findings: readonly LawFinding[];
  readonly pinned: number;
  /** Points, and their calls, that may lie anywhere in the window. */
  readonly loose: { readonly points: number; readonly calls: number };
}

function found(input: CountsInput, binding: boolean): Found {
  const { time, startedBy, name } = input.setting;
  const given = {
    ...input,
    time,
    startedBy,
    keptFrom: keptFrom(input.setting, input.complete),
    binding,
    countsOwn: input.terms.refused === "counted" ? name.owner : null,
  };
  if (methodOf(input.terms) === "bounds") {
    const { findings, pinned } = judgeBounds(given);
    return { findings, pinned, loose: none, suspicions: suspicionsOf(input, findings, none) };
  }
  const { findings: placed, loose } = judgePlaces(given);
  const open = binding ? 0 : input.marks.filter(({ clamped }) => clamped).length;
  const findings = open > 0 ? [...placed, ...shortfalls(given, placed)] : placed;
  const pinned = input.marks.length - open;
  return { findings, pinned, loose, suspicions: suspicionsOf(input, findings, loose) };
}

/** Finds counts that are below what was surely charged, although some places are hidden. */
function shortfalls(input: BoundsTask, findings: readonly LawFinding[]): readonly LawFinding[] {
  if (findings.some(({ kind }) => kind === "overlap" || kind === "fall")) return [];
  return judgeBounds(input).findings.filter(({ kind }) => kind === "short");
}
