// Experiments on costs: a call that fits exactly, a unit too many, above the limit, a dearer call (SPEC.md §1, §2.7).
import { quotaFor } from "../../policy/effective.ts";
import { counted } from "../../rules/words.ts";
import { isSameWindow, leftIn, seenIn } from "../book.ts";
import { allowed, isRejected } from "../charges.ts";
import {
  burstCalls,
  type EmptiedQuota,
  emptiedOf,
  lacksCounts,
  overRate,
  restedBurst,
  stepMs,
} from "../emptied.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditCaller,
  type Broken,
  broken,
  type ExperimentSteps,
  type ExperimentTrial,
  isRefused,
  isServed,
  kept,
  type Shot,
  type Subject,
  unexercised,
  usedWords,
  windowRolled,
} from "../step.ts";
import { trial } from "../trials.ts";
import { lacksWindow } from "./windows.ts";

const common = {
  section: "SPEC.md §2.7",
  needs: "a sample that can be made dearer",
} as const;

/** Returns quotas whose cost a call declares, and that need room for all of it, the smallest limit first. */
export function declaredAll(lab: Lab, { operation, quotas }: Subject, caller: AuditCaller): string[] {
  return quotas
    .filter((name) => {
      const { charge, enforced } = quotaFor(lab.policy, name, caller.attributes);
      const isDeclared = lab.policy.operations[operation]?.uses[name] === "declared";
      return (
        isDeclared &&
        charge.fits === "whole" &&
        charge.when !== "completion" &&
        enforced !== false &&
        enforced !== "unknown"
      );
    })
    .toSorted((one, other) => lab.limit(one, caller) - lab.limit(other, caller));
}

/** Returns the smallest such quota that is a window whose count answers show; `null` if there is none. */
const declared = (lab: Lab, subject: Subject, caller: AuditCaller): string | null =>
  declaredAll(lab, subject, caller).find((name) => lab.shows(name) && lab.windowMs(name, caller) > 0) ?? null;

function lacksDearer(lab: Lab, subject: Subject): string | null {
  const [caller] = subject.callers;
  if (lab.dearest(subject.operation) === null) return "no sample that can be made dearer";
  if (!isEnforced(lab, subject, caller)) return "limits are not enforced";
  return declared(lab, subject, caller) === null ? "no cost is declared by the call" : null;
}

const isEnforced = (lab: Lab, { quotas }: Subject, caller: AuditCaller): boolean =>
  quotas.every((name) => quotaFor(lab.policy, name, caller.attributes).enforced !== false);

/** Returns the least cost of the sample that reaches a number of units. */
export function costFrom(lab: Lab, operation: string, units: number): number {
  const sample = lab.dearest(operation);
  const each = sample?.dearer?.costEach ?? 1;
  const base = sample?.cost ?? 1;
  return base + Math.max(0, Math.ceil((units - base) / each)) * each;
}

/** Returns the units that the policy charges a call in a quota. */
function unitsTold(
  lab: Lab,
  { operation, caller, cost }: Shot,
  quota: string,
): { least: number; most: number } {
  const use = lab.policy.operations[operation]?.uses[quota];
  const most = typeof use === "number" ? use : typeof use === "object" ? use.atMost : (cost ?? 1);
  const { charge } = lab.quota(quota, caller as AuditCaller);
  return { least: typeof use !== "object" && charge.when === "admission" ? most : 0, most };
}

/** This experiment comes first: if plain calls are charged wrongly, much else looks wrong, too. */
export const costAsTold: Experiment = {
  ...common,
  name: "cost-as-told",
  law: "conserved",
  promise: "a call is charged what the policy says, or at most what it declares",
  needs: "a window whose count answers show",
  calls: 10,
  isLone: true,
  lacks: lacksWindow,
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 8, 700);
    for (const cost of [
      undefined,
      ...(lab.dearest(subject.operation) === null ? [] : [costFrom(lab, subject.operation, 20)]),
    ]) {
      const shot = lab.shot(caller, subject.operation, cost);
      const made = yield* trial(lab, subject, caller, [shot, shot]);
      if (!made.answers.every(({ call }) => call.outcome === "admitted" && call.status < 400)) continue;
      for (const { quota, units } of made.charged) {
        const { least, most } = unitsTold(lab, shot, quota);
        if (units > 2 * most || units < 2 * least)
          return broken(
            made.all,
            `two calls of ${counted(most, "unit")} take ${least < most ? "at most " : ""}${2 * most} of ${quota}`,
            `${units}`,
          );
      }
    }
    return kept;
  },
};

/** Most requests beside the plain one that are tried. */
const othersMost = 12;

/** Returns the other requests whose counts are the plain one's: none of another room or shop. */
const othersOf = (lab: Lab, subject: Subject, caller: AuditCaller): readonly Shot[] =>
  lab
    .others(subject, caller)
    .filter(({ attributes }) =>
      subject.quotas.every((name) => !lab.book.areApart(name, caller.attributes, attributes)),
    )
    .slice(0, othersMost);

/** Returns what is wrong with the charges of requests by what the policy says of each; `null` if nothing is. */
function wrongUnits(lab: Lab, { answers, charged, all }: ExperimentTrial): Broken | null {
  for (const each of charged) {
    let [calls, least, most] = [0, 0, 0];
    for (const answer of answers) {
      const [few, many] = allowed(answer);
      const told = unitsTold(lab, answer.shot, each.quota);
      calls += many;
      least += few * told.least;
      most += many * told.most;
    }
    if (each.most >= least && each.units <= most) continue;
    const { method, path } = (answers[0] as Answer).shot;
    const range = least < most ? `${least} to ${most}` : `${most}`;
    const expected = `${counted(calls, "call")} of ${method} ${path} take ${range} of ${each.quota}`;
    return broken(all, expected, usedWords([each]));
  }
  return null;
}

const otherRequests: Experiment = {
  ...common,
  name: "other-requests",
  law: "conserved",
  promise: "all requests that the policy knows are charged what it says, not the plain one alone",
  needs: "another sample, or another operation, of the same quotas",
  calls: 20,
  lacks: (lab, subject) =>
    lacksCounts(lab, subject) ??
    (othersOf(lab, subject, subject.callers[0]).length === 0
      ? "the policy has no other request of its quotas"
      : null),
  *run(lab, subject) {
    const quota = emptiedOf(lab, subject);
    if (quota !== null) {
      const free = yield* freeBeside(lab, subject, quota);
      if (free !== null) return free;
    }
    const caller = yield* lab.pick(subject, 8, 700);
    const others = othersOf(lab, subject, caller);
    if (wrongUnits(lab, yield* trial(lab, subject, caller, others)) === null) return kept;
    // One by one they show which is charged wrongly.
    for (const shot of others) {
      const wrong = wrongUnits(lab, yield* trial(lab, subject, caller, [shot, shot]));
      if (wrong !== null) return wrong;
    }
    return unexercised("what was charged wrongly together was charged rightly one by one");
  },
};

/**
 * Finds a request that an emptied quota lets through; `null` if all are refused, too. A quota that has room again soon
 * shows no charges, and this all the same.
 */
function* freeBeside(lab: Lab, subject: Subject, quota: EmptiedQuota): ExperimentSteps<Broken | null> {
  const answers = [...(yield* restedBurst(lab, subject, quota))];
  if (overRate(quota, answers, stepMs) !== null) return null;
  for (const shot of othersOf(lab, subject, quota.caller)) {
    if (unitsTold(lab, shot, quota.name).least < quota.cost) continue;
    const some = yield* lab.together(Array.from({ length: burstCalls(quota) }, () => shot));
    // An error may be charged, or not.
    answers.push(...some.filter(isServed));
    const over = overRate(quota, answers, stepMs);
    if (over !== null)
      return {
        ...over,
        expected: `${shot.method} ${shot.path} refused, too: ${over.expected}`,
      };
  }
  return null;
}

export const costExperiments: readonly Experiment[] = [
  otherRequests,
  {
    ...common,
    name: "cost-above-the-limit",
    law: "refusal-justified",
    promise: "a call that costs more than the whole limit is refused, and charged nowhere",
    calls: 8,
    lacks: lacksDearer,
    *run(lab, subject) {
      const caller = yield* lab.pick(subject, 8, 700);
      const quota = declared(lab, subject, caller);
      if (quota === null) return unexercised("no cost is declared by the call");
      const cost = costFrom(lab, subject.operation, lab.limit(quota, caller) + 1);
      const made = yield* trial(lab, subject, caller, [lab.shot(caller, subject.operation, cost)]);
      const [answer] = made.answers;
      if (answer === undefined || answer.call.outcome === "unknown")
        return unexercised("the call had no answer");
      if (answer.call.outcome === "admitted" && !isRejected(answer.body) && answer.call.status < 400)
        return broken(
          [answer],
          `${cost} units refused: ${quota}'s limit is ${lab.limit(quota, caller)}`,
          "admitted",
        );
      if (!isRefused(answer))
        return unexercised(`the call was answered ${answer.call.status} for another reason`);
      const wrong = made.charged.filter(({ units }) => units > 0);
      if (lab.isRefusedFree(subject, caller) && wrong.length > 0)
        return broken(made.all, "the refused call is charged nowhere", usedWords(wrong), "all-or-nothing");
      return kept;
    },
  },
  {
    ...common,
    name: "dear-refusal-names-the-quota",
    law: "refusal-agrees",
    promise:
      "a cost above every limit is refused in the name of the first quota; one that a single quota lacks room for, of that one",
    calls: 4,
    lacks(lab, subject) {
      const [caller] = subject.callers;
      if (lab.dearest(subject.operation) === null) return "no sample that can be made dearer";
      return declaredAll(lab, subject, caller).length === subject.quotas.length
        ? null
        : "not all of its quotas are charged what the call declares, and refuse";
    },
    *run(lab, subject) {
      const [caller] = subject.callers;
      const { operation, quotas } = subject;
      const narrow = declaredAll(lab, subject, caller)[0] as string;
      const [first] = quotas;
      const limits = quotas.map((name) => lab.limit(name, caller));
      const above = costFrom(lab, operation, Math.max(...limits) + 1);
      const all = yield* lab.one(lab.shot(caller, operation, above));
      if (all.call.outcome === "admitted" && all.call.status < 400 && !isRejected(all.body))
        return broken([all], `${above} units refused: no limit is as large`, "admitted", "refusal-justified");
      if (isRefused(all) && isNamed(lab, all) && all.call.by !== first)
        return broken(
          [all],
          `a refusal by ${first}, the first of those that lack room`,
          `one by ${all.call.by}`,
        );
      const beside = costFrom(lab, operation, lab.limit(narrow, caller) + 1);
      const one = yield* lab.one(lab.shot(caller, operation, beside));
      const { by } = one.call;
      const hasRoom = by !== undefined && leftIn(one, by) >= beside;
      if (isRefused(one) && isNamed(lab, one) && by !== narrow && hasRoom)
        return broken(
          [one],
          `a refusal by ${narrow}, whose limit is ${lab.limit(narrow, caller)}`,
          `one by ${by}, which has room`,
        );
      return isRefused(all) || isRefused(one)
        ? kept
        : unexercised("such a call is answered for another reason");
    },
  },
  {
    ...common,
    name: "cost-that-fits-exactly",
    law: "refusal-justified",
    promise: "a call that costs exactly what is left is admitted; one unit more is refused",
    calls: 6,
    lacks: (lab, subject) =>
      lacksDearer(lab, subject) ?? (lab.spend < 1 ? "--spend leaves no window to be emptied" : null),
    *run(lab, subject) {
      const caller = yield* lab.pick(subject, 4, 900);
      const quota = declared(lab, subject, caller);
      const step = lab.dearest(subject.operation)?.dearer?.costEach ?? 1;
      if (quota === null || step !== 1)
        return unexercised("the sample's cost cannot be brought to each number");
      const before = seenIn(yield* lab.look(subject, caller), quota);
      if (before === null || before.left <= (lab.dearest(subject.operation)?.cost ?? 1))
        return unexercised("too little is left");
      const more = yield* lab.one(lab.shot(caller, subject.operation, before.left + 1));
      const exact = yield* lab.one(lab.shot(caller, subject.operation, before.left));
      const after = seenIn(yield* lab.look(subject, caller), quota);
      if (after === null || !isSameWindow(before, after, lab.windowMs(quota, caller)))
        return unexercised(windowRolled);
      if (more.call.outcome === "admitted" && more.call.status < 400 && !isRejected(more.body))
        return broken(
          [before.answer, more],
          `${before.left + 1} units refused, ${before.left} being left`,
          "admitted",
        );
      const others = subject.quotas.every((name) => leftIn(before.answer, name) >= before.left);
      if (isRefused(exact) && others && lab.alone)
        return broken(
          [before.answer, exact],
          `${before.left} units admitted, as many as are left`,
          "refused",
        );
      return kept;
    },
  },
];

const isNamed = ({ policy }: Lab, { call }: Answer): boolean =>
  call.by !== undefined && policy.quotas[call.by] !== undefined;
