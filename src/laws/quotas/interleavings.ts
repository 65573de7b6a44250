// Checks overlapping calls under a policy: some order must keep the laws that the limiter claims (`../overlaps.ts`).
import type { QuotaLimiterFactory } from "../../engine/quota-limiter.ts";
import { quotaFor, windowMsOf } from "../../policy/effective.ts";
import type { Policy } from "../../policy/policy.ts";
import { laws } from "../catalogue.ts";
import { ordering } from "../orders.ts";
import type { OverlapKit } from "../overlapped-play.ts";
import { checkOverlaps, type InterleavingReport, type OverlapOptions } from "../overlaps.ts";
import { patient } from "../patience.ts";
import type { QuotasKind } from "../sight.ts";
import { newYear2026Ms } from "../subject.ts";
import { quotaScripts } from "./drawn.ts";
import { abilities, claimedOf, whyVoid } from "./kit.ts";
import { makeQuotaLimiter, QuotaPlayer } from "./play.ts";
import type { QuotaCallEvent } from "./script.ts";

/**
 * Looks for overlapping calls whose answers no order explains: `checkInterleavings` for a limiter by a policy.
 * @throws SpillwayError `ADAPTER_INVALID` if the limiter cannot be made
 */
export async function checkQuotaInterleavings(
  given: QuotaLimiterFactory,
  policy: Policy,
  options: OverlapOptions = {},
): Promise<InterleavingReport<QuotasKind>> {
  const factory = patient(given, options.timers, options.answerMsMost);
  const startMs = options.startMs ?? newYear2026Ms;
  const claims = claimedOf(factory);
  await abilities(factory, policy, startMs, claims, options.placeOf);
  const kit: OverlapKit<QuotasKind> = {
    name: factory.name,
    laws: ordering.filter((law) => claims.includes(law) && whyVoid(law, policy) === null),
    isVoid: () => false,
    judge: (law, trial) => laws[law].judge(trial),
    scripts: (profile, intentsMost) => quotaScripts(policy, factory, profile, startMs, intentsMost),
    player: async (script, seam) =>
      new QuotaPlayer(
        factory,
        script.policy,
        await makeQuotaLimiter(factory, script.policy, script.startMs, seam),
      ),
    isAdmitted: ({ admitted }) => admitted,
    bare,
    windowMs: (script, { caller, operation }) =>
      Math.max(
        ...Object.keys(script.policy.operations[operation]?.uses ?? {}).map((quota) =>
          windowMsOf(quotaFor(script.policy, quota, caller)),
        ),
      ),
  };
  return checkOverlaps(kit, options);
}

/**
 * Removes the counts from an overlapping call's answer, since they may be of a later time. The outcome and each quota's
 * limit and end stay; if the clock moved during the call, the ends go too.
 */
function bare({ said, read, ...event }: QuotaCallEvent, moved: boolean): QuotaCallEvent {
  const readings = said.readings?.map(({ quota, limit, resetAtMs }) => ({
    ...{ quota, limit },
    ...(!moved && { resetAtMs }),
  }));
  const shown = read?.readings.map((reading) => ({
    ...reading,
    remaining: null,
    used: null,
    ...(moved && { reset: null }),
  }));
  return {
    ...event,
    said: { ...said, ...(readings !== undefined && { readings }) },
    read: read && { ...read, readings: shown ?? [] },
  };
}
