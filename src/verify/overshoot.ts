// Amounts by which one window is off, beside what is wrong with it. All are lower bounds: only what surely belongs to
// the window counts, and only what surely came before.
import { Sums } from "./bounds.ts";
import type { CountsInput } from "./counts-input.ts";
import { type LawFinding, lowOf } from "./finding.ts";
import type { Mark } from "./mark.ts";

export interface Overshoot {
  /** Number of admitted calls, and of refused ones. */
  readonly admitted: number;
  readonly refused: number;
  /** Points that were admitted, and those of them above the limit if it was enforced. */
  readonly points: number;
  readonly overAdmitted: number;
  /** Number of calls refused although there was room, unless calls of unknown outcome took it. */
  readonly wronglyRefused: number;
  /** Age of the oldest reading that lags, ms; `null` if none does. */
  readonly stalenessMs: number | null;
}

/** Number of readings of one window whose age is told. */
const agedMost = 100;

export function overshootOf(input: CountsInput, findings: readonly LawFinding[]): Overshoot {
  const { marks, limit, terms, certainFrom } = input;
  let [admitted, refused, points] = [0, 0, 0];
  for (const { role, asked, sent, least } of marks) {
    if (asked === 0) continue;
    if (role === "refused") refused += 1;
    if (role !== "admitted") continue;
    admitted += 1;
    if (sent >= certainFrom) points += least;
  }
  return {
    admitted,
    refused,
    points,
    overAdmitted: terms.charging === "postpaid" ? 0 : Math.max(0, points - limit),
    wronglyRefused: findings.some(({ kind }) => ["gap", "excess", "needless"].includes(kind))
      ? roomFor(input)
      : 0,
    stalenessMs: findings.length === 0 ? null : oldest(input, findings),
  };
}

/** Returns the number of this window's refusals that had room by all that can have been charged by then. */
function roomFor(input: CountsInput): number {
  const { setting, marks, limit, fromZero, complete } = input;
  if (!fromZero || !complete) return 0;
  const sums = new Sums({ ...input, time: setting.time });
  const ours = marks.filter(({ refusedBy }) => refusedBy === setting.name.owner);
  return ours.filter((mark) => sums.mostBy(mark) - mark.held + mark.asked <= limit).length;
}

/** Returns the greatest age, ms, of a lagging reading at its sending: the count had surely passed it by then. */
function oldest(input: CountsInput, findings: readonly LawFinding[]): number | null {
  const lagging = new Set(findings.flatMap(lagsOf).slice(0, agedMost));
  let age: number | null = null;
  for (const mark of lagging) {
    const { time } = input.setting;
    const passed = passedAt(input, mark.count);
    const since = passed === null ? null : mark.sent - time.within(passed, passed).to;
    if (since !== null && since > 0) age = Math.max(age ?? 0, since);
  }
  return age;
}

/** Returns the readings, as opposed to charges, that a finding shows to lag. */
function lagsOf(finding: LawFinding): readonly Mark[] {
  const low = lowOf(finding);
  return low == null || low.role === "admitted" ? [] : [low];
}

/**
 * Returns when a window's count had surely passed a value. Where counts only grow, that is the first answer with a
 * higher count. Where points are given back, the sum of earlier charges must pass it.
 */
function passedAt({ marks, terms, certainFrom }: CountsInput, count: number): number | null {
  if (terms.charging !== "reserved") {
    const higher = marks.filter((mark) => mark.count > count).map(({ received }) => received);
    return higher.length === 0 ? null : higher.reduce((a, b) => Math.min(a, b));
  }
  const charges = marks.filter(({ sent }) => sent >= certainFrom);
  let sum = 0;
  for (const { received, least } of charges.sort((a, b) => a.received - b.received)) {
    sum += least;
    if (sum > count) return received;
  }
  return null;
}
