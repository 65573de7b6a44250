// A replay under rules of version 1, told by organizations, users and scopes: the shape that replay.json had first.
import { quotaNames } from "../../src/policy/names.ts";
import { type Owner, owners, type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import type {
  ByQuota,
  QuotaHeadroom,
  QuotaReplayResult,
  QuotaSlot,
} from "../../src/summary/quota-replay-result.ts";
import type { Headroom, ReplayResult, ReplaySlot, ReplayTotals } from "../../src/summary/replay-result.ts";

/** The quotas of the API of SPEC.md, in the policy's order. */
const quotas = scopes.flatMap((scope) =>
  owners.map((owner) => ({ name: quotaNames[scope][owner] as string, owner, scope })),
);
/** In the order in which results have them: organizations' first. */
const told = owners.flatMap((owner) => quotas.filter((quota) => quota.owner === owner));

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

const placeOf = (name: string): number => quotas.findIndex((quota) => quota.name === name);

function windowsOf(name: string): { owner: Owner; scope: Scope } {
  const { owner, scope } = quotas[placeOf(name)] as (typeof quotas)[number];
  return { owner, scope };
}

function ownerOf({ key }: { readonly key: Readonly<Record<string, string>> }) {
  return { org: key["organization"] ?? "", user: key["user"] ?? null };
}

/** Those of each quota, in the order of `told`. */
const inOrder = <T extends { readonly quota: string }>(some: readonly T[]): T[] =>
  told.flatMap(({ name }) => some.filter(({ quota }) => quota === name));

const headroomOf = ({ quota, key, ...use }: QuotaHeadroom): Headroom => ({
  ...windowsOf(quota),
  org: key?.["organization"] ?? null,
  ...use,
});

/** Returns the result of a replay under `policyOf(rules)` as that of these rules. */
export function resultByRules(
  result: Omit<QuotaReplayResult, "expectations">,
  rules: Rules,
): Omit<ReplayResult, "expectations"> {
  const { log, totals, users, demand, reaction } = result;
  const { operations, unrouted: _unrouted, paths: _paths, ...plainLog } = log;
  const { refusedBy, costs, ...plainTotals } = totals;
  const [rest, graphql] = scopes.map((scope) => operations[scope] ?? 0) as [number, number];
  return {
    format: "spillway-replay",
    version: 1,
    log: { ...plainLog, rest, graphql },
    interrupted: result.interrupted,
    rules,
    totals: { ...plainTotals, ...refusedOf(refusedBy), points: costs["graphql"] ?? 0 },
    slotMs: result.slotMs,
    slots: result.slots.map(slotOf),
    users: users.map(({ refusedBy, useMax, ...user }) => ({
      ...user,
      ...refusedOf(refusedBy),
      restUseMax: useMax[placeOf(quotaNames.rest.user)] ?? null,
      graphqlUseMax: useMax[placeOf(quotaNames.graphql.user)] ?? null,
    })),
    headroom: inOrder(result.headroom).map(headroomOf),
    organizations: result.counts.map(headroomOf),
    smallestLimits: inOrder(result.smallestLimits).map(({ quota, key, ...smallest }) => ({
      ...windowsOf(quota),
      ...smallest,
      ...ownerOf({ key }),
    })),
    refusingWindows: result.refusingWindows.map(({ quota, key, ...window }) => ({
      ...ownerOf({ key }),
      scope: windowsOf(quota).scope,
      ...window,
    })),
    refusingWindowsSeen: result.refusingWindowsSeen,
    recorded: result.recorded,
    demand:
      demand === null
        ? null
        : {
            ...demand,
            limits: inOrder(demand.limits).map(({ quota, ...limits }) => ({
              ...windowsOf(quota),
              ...limits,
            })),
          },
    reaction: reaction === null ? null : reactionOf(reaction),
  };
}

function reactionOf({
  refusedBy,
  slots,
  ...reaction
}: NonNullable<QuotaReplayResult["reaction"]>): NonNullable<ReplayResult["reaction"]> {
  return { ...reaction, ...refusedOf(refusedBy), slots: slots.map(slotOf) };
}
