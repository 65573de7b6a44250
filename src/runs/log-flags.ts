// A user's choices for a log, as its readers take them: columns, callers, and how much is read.
import { createHash } from "node:crypto";
import type { CallerFlags } from "../logs/caller-sources.ts";
import { defaultGraphqlPath, defaultStatusPath, defaultUnread, type LogOptions } from "../logs/choices.ts";
import type { MappingFlags } from "../logs/mapping.ts";
import type { LogSettings } from "../logs/read-logs.ts";
import { costMost } from "../logs/rows.ts";
import type { LogZone } from "../logs/zone-clock.ts";
import { isZone } from "../policy/calendar.ts";
import type { Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { parseShare } from "../rules/share.ts";

export const usage = (path: string, got: string, allowed: string): SpillwayError =>
  new SpillwayError("USAGE", `${path} cannot be used`, { problem: { path, got, allowed } });

export function flagsOf(args: LogOptions): MappingFlags {
  const columns = {
    time: args.timeColumn,
    date: args.dateColumn,
    user: args.userColumn,
    address: args.addressColumn,
    organization: args.organizationColumn,
    method: args.methodColumn,
    path: args.pathColumn,
    status: args.statusColumn,
    cost: args.costColumn,
    actual: args.actualColumn,
    duration: args.durationColumn,
    scope: args.scopeColumn,
  };
  const given = Object.entries(columns).filter(([, name]) => name !== undefined);
  return {
    columns: Object.fromEntries(given) as NonNullable<MappingFlags["columns"]>,
    tokenColumn: args.tokenColumn,
    durationUnit: args.durationUnit,
    timeIs: args.timeIs,
    dates: args.dates,
  };
}

export function settingsOf(args: LogOptions): LogSettings {
  const graphqlCost = args.graphqlCost ?? null;
  if (graphqlCost !== null && !(Number.isInteger(graphqlCost) && graphqlCost >= 0 && graphqlCost <= costMost))
    throw usage("--graphql-cost", String(graphqlCost), "a whole number of points");
  return {
    organization: args.organization ?? null,
    graphqlCost,
    statusPath: args.statusPath ?? defaultStatusPath,
    graphqlPath: args.graphqlPath ?? defaultGraphqlPath,
    paths: args.path === undefined || args.path.length === 0 ? undefined : args.path,
    zone: zoneOf(args.zone),
    unreadMost: shareOf(args.allowUnread ?? defaultUnread),
    sort: args.sort ?? false,
    digest: digestOf,
  };
}

/** Returns the options about callers under a policy: `NAME=COLUMN` and `NAME=VALUE`, any number of times. */
export function callersOf(args: LogOptions, policy: Policy | undefined): CallerFlags {
  const pairs = (option: string, given: readonly string[] = [], form: string): Record<string, string> =>
    Object.fromEntries(
      given.map((text) => {
        const [, name, value] = /^([\w-]+)=(.+)$/.exec(text) ?? [];
        if (policy === undefined) throw usage(`--${option}`, quote(text), "nothing without --policy");
        if (name === undefined || value === undefined) throw usage(`--${option}`, quote(text), form);
        return [name, value];
      }),
    );
  return {
    columns: pairs("caller-column", args.callerColumn, "an attribute and its column: tenant=customer_id"),
    values: pairs("caller", args.caller, "an attribute and its value: tenant=acme"),
    hasOrganization: args.organization !== undefined,
  };
}

const factorMost = 1000;

/**
 * Returns the factor on callers: `2x`, `1.5x` or `0.5`; by default 1.
 * @throws SpillwayError `USAGE`
 */
export function trafficOf({ traffic }: Pick<LogOptions, "traffic">): number {
  if (traffic === undefined) return 1;
  const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(traffic)?.[1]);
  if (factor > 0 && factor <= factorMost) return factor;
  throw usage("--traffic", quote(traffic), `a factor above 0 and at most ${factorMost}, such as 2x or 0.5x`);
}

/** Returns the SHA-256 of a token: `printf %s TOKEN | sha256sum` then tells which token a fingerprint is of. */
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

function zoneOf(text: string | undefined): LogZone {
  if (text === undefined || text === "UTC" || text === "Z") return 0;
  if (/^[a-z]/i.test(text) && isZone(text)) return text;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59)
    throw usage("--zone", quote(text), "UTC, +02:00, -0530, or a name such as Europe/Paris");
  return (sign === "+" ? 1 : -1) * (60 * Number(hours) + Number(minutes));
}

function shareOf(text: string): number {
  const share = parseShare(text);
  if (share === null || share > 1) throw usage("--allow-unread", quote(text), '"5%", or a share from 0 to 1');
  return share;
}
