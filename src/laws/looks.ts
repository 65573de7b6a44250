// Histories as laws look at them, and laws that look at one operation, or one count, at a time.
import type { Policy } from "../policy/policy.ts";
import type { Breach, Judge, LawViolation, Opinion } from "./law.ts";
import { RulesLedger } from "./ledger.ts";
import { QuotaLedger } from "./quotas/ledger.ts";
import type { QuotaHistory, QuotaOp, QuotaScript } from "./quotas/script.ts";
import { algorithmOf, type LedgerTerms } from "./script.ts";
import type { Look, QuotaKey, QuotasKind, ShownCount, Sight } from "./sight.ts";

export type QuotaJudge = Judge<QuotasKind>;

interface Seen {
  readonly policy: Policy;
  readonly terms: LedgerTerms | undefined;
  readonly looks: readonly Look[];
}

/** Looks by history: every law judges an order of overlapping calls by the same ones. */
const seen = new WeakMap<QuotaHistory, Seen>();

/** Returns each operation of a history, with its counts. */
export function looksOf(script: QuotaScript, history: QuotaHistory): readonly Look[] {
  const { policy, terms } = script;
  const known = seen.get(history);
  if (known !== undefined && known.policy === policy && known.terms === terms) return known.looks;
  const ledger = terms === undefined ? new QuotaLedger(policy) : new RulesLedger(script, terms);
  const looks = history.map((event) => ledger.look(event));
  seen.set(history, { policy, terms, looks });
  return looks;
}

/** Finds the first breach among opinions, and counts those that there are. */
export class OpinionTally {
  judged = 0;
  violation: LawViolation<QuotasKind> | null = null;

  add(opinion: Opinion, at: number, count: QuotaKey | null): void {
    if (opinion === null) return;
    this.judged += 1;
    if (opinion === "kept" || this.violation !== null) return;
    const window = count && { quota: count.quota, key: count.key };
    this.violation = { at, window, ...opinion };
  }
}

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
    const tally = new OpinionTally();
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
