// Experiments on isolation by users, organizations, operations, unknown callers and names that look alike (SPEC.md §7).
import { credentialOf } from "../../policy/match.ts";
import { counted } from "../../rules/words.ts";
import { lacksCounts, needsCounts } from "../emptied.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type AuditCaller,
  broken,
  isRefused,
  kept,
  type Shot,
  type Subject,
  unexercised,
  usedWords,
} from "../step.ts";
import { shownApart, trial } from "../trials.ts";

const common = {
  law: "isolated",
  section: "SPEC.md §7",
  calls: 12,
  isLone: true,
} as const;

type FindOther = (lab: Lab, subject: Subject, caller: AuditCaller) => AuditCaller | null;

/** Returns an experiment: calls move no other caller's own count. It tries one pair for each way to find one. */
function experiment(name: string, promise: string, needs: string, ...ways: readonly FindOther[]): Experiment {
  const pairsOf = (lab: Lab, subject: Subject): readonly (readonly [AuditCaller, AuditCaller])[] =>
    ways.flatMap((findOther) => {
      for (const caller of subject.callers) {
        const other = findOther(lab, subject, caller);
        if (other !== null) return [[caller, other] as const];
      }
      return [];
    });
  return {
    ...common,
    name,
    promise,
    needs,
    lacks(lab, subject) {
      const pairs = pairsOf(lab, subject);
      if (pairs.length === 0) return `no ${needs}`;
      return pairs.some((pair) => shownApart(lab, subject, ...pair) !== null)
        ? lacksCounts(lab, subject)
        : "answers show no count that these callers keep apart";
    },
    *run(lab, subject) {
      for (const [caller, other] of pairsOf(lab, subject)) {
        const quotas = shownApart(lab, subject, caller, other);
        if (quotas === null) continue;
        const shots = [1, 2, 3].map(() => lab.shot(other, subject.operation));
        const made = yield* trial(lab, subject, caller, shots, { quotas });
        const wrong = made.charged.filter(({ units }) => units > 0);
        if (wrong.length > 0)
          return broken(
            made.all,
            `${counted(made.answers.length, "call")} of the other caller: charged to its own`,
            usedWords(wrong),
          );
      }
      return kept;
    },
  };
}

const differsIn = (one: AuditCaller, other: AuditCaller): string[] =>
  Object.keys(one.attributes).filter((name) => one.attributes[name] !== other.attributes[name]);

const lastOf = ({ attributes }: AuditCaller): string | undefined => Object.keys(attributes).at(-1);

const joined = (joint: string, { attributes }: AuditCaller): string => Object.values(attributes).join(joint);

/** Finds a caller with a different name of which `left` leaves the same. */
const alike =
  (left: (caller: AuditCaller) => string): FindOther =>
  (_lab, { callers }, caller) =>
    callers.find((other) => differsIn(caller, other).length > 0 && left(other) === left(caller)) ?? null;

const lookAlike = "callers whose names look alike are counted apart";

/** Returns an experiment with calls of no known caller, and a look of a caller before and after. */
function stranger(name: string, promise: string, make: (lab: Lab, shot: Shot) => Shot): Experiment {
  return {
    ...common,
    name,
    promise,
    needs: needsCounts,
    lacks: lacksCounts,
    *run(lab, subject) {
      const caller = yield* lab.pick(subject, 4, 700);
      const shot = make(lab, lab.shot(caller, subject.operation));
      const made = yield* trial(lab, subject, caller, [shot, shot, shot]);
      const admitted = made.answers.find(({ call }) => call.status > 0 && call.status < 400);
      if (admitted !== undefined) return unexercised("such calls are admitted");
      const wrong = made.charged.filter(({ units }) => units > 0);
      return wrong.length === 0 ? kept : broken(made.all, "they are charged to nobody", usedWords(wrong));
    },
  };
}

export const isolationExperiments: readonly Experiment[] = [
  experiment(
    "other-user",
    "calls of one user move no count of another's own",
    "two users",
    (_lab, { callers }, caller) =>
      callers.find((other) => other !== caller && differsIn(caller, other).length === 1) ?? null,
  ),
  experiment(
    "other-organization",
    "calls for one organization move no count of another's",
    "callers of two organizations",
    (lab, { callers, quotas }, caller) =>
      callers.find((other) =>
        quotas.every((name) =>
          (lab.policy.quotas[name]?.key ?? []).some(
            (part) => other.attributes[part] !== caller.attributes[part],
          ),
        ),
      ) ?? null,
  ),
  experiment(
    "one-user-elsewhere",
    "calls of a user in one organization move no count of the same name in another",
    "one user in two organizations",
    (_lab, { callers }, caller) =>
      callers.find(
        (other) => differsIn(caller, other).length === 1 && differsIn(caller, other)[0] !== lastOf(caller),
      ) ?? null,
  ),
  experiment(
    "names-once-joined",
    lookAlike,
    "callers whose names are one once joined",
    ...["/", "-", ":", ".", "_", "|", ""].map((joint) => alike((caller) => joined(joint, caller))),
  ),
  experiment(
    "names-in-other-letters",
    lookAlike,
    "callers whose names differ in letter case alone",
    alike((caller) => joined("\n", caller).toLowerCase()),
  ),
  experiment(
    "names-in-other-unicode",
    lookAlike,
    "callers whose names differ in their Unicode form alone",
    alike((caller) => joined("\n", caller).normalize("NFKC")),
  ),
  experiment(
    "names-that-begin-alike",
    lookAlike,
    "callers whose names are one up to their 255th character",
    alike((caller) => joined("\n", caller).slice(0, 255)),
  ),
  {
    ...common,
    name: "other-operation",
    promise: "calls of one operation move no quota that they do not use",
    needs: "two operations without a quota in common",
    lacks: (lab, subject) =>
      strangersOf(lab, subject).length > 0
        ? lacksCounts(lab, subject)
        : "no operation without a quota in common",
    *run(lab, subject) {
      for (const other of strangersOf(lab, subject)) {
        const caller = yield* lab.pick(subject, 4, 700);
        const shots = [1, 2, 3].map(() => lab.shot(caller, other.operation));
        const made = yield* trial(lab, subject, caller, shots);
        if (made.answers.some(isRefused)) continue;
        const wrong = made.charged.filter(({ units }) => units > 0);
        if (wrong.length > 0)
          return broken(made.all, `calls of ${other.operation} are not charged here`, usedWords(wrong));
      }
      return kept;
    },
  },
  stranger("no-token", "calls without a token are charged to nobody", (_lab, shot) => ofNobody(shot)),
  stranger(
    "unknown-token",
    "calls with a token that is not known are charged to nobody",
    ({ policy }, shot) => ({
      ...ofNobody(shot),
      headers: {
        ...shot.headers,
        [policy.auth.header]: credentialOf(policy.auth, "revoked-and-unknown-0000"),
      },
    }),
  ),
];

const ofNobody = (shot: Shot): Shot => ({
  ...shot,
  ...{ caller: null, operation: "other", cost: null, attributes: {} },
});

const strangersOf = ({ subjects }: Lab, { quotas }: Subject): Subject[] =>
  subjects.filter((other) => !other.quotas.some((name) => quotas.includes(name)));
