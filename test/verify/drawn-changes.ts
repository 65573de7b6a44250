// Small drawn traces in which one thing is changed: an answer, the form of the readings, or what the policy says.
import fc from "fast-check";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Policy, Quota } from "../../src/policy/policy.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";
import { judge } from "../../src/verify/judge.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { digestOf } from "../support/digest.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { allFates, worlds } from "./drawn-worlds.ts";
import { mutated, mutations } from "./exact-histories.ts";
import { bytesOf, type History, numbered, play } from "./history.ts";

/** A drawn world's rules, and what its clients met. */
interface DrawnTrace {
  readonly rules: Rules;
  readonly history: History;
}

/** Some drawn traces, of which each change meets `each`, in turn. */
export interface DrawnTraces {
  readonly traces: readonly DrawnTrace[];
  readonly each: number;
}

/** Draws traces of small worlds, for `each` of them to meet one change. */
export function drawnTraces(count: number, seed: number, each: number): DrawnTraces {
  const drawn = fc.sample(worlds({ fates: allFates, anonymous: true, plansMost: 40 }), {
    numRuns: count,
    seed,
  });
  return {
    each,
    traces: drawn.map(({ rules, ...world }) => ({
      rules,
      history: play({ rules, ...world }, new Limiter(rules)),
    })),
  };
}

/** Returns so many of the drawn traces, from a place on. */
const some = ({ traces, each }: DrawnTraces, from: number): DrawnTrace[] =>
  Array.from({ length: each }, (_, at) => traces[(from * each + at) % traces.length] as DrawnTrace);

/** Says how many verdicts are of each kind, with a digest of them all. */
function row(change: string, verdicts: readonly Verdict[]): string {
  const times = (wanted: Verdict["verdict"]): number =>
    verdicts.filter(({ verdict }) => verdict === wanted).length;
  const found = verdicts.reduce(
    (sum, { violations, questions = [] }) => sum + violations.length + questions.length,
    0,
  );
  const digest = digestOf(verdicts, 8);
  return `${change}: ${times("ok")} ok, ${times("violated")} violated, ${times("unknown")} unknown; ${found} told; ${digest}`;
}

/** Judges a trace with its rules, without, and by the quotas of its rules, of which few rows are held. */
async function judgedAll({ header, lines }: History, rules: Rules): Promise<Verdict[]> {
  const few = { callsBetweenClosings: 2, rowsMost: 3 };
  const byQuotas = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
  return [
    await verify(bytesOf(numbered({ header: { ...header, rules }, lines }))),
    await judge({ ...header, rules: null }, lines, few, () => lines),
    await judgeQuotas(headerByQuotas(header, rules), byQuotas, few, () => byQuotas),
  ];
}

/** Says what changes of one answer lead to, a line a kind of change. */
export async function byAnswers(drawn: DrawnTraces): Promise<string[]> {
  const rows: string[] = [];
  for (const [at, mutation] of [null, ...mutations].entries()) {
    const verdicts: Verdict[] = [];
    for (const [pick, { rules, history }] of some(drawn, at).entries()) {
      const changed = mutation === null ? history : mutated(history, mutation, pick);
      if (changed !== null) verdicts.push(...(await judgedAll(changed, rules)));
    }
    rows.push(row(mutation?.kind ?? "nothing", verdicts));
  }
  return rows;
}

const reread =
  (change: (reading: QuotaReading, call: QuotaCall) => Partial<QuotaReading>) => (call: QuotaCall) => ({
    ...call,
    readings: call.readings.map((reading) => ({ ...reading, ...change(reading, call) })),
  });
const inTurn = (of: number, change: Partial<QuotaCall>) => (call: QuotaCall, at: number) =>
  at % of === of - 1 ? { ...call, ...change } : call;

/** Ways in which answers may tell the same, or less, or something that is wrong. */
export const forms: Readonly<Record<string, (call: QuotaCall, at: number) => QuotaCall>> = {
  "what is used": reread(({ limit, remaining, used }) => ({
    remaining: null,
    used: used ?? (limit === null || remaining === null ? null : limit - remaining),
  })),
  "what is left alone": reread(() => ({ limit: null, used: null })),
  "no end": reread(() => ({ reset: null })),
  "ends as instants": (call) => ({
    ...reread(({ reset }) =>
      reset?.afterMs == null
        ? {}
        : {
            reset: {
              afterMs: null,
              atMs: Math.ceil((call.received + reset.afterMs) / 1000) * 1000,
              gridMs: 1000,
            },
          },
    )(call),
    date: Math.floor(call.sent / 1000) * 1000,
  }),
  "ends to the ms": reread(({ reset }) => (reset === null ? {} : { reset: { ...reset, gridMs: 1 } })),
  "some from a cache": inTurn(5, { via: "cache" }),
  "some without readings": inTurn(3, { readings: [] }),
  "some that cannot be read": inTurn(4, { unread: ["RateLimit-Reset", "body"] }),
  "some that are not allowed": inTurn(6, { status: 403 }),
  "some that fail": inTurn(6, { status: 500 }),
  "some that are exempt": inTurn(6, { outcome: "exempt" }),
  "refusals by something else": (call) => (call.by === undefined ? call : { ...call, by: "gateway" }),
  "refusals by the other": (call) =>
    call.by === undefined
      ? call
      : { ...call, by: call.by.endsWith("_user") ? call.by.slice(0, -5) : `${call.by}_user` },
  "refusals by nobody": ({ by: _, ...call }) => call,
  "no wait": (call) => (call.retryAfterMs === undefined ? call : { ...call, retryAfterMs: 0 }),
  "a long wait": (call) => (call.retryAfterMs === undefined ? call : { ...call, retryAfterMs: 90_000 }),
  "a wait until an instant": (call) =>
    call.outcome === "refused" ? { ...call, retryAt: call.sent - 4000, date: call.sent } : call,
};

const all = (change: (quota: Quota) => Partial<Quota>) => (policy: Policy) =>
  ({
    ...policy,
    quotas: Object.fromEntries(
      Object.entries(policy.quotas).map(([name, quota]) => [name, { ...quota, ...change(quota) }]),
    ),
  }) as Policy;
const windows = (change: object) =>
  all(({ algorithm }) => ({ algorithm: { ...algorithm, ...change } as never }));
const charged = (change: object) => all(({ charge }) => ({ charge: { ...charge, ...change } as never }));
const shown = (change: object) => all(({ shown: usual }) => ({ shown: { ...usual, ...change } as never }));
const related = (relation: string) => (policy: Policy) =>
  ({
    ...policy,
    operations: Object.fromEntries(
      Object.entries(policy.operations).map(([name, operation]) => [name, { ...operation, relation }]),
    ),
  }) as Policy;

/** Policies that say something else than what was kept to. */
export const claims: Readonly<Record<string, (policy: Policy) => Policy>> = {
  "nothing else": (policy) => policy,
  "a calendar's days": windows({ anchor: { calendar: "day", zone: "Europe/Paris" } }),
  "a moved grid": windows({ anchor: { offsetMs: 500 } }),
  "the epoch's grid": windows({ anchor: "epoch" }),
  "first calls": windows({ anchor: "first-request", opens: "exact" }),
  "shorter windows": windows({ windowSeconds: 2 }),
  "a limit of four": windows({ limit: 4 }),
  buckets: all(() => ({
    algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } } as never,
  })),
  "charges on completion": charged({ when: "completion", fits: "any-left" }),
  "charges that are reserved": charged({ when: "reserve-settle" }),
  "refusals that count": charged({ refused: "counted" }),
  "refusals that count elsewhere": charged({ refusedByOther: "charged" }),
  "negative numbers": shown({ remaining: "signed" }),
  "rounding down": shown({ reset: "floor" }),
  "nothing enforced": all(() => ({ enforced: false })),
  "all enforced": all(() => ({ enforced: true })),
  "enforcement unknown": all(() => ({ enforced: "unknown" }) as never),
  "each alone": related("each-alone"),
  "the first refusal stops": related("first-refusal-stops"),
};

/** Says what forms of all answers and claims of the policy lead to, a line each. */
export async function byQuotas(drawn: DrawnTraces): Promise<string[]> {
  const rows: string[] = [];
  const judged = async (
    name: string,
    from: number,
    form: (call: QuotaCall, at: number) => QuotaCall,
    claim: (policy: Policy) => Policy,
  ): Promise<void> => {
    const verdicts: Verdict[] = [];
    for (const { rules, history } of some(drawn, from)) {
      const header = headerByQuotas(history.header, rules);
      const lines = history.lines.map(({ line, call }, at) => ({ line, call: form(callByQuotas(call), at) }));
      const policy = claim(header.policy);
      verdicts.push(await judgeQuotas({ ...header, policy }, lines, { callsBetweenClosings: 8 }));
    }
    rows.push(row(name, verdicts));
  };
  for (const [at, [name, form]] of Object.entries(forms).entries())
    await judged(name, at, form, (policy) => policy);
  for (const [at, [name, claim]] of Object.entries(claims).entries())
    await judged(name, at, (call) => call, claim);
  return rows;
}
