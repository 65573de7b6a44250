// A replay as its documents show it, under rules or under a policy.
import { defaultOrganization } from "../logs/rows.ts";
import { anonymousWords, unplacedWords } from "../logs/unplaced-words.ts";
import type { Policy } from "../policy/policy.ts";
import { shortName } from "../rules/printable.ts";
import type { Owner, Rules, Scope } from "../rules/rules.ts";
import { count, counted } from "../rules/words.ts";
import type { QuotaReplayResult } from "../summary/quota-replay-result.ts";
import type {
  ReactingUser,
  RecordedRefusals,
  ReplayDemand,
  ReplayedLog,
  ReplayReaction,
  ReplayResult,
  ReplaySlot,
  WindowUse,
} from "../summary/replay-result.ts";
import type { ExpectationResult } from "../summary/summary.ts";
import { ownerName } from "./format.ts";
import { quotaUnits, scopeUnits, scopeWords } from "./source.ts";

export type AnyReplay = ReplayResult | QuotaReplayResult;

export interface SlotView extends ReplaySlot {
  readonly refusedByQuota: number;
}

interface UserView {
  readonly name: string;
  /** Name without the organization, if there is only one. */
  readonly short: string;
  readonly calls: number;
  readonly refused: number;
  readonly refusedByOrganization: number;
  readonly refusedByUser: number;
  readonly refusedByQuota: number;
  readonly firstRefusedAt: number | null;
  /** Use of the fullest window, by `useTitles`. */
  readonly uses: readonly (number | null)[];
}

export interface UseView extends WindowUse {
  readonly name: string;
  readonly unit: string;
  /** Limit as it is, and the smallest that would have sufficed; `null` if unknown. */
  readonly limit: number | null;
  readonly smallest: number | null;
}

export interface SmallestView {
  readonly name: string;
  /** `points for a user (GraphQL)`, `requests of core`. */
  readonly words: string;
  readonly unit: string;
  readonly limit: number;
  readonly smallest: number;
  readonly neededBy: string;
  readonly windowEndsAt: number;
}

interface WindowView {
  readonly name: string;
  readonly opensAt: number;
  readonly limit: number;
  readonly refused: number;
  readonly firstRefusedAt: number;
}

export interface ReactionView extends Omit<ReplayReaction, "users" | "slots" | keyof Refusals> {
  readonly slots: readonly SlotView[];
  readonly users: readonly (ReactingUser & { readonly name: string })[];
}

export interface ReplayView {
  readonly log: Pick<ReplayedLog, "files" | "rows" | "unread" | "examples" | "notes" | "firstAt" | "lastAt">;
  /** Numbers of rows by kind. */
  readonly rows: readonly [string, string][];
  readonly totals: {
    readonly calls: number;
    readonly refused: number;
    readonly hopeless: number;
    readonly users: number;
    readonly usersRefused: number;
  };
  /** `20 users in 1 organization`, `20 callers`. */
  readonly callers: string;
  readonly under: "rules" | "policy";
  /** Words on rows that belong elsewhere, or nowhere. */
  readonly apart: string;
  /** All refusals, by what refused. */
  readonly hits: readonly (readonly [amount: number, reason: string])[];
  readonly slotMs: number;
  readonly slots: readonly SlotView[];
  readonly users: readonly UserView[];
  readonly useTitles: readonly string[];
  readonly headroom: readonly UseView[];
  readonly counts: readonly UseView[];
  readonly hasSeveralCounts: boolean;
  readonly smallest: readonly SmallestView[];
  readonly windows: readonly WindowView[];
  readonly windowsSeen: number;
  readonly recorded: RecordedRefusals | null;
  readonly demand:
    | (Omit<ReplayDemand, "limits"> & {
        readonly limits: readonly { words: string; limit: number; low: number; high: number }[];
      })
    | null;
  readonly reaction: ReactionView | null;
  readonly expectations: readonly ExpectationResult[];
  readonly interrupted: boolean;
  readonly limits: { readonly rules: Rules } | { readonly policy: Policy };
}

type Refusals = Pick<ReplayReaction, "refusedByOrganization" | "refusedByUser">;

export function replayView(result: AnyReplay): ReplayView {
  const { log, totals, slotMs, recorded, expectations, interrupted } = result;
  return {
    ...{ log, totals, slotMs, recorded, expectations, interrupted },
    windowsSeen: result.refusingWindowsSeen,
    ...(result.version === 1 ? viewByRules(result) : viewByQuotas(result)),
  };
}

/** Members of a view that depend on the kind of the limits. */
type LimitsView = Omit<
  ReplayView,
  "log" | "totals" | "slotMs" | "recorded" | "expectations" | "interrupted" | "windowsSeen"
>;

interface Windows {
  readonly owner: Owner;
  readonly scope: Scope;
  /** `null` for all organizations. */
  readonly org: string | null;
  readonly user?: string | null;
}

/** Returns `organization, REST`, `acme/agent-7, GraphQL`. */
function windowsName({ owner, scope, org, user = null }: Windows): string {
  const whose =
    org === null ? owner : `${ownerName(org, user)}${user === null && owner === "user" ? ", users" : ""}`;
  return `${whose}, ${scopeWords[scope]}`;
}

const wordsFor = ({ owner, scope }: Pick<Windows, "owner" | "scope">): string =>
  `${scopeUnits[scope]} for ${owner === "organization" ? "the organization" : "a user"} (${scopeWords[scope]})`;

function viewByRules(result: ReplayResult): LimitsView {
  const { log, totals, users, headroom, organizations, smallestLimits, demand, reaction } = result;
  const names = organizations.flatMap(({ org }) => (org === null ? [] : [org]));
  const useOf = (one: ReplayResult["headroom"][number]): UseView => {
    const needed = smallestLimits.find(({ owner, scope }) => owner === one.owner && scope === one.scope);
    const { limit = null, smallest = null } = needed ?? {};
    return { ...one, name: windowsName(one), unit: scopeUnits[one.scope], limit, smallest };
  };
  return {
    rows: [
      ["REST calls", count(log.rest)],
      ["GraphQL calls", count(log.graphql)],
      ["Status calls, which are free", count(log.status)],
      ["What no quota counts", count(log.other)],
    ],
    callers: `${counted(totals.users, "user")} in ${counted(totals.organizations, "organization")}`,
    under: "rules",
    apart: `${anonymousWords(log.anonymous)} ${unplacedWords(log.unplaced, names)}`.trim(),
    hits: [
      [totals.refusedByOrganization, "by an organization's window"],
      [totals.refusedByUser, "by a user's own window"],
    ],
    slots: result.slots.map((slot) => ({ ...slot, refusedByQuota: 0 })),
    users: users.map(({ org, user, restUseMax, graphqlUseMax, ...rest }) => ({
      ...rest,
      name: ownerName(org, user),
      short: totals.organizations > 1 ? ownerName(org, user) : shortName(user),
      refusedByQuota: 0,
      uses: [restUseMax, graphqlUseMax],
    })),
    useTitles: ["Fullest REST window", "GraphQL"],
    headroom: headroom.map(useOf),
    counts: organizations.map(useOf),
    hasSeveralCounts: new Set(names).size > 1,
    smallest: smallestLimits.map((one) => ({
      ...one,
      name: windowsName({ ...one, org: null, user: null }),
      words: wordsFor(one),
      unit: scopeUnits[one.scope],
      neededBy: ownerName(one.org, one.user),
    })),
    windows: result.refusingWindows.map((one) => ({
      ...one,
      name: windowsName({ ...one, owner: one.user === null ? "organization" : "user" }),
    })),
    demand: demand && {
      ...demand,
      limits: demand.limits.map((one) => ({ ...one, words: wordsFor(one) })),
    },
    reaction: reaction && {
      ...reaction,
      slots: reaction.slots.map((slot) => ({ ...slot, refusedByQuota: 0 })),
      users: reaction.users.map((user) => ({ ...user, name: ownerName(user.org, user.user) })),
    },
    limits: { rules: result.rules },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Returns `core`, `core, ann`. */
const countName = (quota: string, key: Readonly<Record<string, string>> | null): string =>
  [quota, ...Object.values(key ?? {})].map(shortName).join(", ");

function viewByQuotas(result: QuotaReplayResult): LimitsView {
  const { log, totals, policy, smallestLimits, demand, reaction } = result;
  const names = Object.keys(policy.quotas);
  const wordsOf = (quota: string): string => {
    const units = quotaUnits(quota, policy);
    return units === quota ? units : `${units} of ${shortName(quota)}`;
  };
  const userName = ({ org, user }: { readonly org: string; readonly user: string }): string =>
    org === defaultOrganization ? shortName(user) : ownerName(org, user);
  const slotOf = ({ atMs, calls, refusedBy }: QuotaReplayResult["slots"][number]): SlotView => ({
    ...{ atMs, calls, refusedByOrganization: 0, refusedByUser: 0 },
    refusedByQuota: sum(refusedBy),
  });
  const useOf = ({ quota, key, ...use }: QuotaReplayResult["headroom"][number]): UseView => {
    const { limit = null, smallest = null } = smallestLimits.find((one) => one.quota === quota) ?? {};
    return { ...use, name: countName(quota, key), unit: quotaUnits(quota, policy), limit, smallest };
  };
  const operations = Object.entries(log.operations).filter(([, rows]) => rows > 0);
  const used = names.flatMap((name, place) =>
    result.users.some(({ useMax }) => (useMax[place] ?? null) !== null) ? [{ name, place }] : [],
  );
  return {
    rows: [
      ...operations.map(([name, rows]): [string, string] => [`Calls: ${shortName(name)}`, count(rows)]),
      ["Status calls, which are free", count(log.status)],
      ["What no quota counts", count(log.other)],
      ...(log.unrouted === 0 ? [] : [["Of these, without a route", count(log.unrouted)] as [string, string]]),
    ],
    callers: counted(totals.users, "caller"),
    under: "policy",
    apart: unroutedWords(log),
    hits: names.map((name, place) => [totals.refusedBy[place] ?? 0, `by ${shortName(name)}`] as const),
    slots: result.slots.map(slotOf),
    users: result.users.map((user) => ({
      ...user,
      name: userName(user),
      short: userName(user),
      ...{ refusedByOrganization: 0, refusedByUser: 0, refusedByQuota: user.refused },
      uses: used.map(({ place }) => user.useMax[place] ?? null),
    })),
    useTitles: used.map(({ name }) => `Fullest: ${shortName(name)}`),
    headroom: result.headroom.map(useOf),
    counts: result.counts.map(useOf),
    hasSeveralCounts: result.counts.length > names.length,
    smallest: smallestLimits.map((one) => ({
      ...one,
      name: shortName(one.quota),
      words: wordsOf(one.quota),
      unit: quotaUnits(one.quota, policy),
      neededBy: Object.values(one.key).map(shortName).join(", ") || "all callers",
    })),
    windows: result.refusingWindows.map((one) => ({ ...one, name: countName(one.quota, one.key) })),
    demand: demand && {
      ...demand,
      limits: demand.limits.map((one) => ({ ...one, words: wordsOf(one.quota) })),
    },
    reaction: reaction && {
      ...reaction,
      slots: reaction.slots.map(slotOf),
      users: reaction.users.map((user) => ({ ...user, name: userName(user) })),
    },
    limits: { policy },
  };
}

/** Says how many rows match no route, and which paths they ask for. */
function unroutedWords({ unrouted, paths }: QuotaReplayResult["log"]): string {
  if (unrouted === 0) return "";
  const some = paths.length === 0 ? "" : `: ${paths.map(shortName).join(", ")}`;
  return `${counted(unrouted, "row matches", "rows match")} no route, and no quota counts them${some}.`;
}
