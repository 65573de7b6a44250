// The laws that one answer shows by itself, in either version of the trace: known limits, numbers in range, and
// refusals by a quota that lacks room (SPEC.md §7). Breaches are told in the words of the rules or of a policy.
import type { Whose } from "../trace/whose.ts";
import { type AnswerBreach, accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Suspect } from "./suspects.ts";
import type { Terms } from "./terms.ts";

/** Numbers that one answer shows of one quota; `null` for what it does not show. */
export interface ShownNumbers {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Units used, if they must add up with the remaining ones; otherwise `null`. */
  readonly used: number | null;
  /** Seconds to the window's end, `null` if the answer does not tell it; and the seconds that rounding may add. */
  readonly reset: number | null;
  readonly resetSlack: number;
}

/** Bounds of the numbers that are known beforehand. */
export interface KnownNumbers {
  readonly told: Whose;
  /** Limit of the quota. `null` if neither rules nor a policy say it. */
  readonly limit: number | null;
  /** Kinds of limits that answers showed. */
  readonly limits: ShownLimits;
  readonly remaining: Terms["remaining"];
  /** Least seconds that a reset may show, and the seconds of a whole window (30 years without rules). */
  readonly resetLeast: number;
  readonly windowSeconds: number;
}

/** Tells whether a quota's answers showed the known limit at some time, and whether they showed another. */
export interface ShownLimits {
  right: boolean;
  wrong: boolean;
}

export interface JudgedCall {
  readonly cost: number | null;
  readonly isRefused: boolean;
}

/** Words and suspects of a breach. */
interface Words {
  readonly limitsBy: string;
  belowZero(call: JudgedCall, limit: number): readonly Suspect[];
  /** @param isLow true if the reset is below what it may show; otherwise it is above that */
  reset(shown: number, isLow: boolean, known: KnownNumbers): Pick<AnswerBreach, "suspects" | "explanation">;
}

const byRules: Words = {
  limitsBy: "the rules say",
  belowZero({ cost, isRefused }, limit) {
    if (cost !== null && cost > limit) return ["cost-over-limit-admitted", "one-extra"];
    return isRefused
      ? ["refused-counted", "one-extra"]
      : ["one-extra", "race-read-then-write", "cost-over-limit-admitted"];
  },
  reset(shown, isLow, { resetLeast: least, windowSeconds: most }) {
    const wrong = isLow ? `below ${least}` : `above ${most}, the longest that a window lasts`;
    return { suspects: resetSuspects(shown, most), explanation: `shows reset ${shown}, which is ${wrong}` };
  },
};

function resetSuspects(reset: number, windowSeconds: number): readonly Suspect[] {
  if (reset < 0) return ["reset-negative"];
  if (reset === 0) return ["reset-truncated", "reset-zero", "reset-negative"];
  return longResetSuspects(reset, windowSeconds);
}

/** Names faults that show a reset, in seconds, of more than a window. In ms most are a hundred times as long. */
function longResetSuspects(reset: number, windowSeconds: number): readonly Suspect[] {
  if (reset > 1_000_000_000) return ["reset-epoch", "reset-in-ms"];
  return reset > 100 * windowSeconds
    ? ["reset-in-ms", "reset-epoch"]
    : ["skewed-nodes", "reset-in-ms", "reset-disagrees", "two-interleaved-windows"];
}

const byPolicy: Words = {
  limitsBy: "the policy says",
  belowZero: () => ["one-extra", "refused-counted", "race-read-then-write"],
  reset(shown, isLow, { windowSeconds }) {
    const wrong = isLow ? "over" : `more than a window of ${windowSeconds} s lasts`;
    return {
      suspects: isLow ? ["reset-negative"] : longResetSuspects(shown, windowSeconds),
      explanation: `shows a reset in ${shown} s, which is ${wrong}`,
    };
  },
};

const wordsOf = ({ told }: KnownNumbers): Words => ("quota" in told ? byPolicy : byRules);

/** Laws on one quota's numbers. */
const numberLaws = ["limit-agrees", "remaining-agrees", "reset-agrees"] as const;

/** Checks an answer's numbers. A refusal counts as evidence for each law that one of its numbers tested. */
export function checkAnswer(isRefused: boolean, { evidence }: Docket, check: () => void): void {
  const before = isRefused ? numberLaws.map((law) => evidence[law].readings) : [];
  check();
  if (!isRefused) return;
  for (const [index, law] of numberLaws.entries())
    if (evidence[law].readings !== before[index]) evidence[law].refusals += 1;
}

/** Judges one quota's numbers by what is known of it. */
export function checkNumbers(
  line: number,
  { limit, remaining, used, reset, resetSlack }: ShownNumbers,
  known: KnownNumbers,
  call: JudgedCall,
  docket: Docket,
): void {
  const { evidence } = docket;
  if (limit !== null && known.limit !== null) {
    evidence["limit-agrees"].readings += 1;
    noteLimit(known.limits, limit === known.limit, docket);
    if (limit !== known.limit)
      accuseAnswer(docket, line, known.told, {
        law: "limit-agrees",
        breach: "another",
        suspects: known.limits.right
          ? ["limit-changes-mid-window", "remaining-of-laxer-window"]
          : ["remaining-of-laxer-window", "limit-changes-mid-window"],
        explanation: `shows a limit of ${limit}, ${wordsOf(known).limitsBy} ${known.limit}`,
      });
  }
  const most = limit ?? known.limit;
  if (remaining !== null && most !== null) {
    evidence["remaining-agrees"].readings += 1;
    const isBelow = remaining < 0 && known.remaining === "clamped";
    if (remaining > most || isBelow)
      accuseAnswer(docket, line, known.told, {
        law: "remaining-agrees",
        breach: isBelow ? "below 0" : "above the limit",
        suspects: isBelow ? wordsOf(known).belowZero(call, most) : ["remaining-of-laxer-window"],
        explanation: `shows remaining ${remaining} of ${most}, which is ${isBelow ? "below 0" : "above the limit"}`,
      });
    else if (used !== null && used <= most && used + Math.max(0, remaining) !== most)
      accuseAnswer(docket, line, known.told, {
        law: "remaining-agrees",
        breach: "against used",
        suspects: ["stale-replica-read", "remaining-of-laxer-window"],
        explanation: `shows ${used} used and ${remaining} remaining of ${most}`,
      });
  }
  if (reset === null) return;
  evidence["reset-agrees"].readings += 1;
  const isLow = reset < known.resetLeast;
  const isInRange = !isLow && reset <= known.windowSeconds + resetSlack;
  docket.clues.reset(isInRange && reset >= known.windowSeconds, reset);
  if (isInRange) return;
  const breach = reset < 0 ? "negative" : isLow ? "too small" : "too large";
  accuseAnswer(docket, line, known.told, {
    law: "reset-agrees",
    breach,
    ...wordsOf(known).reset(reset, isLow, known),
  });
}

/** Notes that an answer showed the known limit, or another one. */
export function noteLimit(limits: ShownLimits, isRight: boolean, docket: Docket): void {
  if (isRight) limits.right = true;
  else limits.wrong = true;
  // If both kinds came, the limit is not another window's, since those headers would show it in every answer.
  if (limits.right && limits.wrong) docket.clues.ruledOut.add("remaining-of-laxer-window");
}

/** Returns the room that a call needs. @param isAnyEnough true if one remaining unit is enough */
export const neededRoom = (cost: number | null, isAnyEnough: boolean): number =>
  isAnyEnough ? 1 : Math.max(1, cost ?? Number.POSITIVE_INFINITY);

export interface ShownRefusal {
  /** Quota that the refusal names, or else the call's first. `null` if its caller is unknown: nobody is accused then. */
  readonly whose: Whose | null;
  /** For each quota that the call uses: true if it has room. `null` if the answer does not tell. */
  readonly room: readonly (boolean | null)[];
  /** Index of the named quota in `room`; -1 if the refusal names none of them. */
  readonly named: number;
  /** True if one of these quotas may have refused, by all that the answer says. */
  readonly isByQuota: boolean;
  /** True if the body has numbers of its own, which are always compared with the readings. */
  readonly hasNumbers: boolean;
  /** Faults that refuse although there is room. */
  readonly suspects: readonly Suspect[];
  /** Amount that the call asked for, in words: `1 request`. */
  readonly asked: string;
  /** Return the shown room in words, and who refused in spite of it. */
  rooms(): string;
  refuser(): string;
}

/**
 * Judges a refusal by its readings: a quota of the call lacks room, and so does the named one (SPEC.md §2.1, §2.4).
 * @returns true if all of them have room
 */
export function checkRefusal(line: number, refusal: ShownRefusal, docket: Docket): boolean {
  const { evidence } = docket;
  const { room, asked } = refusal;
  const accuse = (breach: AnswerBreach): void => {
    if (refusal.whose !== null) accuseAnswer(docket, line, refusal.whose, breach);
  };
  const told = room.filter((each) => each !== null).length;
  evidence["refusal-justified"].readings += told;
  if (told > 0) evidence["refusal-justified"].refusals += 1;
  const isNeedless = refusal.isByQuota && room.every((each) => each === true);
  if (isNeedless)
    accuse({
      law: "refusal-justified",
      breach: "needless",
      suspects: refusal.suspects,
      explanation: `asked for ${asked} and was refused, although ${refusal.rooms()}`,
    });
  const own = room[refusal.named] ?? null;
  if (own === null || (isNeedless && !refusal.hasNumbers)) return isNeedless;
  evidence["refusal-agrees"].readings += 1;
  evidence["refusal-agrees"].refusals += 1;
  if (own && !isNeedless)
    accuse({
      law: "refusal-agrees",
      breach: "has room",
      suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
      explanation: `asked for ${asked} and was refused by ${refusal.refuser()}`,
    });
  return isNeedless;
}
