// Scripts by rules are scripts by the policy that the rules are. So laws are written once, over quotas; here scripts, their
// operations and what was answered to them are put in the policy's words, and what a law found is told in those of rules.
import type { PartialReadings } from "../engine/adapter.ts";
import { quotaNames } from "../policy/names.ts";
import type { Policy } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import { owners, type Rules, type Scope, scopes } from "../rules/rules.ts";
import { type History, type HistoryEvent, type PartialReading, statusReadings } from "./history.ts";
import type { Compared, Judge } from "./law.ts";
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

/** Makes what belongs to a thing once. */
function once<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

const policyFor = once<Rules, Policy>(policyOf);

/** A script by rules as one by the policy that they are. */
export const quotaScript = once((script: Script): QuotaScript => {
  const { startMs, pick, ops } = script;
  const isExact = algorithmOf(script) === "fixed-window";
  return { policy: policyFor(script.rules), isExact, startMs, pick, ops: ops.map(quotaOp), terms: script };
});

const origins = new WeakMap<QuotaOp, Op>();

const quotaOp = once((op: Op): QuotaOp => {
  const own = quotaOpOf(op);
  origins.set(own, op);
  return own;
});

function quotaOpOf(op: Op): QuotaOp {
  if (op.do === "call") {
    const { organization, user, scope, ...call } = op;
    return { ...call, caller: { organization, user }, operation: scope };
  }
  if (op.do === "status") {
    const { organization, user, ...status } = op;
    return { ...status, caller: { organization, user } };
  }
  if (op.do !== "enforce") return op;
  const { organization, scope, ...enforce } = op;
  return { ...enforce, quota: quotaNames[scope].organization, caller: { organization } };
}

/** The operation by rules that one by their policy is; a law may have made it. */
function opByRules(own: QuotaOp): Op {
  const known = origins.get(own);
  if (known !== undefined) return known;
  const op = madeByLaw(own);
  origins.set(own, op);
  return op;
}

function madeByLaw(own: QuotaOp): Op {
  if (own.do === "call") {
    const { caller, operation, ...call } = own;
    return { ...call, ...(caller as Caller), scope: operation as Scope };
  }
  if (own.do === "status") {
    const { caller, ...status } = own;
    return { ...status, ...(caller as Caller) };
  }
  if (own.do !== "enforce") return own;
  const { quota, caller, ...enforce } = own;
  return { ...enforce, organization: (caller as Caller).organization, scope: scopeOf(quota) };
}

type Caller = { readonly organization: string; readonly user: string };

const scopeOf = (quota: string): Scope =>
  scopes.find((scope) => owners.some((owner) => quotaNames[scope][owner] === quota)) ?? "rest";

/** An event by rules as one by their policy. */
export const quotaEvent = once((event: HistoryEvent): QuotaEvent => {
  const http = "http" in event ? event.http : undefined;
  if (event.op.do === "call" && "decision" in event) {
    const op = quotaOp(event.op) as QuotaCallOp;
    const { admitted, refusedBy, retryAfterMs, ...readings } = event.decision;
    return {
      ...{ op, admitted, read: null, isAtOdds: false },
      refusedBy: refusedBy ? quotaNames[event.op.scope][refusedBy] : refusedBy,
      retryAtMs: typeof retryAfterMs === "number" ? event.op.atMs + retryAfterMs : null,
      said: { readings: readingsOf(event.op.scope, readings), http },
    };
  }
  if ("readings" in event) {
    const { op, call, readings } = event;
    const said = { readings: call === null ? [] : readingsOf(call.scope, readings), http };
    return { op, call: call === null ? null : (quotaOp(call) as QuotaCallOp), said, read: null };
  }
  if ("status" in event) {
    const op = quotaOp(event.op) as QuotaStatusOp;
    const readings = statusReadings(event.status).flatMap(([scope, reading]) =>
      readingOf(quotaNames[scope].organization, reading),
    );
    return { op, said: { readings, http }, read: null };
  }
  return { op: quotaOp(event.op) } as QuotaEvent;
});

const readingsOf = (scope: Scope, readings: PartialReadings): SaidReading[] =>
  owners.flatMap((owner) => readingOf(quotaNames[scope][owner], readings[owner] ?? {}));

const readingOf = (quota: string, { current, ...reading }: PartialReading): SaidReading[] => [
  { quota, ...reading, used: current },
];

/** Returns each operation of a history by rules, with its counts. */
export const looksByRules = (script: Script, history: History): readonly Look[] =>
  looksOf(quotaScript(script), history.map(quotaEvent));

/** Which window of rules a count is. */
export const windowOf = ({ quota, key }: QuotaKey): WindowKey => ({
  ...{ organization: key["organization"] ?? "", user: key["user"] ?? null },
  scope: scopeOf(quota),
});

/** A law over quotas as one over scripts by rules. */
export const byRules =
  (judge: QuotaJudge): Judge =>
  async ({ script, play, ...trial }) => {
    const histories = new Map<QuotaHistory, History>();
    const judgement = await judge({
      ...trial,
      script: quotaScript(script),
      async play(ops) {
        const history = await play(ops.map(opByRules));
        const own = history.map(quotaEvent);
        histories.set(own, history);
        return own;
      },
    });
    const { judged, compared, violation } = judgement;
    const told = (own: QuotaHistory): History => histories.get(own) ?? [];
    const other = compared && ({ ...compared, history: told(compared.history) } satisfies Compared);
    return {
      ...{ history: told(judgement.history), judged },
      ...(other && { compared: other }),
      violation: violation && { ...violation, window: violation.window && windowOf(violation.window) },
    };
  };
