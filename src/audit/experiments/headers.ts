// Experiments on headers: each answer that owes readings has them once, in numbers, of the right quota (SPEC.md §5).
import { limitOf, quotaFor } from "../../policy/effective.ts";
import type { AnswerKind, WireData, WireReading } from "../../policy/wire-data.ts";
import type { LimiterLawName } from "../../rules/laws.ts";
import type { QuotaCall } from "../../trace/quota-record.ts";
import { seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditFinding,
  type Broken,
  broken,
  kept,
  Unexercised,
  windowRolled,
} from "../step.ts";
import { costFrom, declaredAll } from "./costs.ts";

const common = { section: "SPEC.md §5", needs: "a format that shows counts" } as const;

const kindOf = ({ call }: Answer): AnswerKind =>
  call.operation === "status" ? "status" : call.outcome === "refused" ? "refused" : "admitted";

/** Returns the rows of the format that an answer must show; none for an error, of which no document says so. */
function owed({ wire, policy }: Lab, answer: Answer): WireReading[] {
  const { call, shot } = answer;
  const isError = call.status >= 400 && call.outcome !== "refused";
  if (call.status === 0 || call.status === 304 || isError || call.via !== undefined || shot.isVague)
    return [];
  if (call.outcome === "exempt" || call.outcome === "unknown" || call.operation === "other") return [];
  const kind = kindOf(answer);
  const uses = policy.operations[call.operation]?.uses ?? {};
  return wire.readings.filter(
    ({ on, headers, quotas }) =>
      on.includes(kind) &&
      Object.keys(headers).length > 0 &&
      !(kind === "refused" && mayLack(wire, call, Object.keys(headers))) &&
      (kind === "status" || quotas === undefined || quotas.some((name) => uses[name] !== undefined)),
  );
}

/** Tells whether a kind of refusal that a call's may be shows no readings, or is told by headers that it lacks. */
function mayLack({ outcomes }: WireData, { status, by }: QuotaCall, headers: readonly string[]): boolean {
  const owing = new Set(headers.map((name) => name.toLowerCase()));
  return outcomes.some(
    (rule) =>
      rule.outcome === "refused" &&
      rule.status?.includes(status) !== false &&
      (rule.by === undefined || rule.by === "{quota}" || rule.by === by) &&
      (!rule.readings || rule.lacks.some((name) => owing.has(name.toLowerCase()))),
  );
}

/**
 * Tells whether an answer is a refusal that owes a time to come back, and lacks it. A call that costs more than a whole
 * limit never has room: there is no such time (POLICY.md §5).
 */
export function lacksRetry({ wire, policy }: Lab, { call }: Answer): boolean {
  if (call.outcome !== "refused" || wire.retryAfter.length === 0 || call.retryAfterMs !== undefined)
    return false;
  const { uses = {} } = policy.operations[call.operation] ?? {};
  const fitsNever = Object.entries(uses).some(([name, use]) => {
    const { algorithm, charge } = quotaFor(policy, name, call.caller);
    return use === "declared" && charge.fits === "whole" && (call.cost ?? 0) > limitOf(algorithm);
  });
  const by = call.by === undefined ? Object.keys(uses) : [call.by];
  return !fitsNever && by.length > 0 && by.every((name) => policy.quotas[name]?.shown.retryAfter === true);
}

/** Returns what is broken by a refusal that owes a time to come back, and lacks it. */
export const silent = (answer: Answer, law?: LimiterLawName): Broken =>
  broken(
    [answer],
    "a refusal tells when to come back",
    `none of the format's places does, on ${answer.call.status}`,
    law,
  );

function wrongIn(lab: Lab, answer: Answer): Broken | null {
  const { call, headers } = answer;
  const [unread] = (call.unread ?? []).filter((name) => headers[name.toLowerCase()] !== undefined);
  if (unread !== undefined)
    return broken(
      [answer],
      `${unread} in the form of the format, once`,
      `"${headers[unread.toLowerCase()]?.slice(0, 40)}" on ${call.status}`,
    );
  if (lacksRetry(lab, answer)) return silent(answer);
  const isStatus = call.operation === "status";
  const uses = lab.policy.operations[call.operation]?.uses ?? {};
  for (const row of owed(lab, answer)) {
    const names = Object.keys(row.headers);
    const missing = names.filter((name) => headers[name.toLowerCase()] === undefined);
    // A row that leaves out numbers of 0 may lack its headers.
    if (row.omitsZero === true) continue;
    if (missing.length > 0)
      return broken(
        [answer],
        `${names.join(", ")} on every ${kindOf(answer)} answer`,
        `${missing.join(", ")} missing on ${call.status}`,
      );
    const of = row.quotas;
    if (of === undefined || isStatus) continue;
    const shown = call.readings.some(({ quota }) => of.includes(quota) && uses[quota] !== undefined);
    if (!shown)
      return broken(
        [answer],
        `a quota of ${of.filter((name) => uses[name] !== undefined).join(", ")}`,
        `another quota in ${names.join(", ")}`,
      );
  }
  return null;
}

export const headerExperiments: readonly Experiment[] = [
  {
    ...common,
    name: "headers-on-every-answer",
    law: "headers-present",
    promise: "each answer shows its quotas once, in the format's numbers",
    calls: 4,
    lacks: (lab) =>
      lab.wire.readings.some(({ headers }) => Object.keys(headers).length > 0)
        ? null
        : "the format has no headers",
    *run(lab, subject) {
      const [caller] = subject.callers;
      const look = yield* lab.look(subject, caller);
      const answers = [look];
      if (lab.hasStatus) answers.push(yield* lab.one(lab.status(caller)));
      const declared = declaredAll(lab, subject, caller);
      if (lab.dearest(subject.operation) !== null && declared.length > 0) {
        const left = declared.map((name) => seenIn(look, name)?.left ?? lab.limit(name, caller));
        const cost = costFrom(lab, subject.operation, Math.min(...left) + 1);
        answers.push(yield* lab.one(lab.shot(caller, subject.operation, cost)));
      } else if (lab.lacksEmptying(subject) === null) {
        const { caller: emptied } = yield* lab.emptied(subject);
        const answer = yield* lab.one(lab.shot(emptied, subject.operation));
        if (answer.call.outcome === "admitted") throw new Unexercised(windowRolled, true);
        answers.push(answer);
      }
      return firstWrong(lab, answers);
    },
    judge: firstWrong,
  },
];

function firstWrong(lab: Lab, answers: readonly Answer[]): AuditFinding {
  for (const answer of answers) {
    const wrong = wrongIn(lab, answer);
    if (wrong !== null) return wrong;
  }
  return kept;
}
