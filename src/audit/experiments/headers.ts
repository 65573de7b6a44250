// Experiments on headers: each answer that owes readings has them once, in numbers, of the right quota (SPEC.md §5).
import type { AnswerKind, WireReading } from "../../policy/wire-data.ts";
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
      (kind === "status" || quotas === undefined || quotas.some((name) => uses[name] !== undefined)),
  );
}

/** Tells whether an answer is a refusal that owes a time to come back, and lacks it. */
function lacksRetry({ wire, policy }: Lab, { call }: Answer): boolean {
  if (call.outcome !== "refused" || wire.retryAfter.length === 0 || call.retryAfterMs !== undefined)
    return false;
  const by = call.by === undefined ? Object.keys(policy.operations[call.operation]?.uses ?? {}) : [call.by];
  return by.length > 0 && by.every((name) => policy.quotas[name]?.shown.retryAfter === true);
}

function wrongIn(lab: Lab, answer: Answer): Broken | null {
  const { call, headers } = answer;
  const [unread] = (call.unread ?? []).filter((name) => headers[name.toLowerCase()] !== undefined);
  if (unread !== undefined)
    return broken(
      [answer],
      `${unread} in the form of the format, once`,
      `"${headers[unread.toLowerCase()]?.slice(0, 40)}" on ${call.status}`,
    );
  if (lacksRetry(lab, answer))
    return broken(
      [answer],
      "a refusal tells when to come back",
      `none of the format's places does, on ${call.status}`,
    );
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
      const answers = [yield* lab.look(subject, caller)];
      if (lab.hasStatus) answers.push(yield* lab.one(lab.status(caller)));
      const refusal = lab.dearest(subject.operation);
      if (refusal !== null) {
        const limits = subject.quotas.map((name) => lab.limit(name, caller));
        const cost =
          refusal.cost +
          Math.ceil(Math.min(...limits) / (refusal.dearer?.costEach ?? 1)) * (refusal.dearer?.costEach ?? 1);
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
