// Turns histories into looks, and judges of one look or one sight into laws.
import type { Breach, Judge, Judgement, LawViolation, Opinion, Trial } from "./law.ts";
import { RulesLedger } from "./ledger.ts";
import { QuotaLedger } from "./quotas/ledger.ts";
import type { QuotaHistory, QuotaOp, QuotaScript } from "./quotas/script.ts";
import { algorithmOf } from "./script.ts";
import type { Look, QuotaKey, QuotasKind, ShownCount, Sight } from "./sight.ts";

export type QuotaJudge = Judge<QuotasKind>;

/** Looks by history. All laws that judge one order of overlapping calls share them. */
const seen = new WeakMap<QuotaHistory, readonly Look[]>();

/** Returns the looks of a script's history, one for each operation. */
export function looksOf(script: QuotaScript, history: QuotaHistory): readonly Look[] {
  const known = seen.get(history);
  if (known !== undefined) return known;
  const { policy, terms } = script;
  const ledger = terms === undefined ? new QuotaLedger(policy) : new RulesLedger(script, terms);
  const looks = history.map((event) => ledger.look(event));
  seen.set(history, looks);
  return looks;
}

/** Keeps the first breach among opinions, and counts all opinions that are not `null`. */
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

  /** Returns the judgement of a run. */
  of(history: QuotaHistory): Judgement<QuotasKind> {
    return { history, judged: this.judged, violation: this.violation };
  }
}

export const withoutOps = (ops: readonly QuotaOp[], kind: QuotaOp["do"]): readonly QuotaOp[] =>
  ops.filter((op) => op.do !== kind);

/** A run of operations, with what each of them shows. */
export interface Played {
  readonly ops: readonly QuotaOp[];
  readonly history: QuotaHistory;
  readonly looks: readonly Look[];
}

/** Plays a script without its restarts, as most laws do. */
export async function played({ script, play }: Trial<QuotasKind>): Promise<Played> {
  const ops = withoutOps(script.ops, "snapshot");
  const history = await play(ops);
  return { ops, history, looks: looksOf(script, history) };
}

/** Returns the algorithm that a limiter by rules states; `null` under a policy, whose quotas say it. */
export const statedOf = ({ terms }: QuotaScript) => (terms === undefined ? null : algorithmOf(terms));

/** Tells whether the windows or buckets themselves are known, and not the limiter's algorithm alone. */
export const isKnown = (script: QuotaScript): boolean =>
  (statedOf(script) ?? "fixed-window") === "fixed-window";

type Heard = readonly (readonly [Opinion, QuotaKey | null])[];

/** Makes a law over one run. `begin` gives each run a memory of its own. */
export function overLooks(begin: (script: QuotaScript) => (look: Look) => Heard): QuotaJudge {
  return async (trial) => {
    const { history, looks } = await played(trial);
    const judge = begin(trial.script);
    const tally = new OpinionTally();
    for (const look of looks) for (const [opinion, count] of judge(look)) tally.add(opinion, look.at, count);
    return tally.of(history);
  };
}

export function overSights(begin: (script: QuotaScript) => (sight: Sight) => Opinion): QuotaJudge {
  return overLooks((script) => {
    const judge = begin(script);
    return ({ sights }) => sights.map((sight) => [judge(sight), sight]);
  });
}

/** Makes a law over shown numbers. If one sight shows several, it takes the first breach. */
export const overShown = (
  judge: (shown: ShownCount, sight: Sight, script: QuotaScript) => Opinion,
): QuotaJudge =>
  overSights((script) => (sight) => firstOf(sight.shown.map((shown) => judge(shown, sight, script))));

export const isBreach = (opinion: Opinion): opinion is Breach => opinion !== null && opinion !== "kept";

export const firstOf = (opinions: readonly Opinion[]): Opinion =>
  opinions.find(isBreach) ?? (opinions.includes("kept") ? "kept" : null);
