// Experiments on the status: it is free, true, readable while all is empty, and agrees with the headers (SPEC.md §4).

import { counted } from "../../rules/words.ts";
import { isSameWindow, seenIn } from "../book.ts";
import { lacksCounts } from "../emptied.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  broken,
  type ExperimentSteps,
  isRefused,
  kept,
  type Subject,
  unexercised,
  usedWords,
} from "../step.ts";
import { trial } from "../trials.ts";
import { type RequestShape, shapes } from "./shapes.ts";

const common = { section: "SPEC.md §4", needs: "a route of the status" } as const;

function lacksStatus(lab: Lab, subject: Subject): string | null {
  return lab.hasStatus ? lacksCounts(lab, subject) : "the policy has no route of the status";
}

const plain: RequestShape = { name: "is-free", what: "of the plain form", make: (shot) => [shot, shot] };

const free = (shape: RequestShape): Experiment => ({
  ...common,
  name: `status-${shape.name}`,
  law: "status-free",
  promise: `a status call ${shape.what} is free`,
  calls: 10,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    const why = lacksStatus(lab, subject);
    return why !== null ? why : (shape.lacks?.(lab, lab.status(caller)) ?? null);
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 4, 700);
    const shots = shape
      .make(lab.status(caller), lab)
      .map((shot) => ({ ...lab.routed(shot), otherwise: subject.operation }));
    const made = yield* trial(lab, subject, caller, shots, { together: shape.together === true });
    // A request that the policy does not route to the status may be charged.
    const other = made.answers.find(({ call, shot }) => call.status >= 400 || shot.isVague === true);
    if (other !== undefined)
      return unexercised(
        other.call.status === 200 ? "its answer is no status" : `answered ${other.call.status}`,
      );
    const wrong = made.charged.filter(({ units }) => units > 0);
    return wrong.length === 0
      ? kept
      : broken(made.all, `${counted(shots.length, "status call")}, charged nowhere`, usedWords(wrong));
  },
});

/** Finds readings of a quota in an answer that disagree with the calls around it. */
function* compare(
  lab: Lab,
  subject: Subject,
  caller: Subject["callers"][number],
): ExperimentSteps<ReturnType<typeof broken> | boolean> {
  const before = yield* lab.look(subject, caller);
  const status = yield* lab.one(lab.status(caller));
  const again = yield* lab.one(lab.status(caller));
  const after = yield* lab.look(subject, caller);
  if (status.call.status !== 200) return false;
  let isTold = false;
  for (const name of subject.quotas) {
    const [one, other] = [seenIn(before, name), seenIn(after, name)];
    const lengthMs = lab.windowMs(name, caller);
    if (one === null || other === null || !isSameWindow(one, other, lengthMs)) continue;
    for (const shown of [status, again])
      for (const { quota, used, limit, remaining } of shown.call.readings) {
        const count = used ?? (limit === null || remaining === null ? null : limit - remaining);
        if (quota !== name || count === null) continue;
        isTold = true;
        if (count < one.used || count > other.used)
          return broken(
            [before, shown, after],
            `${name} between ${one.used} and ${other.used} used`,
            `the status shows ${count}`,
          );
      }
  }
  return isTold;
}

export const statusExperiments: readonly Experiment[] = [
  ...[plain, ...shapes].map(free),
  {
    ...common,
    name: "status-is-true",
    law: "monotone",
    promise: "the status shows what the headers of calls show, of each caller",
    needs: "a route of the status",
    calls: 12,
    lacks: lacksStatus,
    *run(lab, subject) {
      let isTold = false;
      for (const caller of subject.callers.slice(0, 3)) {
        const found = yield* compare(lab, subject, caller);
        if (typeof found !== "boolean") return found;
        isTold ||= found;
      }
      return isTold ? kept : unexercised("the status shows none of this operation's quotas");
    },
  },
  {
    ...common,
    name: "status-reset-agrees",
    law: "reset-agrees",
    promise: "all that the status tells of a window's end is one end",
    calls: 4,
    lacks: lacksStatus,
    *run(lab, subject) {
      const caller = yield* lab.pick(subject, 3, 700);
      let isTold = false;
      const polls: Answer[] = [];
      for (let poll = 0; poll < 5; poll++) {
        polls.push(yield* lab.one(lab.status(caller)));
        yield* lab.wait((yield* lab.now()) + 90);
      }
      for (const answer of polls) {
        for (const found of endsIn(lab, answer)) {
          isTold = true;
          if (found.apartMs > 0)
            return broken(
              [answer],
              `${found.at} tells the end that reset tells`,
              `an end ${(found.apartMs / 1000).toFixed(1)} s beside it at least`,
            );
        }
      }
      return isTold ? kept : unexercised("the status tells no end as an instant");
    },
  },
  {
    ...common,
    name: "status-while-empty",
    law: "status-free",
    promise: "the status is readable while a quota is empty",
    needs: "a route of the status, a quota that can be emptied",
    empties: 1,
    calls: 4,
    lacks: (lab, subject) => lacksStatus(lab, subject) ?? lab.lacksEmptying(subject),
    *run(lab, subject) {
      const { caller } = yield* lab.emptied(subject);
      const answers = yield* lab.send(lab.status(caller), lab.status(caller));
      const refused = answers.find((answer) => isRefused(answer) || answer.call.status >= 400);
      return refused === undefined ? kept : broken([refused], "200", `${refused.call.status}`);
    },
  },
];

/** Returns the instants beside resets in seconds in a status body, with their distances from these resets. */
function endsIn(lab: Lab, { call, body }: Answer): { readonly at: string; readonly apartMs: number }[] {
  const found: { at: string; apartMs: number }[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { reset, reset_at: at } = value as Record<string, unknown>;
    if (
      typeof reset === "number" &&
      typeof at === "string" &&
      lab.wire.readings.some(({ body: of }) => Object.keys(of).some((pointer) => pointer.endsWith("/reset")))
    ) {
      const instant = Date.parse(at);
      // Bounds of the target's clock at the answer, to the second.
      const least = (call.date ?? Number.NaN) + (reset - 1) * 1000;
      const most = (call.date ?? Number.NaN) + (reset + 1) * 1000;
      const slackMs = 1000 + (call.received - call.sent);
      if (Number.isFinite(instant) && Number.isFinite(least))
        found.push({
          at: `${path}/reset_at`,
          apartMs: Math.max(0, least - slackMs - instant, instant - most - slackMs),
        });
    }
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}/${name}`);
  };
  visit(body, "");
  return found;
}
