// The judges of a count whose windows nobody reads, or that has none.
import { type Envelope, envelopeOf } from "../policy/envelope.ts";
import type { Quota } from "../policy/policy.ts";
import { BucketLeast, BucketMost } from "./bucket-use.ts";
import { EnvelopeJudge } from "./envelope.ts";
import { LogExcess } from "./log-excess.ts";
import { NeedlessRefusals } from "./needless-refusals.ts";
import type { QuotaName } from "./quota-name.ts";
import { ShownLevels } from "./shown-levels.ts";
import { SlidingLeast, SlidingMost, type SlidingShape } from "./sliding-use.ts";
import type { UnreadJudge } from "./unread.ts";
import type { LeastUsed, MostUsed } from "./use-bounds.ts";

/** What is known of such a count. */
export interface UnreadFacts {
  readonly quota: Quota;
  /** Least length of fixed windows, ms; `null` of others. */
  readonly lengthMs: number | null;
  /** True if all of its calls were seen, so that the most that is used can be told. */
  readonly isTold: boolean;
  /** True if answers show what is used as it is, not in multiples of several units. */
  readonly isExact: boolean;
}

/** @param beganBy latest begin of the trace, ms since the epoch; `null` if it is not complete */
export function unreadJudges(name: QuotaName, facts: UnreadFacts, beganBy: number | null): UnreadJudge[] {
  const { quota, lengthMs, isTold, isExact } = facts;
  const envelope = envelopeOf(quota, lengthMs);
  if (envelope === null) return [];
  const use = useOf(quota, envelope);
  const judges = [boundOf(name, quota, envelope)];
  if (use === null) return judges;
  const most = (): MostUsed | null => (isTold && beganBy !== null ? use.most(beganBy) : null);
  if (isExact) judges.push(new ShownLevels(name, use.terms, use.least(), most()));
  const mostOfRefusals = most();
  if (mostOfRefusals !== null) judges.push(new NeedlessRefusals(name, use.terms, mostOfRefusals));
  return judges;
}

/** Returns the judge of what is let through. A log as short as a step of its clock lets through what that allows. */
function boundOf(name: QuotaName, { algorithm }: Quota, envelope: Envelope): UnreadJudge {
  if (algorithm.kind !== "sliding-log") return new EnvelopeJudge(name, envelope);
  const shape = shapeOf(algorithm, envelope);
  return shape.lengthMs > shape.stepMs
    ? new LogExcess(name, algorithm.limit, shape)
    : new EnvelopeJudge(name, envelope);
}

type Sliding = Extract<Quota["algorithm"], { readonly kind: SlidingShape["kind"] }>;

const shapeOf = ({ kind, windowSeconds }: Sliding, { stepMs }: Envelope): SlidingShape => ({
  kind,
  lengthMs: 1000 * windowSeconds,
  stepMs,
});

interface Use {
  /** Room, and what comes back at once where a limiter does so in steps. */
  readonly terms: Envelope;
  readonly least: () => LeastUsed;
  readonly most: (beganBy: number) => MostUsed;
}

/** Returns the bounds of what is used of a quota; `null` if there are none. */
function useOf({ algorithm }: Quota, envelope: Envelope): Use | null {
  switch (algorithm.kind) {
    case "token-bucket":
      return {
        terms: envelope,
        least: () => new BucketLeast(envelope),
        most: (beganBy) => new BucketMost(envelope, beganBy),
      };
    case "sliding-log":
    case "sliding-counter": {
      const shape = shapeOf(algorithm, envelope);
      return {
        // A step of the clock is a part of the shape.
        terms: { room: algorithm.limit, perMs: 0, stepMs: 0 },
        least: () => new SlidingLeast(shape),
        most: (beganBy) => new SlidingMost(shape, beganBy),
      };
    }
    default:
      return null;
  }
}
