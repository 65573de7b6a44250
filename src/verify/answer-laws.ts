// The laws that one answer shows by itself, whichever version of the trace it is in: limits as they are known, numbers
// within their range, a refusal by a quota that lacks room (SPEC.md §7). Their breaches are told in the words of the
// rules, or in those of a policy.
import type { Whose } from "../trace/whose.ts";
import { type AnswerBreach, accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Suspect } from "./suspects.ts";
import type { Terms } from "./terms.ts";

/** The numbers of one quota in one answer; `null` where it does not show one. */
export interface ShownNumbers {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Units that are used, where they have to add up with those that remain. */
  readonly used: number | null;
  /** Seconds, where they tell the window's end; so many more may be shown, by the way that they are rounded. */
  readonly reset: number | null;
  readonly resetSlack: number;
}

/** Bounds of such numbers that are known beforehand. */
export interface KnownNumbers {
  readonly told: Whose;
  /** `null` where nobody says it. */
  readonly limit: number | null;
  /** The limits that answers showed. */
  readonly limits: ShownLimits;
  readonly remaining: Terms["remaining"];
  /** The least seconds that a reset may show, and those of a whole window; without rules, of 30 years. */
  readonly resetLeast: number;
  readonly windowSeconds: number;
}

/** True if a quota's answers showed the limit that is known at some time, and if they showed another. */
export interface ShownLimits {
  right: boolean;
  wrong: boolean;
}

/** The call that was answered. */
export interface JudgedCall {
  readonly cost: number | null;
  readonly isRefused: boolean;
}

/** Words and names that a breach is told with. */
interface Words {
  readonly limitsBy: string;
  belowZero(call: JudgedCall, limit: number): readonly Suspect[];
  reset(shown: number, known: KnownNumbers): Pick<AnswerBreach, "suspects" | "explanation">;
}

const byRules: Words = {
  limitsBy: "the rules say",
  belowZero({ cost, isRefused }, limit) {
    if ((cost ?? 0) > limit) return ["cost-over-limit-admitted", "one-extra"];
    return isRefused
      ? ["refused-counted", "one-extra"]
      : ["one-extra", "race-read-then-write", "cost-over-limit-admitted"];
  },
  reset(shown, { resetLeast: least, windowSeconds: most }) {
    const wrong = shown < least ? `below ${least}` : `above ${most}, the longest that a window lasts`;
    return { suspects: resetSuspects(shown, most), explanation: `shows reset ${shown}, which is ${wrong}` };
  },
};

function resetSuspects(reset: number, windowSeconds: number): readonly Suspect[] {
  if (reset < 0) return ["reset-negative"];
  if (reset === 0) return ["reset-truncated", "reset-zero", "reset-negative"];
  if (reset > 1_000_000_000) return ["reset-epoch", "reset-in-ms"];
  return reset > 100 * windowSeconds
    ? ["reset-in-ms", "reset-epoch"]
    : ["reset-in-ms", "reset-disagrees", "skewed-nodes", "two-interleaved-windows"];
}

const byPolicy: Words = {
  limitsBy: "the policy says",
  belowZero: () => ["one-extra", "refused-counted", "race-read-then-write"],
  reset(shown, { windowSeconds }) {
    const wrong = shown < 0 ? "over" : `more than a window of ${windowSeconds} s lasts`;
    return {
      suspects: shown < 0 ? ["reset-negative"] : ["reset-in-ms", "reset-epoch", "reset-disagrees"],
      explanation: `shows a reset in ${shown} s, which is ${wrong}`,
    };
  },
};

const wordsOf = ({ told }: KnownNumbers): Words => ("quota" in told ? byPolicy : byRules);

/** The laws that hold one quota's numbers to what is known of it. */
const numberLaws = ["limit-agrees", "remaining-agrees", "reset-agrees"] as const;

/** Checks an answer's numbers; a refusal is evidence for each law that one of them tested. */
export function checkAnswer(isRefused: boolean, { evidence }: Docket, check: () => void): void {
  const before = isRefused ? numberLaws.map((law) => evidence[law].readings) : [];
  check();
  if (!isRefused) return;
  for (const [index, law] of numberLaws.entries())
    if (evidence[law].readings !== before[index]) evidence[law].refusals += 1;
}

/** Holds one quota's numbers to what is known of it. */
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
  const isInRange = reset >= known.resetLeast && reset <= known.windowSeconds + resetSlack;
  docket.clues.reset(isInRange && reset >= known.windowSeconds);
  if (isInRange) return;
  const breach = reset < 0 ? "negative" : reset < known.resetLeast ? "too small" : "too large";
  accuseAnswer(docket, line, known.told, {
    law: "reset-agrees",
    breach,
    ...wordsOf(known).reset(reset, known),
  });
}

/** Notes that an answer showed the limit that is known, or another. */
export function noteLimit(limits: ShownLimits, isRight: boolean, docket: Docket): void {
  if (isRight) limits.right = true;
  else limits.wrong = true;
  // Another policy's headers show its limit all the time.
  if (limits.right && limits.wrong) docket.clues.ruledOut.add("remaining-of-laxer-window");
}

/** Room that a call needs. @param isAnyEnough true if one unit that is left is enough */
export const neededRoom = (cost: number | null, isAnyEnough: boolean): number =>
  isAnyEnough ? 1 : Math.max(1, cost ?? Number.POSITIVE_INFINITY);

/** A refusal, as far as its readings go. */
export interface ShownRefusal {
  /** The quota that it names, or the first that the call uses; `null` where nobody knows whose, so that it does not tell. */
  readonly whose: Whose | null;
  /** By quotas that the call uses, if each has room for it; `null` where the answer does not tell. */
  readonly room: readonly (boolean | null)[];
  /** The place of the one that it names; -1 where it names none of them. */
  readonly named: number;
  /** True if, for all that it says, one of them refused. */
  readonly isByQuota: boolean;
  /** True if it has numbers of its own, which are held to the readings whatever they are. */
  readonly hasNumbers: boolean;
  /** The faults that refuse although there is room. */
  readonly suspects: readonly Suspect[];
  /** `1 request`. */
  readonly asked: string;
  /** Says what room is shown, and who refused although it shows some. */
  rooms(): string;
  refuser(): string;
}

/**
 * Holds a refusal to its readings: one of its quotas lacks room, and the one that it names does (SPEC.md §2.1, §2.4).
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
