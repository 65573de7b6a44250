// The end of a judgement: hypotheses that the whole trace contradicts are ruled out. If none is left without a
// contradiction, what stands is accused.

import type { Enforcement } from "./enforcement.ts";
import type { Exhibit, Hypotheses, Hypothesis } from "./hypotheses.ts";
import type { JudgedQuota } from "./quota.ts";
import type { Standing } from "./standing.ts";
import type { Unexplained } from "./unknowns.ts";

/** A quota with what is known of it at the end. */
export interface Concluded {
  readonly quota: JudgedQuota;
  readonly enforcement: Enforcement;
  /** Calls without a line that may have used it. */
  readonly lost: Unexplained;
}

export function conclude(hypotheses: Hypotheses, quotas: readonly Concluded[]): void {
  const standing = (
    hypothesis: Hypothesis,
  ): readonly { quota: JudgedQuota; windows: readonly Standing[] }[] =>
    quotas.map(({ quota, enforcement, lost }) => ({
      quota,
      windows: quota.deferrals.standing(hypothesis, enforcement, lost),
    }));
  const out = new Map<Hypothesis, { exhibit: Exhibit; weight: number }>();
  for (const hypothesis of hypotheses.left) {
    const windows = standing(hypothesis).flatMap((each) => each.windows);
    const [exhibit] = windows.flatMap(({ suspicions }) => suspicions);
    if (exhibit !== undefined) out.set(hypothesis, { exhibit, weight: windows.length });
  }
  if (out.size === 0) return;
  if (!hypotheses.isGiven && !hypotheses.isExhausted) hypotheses.ruleOut(out);
  const [judged] = hypotheses.left;
  if (judged === undefined || !(hypotheses.isGiven || hypotheses.isExhausted)) return;
  for (const { quota, windows } of standing(judged)) quota.deferrals.accuse(windows);
}
