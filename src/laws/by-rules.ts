// Translates between rules and the policy that they are, so that each law is written once, over quotas. Scripts and
// histories by rules become those of the policy; a law's findings are told in the words of rules again.
import type { PartialReadings } from "../engine/adapter.ts";
import { quotaNames, scopeOf } from "../policy/names.ts";
import type { Policy } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import { owners, type Rules, type Scope, scopes } from "../rules/rules.ts";
import type { History, HistoryEvent, PartialReading } from "./history.ts";
import type { Judge } from "./law.ts";
import { looksOf, type QuotaJudge } from "./looks.ts";
import type {
  QuotaCallOp,
  QuotaEvent,
  QuotaHistory,
  QuotaOp,
  QuotaScript,
  QuotaStatusOp,
  SaidReading,
} from "./quotas/script.ts";
import { algorithmOf, type Op, type Script, type WindowKey } from "./script.ts";
import type { Look, QuotaKey } from "./sight.ts";

const policies = new WeakMap<Rules, Policy>();

/** Returns rules as a policy, made once. */
export function policyFor(rules: Rules): Policy {
  const policy = policies.get(rules) ?? policyOf(rules);
  policies.set(rules, policy);
  return policy;
}

/** Translations of scripts by rules, so that each is made once. */
const scripts = new WeakMap<Script, QuotaScript>();

/** Returns a script by rules as a script by the policy that they are. */
export function quotaScript(script: Script): QuotaScript {
  const known = scripts.get(script);
  if (known !== undefined) return known;
  const { startMs, pick, ops } = script;
  const isExact = algorithmOf(script) === "fixed-window";
  const policy = policyFor(script.rules);
  const own: QuotaScript = { policy, isExact, startMs, pick, ops: ops.map(quotaOp), terms: script };
  scripts.set(script, own);
  return own;
}

// Literals: objects made of what is left of others are slow to make and to read.
function quotaOp(op: Op): QuotaOp {
  if (op.do === "call") {
    const { atMs, id, organization, user, scope, cost } = op;
    return { do: "call", atMs, id, caller: { organization, user }, operation: scope, cost };
  }
  if (op.do === "status") {
    const { atMs, organization, user } = op;
    return { do: "status", atMs, caller: { organization, user } };
  }
  if (op.do !== "enforce") return op;
  const { atMs, organization, scope, enforced } = op;
  const quota = quotaNames[scope].organization;
  return { do: "enforce", atMs, quota, caller: { organization }, enforced };
}

/** Returns an operation of the policy as one by rules. */
export function opByRules(op: QuotaOp): Op {
  if (op.do === "call") {
    const { atMs, id, caller, operation, cost } = op;
    return { do: "call", atMs, id, ...(caller as Caller), scope: operation as Scope, cost };
  }
  if (op.do === "status") return { do: "status", atMs: op.atMs, ...(op.caller as Caller) };
  if (op.do !== "enforce") return op;
  const { atMs, quota, caller, enforced } = op;
  const { organization } = caller as Caller;
  return { do: "enforce", atMs, organization, scope: scopeOf(quota), enforced };
}

type Caller = { readonly organization: string; readonly user: string };

/** Translations of histories by rules, so that each is made once. */
const histories = new WeakMap<History, QuotaHistory>();

/** @param asked the policy's operations that were played, in order */
export function quotaHistory(history: History, asked: readonly QuotaOp[] = []): QuotaHistory {
  const known = histories.get(history);
  if (known !== undefined) return known;
  const own = history.map((event, at) => quotaEvent(event, asked[at] ?? quotaOp(event.op)));
  histories.set(history, own);
  return own;
}

function quotaEvent(event: HistoryEvent, op: QuotaOp): QuotaEvent {
  const http = "http" in event ? event.http : undefined;
  if (event.op.do === "call" && "decision" in event) {
    const { admitted, refusedBy, retryAfterMs, organization, user } = event.decision;
    return {
      op: op as QuotaCallOp,
      admitted,
      refusedBy: refusedBy ? quotaNames[event.op.scope][refusedBy] : refusedBy,
      retryAtMs: typeof retryAfterMs === "number" ? event.op.atMs + retryAfterMs : null,
      isAtOdds: false,
      said: { readings: readingsOf(event.op.scope, { organization, user }), http },
      read: null,
    };
  }
  if ("readings" in event) {
    const { op: settle, call, readings } = event;
    const said = { readings: call === null ? [] : readingsOf(call.scope, readings), http };
    return { op: settle, call: call === null ? null : (quotaOp(call) as QuotaCallOp), said, read: null };
  }
  if ("status" in event) {
    const readings = scopes.flatMap((scope) => {
      const reading = event.status[scope] ?? null;
      return reading === null ? [] : [readingOf(quotaNames[scope].organization, reading)];
    });
    return { op: op as QuotaStatusOp, said: { readings, http }, read: null };
  }
  return { op } as QuotaEvent;
}

const readingsOf = (scope: Scope, readings: PartialReadings): SaidReading[] =>
  owners.map((owner) => readingOf(quotaNames[scope][owner], readings[owner] ?? {}));

function readingOf(quota: string, reading: PartialReading): SaidReading {
  const { limit, remaining, reset, resetAtMs, enforced, current } = reading;
  return { quota, limit, remaining, reset, resetAtMs, enforced, used: current };
}

/** Returns the looks of a history by rules. */
export const looksByRules = (script: Script, history: History): readonly Look[] =>
  looksOf(quotaScript(script), quotaHistory(history));

/** Returns the window by rules that a count is. */
export const windowOf = ({ quota, key }: QuotaKey): WindowKey => ({
  ...{ organization: key["organization"] ?? "", user: key["user"] ?? null },
  scope: scopeOf(quota),
});

/** Returns the quota whose count a window by rules is. */
export const quotaOf = ({ user, scope }: WindowKey): string =>
  quotaNames[scope][user === null ? "organization" : "user"];

/** Makes a law over scripts by rules of a law over quotas. */
export const byRules =
  (judge: QuotaJudge): Judge =>
  async ({ script, play, ...trial }) => {
    const own = quotaScript(script);
    const origins = new Map(own.ops.map((op, at) => [op, script.ops[at]]));
    const played = new Map<QuotaHistory, History>();
    const judgement = await judge({
      ...trial,
      script: own,
      async play(ops) {
        const history = await play(ops.map((op) => origins.get(op) ?? opByRules(op)));
        const told = quotaHistory(history, trial.isRecorded ? [] : ops);
        played.set(told, history);
        return told;
      },
    });
    const { judged, compared, violation } = judgement;
    const told = (history: QuotaHistory): History => played.get(history) ?? [];
    return {
      history: told(judgement.history),
      ...(compared && { compared: { ...compared, history: told(compared.history) } }),
      judged,
      violation: violation && { ...violation, window: violation.window && windowOf(violation.window) },
    };
  };
