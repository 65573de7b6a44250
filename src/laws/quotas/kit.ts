// Checks the laws of a limiter by a policy: finds what it can be asked, draws scripts, and judges them.
import type { PlaceOf } from "../../engine/limiter-failure.ts";
import type { QuotaLimiterFactory } from "../../engine/quota-limiter.ts";
import type { Policy } from "../../policy/policy.ts";
import { wireOf } from "../../policy/presets.ts";
import { type LimiterLawName, limiterLawNames, limiterLawStatements } from "../../rules/laws.ts";
import { type OpFrequencies, within } from "../arbitraries.ts";
import { laws } from "../catalogue.ts";
import { checkKit } from "../check.ts";
import type { CheckOptions } from "../check-options.ts";
import { ofFreeRefusals } from "../keyed.ts";
import { formOf } from "../known.ts";
import { patient } from "../patience.ts";
import type { CheckReport } from "../report.ts";
import type { LawKit } from "../search.ts";
import { isOfCalendar, isWindow, type QuotasKind } from "../sight.ts";
import { askable, newYear2026Ms, tried } from "../subject.ts";
import { quotaScripts } from "./drawn.ts";
import { makeQuotaLimiter, playQuotas } from "./play.ts";

/** Statements of the laws for any policy, in place of those worded for the default API. */
const statements: Readonly<Record<LimiterLawName, string>> = {
  ...limiterLawStatements,
  bounded: "while enforced, 0 <= used <= limit",
  conserved: "used is the sum of what the policy charges",
  "remaining-agrees": "remaining = limit - used, down to 0 where the policy says so",
  "reset-agrees": "resets are when the policy's windows end, and its buckets are full",
  "all-or-nothing": "a refused call changes no quota that does not charge it",
  "refusal-justified": "a call is refused if and only if some enforced quota lacks room for it",
  isolated: "calls that share no count change nothing here",
  monotone: "within a window used never falls, but by what is given back",
  recovers: "a quota of which nothing is used admits a call that fits its limit",
  "unenforced-never-refuses": "a quota that is not enforced refuses nothing",
  "time-translates": "shifting all times by a common multiple of the window lengths shifts all answers alike",
  "headers-present": "answers show all that the policy's wire says, in its forms",
  "limit-agrees": "limit is the policy's",
  "refusal-agrees": "a refusal names the first quota that lacks room, and its answer says the same",
};

/**
 * Looks for a counterexample to each law that a limiter claims under a policy.
 * @throws SpillwayError `ADAPTER_INVALID` if no limiter can be made; `POLICY_UNSUPPORTED` if the policy has a quota whose
 *   kind can be described but not checked; `USAGE` if the path leads nowhere
 */
export async function checkQuotaLaws(
  given: QuotaLimiterFactory,
  policy: Policy,
  options: Omit<CheckOptions<QuotasKind>, "rules" | "evidence"> = {},
): Promise<CheckReport<QuotasKind>> {
  const factory = patient(given, options.timers, options.answerMsMost);
  return checkKit(() => quotaKit(factory, policy, options), options);
}

export const claimedOf = ({ claims }: QuotaLimiterFactory): readonly LimiterLawName[] =>
  claims === "all" ? limiterLawNames : claims;

async function quotaKit(
  factory: QuotaLimiterFactory,
  policy: Policy,
  { startMs = newYear2026Ms, placeOf }: Pick<CheckOptions, "startMs" | "placeOf">,
): Promise<LawKit<QuotasKind>> {
  const claims = claimedOf(factory);
  const may = await abilities(factory, policy, startMs, claims, placeOf);
  return {
    name: factory.name,
    claims,
    statements,
    voidReason: (law) => whyVoid(law, policy),
    scripts: (law) => quotaScripts(policy, factory, within(laws[law].profile, may), startMs),
    runs: (law) => ({
      note() {},
      isVoid: () => false,
      judge: (script) =>
        laws[law].judge({ script, play: (ops) => playQuotas(factory, script.policy, ops, script.ops) }),
    }),
    limits: "policy",
    formOf: (script, window) => formOf(script, window?.quota ?? null),
  };
}

/** Makes one limiter to learn which operations it can be asked for. @throws SpillwayError `ADAPTER_INVALID` */
export async function abilities(
  factory: QuotaLimiterFactory,
  policy: Policy,
  startMs: number,
  claims: readonly LimiterLawName[],
  placeOf?: PlaceOf,
): Promise<Set<keyof OpFrequencies>> {
  const limiter = await tried(factory.name, () => makeQuotaLimiter(factory, policy, startMs), placeOf);
  return askable(limiter, factory.restore !== undefined, claims);
}

/** Returns why a law says nothing about any quota of a policy; `null` if it says something. */
export function whyVoid(law: LimiterLawName, policy: Policy): string | null {
  const quotas = Object.values(policy.quotas);
  const calendar = Object.entries(policy.quotas).find(([, quota]) => isOfCalendar(quota));
  if (law === "time-translates" && calendar !== undefined)
    return `windows of ${calendar[0]} follow a calendar, and differ in length`;
  const isOfWindows = law === "twice-at-most" || law === "monotone";
  if (isOfWindows && !quotas.some(isWindow)) return "no quota has fixed windows";
  if (law === "rate-bound" && quotas.every(isWindow)) return "no quota is a bucket";
  if (ofFreeRefusals.includes(law) && quotas.every(({ charge }) => charge.refused === "counted"))
    return "refused calls are counted";
  if (law === "headers-present" && wireOf(policy).readings.length === 0)
    return "the policy's wire shows no quota";
  return null;
}
