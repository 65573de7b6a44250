// Detects calls of somebody else: a count that moves while this audit makes no call.
import { isSameWindow, seenIn } from "./book.ts";
import type { Lab } from "./lab.ts";
import type { AuditCaller, ExperimentSteps, Subject } from "./step.ts";

/** Time between two looks at an idle count, ms: any other caller's calls show in it. */
const idleMs = 600;

/** Tells whether a caller's count moves by more than its own looks. */
export function* movesIdle(lab: Lab, subject: Subject, caller: AuditCaller): ExperimentSteps<boolean> {
  const before = yield* lab.look(subject, caller);
  yield* lab.wait((yield* lab.now()) + idleMs);
  const after = yield* lab.look(subject, caller);
  for (const quota of lab.windows(subject, caller)) {
    const lengthMs = lab.windowMs(quota, caller);
    const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
    if (one === null || other === null || !isSameWindow(one, other, lengthMs)) continue;
    // A wrongly charged look is charged wrongly each time. Only a rise beyond a look's own charge is somebody else's.
    const third = seenIn(yield* lab.look(subject, caller), quota);
    if (third !== null && isSameWindow(other, third, lengthMs))
      return other.used - one.used > third.used - other.used;
  }
  return false;
}
