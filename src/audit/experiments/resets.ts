// Experiments on resets: what answers tell of them, compared with the time at which they come (SPEC.md §3).
import { mayShow } from "../../policy/wire-data.ts";
import { isSameWindow, seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditFinding,
  broken,
  isRefused,
  kept,
  lacksRefusal,
  type Subject,
  Unexercised,
  unexercised,
} from "../step.ts";
import { lacksWindow } from "./windows.ts";

const section = "SPEC.md §3";

/** Returns each wait that an answer tells, ms. Rounding may have cut less than `slackMs` from it. */
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
  // An instant counts by the target's own clock, which its `Date` shows.
  if (reset?.atMs != null && call.date !== undefined)
    found.push({ ms: reset.atMs - call.date, slackMs: slackOf(reset.gridMs), by: "reset" });
  if (call.retryAfterMs !== undefined && call.by === quota)
    found.push({ ms: call.retryAfterMs, slackMs: slackOf(1000), by: "the refusal" });
  return found;
}

/** Makes refused calls for over a second, a quarter of a second apart. */
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

/** Uncertainty of an instant told by `Date`, and of a span of whole seconds, ms. */
const wayMs = 1000;

/** Finds refusals that tell a time to come back before the refusing window's end, as the same answer tells it. */
function tooSoon(lab: Lab, answers: readonly Answer[]): AuditFinding {
  for (const answer of answers) {
    const { by, readings } = answer.call;
    const { caller } = answer.shot;
    const isOnly =
      by !== undefined && readings.every(({ quota, remaining }) => quota === by || remaining !== 0);
    // Formats name limits, too, that are no quotas of the policy.
    const isQuota = by !== undefined && lab.policy.quotas[by] !== undefined;
    if (!isRefused(answer) || !isOnly || !isQuota || caller === null || lab.windowMs(by, caller) === 0)
      continue;
    const means = lab.wire.readings.filter((row) => row.reset !== undefined && mayShow(row, by));
    if (!means.every(({ reset }) => reset?.means === "window-end")) continue;
    const all = told(lab, answer, by);
    const [reset, refusal] = ["reset", "the refusal"].map((of) => all.find((each) => each.by === of));
    if (reset === undefined || refusal === undefined) continue;
    if (refusal.ms + refusal.slackMs + wayMs < reset.ms - 2 * wayMs)
      return broken(
        [answer],
        `the refusal tells the ${reset.ms / 1000} s until ${by} has room, as its reset does`,
        `${refusal.ms / 1000} s`,
        "honest-wait",
      );
  }
  return kept;
}

export const resetExperiments: readonly Experiment[] = [
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
      const lengthMs = lab.windowMs(quota, caller);
      // Another experiment judges ends that cannot be true.
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
    lacks: (lab, subject) => lab.lacksEmptying(subject),
    *run(lab, subject) {
      const { caller, quota, answers } = yield* spacedRefusals(lab, subject);
      const lengthMs = lab.windowMs(quota, caller);
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
    judge: tooSoon,
  },
  {
    name: "reset-of-the-last-second",
    isGentle: true,
    law: "reset-agrees",
    section,
    promise: "in a window's last second the reset is still ahead",
    needs: "a window whose reset answers tell in seconds, rounded up",
    calls: 8,
    waits: 1,
    lacks: (lab, subject) =>
      lacksWindow(lab, subject) ??
      (subject.quotas.some((name) => lab.roundsUp(name))
        ? null
        : "resets are rounded down, or to the nearest"),
    *run(lab, subject) {
      const [caller] = subject.callers;
      const quota = lab.windows(subject, caller).at(-1) as string;
      yield* lab.look(subject, caller);
      const end = lab.book.endOf(quota, caller.attributes, yield* lab.now());
      if (end === null) return unexercised("no end of a window is told");
      // The loop begins before the earliest end that the reset allows: the true end comes up to a second later.
      for (let at = end - 300; at < end + 1000; at += 140) {
        yield* lab.wait(at);
        const answer = yield* lab.look(subject, caller);
        for (const { reset, quota: of } of answer.call.readings)
          if (reset?.afterMs != null && reset.afterMs <= 0 && lab.roundsUp(of))
            return broken([answer], `${of} tells a reset of 1 s`, "0 s");
      }
      return kept;
    },
  },
];
