// Judges the charges of a trial's calls by what their answers allow.

import { counted } from "../rules/words.ts";
import { seenIn } from "./book.ts";
import { type Answer, type Broken, broken, type ExperimentTrial, usedWords } from "./step.ts";

/** Most that each call may be charged, whatever its answer. */
type Charges = "nothing" | "once at most";

/** Tells whether a body has errors and no data: nothing was executed. */
export function isRejected(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  const { errors, data } = body as { readonly errors?: unknown; readonly data?: unknown };
  return Array.isArray(errors) && (data === undefined || data === null);
}

/** Returns the fewest and the most charges that an answer allows, in plain calls. */
export function allowed(
  { call, shot, body }: Answer,
  charges?: Charges,
): readonly [least: number, most: number] {
  if (charges === "nothing" || call.outcome === "exempt" || call.outcome === "refused") return [0, 0];
  const parts = Array.isArray(body) ? (shot.parts ?? 1) : 1;
  const isUnsure = call.outcome === "unknown" || shot.isVague === true || charges === "once at most";
  return isUnsure || call.status >= 400 || call.status === 304 || isRejected(body)
    ? [0, parts]
    : [parts, parts];
}

/** Returns what is wrong with the charges of a trial; `null` if each answer was charged as allowed. */
export function judgeCharges({ answers, charged, all }: ExperimentTrial, charges?: Charges): Broken | null {
  const bounds = answers.map((answer) => allowed(answer, charges));
  const least = bounds.reduce((sum, [each]) => sum + each, 0);
  const most = bounds.reduce((sum, [, each]) => sum + each, 0);
  const wrong = charged.filter((each) => each.most < least * each.plain || each.units > most * each.plain);
  const words = least === most ? counted(most, "plain call") : `${least} to ${counted(most, "plain call")}`;
  const [odd] = wrong;
  if (odd !== undefined)
    return broken(all, `charged as ${words} in ${odd.quota} (${odd.plain} each)`, usedWords(wrong));
  // A target that does not know a shape may charge the call as another operation.
  if (answers.some(({ shot }) => shot.otherwise !== undefined && shot.isVague === true)) return null;
  // A call is charged in all of its quotas, or in none.
  const shares = new Set(charged.filter(({ plain }) => plain > 0).map(({ units, plain }) => units / plain));
  if (shares.size > 1)
    return broken(all, "all quotas of a call are charged alike", usedWords(charged), "all-or-nothing");
  // The answer to an admitted twin shows the twin's own charge.
  const [first, answer, ...others] = [all[0] as Answer, ...answers];
  if (answer === undefined || others.length > 0 || least !== 1) return null;
  for (const { quota, plain } of charged) {
    const [before, seen] = [seenIn(first, quota), seenIn(answer, quota)];
    if (seen === null || before === null) continue;
    if (seen.used < before.used + plain || seen.limit !== before.limit)
      return broken(
        [first, answer],
        `${quota} shows ${before.used + plain} used of ${before.limit}`,
        `${seen.used} of ${seen.limit}`,
      );
  }
  return null;
}
