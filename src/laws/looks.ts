// Histories as laws look at them, and laws that look at one operation, or one count, at a time.
import { type Breach, type Judge, type Opinion, OpinionTally } from "./law.ts";
import { RulesLedger } from "./ledger.ts";
import { QuotaLedger } from "./quotas/ledger.ts";
import type { QuotaHistory, QuotaOp, QuotaScript } from "./quotas/script.ts";
import { algorithmOf } from "./script.ts";
import type { Look, QuotaKey, QuotasKind, ShownCount, Sight } from "./sight.ts";

export type QuotaJudge = Judge<QuotasKind>;

/** Looks by history: every law judges an order of overlapping calls by the same ones. */
const seen = new WeakMap<QuotaHistory, readonly Look[]>();

/** Returns each operation of a history, with its counts. */
export function looksOf(script: QuotaScript, history: QuotaHistory): readonly Look[] {
  const known = seen.get(history);
  if (known !== undefined) return known;
  const { policy, terms } = script;
  const ledger = terms === undefined ? new QuotaLedger(policy) : new RulesLedger(script, terms);
  const looks = history.map((event) => ledger.look(event));
  seen.set(history, looks);
  return looks;
}

/** A count's key alone. */
const keyAlone = ({ quota, key }: QuotaKey): QuotaKey => ({ quota, key });
export const newTally = (): OpinionTally<QuotasKind> => new OpinionTally<QuotasKind>(keyAlone);

export const withoutOps = (ops: readonly QuotaOp[], kind: QuotaOp["do"]): readonly QuotaOp[] =>
  ops.filter((op) => op.do !== kind);

/** The algorithm that a limiter states, where its quotas do not say it; by a policy they do. */
export const statedOf = ({ terms }: QuotaScript) => (terms === undefined ? null : algorithmOf(terms));

/** True if windows or buckets are known, and not the kind of limiter alone. */
export const isKnown = (script: QuotaScript): boolean =>
  (statedOf(script) ?? "fixed-window") === "fixed-window";

type Heard = readonly (readonly [Opinion, QuotaKey | null])[];

/** A law over one run. `begin` gives each run a memory of its own. */
export function overLooks(begin: (script: QuotaScript) => (look: Look) => Heard): QuotaJudge {
  return async ({ script, play }) => {
    const history = await play(withoutOps(script.ops, "snapshot"));
    const judge = begin(script);
    const tally = newTally();
    for (const look of looksOf(script, history))
      for (const [opinion, count] of judge(look)) tally.add(opinion, look.at, count);
    return { history, judged: tally.judged, violation: tally.violation };
  };
}

export function overSights(begin: (script: QuotaScript) => (sight: Sight) => Opinion): QuotaJudge {
  return overLooks((script) => {
    const judge = begin(script);
    return ({ sights }) => sights.map((sight) => [judge(sight), sight]);
  });
}

/** A law over what counts show; the first breach of those that a count shows at once. */
export const overShown = (
  judge: (shown: ShownCount, sight: Sight, script: QuotaScript) => Opinion,
): QuotaJudge =>
  overSights((script) => (sight) => firstOf(sight.shown.map((shown) => judge(shown, sight, script))));

export const isBreach = (opinion: Opinion): opinion is Breach => opinion !== null && opinion !== "kept";

export const firstOf = (opinions: readonly Opinion[]): Opinion =>
  opinions.find(isBreach) ?? (opinions.includes("kept") ? "kept" : null);
