// The operations of a policy under audit, the callers of each, and the requests of their samples.
import type { Policy } from "../policy/policy.ts";
import type { AuditCaller, Subject } from "./step.ts";

/** Returns the kind of the GraphQL operation in a body. */
export function graphqlKind(body: string | null): "query" | "mutation" | null {
  if (body === null || !body.includes('"query"')) return null;
  return /"query"\s*:\s*"(?:\s|\\n)*mutation\b/.test(body) ? "mutation" : "query";
}

/**
 * Returns one callable operation for each set of quotas. Operations that share a quota get different callers if no two
 * callers share a count; otherwise each begins with another caller.
 */
export function subjectsOf(policy: Policy, callers: readonly AuditCaller[]): Subject[] {
  const found = new Map<string, Omit<Subject, "callers">>();
  for (const [operation, { uses, samples }] of Object.entries(policy.operations)) {
    const quotas = Object.keys(policy.quotas).filter((name) => uses[name] !== undefined && uses[name] !== 0);
    const key = quotas.join(" ");
    if (samples.length > 0 && quotas.length > 0 && !found.has(key)) found.set(key, { operation, quotas });
  }
  const all = [...found.values()];
  return all.map((subject, turn) => {
    const group = all.filter(({ quotas }) => quotas.some((name) => subject.quotas.includes(name)));
    const share = Math.floor(callers.length / all.length);
    const isOwn = group.every(({ quotas }) => quotas.every((name) => isApart(policy, name, callers)));
    if (group.length > 1 && isOwn && share >= 2)
      return { ...subject, callers: callers.slice(turn * share, (turn + 1) * share) };
    const at = turn % Math.max(1, callers.length);
    return { ...subject, callers: [...callers.slice(at), ...callers.slice(0, at)] };
  });
}

/** Tells whether each caller has its own count in a quota. */
function isApart({ quotas }: Policy, name: string, callers: readonly AuditCaller[]): boolean {
  const key = quotas[name]?.key ?? [];
  const keys = new Set(
    callers.map(({ attributes }) => JSON.stringify(key.map((part) => attributes[part] ?? null))),
  );
  return keys.size === callers.length;
}
