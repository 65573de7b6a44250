// The probe by a policy: infers the fixed windows of its quotas from outside, with the policy's own samples. It reads
// what answers show, finds what a call is charged, causes a refusal, and waits for windows to end. It reads quotas of
// other kinds, and says that it does not infer them.
import { limitOf, quotaFor, usedQuotas } from "../policy/effective.ts";
import type { Policy, QuotaAlgorithm } from "../policy/policy.ts";
import { SpillwayError } from "../rules/errors.ts";
import { encodeQuotaCall } from "../trace/quota-lines.ts";
import type { QuotaCall, QuotaTraceHeader } from "../trace/quota-record.ts";
import { encodeHeader } from "../trace/write.ts";
import { type Allowance, type ProbeEnd, traceHead } from "./hand.ts";
import { conclude, costOf, isRefused } from "./policy-conclude.ts";
import { type QuotaFinding, seenPolicy } from "./policy-finding.ts";
import { PolicySession, type PolicySessionOptions } from "./policy-session.ts";
import { endIn, readingOf, roundingOf, skewOf } from "./quota-windows.ts";

export interface PolicyProbeOptions extends Omit<PolicySessionOptions, "allowance"> {
  readonly allowance?: Partial<Omit<Allowance, "points">> | undefined;
}

/** Findings of a probe by a policy. Plain JSON. */
export interface PolicyProbeReport {
  readonly target: string;
  readonly policy: string;
  readonly caller: Readonly<Record<string, string>>;
  /** Begin of the probe, ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ended: ProbeEnd;
  readonly used: { readonly calls: number; readonly statusCalls: number; readonly waitMs: number };
  readonly findings: readonly QuotaFinding[];
  /** Quotas whose kind is not inferred, with the reason. */
  readonly notInferred: readonly { readonly quota: string; readonly why: string }[];
  /** The policy with the values seen in place of its own. */
  readonly seen: Policy;
  /** Lines of the trace, without line ends. */
  readonly trace: readonly string[];
}

export const policyAllowance: Allowance = { calls: 80, points: 0, statusCalls: 120, waitMs: 90_000 };

/**
 * Infers the fixed windows of a live deployment's quotas.
 * @throws SpillwayError `TARGET_UNREACHABLE` if nothing answers the policy's samples; `POLICY_INVALID` if it has none
 */
export async function probePolicy(options: PolicyProbeOptions): Promise<PolicyProbeReport> {
  const session = new PolicySession({ ...options, allowance: { ...policyAllowance, ...options.allowance } });
  const { policy, target, caller } = options;
  requireSamples(policy);
  const startedAt = session.now();
  const ended = await session.ended(() => experiments(session));
  const findings = conclude(session);
  const { calls, statusCalls, waitMs } = session.used;
  const header: QuotaTraceHeader = { ...traceHead(2, target, startedAt), policy, complete: false, lost: 0 };
  return {
    ...{ target, policy: policy.name, caller: caller.attributes, startedAt, endedAt: session.now(), ended },
    ...{
      used: { calls, statusCalls, waitMs },
      findings,
      notInferred: notInferred(policy),
      seen: seenPolicy(policy, findings),
    },
    trace: [encodeHeader(header), ...session.calls.map(encodeQuotaCall)],
  };
}

function requireSamples({ operations }: Policy): void {
  if (Object.values(operations).some(({ samples }) => samples.length > 0)) return;
  throw new SpillwayError("POLICY_INVALID", "this policy has no sample of a call", {
    problem: {
      path: "operations",
      got: "no samples",
      allowed: "a request of `samples` that a probe may send",
    },
  });
}

const kindWords: Readonly<Record<Exclude<QuotaAlgorithm["kind"], "fixed-window">, string>> = {
  "token-bucket": "a token bucket",
  "sliding-log": "a sliding log",
  "sliding-counter": "a sliding counter",
  concurrency: "a limit of calls at a time",
};

const notInferred = ({ quotas }: Policy): PolicyProbeReport["notInferred"] =>
  Object.entries(quotas).flatMap(([quota, { algorithm }]) => {
    if (algorithm.kind === "fixed-window") return [];
    const why = `${kindWords[algorithm.kind]}: probe infers fixed windows, and reads this one's limit alone`;
    return [{ quota, why }];
  });

async function experiments(session: PolicySession): Promise<void> {
  const { policy } = session.options;
  const operations = Object.entries(policy.operations).flatMap(([name, { samples }]) =>
    samples.length > 0 ? [name] : [],
  );
  await session.status();
  for (const operation of operations) {
    session.say(`calling ${operation}, to see what it is charged`);
    for (let n = 0; n < 3; n++) await session.call(operation);
  }
  if (session.hasStatus) for (let n = 0; n < 2; n++) await session.status();
  for (const operation of operations) await useUp(session, operation);
  await watchWindows(session, operations);
}

/** Number of calls that a budget keeps for windows that end. */
const keptCalls = 6;
/** Number of refused calls that show whether refusals count. */
const refusedMore = 3;

/** Makes calls until one is refused, if the budget suffices. */
async function useUp(session: PolicySession, operation: string): Promise<void> {
  const last = session.calls.findLast((call) => call.operation === operation);
  if (last === undefined || isRefused(last) || callsLeft(session, last) > session.left.calls - keptCalls)
    return;
  for (;;) {
    if (session.left.calls <= keptCalls) return;
    session.say(`calling ${operation} until it is refused`);
    const call = await session.call(operation);
    if (call === null) return;
    if (isRefused(call)) break;
  }
  for (let n = 0; n < refusedMore; n++) await session.call(operation);
}

/** Returns the number of calls until one is refused, by the last of them, or otherwise by the policy. */
function callsLeft({ options: { policy, caller } }: PolicySession, last: QuotaCall): number {
  const { operation } = last;
  const rooms = usedQuotas(policy, operation, caller.attributes).map((quota) => {
    const reading = readingOf(last, quota);
    const { algorithm } = quotaFor(policy, quota, caller.attributes);
    const left = reading?.remaining ?? limitOf(algorithm);
    return Math.ceil((left + 1) / Math.max(1, costOf(policy, operation, quota) ?? 1));
  });
  return Math.min(...rooms);
}

/** Delays after the windows of one quota that the probe waits for, as shares of a window: far apart, so that a grid shows. */
const delays = [0.02, 0.6, 0.3];

/** Waits for windows to end, the soonest first, as far as the allowance goes. */
async function watchWindows(session: PolicySession, operations: readonly string[]): Promise<void> {
  const { policy, caller } = session.options;
  const windows = fixedWindows(policy).flatMap((quota) => {
    const operation = operations.find((name) => usedQuotas(policy, name, caller.attributes).includes(quota));
    return operation === undefined ? [] : [{ quota, operation, left: [...delays] }];
  });
  for (;;) {
    const [soonest] = windows
      .flatMap((window) => {
        const { quota } = window;
        const ends = session.calls.flatMap((call) => {
          const reading = readingOf(call, quota);
          const end = endIn(call, reading, roundingOf(policy, quota));
          return end === null ? [] : [{ most: end.most, isInstant: reading?.reset?.atMs != null }];
        });
        const end = ends.at(-1);
        if (end === undefined || window.left.length === 0) return [];
        const skew = skewOf(session.calls)?.least ?? 0;
        return [{ window, endMs: end.isInstant ? end.most - skew : end.most }];
      })
      .toSorted((one, other) => one.endMs - other.endMs);
    if (soonest === undefined) return;
    const { window, endMs } = soonest;
    const { quota, operation } = window;
    const delayMs = Math.ceil(longestSight(session.calls, quota) * (window.left.shift() as number));
    const waitMs = Math.max(0, endMs - session.now()) + delayMs;
    if (waitMs > session.left.waitMs) return;
    session.say(`waiting for the window of ${quota} to end`, waitMs);
    await session.wait(waitMs);
    for (let n = 0; n < 2; n++) if ((await session.call(operation)) === null) return;
  }
}

/** Returns the longest time to a window's end that an answer told, ms: about a window's length. */
const longestSight = (calls: readonly QuotaCall[], quota: string): number =>
  Math.max(
    0,
    ...calls.flatMap((call) => {
      const { afterMs, atMs } = readingOf(call, quota)?.reset ?? { afterMs: null, atMs: null };
      return afterMs ?? (atMs === null ? [] : atMs - (call.date ?? call.received));
    }),
  );

const fixedWindows = ({ quotas }: Policy): string[] =>
  Object.keys(quotas).filter((name) => quotas[name]?.algorithm.kind === "fixed-window");
