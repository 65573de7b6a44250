// The probe: infers from outside, by few calls, the rules that a live deployment follows. It makes free calls first,
// then the cheapest calls that show something, and then waits.
import { type RulesInput, type Scope, scopes } from "../rules/rules.ts";
import { count, counted } from "../rules/words.ts";
import type { TraceHeader } from "../trace/record.ts";
import { encodeCall, encodeHeader } from "../trace/write.ts";
import { isFailure } from "../wire/outcome.ts";
import { probeCharging } from "./charging.ts";
import { conclude, windowsOf } from "./conclude.ts";
import { contact } from "./contact.ts";
import { tryCounting } from "./counting.ts";
import { probeFullWindow } from "./filling.ts";
import { about, type Finding, type FindingName, findingNames } from "./finding.ts";
import { type Allowance, type ProbeEnd, traceHead } from "./hand.ts";
import { rulesOf } from "./probed-rules.ts";
import { badBody, badQuery, get, graphqlGet, head, missing, resources, wrongMethod } from "./queries.ts";
import { callsToRefusals, probeRefusals } from "./refusals.ts";
import { isLimiters, type SeenCall, traceCall } from "./seen.ts";
import { ProbeSession, type SessionOptions } from "./session.ts";
import type { StatusOptions } from "./status.ts";
import { look, waitForEnd, waitForEnds, waitForUserEnd } from "./watch.ts";

export type { Allowance, ProbeProgress } from "./hand.ts";

export interface ProbeOptions extends StatusOptions, Pick<SessionOptions, "onProgress"> {
  /** URL of GraphQL. Default: `TARGET/v1/graphql`. */
  readonly graphqlUrl?: string | undefined;
  /** User of the token, for the trace. */
  readonly user?: string | null | undefined;
  readonly allowance?: Partial<Allowance> | undefined;
}

/** Findings of a probe and their evidence, as plain JSON. */
export interface ProbeReport {
  readonly target: string;
  readonly organization: string;
  readonly user: string | null;
  /** Begin of the probe, ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ended: ProbeEnd;
  readonly used: { readonly calls: number; readonly points: number; readonly statusCalls: number };
  readonly allowance: Allowance;
  /** Number of calls without an answer, or answered 5xx. */
  readonly failed: number;
  readonly findings: readonly Finding[];
  /** Rules for `parseRules`: only what was seen. */
  readonly rules: RulesInput;
  /** Paths of the rules' members that are defaults, because nothing was seen of them. */
  readonly defaults: readonly string[];
  /** Lines of the probe's trace, without line ends. */
  readonly trace: readonly string[];
}

export const defaultAllowance: Allowance = {
  calls: 80,
  points: 30_000,
  statusCalls: 240,
  waitMs: 90_000,
};

/**
 * Infers the rules of a live deployment.
 * @throws SpillwayError `TARGET_UNREACHABLE` if there is no such API, before any call that counts
 */
export async function probe(options: ProbeOptions): Promise<ProbeReport> {
  const allowance = { ...defaultAllowance, ...options.allowance };
  const session = new ProbeSession({
    ...options,
    base: options.target,
    graphqlUrl: options.graphqlUrl ?? `${options.target}/v1/graphql`,
    user: options.user ?? null,
    allowance,
  });
  const startedAt = session.now();
  const findings: Finding[] = [];
  const ended = await session.ended(() => experiment(session, findings));
  const all = complete([...findings, ...conclude(session.calls, session.used.waitMs)]);
  const failed = session.calls.filter(({ status }) => isFailure(status)).length;
  const weighed = failed * 20 > session.calls.length ? all.map(lessCertain(failed, session.calls)) : all;
  return {
    target: options.target,
    organization: options.organization,
    user: session.options.user,
    startedAt,
    endedAt: session.now(),
    ended,
    used: { calls: session.used.calls, points: session.used.points, statusCalls: session.used.statusCalls },
    allowance,
    failed,
    findings: weighed,
    ...rulesOf(weighed),
    trace: traceOf(session, startedAt),
  };
}

async function experiment(session: ProbeSession, findings: Finding[]): Promise<void> {
  const first = await contact(session);
  await look(session);
  if (session.calls.some((call) => call.statusScopes !== null || isLimiters(call)))
    await experiments(session, findings);
  else findings.push(...limitsNothing(first));
}

async function experiments(session: ProbeSession, findings: Finding[]): Promise<void> {
  const { organization } = session.options;
  await waitForRoom(session);
  const resource = await restCounting(session, findings);
  await graphqlCounting(session, findings);
  const charging = await probeCharging(session);
  findings.push(...charging);
  const unseen = charging.some(
    ({ name, value }) => (name === "refused" || name === "userEnforced") && value === null,
  );
  const charge = charging.find(({ name }) => name === "graphqlCharge")?.value;
  if (unseen && charge !== "reserved" && charge !== "prepaid")
    findings.push(...(await probeFullWindow(session, resource === null ? 0 : callsToRefusals(session))));
  if (resource !== null) findings.push(...(await probeRefusals(session, resource)));
  session.say(`windows of ${organization}`);
  await waitForEnds(session);
  for (const scope of scopes) {
    if (scope === "graphql" && session.calls.some((call) => call.scope === "graphql")) {
      await session.act(graphqlGet);
      await session.pause(330);
      await session.act(graphqlGet);
    }
    const { anchor, user } = windowsOf(session.calls, scope);
    if (user === null && anchor !== null) await waitForUserEnd(session, scope);
  }
}

/** Number of REST calls that must be left before kinds of calls are tried: an earlier probe may have left none. */
const roomLeast = 12;

async function waitForRoom(session: ProbeSession): Promise<void> {
  const last = session.calls.findLast(({ statusScopes }) => statusScopes !== null);
  const window = last?.statusScopes?.rest;
  if (last === undefined || window == null) return;
  const { userRemaining: remaining, userLimit: limit } = last.headers;
  const userShort = Number(remaining) < Math.min(roomLeast, Number(limit));
  if (userShort || window.limit - window.current < Math.min(roomLeast, window.limit))
    await waitForEnd(session, "rest");
}

/** Tries how REST calls count. @returns a path that was answered 200; `null` if the token may read none */
async function restCounting(session: ProbeSession, findings: Finding[]): Promise<string | null> {
  const { organization } = session.options;
  let resource: string | null = null;
  for (const path of resources(organization)) {
    const finding = await tryCounting(session, get(path), {
      name: "getCounted",
      statuses: [200],
      words: "GET",
    });
    const answered = session.calls.findLast(({ what }) => what === get(path).what);
    if (answered?.status !== 200) continue;
    findings.push(finding);
    resource = path;
    break;
  }
  const attempts = [
    ...(resource === null
      ? []
      : [{ action: head(resource), name: "headCounted", statuses: [200], words: "HEAD" } as const]),
    {
      action: { ...head(session.statusPath), what: "HEAD status", isExempt: true },
      name: "headStatusCounted",
      statuses: [200],
      words: "HEAD of the status",
    } as const,
    {
      action: missing(organization),
      name: "notFoundCounted",
      statuses: [404],
      words: "a resource that is not there",
    } as const,
    {
      action: wrongMethod(session.statusPath),
      name: "wrongMethodCounted",
      statuses: [405],
      words: "a method that it does not have",
    } as const,
  ];
  for (const { action, ...expectation } of attempts)
    findings.push(await tryCounting(session, action, expectation));
  return resource;
}

async function graphqlCounting(session: ProbeSession, findings: Finding[]): Promise<void> {
  const attempts = [
    {
      action: graphqlGet,
      name: "wrongMethodCounted",
      statuses: [405],
      words: "a method that it does not have",
    },
    { action: badBody, name: "badBodyCounted", statuses: [400], words: "a body that is no JSON" },
    { action: badQuery, name: "badQueryCounted", statuses: [200], words: "a query that is not executed" },
  ] as const;
  for (const { action, ...expectation } of attempts)
    findings.push(await tryCounting(session, action, expectation));
}

function limitsNothing(first: SeenCall): Finding[] {
  const why = `neither limits nor rate limit headers in ${first.what}: nothing shows that it limits at all`;
  const needs = "a deployment that shows its limits (SPEC.md §4, §5)";
  return (["organizationLimit", "userLimit", "enforced"] as const).flatMap((name) =>
    scopes.map((scope) => about({ name, scope }).unseen(why, needs)),
  );
}

/** Scopes of findings that are not about both; `null` is the whole deployment. */
const scopeOf: { readonly [N in FindingName]?: Scope | null } = {
  ...{ agreement: null, dateClock: null, windowClock: null },
  ...{ getCounted: "rest", headCounted: "rest", headStatusCounted: "rest", notFoundCounted: "rest" },
  ...{
    graphqlCharge: "graphql",
    graphqlCost: "graphql",
    badBodyCounted: "graphql",
    badQueryCounted: "graphql",
  },
};

/** Returns a finding for each thing that the probe looks for, in the catalogue's order, also for unseen ones. */
function complete(findings: readonly Finding[]): Finding[] {
  return (Object.keys(findingNames) as FindingName[]).flatMap((name) => {
    const only = scopeOf[name];
    return (only === undefined ? scopes : [only]).map((scope) => {
      const ones = findings.filter((one) => one.name === name && one.scope === scope);
      return (
        ones.find(({ value }) => value !== null) ??
        ones[0] ??
        about({ name, scope }).unseen("the probe did not get that far", "another probe")
      );
    });
  });
}

const lessCertain =
  (failed: number, calls: readonly SeenCall[]) =>
  (finding: Finding): Finding =>
    finding.confidence === "certain"
      ? {
          ...finding,
          confidence: "likely",
          evidence: `${finding.evidence} (but ${count(failed)} of ${counted(calls.length, "call")} failed)`,
        }
      : finding;

function traceOf(session: ProbeSession, startedAt: number): string[] {
  const { base, organization } = session.options;
  const header: TraceHeader = { ...traceHead(1, base, startedAt), rules: null, complete: false, lost: 0 };
  return [encodeHeader(header), ...session.calls.map((seen) => encodeCall(traceCall(seen, organization)))];
}
