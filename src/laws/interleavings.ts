// Checks overlapping calls by rules: some order must keep the laws that the limiter claims (`overlaps.ts`).
import type { LimiterFactory, WindowReading } from "../engine/adapter.ts";
import { claimsOf } from "../rules/algorithms.ts";
import { voidEverywhere } from "../rules/laws.ts";
import { userLimit } from "../rules/rules.ts";
import { scriptArbitrary } from "./arbitraries.ts";
import { byRules } from "./by-rules.ts";
import { laws } from "./catalogue.ts";
import type { CheckOptions } from "./check-options.ts";
import { type CallEvent, makeLimiter, RulesPlayer } from "./history.ts";
import type { RulesKind } from "./law.ts";
import { ordering } from "./orders.ts";
import type { OverlapKit } from "./overlapped-play.ts";
import { checkOverlaps, type InterleavingReport, type OverlapOptions } from "./overlaps.ts";
import { patient } from "./patience.ts";
import { prepare } from "./subject.ts";

export interface InterleavingOptions extends OverlapOptions, Pick<CheckOptions, "rules"> {}

/**
 * Looks for overlapping calls whose answers no order explains. If an asynchronous limiter reaches its store through
 * the `seam` of `create`, the check controls how calls interleave, and can repeat it. Else the check only starts
 * the calls, at once or in a drawn order, and the limiter interleaves them in its own way.
 *
 * @example
 * const racy = keyedLimiter({
 *   name: "reads, then writes",
 *   algorithm: "fixed-window",
 *   anchor: "epoch",
 *   create({ limit, windowMs }, seam) {
 *     const counts = new Map<string, number>();
 *     const store = seam.over({
 *       read: async (key: string) => counts.get(key) ?? 0,
 *       write: async (key: string, count: number) => void counts.set(key, count),
 *     });
 *     return {
 *       async consume(key, _cost, nowMs) {
 *         const window = `${key} ${Math.floor(nowMs / windowMs)}`;
 *         const count = await store.read(window);
 *         if (count >= limit) return false;
 *         await store.write(window, count + 1);
 *         return true;
 *       },
 *     };
 *   },
 * });
 * const report = await checkInterleavings(racy, { seed: 1 });
 * console.log(renderInterleaving(report).join("\n"));
 *
 * @throws SpillwayError `ADAPTER_INVALID` if the limiter cannot be made
 */
export async function checkInterleavings(
  given: LimiterFactory,
  options: InterleavingOptions = {},
): Promise<InterleavingReport> {
  const factory = patient(given, options.timers, options.answerMsMost);
  const { subject } = await prepare(factory, options);
  const claims = claimsOf(subject);
  const kit: OverlapKit<RulesKind> = {
    name: factory.name,
    laws: ordering.filter((law) => claims.includes(law)),
    isVoid: (law, { rules }) => voidEverywhere(law, rules) !== null,
    judge: (law, trial) => byRules(laws[law].judge)(trial),
    scripts: (profile, intentsMost) => scriptArbitrary(subject, profile, intentsMost),
    player: async ({ rules, startMs, ops }, seam) =>
      new RulesPlayer(factory, rules, await makeLimiter(factory, rules, ops[0]?.atMs ?? startMs, seam)),
    isAdmitted: ({ decision }) => decision.admitted,
    bare,
    windowMs: ({ rules }, { organization, user, scope }) =>
      userLimit(rules, organization, user, scope).windowSeconds * 1000,
  };
  return checkOverlaps(kit, options);
}

/**
 * Removes the counts from an overlapping call's answer, since they may be of a later time. The outcome, the limit and
 * the window's end stay. If the clock moved during the call, the end goes too, as it may be that of either instant.
 */
function bare(event: CallEvent, moved: boolean): CallEvent {
  const { organization, user, ...decision } = event.decision;
  const window = (reading: Partial<WindowReading> | undefined): Partial<WindowReading> => ({
    ...(reading?.limit !== undefined && { limit: reading.limit }),
    ...(!moved && reading?.resetAtMs !== undefined && { resetAtMs: reading.resetAtMs }),
  });
  return {
    op: event.op,
    decision: {
      ...decision,
      ...(organization && { organization: window(organization) }),
      ...(user && { user: window(user) }),
    },
  };
}
