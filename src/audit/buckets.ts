// Buckets under audit: which one calls empty first, what a rested one admits, and trials by that, without headers.
import { limitOf } from "../policy/effective.ts";
import type { TokenBucket } from "../policy/policy.ts";
import type { Lab } from "./lab.ts";
import {
  type Answer,
  type AuditCaller,
  type ExperimentSteps,
  type ExperimentTrial,
  isRefused,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

/** Number of calls beyond a bucket's room in one burst. */
const beyond = 12;
const callsMost = 500;
/** Longest step in which implementations count, ms. */
export const stepMs = 1000;
/** Share of a bucket that a trial's calls ask for, and the share whose charges must be certain. */
const share = 0.8;
const sureShare = 0.75;

export interface Bucket {
  readonly name: string;
  readonly caller: AuditCaller;
  readonly algorithm: TokenBucket;
  /** Units of a plain call. */
  readonly cost: number;
}

/** Returns the bucket that an operation's calls empty first; `null` if it is another quota, or unknown. */
export function bucketOf(
  lab: Lab,
  { operation, quotas, callers }: Subject,
  caller = callers[0],
): Bucket | null {
  const all = quotas.map((name) => {
    const { algorithm, charge, enforced } = lab.quota(name, caller);
    const { uses, samples } = lab.policy.operations[operation] ?? {};
    const cost = uses?.[name] === "declared" ? samples?.[0]?.cost : uses?.[name];
    const isKnown = typeof cost === "number" && charge.when === "admission" && enforced === true;
    return { name, algorithm, cost: isKnown ? cost : 0, calls: isKnown ? limitOf(algorithm) / cost : 0 };
  });
  const [first] = all.toSorted((one, other) => one.calls - other.calls);
  if (first === undefined || first.cost <= 0 || first.algorithm.kind !== "token-bucket") return null;
  return { name: first.name, caller, algorithm: first.algorithm, cost: first.cost };
}

export const msFor = ({ refill }: TokenBucket, units: number): number =>
  (units * refill.everyMs) / refill.amount;

/** Returns the units that come back in a time. */
export const unitsIn = ({ refill }: TokenBucket, ms: number): number => (ms * refill.amount) / refill.everyMs;

const callsIn = ({ algorithm, cost }: Bucket): number => Math.floor(algorithm.capacity / cost);

export function lacksBucket(lab: Lab, subject: Subject): string | null {
  const bucket = bucketOf(lab, subject);
  if (bucket === null) return "no bucket that plain calls empty first";
  if (lab.spend < 1) return "--spend leaves no bucket to be emptied";
  return callsIn(bucket) <= callsMost ? null : "the bucket is too large to empty in the time";
}

export const needsCounts = "a window whose count answers show, or a bucket that can be emptied";

/** Returns why charges of an operation's calls cannot be told; `null` if answers show counts, or a bucket can be emptied. */
export function lacksCounts(lab: Lab, subject: Subject): string | null {
  const [caller] = subject.callers;
  if (lab.windows(subject, caller).length > 0) return null;
  if (bucketOf(lab, subject) === null)
    return "answers show no count of a window, and no bucket is emptied first";
  return lacksBucket(lab, subject) ?? (lab.alone ? null : onlyAlone);
}

export const onlyAlone = "only who promises to be alone knows a bucket's level: --alone";

/** Returns the number of calls that a trial of a bucket makes. */
export const bucketCalls = (lab: Lab, subject: Subject): number => {
  const bucket = bucketOf(lab, subject);
  return bucket === null ? 0 : Math.ceil(callsIn(bucket) * (1 + share)) + beyond;
};

/** Returns the time after which an emptied bucket is surely full, ms; 0 for no bucket. */
export const restMs = (bucket: Bucket | null): number =>
  bucket === null ? 0 : msFor(bucket.algorithm, bucket.algorithm.capacity) + stepMs;

/** Waits until a bucket is surely full. */
function* rest(lab: Lab, bucket: Bucket): ExperimentSteps<void> {
  const usedAt = lab.book.usedAt(bucket.name, bucket.caller.attributes) ?? lab.beganMs;
  yield* lab.wait(usedAt + restMs(bucket));
}

/** Makes a burst of plain calls for which a bucket lacks room. */
export function* burst(lab: Lab, { operation }: Subject, bucket: Bucket): ExperimentSteps<readonly Answer[]> {
  const shot = lab.shot(bucket.caller, operation);
  return yield* lab.together(Array.from({ length: callsIn(bucket) + beyond }, () => shot));
}

/** Makes the same burst once the bucket has rested. */
export function* restedBurst(lab: Lab, subject: Subject, bucket: Bucket): ExperimentSteps<readonly Answer[]> {
  yield* rest(lab, bucket);
  return yield* burst(lab, subject, bucket);
}

/** Tells whether a refusal is this bucket's: the refusal names it, or it is the only quota. */
export const isIts = ({ call }: Answer, { name }: Bucket, { quotas }: Subject): boolean =>
  call.by === name || quotas.length === 1;

/** Returns the units of a burst that were admitted, and the most that the refill may have added meanwhile. */
function unitsOf(answers: readonly Answer[], from: Answer | undefined, bucket: Bucket, subject: Subject) {
  const { algorithm, cost } = bucket;
  const refused = answers.filter(isRefused);
  const admitted = answers.filter(({ call }) => call.outcome === "admitted");
  const [first] = refused;
  if (first === undefined || admitted.length + refused.length < answers.length)
    throw new Unexercised("a bucket could not be emptied");
  if (!isIts(first, bucket, subject)) throw new Unexercised("another quota refuses before the bucket does");
  const until = Math.max(...answers.map(({ call }) => call.received));
  const spanMs = until - (from ?? (answers[0] as Answer)).call.sent + stepMs;
  return {
    admitted: admitted.length * cost,
    added: unitsIn(algorithm, spanMs),
  };
}

/**
 * Makes calls against a rested bucket, several of each, and then empties it. The calls were charged what it admits less
 * than after a rest.
 * @param viewer the caller whose bucket it is
 */
export function* bucketTrial(
  lab: Lab,
  subject: Subject,
  viewer: AuditCaller,
  shots: readonly Shot[],
  together: boolean,
): ExperimentSteps<ExperimentTrial> {
  const bucket = bucketOf(lab, subject, viewer);
  if (bucket === null) throw new Unexercised("answers show no count of a window");
  const { name, cost } = bucket;
  const full = yield* lab.fullBucket(subject.operation, function* () {
    const { admitted, added } = unitsOf(yield* restedBurst(lab, subject, bucket), undefined, bucket, subject);
    return { least: admitted - added, most: admitted + cost };
  });
  const times = Math.max(1, Math.floor((callsIn(bucket) * share) / shots.length));
  const many = Array.from({ length: times }, () => shots).flat();
  yield* rest(lab, bucket);
  const answers = together ? yield* lab.together(many) : yield* lab.send(...many);
  const plain = yield* burst(lab, subject, bucket);
  const { admitted, added } = unitsOf(plain, answers[0], bucket, subject);
  const units = Math.ceil(full.least - admitted - cost);
  const most = Math.floor(full.most + added - admitted);
  if (most - units > many.length * cost * sureShare)
    throw new Unexercised("the bucket is refilled too fast for charges to be told");
  return { answers, charged: [{ quota: name, units, most, plain: cost }], all: [...answers, ...plain] };
}
