// Groups counterexamples by cause: if the calls of one also break a law found broken before, both laws have one cause.
import type { LimiterFactory } from "../engine/adapter.ts";
import { failureIn } from "../engine/limiter-failure.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import { byRules } from "./by-rules.ts";
import { laws } from "./catalogue.ts";
import { play } from "./history.ts";
import type { Judgement } from "./law.ts";
import { judgeDespiteNames } from "./member-names.ts";
import type { Script } from "./script.ts";

/** A law that was found broken, or that the limiter's failure left unjudged. */
export interface KnownCause {
  readonly law: LimiterLawName;
  /** The counterexample; `null` if the limiter failed. */
  readonly script: Script | null;
  /** Failure of the limiter; `null` if the law is broken. */
  readonly got: string | null;
}

/** Judges one script by one law, such as a kept counterexample. */
export function judgeScript(
  factory: LimiterFactory,
  law: LimiterLawName,
  script: Script,
): Promise<Judgement> {
  return judgeDespiteNames(factory, law, script, (named, playing) =>
    byRules(laws[law].judge)({
      script: named,
      play: (ops) => playing(() => play(factory, named.rules, ops, named.ops)),
    }),
  );
}

/** Returns the first known cause that also explains what was found; `null` if none does. */
export async function sharedCause(
  factory: LimiterFactory,
  known: readonly KnownCause[],
  found: Pick<KnownCause, "script" | "got">,
): Promise<KnownCause | null> {
  for (const cause of known) {
    if (found.got !== null && cause.got === found.got) return cause;
    if (found.script === null || cause.script === null) continue;
    const { script } = found;
    if ((await violationOf(() => judgeScript(factory, cause.law, script))) !== null) return cause;
  }
  return null;
}

/** Returns the violation of a law by a script; `null` if it breaks none, or the limiter fails at it. */
export async function violationOf<V>(
  judge: () => Promise<{ readonly violation: V | null }>,
): Promise<V | null> {
  try {
    return (await judge()).violation;
  } catch (error) {
    failureIn(error);
    return null;
  }
}
