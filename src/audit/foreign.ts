// Somebody else's calls: a count that moves while nobody here calls.
import { isSameWindow, seenIn } from "./book.ts";
import type { Lab } from "./lab.ts";
import type { AuditCaller, ExperimentSteps, Subject } from "./step.ts";

/** Time of an idle look at a count, ms: whoever else calls shows in it. */
const idleMs = 600;

/** Tells whether a count of a caller's moves by more than its own looks. */
export function* movesIdle(lab: Lab, subject: Subject, caller: AuditCaller): ExperimentSteps<boolean> {
  const before = yield* lab.look(subject, caller);
  yield* lab.wait((yield* lab.now()) + idleMs);
  const after = yield* lab.look(subject, caller);
  for (const quota of lab.windows(subject, caller)) {
    const lengthMs = lab.windowMs(quota, caller);
    const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
    if (one === null || other === null || !isSameWindow(one, other, lengthMs)) continue;
    // A look that is charged wrongly is so each time: only what comes beside two plain looks is somebody's.
    const third = seenIn(yield* lab.look(subject, caller), quota);
    if (third !== null && isSameWindow(other, third, lengthMs))
      return other.used - one.used > third.used - other.used;
  }
  return false;
}
