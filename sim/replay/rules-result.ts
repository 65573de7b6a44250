// The parts of a replay under rules that go the way of policies, told by organizations, users and scopes.
import { quotaNames } from "../../src/policy/names.ts";
import { type Owner, owners, type Scope, scopes } from "../../src/rules/rules.ts";
import type {
  ByQuota,
  QuotaDemand,
  QuotaReaction,
  QuotaSlot,
} from "../../src/summary/quota-replay-result.ts";
import type {
  ReplayDemand,
  ReplayReaction,
  ReplaySlot,
  ReplayTotals,
} from "../../src/summary/replay-result.ts";

/** The quotas of the API of SPEC.md, in the policy's order. */
const quotas = scopes.flatMap((scope) =>
  owners.map((owner) => ({ name: quotaNames[scope][owner] as string, owner, scope })),
);

type Refused = Pick<ReplayTotals, "refusedByOrganization" | "refusedByUser">;

function refusedOf(refusedBy: ByQuota): Refused {
  const of = (wanted: Owner): number =>
    quotas.reduce((sum, { owner }, place) => (owner === wanted ? sum + (refusedBy[place] ?? 0) : sum), 0);
  return { refusedByOrganization: of("organization"), refusedByUser: of("user") };
}

const slotOf = ({ atMs, calls, refusedBy }: QuotaSlot): ReplaySlot => ({
  atMs,
  calls,
  ...refusedOf(refusedBy),
});

/** Organizations' limits first. */
export function demandByRules({ limits, ...demand }: QuotaDemand): ReplayDemand {
  const inOrder = owners.flatMap((wanted) => quotas.filter(({ owner }) => owner === wanted));
  return {
    ...demand,
    limits: inOrder.flatMap(({ name, owner, scope }) =>
      limits
        .filter(({ quota }) => quota === name)
        .map(({ limit, low, high }): ReplayDemand["limits"][number] => ({
          owner,
          scope: scope as Scope,
          limit,
          low,
          high,
        })),
    ),
  };
}

export function reactionByRules({ refusedBy, slots, ...reaction }: QuotaReaction): ReplayReaction {
  return { ...reaction, ...refusedOf(refusedBy), slots: slots.map(slotOf) };
}
