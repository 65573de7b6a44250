// When windows begin and end, and what is shown of it (SPEC.md §3).
import { quotaFor } from "../../policy/effective.ts";
import { isSameWindow, seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  broken,
  isRefused,
  kept,
  lacksRefusal,
  type Subject,
  Unexercised,
  unexercised,
} from "../step.ts";

const section = "SPEC.md §3";

const showsWindow = (lab: Lab, { callers, ...subject }: Subject): string | null => {
  const [caller] = callers;
  if (caller === undefined) return "nobody can call it";
  return lab.windows({ callers, ...subject }, caller).length > 0 ? null : "answers show no count of a window";
};

/** Servers wait so long for the rest of a request, most of them. */
const slowMostMs = 20_000;

/** How long a caller is to wait by an answer, ms, for each thing that it tells; rounded down by less than `slackMs`. */
function told(
  lab: Lab,
  answer: Answer,
  quota: string,
): { readonly ms: number; readonly slackMs: number; readonly by: string }[] {
  const { call } = answer;
  const reading = call.readings.find((each) => each.quota === quota && each.reset !== null);
  const slackOf = (gridMs: number): number => (lab.roundsUp(quota) ? 0 : gridMs);
  const found: { ms: number; slackMs: number; by: string }[] = [];
  const reset = reading?.reset;
  if (reset?.afterMs != null) found.push({ ms: reset.afterMs, slackMs: slackOf(reset.gridMs), by: "reset" });
  // By the target's own clock, which its `Date` tells.
  if (reset?.atMs != null && call.date !== undefined)
    found.push({ ms: reset.atMs - call.date, slackMs: slackOf(reset.gridMs), by: "reset" });
  if (call.retryAfterMs !== undefined && call.by === quota)
    found.push({ ms: call.retryAfterMs, slackMs: slackOf(1000), by: "the refusal" });
  return found;
}

/** Refused calls over a second and more, a quarter of a second apart. */
function* spacedRefusals(lab: Lab, subject: Subject) {
  const { caller, quota } = yield* lab.emptied(subject, 1900);
  const answers: Answer[] = [];
  const begin = yield* lab.now();
  for (let at = begin; at < begin + 1600; at += 230) {
    yield* lab.wait(at);
    answers.push(yield* lab.one(lab.shot(caller, subject.operation)));
  }
  if (!answers.some(isRefused)) throw new Unexercised(lacksRefusal(answers));
  return { caller, quota, answers: answers.filter(isRefused) };
}

export const windowExperiments: readonly Experiment[] = [
  {
    name: "window-watched",
    isGentle: true,
    law: "monotone",
    section,
    promise: "through a whole window the count rises by what is charged alone, and its end stays where it is",
    needs: "a window whose count answers show",
    calls: 80,
    empties: 0,
    waits: 1,
    lacks: showsWindow,
    *run(lab, subject) {
      const callers = subject.callers.slice(0, 4);
      const [caller] = callers;
      const quota = caller === undefined ? undefined : lab.windows(subject, caller).at(-1);
      if (caller === undefined || quota === undefined) return unexercised("nobody can call it");
      const lengthMs = lab.windowMs(quota, caller) ?? 1000;
      let last = yield* lab.look(subject, caller);
      const charges = yield* lab.plainCharge(subject, caller, quota);
      const settles = lab.policy.quotas[quota]?.charge.when !== "admission";
      const begin = yield* lab.now();
      const end = (lab.book.endOf(quota, caller.attributes, begin) ?? begin) + 1300;
      const every = Math.max(120, Math.min(lengthMs, end - begin) / 16);
      for (let at = begin; at < end; at += every) {
        yield* lab.wait(at);
        const answers: Answer[] = [];
        for (const each of callers) answers.push(yield* lab.one(lab.shot(each, subject.operation)));
        if (lab.hasStatus) yield* lab.one(lab.status(caller));
        const [now] = answers;
        if (now === undefined) break;
        const [one, other] = [seenIn(last, quota), seenIn(now, quota)];
        const until = one?.end?.least ?? 0;
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
    name: "reset-is-kept",
    law: "honest-wait",
    section,
    promise: "who waits alone as long as the refusal says is admitted",
    needs: "a quota that can be emptied, whose refusals tell when to come back",
    calls: 12,
    empties: 1,
    waits: 1,
    lacks: (lab, subject) => lab.lacksEmptying(subject),
    *run(lab, subject) {
      const { caller, quota, answers } = yield* spacedRefusals(lab, subject);
      const waits = answers.flatMap((answer) =>
        told(lab, answer, quota).map(({ ms, slackMs, by }) => ({
          answer,
          by,
          ms,
          until: answer.call.received + ms + slackMs,
        })),
      );
      const lengthMs = lab.windowMs(quota, caller) ?? 0;
      // What cannot be true is another experiment's.
      const fit = waits.filter(({ ms }) => ms >= 0 && ms <= lengthMs + 1000);
      const first = fit.toSorted((one, other) => one.until - other.until)[0];
      if (first === undefined) return unexercised("no refusal told when to come back");
      yield* lab.wait(first.until);
      const answer = yield* lab.one(lab.shot(caller, subject.operation));
      if (answer.call.outcome === "unknown") return unexercised("the call had no answer");
      const [one, other] = [seenIn(first.answer, quota), seenIn(answer, quota)];
      const isOld = one !== null && other !== null && isSameWindow(one, other, lengthMs);
      const isIts = answer.call.by === quota || (answer.call.by === undefined && subject.quotas.length === 1);
      // Somebody else may have used up the next window at once.
      if (isRefused(answer) && isIts && (isOld || lab.alone))
        return broken(
          [first.answer, answer],
          `admitted after the ${first.ms / 1000} s that ${first.by} told`,
          "refused",
        );
      return kept;
    },
  },
  {
    name: "reset-counts-down",
    law: "reset-agrees",
    section,
    promise: "a refusal's reset falls as time passes, and always tells one end",
    needs: "a quota that can be emptied, whose refusals tell a reset",
    calls: 8,
    empties: 1,
    waits: 0,
    lacks: (lab, subject) => lab.lacksEmptying(subject),
    *run(lab, subject) {
      const { caller, quota, answers } = yield* spacedRefusals(lab, subject);
      const lengthMs = lab.windowMs(quota, caller) ?? 0;
      for (const answer of answers)
        for (const { ms, by } of told(lab, answer, quota))
          if (ms > lengthMs + 2000)
            return broken(
              [answer],
              `a wait of ${lengthMs / 1000} s at most, the length of ${quota}'s windows`,
              `${by} tells ${ms / 1000} s`,
            );
      const seen = answers.flatMap((answer) => seenIn(answer, quota) ?? []).filter(({ end }) => end !== null);
      const [first] = seen;
      const last = seen.at(-1);
      if (first?.end == null || last?.end == null || seen.length < 3)
        return unexercised("refusals told no reset");
      const zero = answers.find((answer) =>
        told(lab, answer, quota).some(({ ms, slackMs }) => slackMs === 0 && ms <= 0),
      );
      if (zero !== undefined)
        return broken([zero], "a reset of at least 1 s while the window refuses", "0 or less");
      if (last.end.least > first.end.most + 50 && last.end.least - first.end.most < lengthMs / 2)
        return broken(
          [first.answer, last.answer],
          "both tell one end",
          `the second tells one that is ${((last.end.least - first.end.most) / 1000).toFixed(1)} s later at least`,
        );
      return kept;
    },
  },
  {
    name: "reset-of-the-last-second",
    isGentle: true,
    law: "reset-agrees",
    section,
    promise: "in a window's last second the reset is still ahead",
    needs: "a window whose reset answers tell in seconds, rounded up",
    calls: 8,
    empties: 0,
    waits: 1,
    lacks: (lab, subject) =>
      showsWindow(lab, subject) ??
      (subject.quotas.some((name) => lab.roundsUp(name))
        ? null
        : "resets are rounded down, or to the nearest"),
    *run(lab, subject) {
      const [caller] = subject.callers;
      const quota = caller === undefined ? undefined : lab.windows(subject, caller).at(-1);
      if (caller === undefined || quota === undefined) return unexercised("nobody can call it");
      yield* lab.look(subject, caller);
      const end = lab.book.endOf(quota, caller.attributes, yield* lab.now());
      if (end === null) return unexercised("no end of a window is told");
      // The earliest end that the reset allows: the true one lies up to a second later.
      for (let at = end - 300; at < end + 1000; at += 140) {
        yield* lab.wait(at);
        const answer = yield* lab.look(subject, caller);
        for (const { reset, quota: of } of answer.call.readings)
          if (reset?.afterMs != null && reset.afterMs <= 0 && lab.roundsUp(of))
            return broken([answer], `${of} tells a reset of 1 s`, `${reset.afterMs / 1000} s`);
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
    empties: 0,
    waits: 1,
    lacks: (lab, subject) =>
      showsWindow(lab, subject) ?? (openings(lab, subject).length === 0 ? "windows lie on a grid" : null),
    *run(lab, subject) {
      const quota = openings(lab, subject).at(-1);
      const [caller] = subject.callers;
      if (quota === undefined || caller === undefined) return unexercised("windows lie on a grid");
      const lengthMs = lab.windowMs(quota, caller) ?? 0;
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
      let told = 0;
      for (const name of openings(lab, subject)) {
        const seen = seenIn(answer, name);
        // Somebody else's call may have opened it.
        if (seen?.end == null || seen.used !== (yield* lab.plainCharge(subject, caller, name))) continue;
        told += 1;
        const ofMs = lab.windowMs(name, caller) ?? 0;
        // A reset that is rounded up tells no later end than the true one's next step.
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
      if (told === 0) return unexercised("somebody else called meanwhile, or no reset was told");
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
    empties: 0,
    waits: 1,
    lacks(lab, subject) {
      const [caller] = subject.callers;
      const why = showsWindow(lab, subject);
      if (why !== null || caller === undefined) return why;
      const lengths = lab.windows(subject, caller).map((name) => lab.windowMs(name, caller) ?? 0);
      return Math.max(...lengths) <= slowMostMs ? null : "servers wait less long for a request";
    },
    *run(lab, subject) {
      const [caller] = subject.callers;
      if (caller === undefined) return unexercised("nobody can call it");
      const names = lab.windows(subject, caller);
      const holdMs = Math.max(...names.map((name) => lab.windowMs(name, caller) ?? 0)) + 300;
      yield* lab.look(subject, caller);
      const slow = { ...lab.shot(caller, subject.operation), way: "slow" as const, holdMs };
      const answer = yield* lab.one(slow);
      if (answer.call.status === 0 || answer.call.status >= 400)
        return unexercised(`answered ${answer.call.status}`);
      const after = yield* lab.look(subject, caller);
      for (const name of names) {
        const [one, other] = [seenIn(answer, name), seenIn(after, name)];
        const plain = yield* lab.plainCharge(subject, caller, name);
        const isOwn = lab.alone && lab.policy.quotas[name]?.key.length === lab.policy.auth.attributes.length;
        if (one === null || other === null || !isSameWindow(one, other, lab.windowMs(name, caller))) continue;
        if (other.used < plain || (isOwn && other.used > 2 * plain))
          return broken([answer, after], `${name} shows ${plain} or ${2 * plain} used`, `${other.used} used`);
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
    empties: 0,
    waits: 0,
    lacks: (lab, subject) =>
      showsWindow(lab, subject) ??
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
      if (lengths.size !== 1 || lengthMs == null) return unexercised("windows are of several lengths");
      for (const other of seen) {
        // Ends in two windows in a row are of one grid, too.
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
      return kept;
    },
  },
];

const isOnGrid = (lab: Lab, name: string): boolean => {
  const { algorithm } = lab.policy.quotas[name] ?? {};
  return algorithm?.kind === "fixed-window" && algorithm.anchor === "epoch";
};

/** The quotas whose windows open with their first call. */
function openings(lab: Lab, { quotas, callers }: Subject): string[] {
  const [caller] = callers;
  if (caller === undefined) return [];
  return quotas.filter((name) => {
    const { algorithm } = quotaFor(lab.policy, name, caller.attributes);
    return algorithm.kind === "fixed-window" && algorithm.anchor === "first-request" && lab.shows(name);
  });
}
