// Trials: some calls between two looks at the same counts, and what they were charged. A trial in which a window may have
// rolled says nothing, and is made anew.
import { isSameWindow, type SeenCount, seenIn } from "./book.ts";
import type { Lab } from "./lab.ts";
import {
  type Answer,
  type AuditCaller,
  type ExperimentSteps,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

/** What a trial's calls were charged in one quota. */
export interface Charged {
  readonly quota: string;
  /** Units beyond those of the looks. */
  readonly units: number;
  /** Units of a plain call. */
  readonly plain: number;
}

export interface ExperimentTrial {
  readonly before: Answer;
  readonly answers: readonly Answer[];
  readonly after: Answer;
  readonly charged: readonly Charged[];
  readonly all: readonly Answer[];
}

const triesMost = 4;
/** Trials in a row that no window held still for; beyond it nothing is waited for. */
const unsureMost = 3;

/**
 * Makes calls between two looks by `viewer`, who may be another caller than theirs.
 * @param quotas whose charges are wanted; those that the looks show where it is left out
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
  if (quotas.length === 0) throw new Unexercised("answers show no count of a window");
  const plain = new Map<string, number>();
  for (const quota of quotas) plain.set(quota, yield* lab.plainCharge(subject, viewer, quota));
  const tries = lab.unsure >= unsureMost ? 1 : triesMost;
  for (let attempt = 0; attempt < tries; attempt++) {
    const before = yield* lab.look(subject, viewer);
    const answers = together ? yield* lab.together(shots) : yield* lab.send(...shots);
    const after = yield* lab.look(subject, viewer);
    const charged: Charged[] = [];
    for (const quota of quotas) {
      const [one, other] = [seenIn(before, quota), seenIn(after, quota)];
      if (one === null || other === null || isRefused(after)) continue;
      if (!isSameWindow(one, other, lab.windowMs(quota, viewer))) continue;
      const each = plain.get(quota) ?? 0;
      charged.push({ quota, units: other.used - one.used - each, plain: each });
    }
    if (charged.length === quotas.length) {
      lab.unsure = 0;
      return { before, answers, after, charged, all: [before, ...answers, after] };
    }
    if (isRefused(after) || isRefused(before)) yield* lab.nextWindow(subject, [viewer]);
    else if (attempt + 1 < tries) yield* lab.wait((yield* lab.now()) + 400);
  }
  lab.unsure += 1;
  throw new Unexercised("no two looks surely showed the same window");
}

export const isRefused = ({ call }: Answer): boolean => call.outcome === "refused";

/** `rest 12 used, rest_user 3 used`. */
export const usedWords = (charged: readonly Charged[]): string =>
  charged.map(({ quota, units }) => `${quota} ${units}`).join(", ");

/** Tells whether readings of a count in two answers surely are of one window. */
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
