// Calls that overlap, by rules: any limiter's orders are looked for by the laws that it claims (`overlaps.ts`).
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
import { checkOverlaps, type InterleavingReport, type OverlapKit, type OverlapOptions } from "./overlaps.ts";
import { patient } from "./patience.ts";
import { prepare } from "./subject.ts";

export interface InterleavingOptions extends OverlapOptions, Pick<CheckOptions, "rules"> {}

/**
 * Looks for calls whose answers no order explains. An asynchronous limiter that reaches its store through the
 * `seam` of `create` has every interleaving explored, and repeated; one that does not has its calls started at
 * once and in every order, and interleaves them as it does.
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
 * @throws SpillwayError `ADAPTER_INVALID` where the limiter cannot be made
 */
export async function checkInterleavings(
  given: LimiterFactory,
  options: InterleavingOptions = {},
): Promise<InterleavingReport> {
  const factory = options.timers === undefined ? given : patient(given, options.timers, options.answerMsMost);
  const { subject } = await prepare(factory, options);
  const claims = claimsOf(factory);
  const kit: OverlapKit<RulesKind> = {
    name: factory.name,
    laws: ordering.filter((law) => claims.includes(law)),
    isVoid: (law, { rules }) => voidEverywhere(law, rules) !== null,
    judge: (law, trial) => byRules(laws[law].judge)(trial),
    scripts: (profile, intentsMost) => scriptArbitrary(subject, profile, intentsMost),
    player: async ({ rules, startMs }, seam) =>
      new RulesPlayer(factory, rules, await makeLimiter(factory, rules, startMs, seam)),
    isAdmitted: ({ decision }) => decision.admitted,
    bare,
    windowMs: ({ rules }, { organization, user, scope }) =>
      userLimit(rules, organization, user, scope).windowSeconds * 1000,
  };
  return checkOverlaps(kit, options);
}

/**
 * Strips an overlapping call of its counts, which may be later: its outcome, and the window's limit and end are left. Of
 * one in which the clock moved, the end goes, too: it may be that of either instant.
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
