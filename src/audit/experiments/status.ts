// The status: free, true, readable while everything is empty, and the same as the headers (SPEC.md §4).
import { isSameWindow, seenIn } from "../book.ts";
import {
  type Answer,
  broken,
  type Experiment,
  kept,
  type Shot,
  type Steps,
  type Subject,
  unexercised,
} from "../experiment.ts";
import type { Lab } from "../lab.ts";
import { isRefused, trial, usedWords } from "../trials.ts";

const common = { section: "SPEC.md §4", needs: "a route of the status", empties: 0, waits: 0 } as const;

function lacksStatus(lab: Lab, subject: Subject): string | null {
  if (!lab.hasStatus) return "the policy has no route of the status";
  const [caller] = subject.callers;
  if (caller === undefined) return "nobody can call it";
  return lab.windows(subject, caller).length > 0 ? null : "answers show no count of a window";
}

const shapes: readonly (readonly [name: string, promise: string, (shot: Shot) => Shot])[] = [
  ["status-is-free", "status calls are charged nowhere", (shot) => shot],
  ["status-as-head", "HEAD of the status is free", (shot) => ({ ...shot, method: "HEAD" })],
  [
    "status-with-a-query",
    "a query string does not make the status cost",
    (shot) => ({ ...shot, path: `${shot.path}?spillway=1` }),
  ],
  [
    "status-with-a-slash",
    "a slash at the end does not make the status cost",
    (shot) => ({ ...shot, path: `${shot.path}/` }),
  ],
  ["status-by-http-1.0", "the status is free by HTTP/1.0", (shot) => ({ ...shot, way: "http/1.0" })],
  ["status-pipelined", "pipelined status calls are free", (shot) => ({ ...shot, way: "pipelined" })],
];

const free = ([name, promise, shape]: (typeof shapes)[number]): Experiment => ({
  ...common,
  name,
  law: "status-free",
  promise,
  calls: 10,
  lacks: lacksStatus,
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 4, 700);
    const shot = lab.routed(shape(lab.status(caller)));
    const made = yield* trial(lab, subject, caller, [shot, shot, shot], {
      together: shot.way === "pipelined",
    });
    // What the policy does not route to the status may be charged.
    if (made.answers.some(({ call }) => call.status !== 200))
      return unexercised(`answered ${made.answers[0]?.call.status}`);
    const wrong = made.charged.filter(({ units }) => units > 0);
    return wrong.length === 0
      ? kept
      : broken(made.all, "three status calls are charged nowhere", usedWords(wrong));
  },
});

/** Readings of a quota in an answer that disagree with those of the calls around it. */
function* compare(
  lab: Lab,
  subject: Subject,
  caller: Subject["callers"][number],
): Steps<ReturnType<typeof broken> | number> {
  const before = yield* lab.look(subject, caller);
  const status = yield* lab.one(lab.status(caller));
  const again = yield* lab.one(lab.status(caller));
  const after = yield* lab.look(subject, caller);
  if (status.call.status !== 200) return 0;
  let told = 0;
  for (const name of subject.quotas) {
    const [one, other] = [seenIn(before, name), seenIn(after, name)];
    const lengthMs = lab.windowMs(name, caller);
    if (one === null || other === null || !isSameWindow(one, other, lengthMs)) continue;
    for (const shown of [status, again])
      for (const { quota, used, limit, remaining } of shown.call.readings) {
        const count = used ?? (limit === null || remaining === null ? null : limit - remaining);
        if (quota !== name || count === null) continue;
        told += 1;
        if (count < one.used || count > other.used)
          return broken(
            [before, shown, after],
            `${name} between ${one.used} and ${other.used} used`,
            `the status shows ${count}`,
          );
      }
  }
  return told;
}

export const statusExperiments: readonly Experiment[] = [
  ...shapes.map(free),
  {
    ...common,
    name: "status-is-true",
    law: "monotone",
    promise: "the status shows what the headers of calls show, of each caller",
    needs: "a route of the status",
    calls: 12,
    lacks: lacksStatus,
    *run(lab, subject) {
      let told = 0;
      for (const caller of subject.callers.slice(0, 3)) {
        const found = yield* compare(lab, subject, caller);
        if (typeof found !== "number") return found;
        told += found;
      }
      return told > 0 ? kept : unexercised("the status shows none of this operation's quotas");
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
      let told = 0;
      const polls: Answer[] = [];
      for (let poll = 0; poll < 5; poll++) {
        polls.push(yield* lab.one(lab.status(caller)));
        yield* lab.wait((yield* lab.now()) + 90);
      }
      for (const answer of polls) {
        for (const found of endsIn(lab, answer)) {
          told += 1;
          if (found.apartMs > 0)
            return broken(
              [answer],
              `${found.at} tells the end that reset tells`,
              `an end ${(found.apartMs / 1000).toFixed(1)} s beside it at least`,
            );
        }
      }
      return told > 0 ? kept : unexercised("the status tells no end as an instant");
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

/** Instants that stand beside a reset in seconds in a status body, as far as they lie from it. */
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
      // The target's clock, to the second, at the answer.
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
