// Trials: calls between two looks at the same counts, which show the calls' charges. A trial whose window may have
// rolled says nothing, and is repeated.
import { isSameWindow, type SeenCount, seenIn } from "./book.ts";
import { emptiedOf, emptyingTrial } from "./emptied.ts";
import type { Lab } from "./lab.ts";
import {
  type AuditCaller,
  type Charged,
  type ExperimentSteps,
  type ExperimentTrial,
  isRefused,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

const triesMost = 4;
/** Most trials in a row whose windows may all have rolled; after them a trial has only one try. */
const unsureMost = 3;

/**
 * Makes calls between two looks by `viewer`, which may be another caller. If no look shows a count, it makes several of
 * each call. What an emptied quota admits later then shows the charges.
 * @param quotas quotas whose charges are wanted. Default: those that the looks show
 */
export function* trial(
  lab: Lab,
  subject: Subject,
  viewer: AuditCaller,
  shots: readonly Shot[],
  {
    together = false,
    quotas = lab.windows(subject, viewer),
  }: { together?: boolean; quotas?: readonly string[] } = {},
): ExperimentSteps<ExperimentTrial> {
  if (quotas.length === 0) return yield* emptyingTrial(lab, subject, viewer, shots, together);
  const plain = new Map<string, number>();
  for (const quota of quotas) plain.set(quota, yield* lab.plainCharge(subject, viewer, quota));
  const tries = lab.unsure >= unsureMost ? 1 : triesMost;
  for (let attempt = 0; attempt < tries; attempt++) {
    const before = yield* lab.look(subject, viewer);
    const answers = together ? yield* lab.together(shots) : yield* lab.send(...shots);
    const after = yield* lab.look(subject, viewer);
    const charged: Charged[] = [];
    for (const [quota, each] of plain) {
      const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
      if (one === null || other === null || isRefused(after)) continue;
      if (!isSameWindow(one, other, lab.windowMs(quota, viewer))) continue;
      const units = other.used - one.used - each;
      charged.push({ quota, units, most: units, plain: each });
    }
    if (charged.length === quotas.length) {
      lab.unsure = 0;
      return { answers, charged, all: [before, ...answers, after] };
    }
    if (isRefused(after) || isRefused(before)) yield* lab.nextWindow(subject, [viewer]);
    else if (attempt + 1 < tries) yield* lab.wait((yield* lab.now()) + 400);
  }
  lab.unsure += 1;
  throw new Unexercised("no two looks surely showed the same window");
}

/**
 * Returns an operation's quotas that two callers count apart and whose counts can be told. The list is empty if a
 * quota is emptied for it. Returns `null` if there is none.
 */
export function shownApart(
  lab: Lab,
  subject: Subject,
  one: AuditCaller,
  other: AuditCaller,
): string[] | null {
  const isApart = (name: string): boolean => lab.book.areApart(name, one.attributes, other.attributes);
  const shown = lab.windows(subject, one);
  const emptied = shown.length === 0 ? emptiedOf(lab, subject, one) : null;
  if (emptied !== null) return isApart(emptied.name) ? [] : null;
  const apart = shown.filter(isApart);
  return apart.length === 0 ? null : apart;
}

/** Tells whether a count's readings in several answers surely belong to one window. */
export function isOneWindow(
  lab: Lab,
  caller: AuditCaller,
  quota: string,
  seen: readonly (SeenCount | null)[],
): boolean {
  const lengthMs = lab.windowMs(quota, caller);
  const [first] = seen;
  return first != null && seen.every((each) => each !== null && isSameWindow(first, each, lengthMs));
}
