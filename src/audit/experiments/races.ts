// Experiments with calls at once: for a window's last place, as its first calls, and across its end (SPEC.md §2.2).
import { seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import { broken, isRefused, kept, unexercised, windowRolled } from "../step.ts";
import { isOneWindow } from "../trials.ts";
import { lacksWindow } from "./windows.ts";

const needsEmptying = "a quota that can be emptied";

const lastPlace = (calls: number): Experiment => ({
  name: `last-place-${calls}`,
  law: "bounded",
  section: "SPEC.md §2.2",
  promise: `of ${calls} calls at once for the last place of a window, one is admitted`,
  needs: needsEmptying,
  calls,
  empties: 1,
  lacks: (lab, subject) => lab.lacksEmptying(subject),
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 2, 1200, true);
    const quota = lab.narrow(subject, caller);
    if (quota === null) return unexercised("no quota can be emptied");
    const each = yield* lab.plainCharge(subject, caller, quota);
    const before = yield* lab.fill(subject, caller, quota, each);
    const shots = Array.from({ length: calls }, () => lab.shot(caller, subject.operation));
    const answers = yield* lab.together(shots);
    const after = yield* lab.look(subject, caller);
    const admitted = answers.filter(({ call }) => call.outcome === "admitted");
    const unknown = answers.filter(({ call }) => call.outcome === "unknown");
    const seen = [before, ...answers.map((answer) => seenIn(answer, quota)), seenIn(after, quota)];
    if (
      !isOneWindow(
        lab,
        caller,
        quota,
        seen.filter((one) => one !== null),
      )
    )
      return unexercised(windowRolled);
    if (admitted.length > 1 && admitted.every((answer) => seenIn(answer, quota) !== null))
      return broken(
        [before.answer, ...admitted],
        "one call is admitted",
        `${admitted.length} are, of ${quota}'s last place`,
      );
    const isIts = answers.every(({ call }) => call.by === quota) || subject.quotas.length === 1;
    const hasRoom = lab.showsRoom(subject, before.answer) || subject.quotas.length === 1;
    if (admitted.length === 0 && unknown.length === 0 && isIts && hasRoom)
      return broken(
        [before.answer, ...answers.slice(0, 2)],
        `one call is admitted: ${quota} showed ${before.left} left`,
        "all are refused",
        "refusal-justified",
      );
    return kept;
  },
});

export const raceExperiments: readonly Experiment[] = [
  lastPlace(2),
  lastPlace(8),
  lastPlace(32),
  {
    name: "calls-at-once",
    law: "conserved",
    section: "SPEC.md §2.2",
    promise: "calls at once are each charged",
    needs: "a window whose count answers show",
    calls: 20,
    lacks: lacksWindow,
    *run(lab, subject) {
      const caller = yield* lab.pick(subject, 20, 900);
      const charges = new Map<string, number>();
      for (const quota of lab.windows(subject, caller))
        charges.set(quota, yield* lab.plainCharge(subject, caller, quota));
      const before = yield* lab.look(subject, caller);
      const shots = Array.from({ length: 16 }, () => lab.shot(caller, subject.operation));
      const answers = yield* lab.together(shots);
      const after = yield* lab.look(subject, caller);
      if ([...answers, after].some((answer) => isRefused(answer) || answer.call.status === 0))
        return unexercised("calls were refused, or had no answer");
      let isTold = false;
      for (const [quota, each] of charges) {
        const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
        if (one === null || other === null || !isOneWindow(lab, caller, quota, [one, other])) continue;
        isTold = true;
        const expected = 17 * each;
        if (other.used - one.used < expected || (lab.alone && other.used - one.used > expected))
          return broken(
            [before, ...answers, after],
            `${quota} rises by ${expected}`,
            `by ${other.used - one.used}`,
          );
      }
      return isTold ? kept : unexercised("no two looks surely showed the same window");
    },
  },
  {
    name: "first-calls-at-once",
    isGentle: true,
    law: "recovers",
    section: "SPEC.md §7",
    promise: "the first calls of a window, made at once, are admitted and charged to it alone",
    needs: "a window whose count answers show",
    calls: 16,
    waits: 1,
    lacks: lacksWindow,
    *run(lab, subject) {
      const [caller] = subject.callers;
      yield* lab.look(subject, caller);
      yield* lab.windowsOver(subject, caller);
      const shots = Array.from({ length: 8 }, () => lab.shot(caller, subject.operation));
      const answers = yield* lab.together(shots);
      const after = yield* lab.look(subject, caller);
      const refused = answers.find(isRefused);
      const isWhole = [...answers, after].every(({ call }) => call.outcome === "admitted");
      for (const quota of lab.windows(subject, caller)) {
        const seen = [...answers, after].map((answer) => seenIn(answer, quota));
        const [one, other] = [seen[0], seen.at(-1)];
        if (one == null || other == null || !isOneWindow(lab, caller, quota, seen)) continue;
        const due = 9 * (yield* lab.plainCharge(subject, caller, quota));
        if (isWhole && other.used < due)
          return broken(
            [...answers, after],
            `${quota} shows ${due} used at least, of nine calls`,
            `${other.used} used`,
            "conserved",
          );
        if (refused !== undefined && lab.alone && lab.showsRoom(subject, refused))
          return broken([refused], `admitted: ${quota} has ${other.left} left`, "refused");
      }
      return kept;
    },
  },
  {
    name: "calls-across-the-reset",
    isGentle: true,
    law: "recovers",
    section: "SPEC.md §3",
    promise: "calls before, at and after the end of a window are each charged to one window",
    needs: "a window whose end answers tell",
    calls: 40,
    waits: 1,
    lacks: lacksWindow,
    *run(lab, subject) {
      const [caller] = subject.callers;
      const callers = subject.callers.slice(0, 3);
      const quota = lab.windows(subject, caller).at(-1) as string;
      const before = yield* lab.look(subject, caller);
      const end = lab.book.endOf(quota, caller.attributes, before.call.received);
      if (end === null) return unexercised("no end of a window is told");
      yield* lab.wait(end - 150);
      for (let at = end - 150; at < end + 1250; at += 100) {
        yield* lab.wait(at);
        yield* lab.together(callers.map((each) => lab.shot(each, subject.operation)));
      }
      const after = yield* lab.look(subject, caller);
      const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
      if (one === null || other === null || isOneWindow(lab, caller, quota, [one, other]))
        return unexercised("the window's end was not seen");
      const most = 17 * (yield* lab.plainCharge(subject, caller, quota));
      if (lab.alone && lab.isOwn(quota) && other.used > most)
        return broken(
          [before, after],
          `at most ${most} used of the window that has just begun`,
          `${other.used}`,
        );
      return kept;
    },
  },
];
