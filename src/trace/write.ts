// A trace's lines as text (FORMAT.md). Members stand in the format's order, whatever the order in an object, so that
// equal calls give equal bytes. No line end: `console.log` in k6 adds its own.
import type { QuotaTraceHeader } from "./quota-record.ts";
import type { TraceCall, TraceHeader } from "./record.ts";

/** Returns line 1 of a trace, without a line end. */
export function encodeHeader(header: TraceHeader | QuotaTraceHeader): string {
  const { format, version, source, scenario, seed, target, startedAt, clock, complete, lost } = header;
  const { kind, resolutionMs, errorMs } = clock;
  return JSON.stringify({
    format,
    version,
    source,
    scenario,
    seed,
    target,
    startedAt,
    clock: { kind, resolutionMs, errorMs },
    ...(header.version === 1 ? { rules: header.rules } : { policy: header.policy }),
    complete,
    lost:
      typeof lost === "number"
        ? lost
        : lost.map((entry) => ({ org: entry.org, scope: entry.scope, count: entry.count })),
  });
}

/** Returns a call's line, without a line end. Members that do not exist (`undefined`) are left out. */
export function encodeCall(call: TraceCall): string {
  return JSON.stringify({
    sent: call.sent,
    received: call.received,
    client: call.client,
    call: call.call,
    org: call.org,
    user: call.user,
    scope: call.scope,
    kind: call.kind,
    cost: call.cost,
    status: call.status,
    scopeName: call.scopeName,
    limit: call.limit,
    remaining: call.remaining,
    reset: call.reset,
    userScopeName: call.userScopeName,
    userLimit: call.userLimit,
    userRemaining: call.userRemaining,
    userReset: call.userReset,
    actual: call.actual,
    retryAfter: call.retryAfter,
    warning: call.warning,
    userWarning: call.userWarning,
    body: call.body,
    refusal: call.refusal,
    error: call.error,
    wanted: call.wanted,
    attempt: call.attempt,
  });
}
