// A replay of the policy that stands for rules, told by organizations, users and scopes.
import { quotaNames } from "../../src/policy/names.ts";
import { type Owner, owners, type Scope, scopes } from "../../src/rules/rules.ts";
import type {
  ByQuota,
  QuotaDemand,
  QuotaHeadroom,
  QuotaReaction,
  QuotaReplayedLog,
  QuotaReplayTotals,
  QuotaReplayUser,
  QuotaSlot,
} from "../../src/summary/quota-replay-result.ts";
import type {
  Headroom,
  ReplayDemand,
  ReplayedLog,
  ReplayReaction,
  ReplayResult,
  ReplaySlot,
  ReplayTotals,
  ReplayUser,
} from "../../src/summary/replay-result.ts";
import type { PlainReplay } from "./replay-run.ts";

interface RulesQuota {
  readonly name: string;
  readonly owner: Owner;
  readonly scope: Scope;
  /** Place in the policy's order. */
  readonly place: number;
}

const quotas: readonly RulesQuota[] = scopes
  .flatMap((scope) => owners.map((owner) => ({ name: quotaNames[scope][owner] as string, owner, scope })))
  .map((quota, place) => ({ ...quota, place }));

/** Quotas, organizations' first. */
const inOrder: readonly RulesQuota[] = owners.flatMap((wanted) =>
  quotas.filter(({ owner }) => owner === wanted),
);

const quotaOf = (name: string): RulesQuota => quotas.find((quota) => quota.name === name) as RulesQuota;

/** Returns results of quotas in order, organizations' first. */
const ordered = <Told extends { readonly quota: string }>(told: readonly Told[]): readonly Told[] =>
  inOrder.flatMap(({ name }) => told.filter(({ quota }) => quota === name));

/** Returns the owner of a count. */
const ownerOf = (key: Readonly<Record<string, string>>): { org: string; user: string | null } => ({
  org: key["organization"] ?? "",
  user: key["user"] ?? null,
});

type Refused = Pick<ReplayTotals, "refusedByOrganization" | "refusedByUser">;

function refusedOf(refusedBy: ByQuota): Refused {
  const of = (wanted: Owner): number =>
    quotas.reduce(
      (sum, { owner, place }) => (owner === wanted ? sum + (refusedBy[place] as number) : sum),
      0,
    );
  return { refusedByOrganization: of("organization"), refusedByUser: of("user") };
}

function logOf({ operations, unrouted: _unrouted, paths: _paths, ...log }: QuotaReplayedLog): ReplayedLog {
  const { status, other, firstAt, lastAt, ...rest } = log;
  return {
    ...rest,
    rest: operations["rest"] as number,
    graphql: operations["graphql"] as number,
    ...{ status, other, firstAt, lastAt },
  };
}

function totalsOf({ refusedBy, costs, ...totals }: QuotaReplayTotals): ReplayTotals {
  const { calls, admitted, refused, hopeless, ...who } = totals;
  return {
    ...{ calls, admitted, refused },
    ...refusedOf(refusedBy),
    hopeless,
    points: costs["graphql"] as number,
    ...who,
  };
}

const slotOf = ({ atMs, calls, refusedBy }: QuotaSlot): ReplaySlot => ({
  atMs,
  calls,
  ...refusedOf(refusedBy),
});

function userOf({ refusedBy, useMax, ...user }: QuotaReplayUser): ReplayUser {
  const { org, user: name, calls, refused, firstRefusedAt, lastRefusedAt } = user;
  const use = (scope: Scope): number | null => useMax[quotaOf(quotaNames[scope].user).place] ?? null;
  return {
    ...{ org, user: name, calls, refused },
    ...refusedOf(refusedBy),
    ...{ firstRefusedAt, lastRefusedAt },
    restUseMax: use("rest"),
    graphqlUseMax: use("graphql"),
  };
}

function headroomOf({ quota, key, ...use }: QuotaHeadroom): Headroom {
  const { owner, scope } = quotaOf(quota);
  return { owner, scope, org: key === null ? null : ownerOf(key).org, ...use };
}

/** Returns the result of the log as it is. */
export function plainByRules(
  plain: PlainReplay,
): Omit<
  ReplayResult,
  "format" | "version" | "interrupted" | "rules" | "demand" | "reaction" | "expectations"
> {
  return {
    log: logOf(plain.log),
    totals: totalsOf(plain.totals),
    slotMs: plain.slotMs,
    slots: plain.slots.map(slotOf),
    users: plain.users.map(userOf),
    headroom: ordered(plain.headroom).map(headroomOf),
    organizations: plain.counts.map(headroomOf),
    smallestLimits: ordered(plain.smallestLimits).map(({ quota, key, limit, smallest, windowEndsAt }) => {
      const { owner, scope } = quotaOf(quota);
      return { owner, scope, limit, smallest, ...ownerOf(key), windowEndsAt };
    }),
    refusingWindows: plain.refusingWindows.map(({ quota, key, ...window }) => ({
      ...ownerOf(key),
      scope: quotaOf(quota).scope,
      ...window,
    })),
    refusingWindowsSeen: plain.refusingWindowsSeen,
    recorded: plain.recorded,
  };
}

/** Returns the demand, organizations' limits first. */
export function demandByRules({ limits, ...demand }: QuotaDemand): ReplayDemand {
  return {
    ...demand,
    limits: ordered(limits).map(({ quota, ...limit }) => {
      const { owner, scope } = quotaOf(quota);
      return { owner, scope, ...limit };
    }),
  };
}

export function reactionByRules({ refusedBy, slots, ...reaction }: QuotaReaction): ReplayReaction {
  return { ...reaction, ...refusedOf(refusedBy), slots: slots.map(slotOf) };
}
