// Experiments on windows: when they begin and end, and what answers show of it (SPEC.md §3).
import { quotaFor } from "../../policy/effective.ts";
import { isSameWindow, seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import { slice } from "../requests.ts";
import { type Answer, broken, isRefused, kept, type Subject, unexercised } from "../step.ts";

const section = "SPEC.md §3";

/** Returns why no count of a window is seen of an operation's calls; `null` if answers show one. */
export function lacksWindow(lab: Lab, subject: Subject): string | null {
  const [caller] = subject.callers;
  return lab.windows(subject, caller).length > 0 ? null : "answers show no count of a window";
}

/** Longest time that most servers wait for the rest of a request. */
const slowMostMs = 20_000;

export const windowExperiments: readonly Experiment[] = [
  {
    name: "window-watched",
    isGentle: true,
    law: "monotone",
    section,
    promise: "through a whole window the count rises by what is charged alone, and its end stays where it is",
    needs: "a window whose count answers show",
    calls: 80,
    waits: 1,
    lacks: lacksWindow,
    *run(lab, subject) {
      const [caller, ...others] = slice(subject.callers, 0, 4);
      const quota = lab.windows(subject, caller).at(-1) as string;
      const lengthMs = lab.windowMs(quota, caller);
      let last = yield* lab.look(subject, caller);
      const charges = yield* lab.plainCharge(subject, caller, quota);
      const settles = lab.policy.quotas[quota]?.charge.when !== "admission";
      const begin = yield* lab.now();
      const end = (lab.book.endOf(quota, caller.attributes, begin) ?? begin) + 1300;
      const every = Math.max(120, Math.min(lengthMs, end - begin) / 16);
      for (let at = begin; at < end; at += every) {
        yield* lab.wait(at);
        const now = yield* lab.one(lab.shot(caller, subject.operation));
        for (const other of others) yield* lab.one(lab.shot(other, subject.operation));
        if (lab.hasStatus) yield* lab.one(lab.status(caller));
        const [one, other] = [seenIn(last, quota), seenIn(now, quota)];
        const until = one?.end?.least ?? Number.NEGATIVE_INFINITY;
        if (one !== null && other !== null && other.used < one.used && !settles && now.call.received < until)
          return broken(
            [last, now],
            `${quota} keeps its count for ${((until - now.call.received) / 1000).toFixed(1)} s more at least`,
            `${other.used} used, after ${one.used}`,
          );
        if (one !== null && other !== null && !isRefused(now) && isSameWindow(one, other, lengthMs)) {
          if (other.used < one.used + (settles ? 0 : charges))
            return broken(
              [last, now],
              `${quota} rises from ${one.used} used by ${charges}`,
              `${other.used} used`,
            );
        }
        last = now;
      }
      return kept;
    },
  },
  {
    name: "pause-then-status-then-call",
    law: "reset-agrees",
    section,
    promise:
      "after a long pause the status opens no window; the first call does, and it lasts its whole length",
    needs: "windows that open with their first call",
    calls: 4,
    waits: 1,
    lacks: (lab, subject) =>
      lacksWindow(lab, subject) ?? (openings(lab, subject).length === 0 ? "windows lie on a grid" : null),
    *run(lab, subject) {
      const quota = openings(lab, subject).at(-1) as string;
      const [caller] = subject.callers;
      const lengthMs = lab.windowMs(quota, caller);
      yield* lab.look(subject, caller);
      const end = lab.book.endOf(quota, caller.attributes, yield* lab.now());
      if (end === null) return unexercised("no end of a window is told");
      const latest = openings(lab, subject).map(
        (name) => lab.book.latest(name, caller.attributes)?.end?.most ?? end,
      );
      yield* lab.wait(Math.max(end + 300, ...latest.filter((at) => at < end + lengthMs)) + 300);
      const polls: Answer[] = [];
      if (lab.hasStatus) polls.push(yield* lab.one(lab.status(caller)));
      yield* lab.wait((yield* lab.now()) + Math.min(2300, lengthMs * 0.6));
      const answer = yield* lab.look(subject, caller);
      let isTold = false;
      for (const name of openings(lab, subject)) {
        const seen = seenIn(answer, name);
        // Somebody else's call may have opened the window.
        if (seen?.end == null || seen.used !== (yield* lab.plainCharge(subject, caller, name))) continue;
        isTold = true;
        const ofMs = lab.windowMs(name, caller);
        // A reset that is rounded up may tell an end up to one step after the true one.
        const grid = answer.call.readings.find(
          ({ quota: of, reset }) => of === name && reset?.afterMs != null,
        );
        const most = seen.end.most - (lab.roundsUp(name) ? (grid?.reset?.gridMs ?? 0) : 0);
        if (most < answer.call.sent + ofMs - 1050)
          return broken(
            [...polls, answer],
            `a window of ${name} of ${ofMs / 1000} s opens with the call`,
            `its end is ${((most - answer.call.sent) / 1000).toFixed(1)} s ahead at most`,
          );
      }
      if (!isTold) return unexercised("somebody else called meanwhile, or no reset was told");
      return kept;
    },
  },
  {
    name: "call-slower-than-its-window",
    isGentle: true,
    law: "conserved",
    section: "SPEC.md §2.2",
    promise: "a call that takes longer than a window is charged once, to one window",
    needs: `a window of ${slowMostMs / 1000} s at most, whose count answers show`,
    calls: 4,
    waits: 1,
    lacks(lab, subject) {
      const [caller] = subject.callers;
      const why = lacksWindow(lab, subject);
      if (why !== null) return why;
      const lengths = lab.windows(subject, caller).map((name) => lab.windowMs(name, caller));
      return Math.max(...lengths) <= slowMostMs ? null : "servers wait less long for a request";
    },
    *run(lab, subject) {
      const [caller] = subject.callers;
      const names = lab.windows(subject, caller);
      const holdMs = Math.max(...names.map((name) => lab.windowMs(name, caller))) + 300;
      if (lab.isOver((yield* lab.now()) + holdMs))
        return unexercised("the wait is longer than the time that is left: --max-time");
      yield* lab.look(subject, caller);
      const slow = { ...lab.shot(caller, subject.operation), way: "slow" as const, holdMs };
      const answer = yield* lab.one(slow);
      if (answer.call.status === 0 || answer.call.status >= 400)
        return unexercised(`answered ${answer.call.status}`);
      const after = yield* lab.look(subject, caller);
      for (const name of names) {
        // A call that holds points shows more than it is charged.
        if (lab.quota(name, caller).charge.when !== "admission") continue;
        const seen = seenIn(after, name);
        const plain = yield* lab.plainCharge(subject, caller, name);
        const isOwn = lab.alone && lab.isOwn(name);
        // The window of the first look is over, whichever window the slow call was charged to.
        if (seen !== null && (seen.used < plain || (isOwn && seen.used > 2 * plain)))
          return broken([answer, after], `${name} shows ${plain} or ${2 * plain} used`, `${seen.used} used`);
      }
      return kept;
    },
  },
  {
    name: "window-on-its-grid",
    law: "reset-agrees",
    section,
    promise: "windows of one length on a grid end together, whoever calls",
    needs: "windows on a grid, two quotas or callers",
    calls: 8,
    lacks: (lab, subject) =>
      lacksWindow(lab, subject) ??
      (subject.quotas.some((name) => isOnGrid(lab, name)) ? null : "windows open with their first call"),
    *run(lab, subject) {
      const seen: {
        readonly answer: Answer;
        readonly quota: string;
        readonly least: number;
        readonly most: number;
      }[] = [];
      for (const caller of subject.callers.slice(0, 6)) {
        const answer = yield* lab.look(subject, caller);
        for (const quota of lab.windows(subject, caller)) {
          const found = seenIn(answer, quota);
          if (isOnGrid(lab, quota) && found?.end != null) seen.push({ answer, quota, ...found.end });
        }
      }
      const [first] = seen;
      if (first === undefined || seen.length < 2) return unexercised("fewer than two ends were told");
      const lengths = new Set(
        seen.map(({ quota, answer }) => lab.windowMs(quota, answer.shot.caller as never)),
      );
      const [lengthMs] = lengths;
      if (lengths.size !== 1 || lengthMs === undefined) return unexercised("windows are of several lengths");
      for (const other of seen) {
        // Ends of two windows in a row belong to one grid, too.
        const apart =
          ((((other.least + other.most - first.least - first.most) / 2) % lengthMs) + lengthMs) % lengthMs;
        const off = Math.min(apart, lengthMs - apart);
        const doubt = (other.most - other.least + first.most - first.least) / 2;
        if (off > doubt + 50)
          return broken(
            [first.answer, other.answer],
            `${other.quota} ends with ${first.quota}`,
            `${((off - doubt) / 1000).toFixed(1)} s beside it at least`,
          );
      }
      const beyondMs = besideUnixTime(first, lengthMs);
      if (beyondMs > clocksMs)
        return broken(
          [first.answer],
          `${first.quota} ends on Unix time's grid of ${lengthMs / 1000} s`,
          `${((beyondMs - clocksMs) / 1000).toFixed(1)} s beside it at least`,
        );
      return kept;
    },
  },
];

/** Most by which clocks that agree on Unix time differ, ms. A limiter's clock may differ by as much. */
const clocksMs = 2000;

/** Returns the distance of an end from Unix time's grid, ms; 0 if the target's `Date` and this machine's clock disagree. */
function besideUnixTime(
  { answer, least, most }: { readonly answer: Answer; readonly least: number; readonly most: number },
  lengthMs: number,
): number {
  const { date, received } = answer.call;
  if (date === undefined || Math.abs(date + 500 - received) > clocksMs) return 0;
  const beyond = ((least + most) / 2) % lengthMs;
  return Math.min(beyond, lengthMs - beyond) - (most - least) / 2;
}

const isOnGrid = (lab: Lab, name: string): boolean => {
  const { algorithm } = lab.policy.quotas[name] ?? {};
  return algorithm?.kind === "fixed-window" && algorithm.anchor === "epoch";
};

/** Returns the quotas whose windows open with their first call. */
function openings(lab: Lab, { quotas, callers }: Subject): string[] {
  const [caller] = callers;
  return quotas.filter((name) => {
    const { algorithm } = quotaFor(lab.policy, name, caller.attributes);
    return algorithm.kind === "fixed-window" && algorithm.anchor === "first-request" && lab.shows(name);
  });
}
