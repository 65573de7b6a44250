// Traces of version 1 in the form of version 2: the same calls, by the quotas of the rules as a policy.
import { quotaNames } from "../../src/policy/names.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { owners, type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { readRefusal, readStatus } from "../../src/wire/bodies.ts";
import { headersOf, integerOf } from "../../src/wire/fields.ts";
import { isAnswered, isRefusal } from "../../src/wire/outcome.ts";

/** @param rules those of the header */
export function headerByQuotas({ lost, ...header }: TraceHeader, rules: Rules): QuotaTraceHeader {
  const { rules: _, ...rest } = header;
  const calls = typeof lost === "number" ? lost : lost.reduce((sum, { count }) => sum + count, 0);
  return { ...rest, version: 2, policy: policyOf(rules), lost: calls };
}

const after = (seconds: number | null): QuotaReading["reset"] =>
  seconds === null ? null : { afterMs: seconds * 1000, atMs: null, gridMs: 1000 };

function headerReadings(call: TraceCall): QuotaReading[] {
  const { by, current } = readRefusal(call.refusal);
  return owners.flatMap((owner) => {
    const { scopeName, limit, remaining, reset } = headersOf(call, owner);
    const quota = quotaNames[call.scope][owner];
    if (scopeName !== quota) return [];
    const used = isRefusal(call.status) && by === owner ? current : null;
    return [
      {
        quota,
        limit: integerOf(limit),
        remaining: integerOf(remaining),
        used,
        reset: after(integerOf(reset)),
      },
    ];
  });
}

const statusReading = (call: TraceCall, scope: Scope): QuotaReading[] => {
  const { limit, current, reset } = readStatus(call.body, scope);
  if (limit === null) return [];
  return [
    { quota: quotaNames[scope].organization, limit, remaining: null, used: current, reset: after(reset) },
  ];
};

export function callByQuotas(call: TraceCall): QuotaCall {
  const { org, user, scope, kind, status, sent, received, client, cost, actual } = call;
  const { by } = readRefusal(call.refusal);
  const isStatus = kind === "status";
  return {
    sent,
    received,
    client,
    call: call.call,
    caller: user === null ? { organization: org } : { organization: org, user },
    operation: kind === "call" ? scope : kind,
    cost,
    status,
    outcome: !isAnswered(call)
      ? "unknown"
      : isRefusal(status)
        ? "refused"
        : kind === "other"
          ? "exempt"
          : "admitted",
    readings: [
      ...headerReadings(call),
      ...(isStatus ? scopes.flatMap((each) => statusReading(call, each)) : []),
    ],
    actual,
    by: isRefusal(status) && by !== null ? quotaNames[scope][by] : undefined,
    retryAfterMs: typeof call.retryAfter === "number" ? call.retryAfter * 1000 : undefined,
  };
}
