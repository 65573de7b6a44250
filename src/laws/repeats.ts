// Tells findings that repeat from those that do not. A limiter that draws random numbers, reads a clock that the check
// does not move, or has a store that outlives it, may break a law in one play of its calls and keep it in the next. Such
// a finding accuses nobody: where windows begin at random, say, the laws expect them elsewhere.
import { failureIn } from "../engine/limiter-failure.ts";
import { counted } from "../rules/words.ts";
import type { Judgement } from "./law.ts";
import type { Counterexample, Plays } from "./report.ts";
import type { LawKind } from "./script.ts";

/** Number of plays of a counterexample. */
const playsMost = 10;

/**
 * Plays a counterexample again, on fresh limiters. A limiter that depends on its calls and their times alone breaks the
 * law in each play by the same answer.
 * @param isSteady tells whether other calls are decided alike, too: a counterexample may not show that they
 *   are not, as where a window seldom ends within it
 * @returns the plays if they differ; `null` if the finding repeats
 */
export async function unrepeated<K extends LawKind>(
  { script, violation }: Counterexample<K>,
  judge: (script: K["script"]) => Promise<Judgement<K>>,
  isSteady: () => Promise<boolean>,
): Promise<Plays | null> {
  const plays = { all: 1, broken: 1 };
  let isSame = true;
  for (; plays.all < playsMost; plays.all += 1) {
    const judgement = await played(() => judge(script));
    if (judgement === "over") break;
    const again = judgement === "failed" ? null : judgement.violation;
    if (again !== null) plays.broken += 1;
    isSame &&= JSON.stringify(again) === JSON.stringify(violation);
  }
  return isSame && (await isSteady()) ? null : plays;
}

/**
 * Tells whether scripts are answered alike when they are played again, on fresh limiters.
 * @param textOf plays a script; equal texts, equal answers
 */
export async function answeredAlike<S>(
  scripts: Iterable<S>,
  textOf: (script: S) => Promise<string>,
): Promise<boolean> {
  for (const script of scripts) {
    const [first, second] = [await played(() => textOf(script)), await played(() => textOf(script))];
    if (first === "over" || second === "over") return true;
    if (first !== second) return false;
  }
  return true;
}

/** Returns whom a play admitted, as text: equal texts, equal decisions. */
export const decisionsOf = ({ history }: Pick<Judgement<LawKind>, "history">): string =>
  JSON.stringify(history, ["decision", "admitted"]);

/** Returns the result of a play. `over`: the limiter cannot be asked any longer. */
async function played<T>(play: () => Promise<T>): Promise<T | "failed" | "over"> {
  try {
    return await play();
  } catch (error) {
    const { ended, hung } = failureIn(error);
    return ended || hung ? "over" : "failed";
  }
}

/** Says what happened to a finding that does not repeat. */
export const playsText = ({ all, broken }: Plays): string =>
  `${broken} of ${counted(all, "play")} of these calls broke the law, each on a fresh limiter`;

/** Advice to whoever meets a finding that does not repeat. */
export const repeatHint =
  "the limiter depends on more than its calls and their times. If it draws random numbers, pass them in and fix their seed in `create`; make its store there; read no clock that the check does not move.";

/** Number of scripts that are played twice, to see whether a limiter repeats itself. */
export const scriptsTwice = 16;
