// Quotas that are emptied: the one that calls empty first, what it admits after a rest, and trials by that, without
// headers. A bucket is one, and so is a window whose count no answer shows.
import { limitOf } from "../policy/effective.ts";
import type { QuotaAlgorithm } from "../policy/policy.ts";
import type { Lab, UnitsBetween } from "./lab.ts";
import {
  type Answer,
  type AuditCaller,
  type Broken,
  broken,
  type ExperimentSteps,
  type ExperimentTrial,
  isRefused,
  isServed,
  lacksRefusal,
  type Shot,
  type Subject,
  Unexercised,
} from "./step.ts";

/** Number of calls beyond the quota's room in one burst. */
const beyond = 12;
const callsMost = 500;
/** Longest step in which implementations count, ms. */
export const stepMs = 1000;
/** Share of a quota that a trial's calls ask for, and the share whose charges must be certain. */
const share = 0.8;
const sureShare = 0.75;

export interface EmptiedQuota {
  readonly name: string;
  readonly caller: AuditCaller;
  readonly algorithm: QuotaAlgorithm;
  /** Units of a plain call. */
  readonly cost: number;
  /** Length of its windows, ms; 0 for a bucket. */
  readonly windowMs: number;
  /** Most time that a window has lasted when it is taken for a new one, ms. */
  readonly begunMs: number;
}

/** Number of calls, spread over one length of a window, of which one meets the next window's begin. */
const polls = 60;

/**
 * Returns the quota that an operation's calls empty first, if it is a bucket, or a window whose count no answer shows;
 * `null` if it is another one, or unknown.
 */
export function emptiedOf(
  lab: Lab,
  { operation, quotas, callers }: Subject,
  caller = callers[0],
): EmptiedQuota | null {
  const all = quotas.map((name) => {
    const { algorithm, charge, enforced } = lab.quota(name, caller);
    const { uses, samples } = lab.policy.operations[operation] ?? {};
    const cost = uses?.[name] === "declared" ? samples?.[0]?.cost : uses?.[name];
    const isKnown = typeof cost === "number" && charge.when === "admission" && enforced === true;
    return { name, algorithm, cost: isKnown ? cost : 0, calls: isKnown ? limitOf(algorithm) / cost : 0 };
  });
  const [first] = all.toSorted((one, other) => one.calls - other.calls);
  if (first === undefined || first.cost <= 0) return null;
  const { name, algorithm, cost } = first;
  if (algorithm.kind === "token-bucket") return { name, caller, algorithm, cost, windowMs: 0, begunMs: 0 };
  const windowMs = lab.windowMs(name, caller);
  if (windowMs === 0 || lab.shows(name)) return null;
  const begunMs = isOnGrid(algorithm) ? begunMost(windowMs) : 0;
  return { name, caller, algorithm, cost, windowMs, begunMs };
}

const isOnGrid = (algorithm: QuotaAlgorithm): boolean =>
  algorithm.kind === "fixed-window" && algorithm.anchor !== "first-request";

/** Returns the time from a window's begin after which servers agree that it has begun, ms. */
const marginMs = (windowMs: number): number => Math.min(stepMs, windowMs / 10);
const pollMs = (windowMs: number): number => Math.ceil(windowMs / polls);
/** Most time from a refused poll to the next one's answer that tells when a window began, ms. */
const knownMs = (windowMs: number): number => pollMs(windowMs) + marginMs(windowMs);
/** Most time that a window has lasted at its first call: what the poll leaves open, the margin, and as much delay. */
const begunMost = (windowMs: number): number => knownMs(windowMs) + 2 * marginMs(windowMs);

/** Returns the time in which units come back, ms. */
export const msFor = ({ algorithm, windowMs }: EmptiedQuota, units: number): number =>
  algorithm.kind === "token-bucket" ? (units * algorithm.refill.everyMs) / algorithm.refill.amount : windowMs;

/** Returns the most units that come back in a time from a rested quota's first call on. */
export const unitsIn = ({ algorithm, windowMs, begunMs }: EmptiedQuota, ms: number): number =>
  algorithm.kind === "token-bucket"
    ? (ms * algorithm.refill.amount) / algorithm.refill.everyMs
    : Math.floor((ms + begunMs) / windowMs) * algorithm.limit;

export const roomOf = ({ algorithm }: EmptiedQuota): number => limitOf(algorithm);

export const callsIn = (quota: EmptiedQuota): number => Math.floor(roomOf(quota) / quota.cost);

/** Returns the number of plain calls for which a quota surely lacks room. */
export const burstCalls = (quota: EmptiedQuota): number => callsIn(quota) + beyond;

export function lacksEmptied(lab: Lab, subject: Subject): string | null {
  const quota = emptiedOf(lab, subject);
  if (quota === null) return "no bucket, and no window without counts, that plain calls empty first";
  if (lab.spend < 1) return `--spend leaves no ${wordOf(quota)} to be emptied`;
  if (callsIn(quota) > callsMost) return `the ${wordOf(quota)} is too large to empty in the time`;
  // Somebody else's call may open a window, so that it ends among one's own calls.
  return quota.windowMs > 0 && !lab.alone ? onlyAlone : null;
}

const wordOf = ({ windowMs }: EmptiedQuota): string => (windowMs > 0 ? "window" : "bucket");

export const needsCounts = "a window whose count answers show, or a quota that can be emptied";

/** Returns why charges of an operation's calls cannot be told; `null` if answers show counts, or a quota can be emptied. */
export function lacksCounts(lab: Lab, subject: Subject): string | null {
  const [caller] = subject.callers;
  if (lab.windows(subject, caller).length > 0) return null;
  if (emptiedOf(lab, subject) === null)
    return "answers show no count of a window, and no quota without one is emptied first";
  return lacksLevel(lab, subject);
}

/** Returns why nobody knows how much an emptied quota has left; `null` if one does. */
export const lacksLevel = (lab: Lab, subject: Subject): string | null =>
  lacksEmptied(lab, subject) ?? (lab.alone ? null : onlyAlone);

export const onlyAlone = "only who promises to be alone knows what a quota has left: --alone";

/** Returns the number of calls that a trial of an emptied quota makes. */
export const emptyingCalls = (lab: Lab, subject: Subject): number => {
  const quota = emptiedOf(lab, subject);
  return quota === null ? 0 : Math.ceil(callsIn(quota) * (1 + share)) + beyond;
};

/** Returns the time after which an emptied quota surely has all its room, ms; 0 for none. */
export const restMs = (quota: EmptiedQuota | null): number =>
  quota === null ? 0 : msFor(quota, roomOf(quota)) + stepMs;

/** Tries to meet a window before its calls are said to come too late. */
const triesMost = 4;
const tooLate = "calls come too late to meet the begin of a window";

/** Waits until a quota surely has all its room: a bucket is full, or a new window has begun. */
export function* rest(lab: Lab, subject: Subject, quota: EmptiedQuota): ExperimentSteps<void> {
  const { name, caller, algorithm, windowMs } = quota;
  const usedAt = (): number => lab.book.usedAt(name, caller.attributes) ?? lab.beganMs;
  if (!isOnGrid(algorithm)) return yield* lab.wait(usedAt() + restMs(quota));
  const begin = yield* lab.windowBegin(name, () => nextBegin(lab, subject, quota));
  for (let tries = 0; tries < triesMost; tries++) {
    const windows = Math.floor((Math.max(usedAt(), yield* lab.now()) - begin) / windowMs);
    const atMs = begin + (windows + 1) * windowMs + marginMs(windowMs);
    yield* lab.wait(atMs);
    if ((yield* lab.now()) <= atMs + marginMs(windowMs)) return;
  }
  throw new Unexercised(tooLate);
}

/** Empties a window, and calls until the next one admits. @returns the time at which that one has surely begun */
function* nextBegin(lab: Lab, subject: Subject, quota: EmptiedQuota): ExperimentSteps<number> {
  const { caller, windowMs } = quota;
  for (let tries = 0; tries < triesMost; tries++) {
    const answers = yield* burst(lab, subject, quota);
    let refused = answers.findLast(isRefused);
    if (refused === undefined)
      throw new Unexercised(
        answers.every(isServed) ? "a window could not be emptied" : lacksRefusal(answers),
      );
    for (let poll = 0; poll < 2 * polls; poll++) {
      yield* lab.wait((yield* lab.now()) + pollMs(windowMs));
      const answer = yield* lab.one(lab.shot(caller, subject.operation));
      if (isRefused(answer)) refused = answer;
      if (!isServed(answer)) continue;
      if (answer.call.received - refused.call.sent <= knownMs(windowMs)) return answer.call.received;
      break;
    }
  }
  throw new Unexercised(tooLate);
}

/** Makes a burst of plain calls for which a quota lacks room. */
export function* burst(
  lab: Lab,
  { operation }: Subject,
  quota: EmptiedQuota,
): ExperimentSteps<readonly Answer[]> {
  const shot = lab.shot(quota.caller, operation);
  return yield* lab.together(Array.from({ length: burstCalls(quota) }, () => shot));
}

/** Makes the same burst once the quota has rested. */
export function* restedBurst(
  lab: Lab,
  subject: Subject,
  quota: EmptiedQuota,
): ExperimentSteps<readonly Answer[]> {
  yield* rest(lab, subject, quota);
  return yield* burst(lab, subject, quota);
}

/** Tells whether a refusal is this quota's: the refusal names it, or there is no other one. */
export const isIts = ({ call }: Answer, { name }: EmptiedQuota, { quotas }: Subject): boolean =>
  call.by === name || quotas.length === 1;

export const admittedOf = (answers: readonly Answer[]): readonly Answer[] =>
  answers.filter(({ call }) => call.outcome === "admitted");

/** Returns the time of the last answer, ms since the epoch. */
export const lastOf = (answers: readonly Answer[]): number =>
  Math.max(...answers.map(({ call }) => call.received));

/** Returns the time of the first answer's call, ms since the epoch. */
export const sentOf = (answers: readonly Answer[]): number => (answers[0] as Answer).call.sent;
/** Returns the time from the first call to the last answer, ms. */
export const spanOf = (answers: readonly Answer[]): number => lastOf(answers) - sentOf(answers);

/**
 * Finds more calls admitted than a rested quota's room and what comes back meanwhile; `null` if there were none.
 * @param grantedMs time that the refill may be ahead, as of a bucket that is refilled in steps
 */
export function overRate(quota: EmptiedQuota, answers: readonly Answer[], grantedMs: number): Broken | null {
  const admitted = admittedOf(answers);
  const spanMs = spanOf(answers);
  const most = Math.floor((roomOf(quota) + unitsIn(quota, spanMs + grantedMs)) / quota.cost);
  const expected = `${most} calls of ${quota.name} at most within ${spanMs} ms`;
  if (admitted.length <= most) return null;
  return broken(
    admitted,
    expected,
    `${admitted.length} admitted`,
    quota.windowMs > 0 ? "bounded" : undefined,
  );
}

/** Returns the units of a burst that were admitted, and the most that the refill may have added meanwhile. */
function unitsOf(
  answers: readonly Answer[],
  from: Answer | undefined,
  quota: EmptiedQuota,
  subject: Subject,
) {
  const refused = answers.filter(isRefused);
  const admitted = admittedOf(answers);
  const [first] = refused;
  if (first === undefined || admitted.length + refused.length < answers.length)
    throw new Unexercised("a quota could not be emptied");
  if (!isIts(first, quota, subject)) throw new Unexercised("another quota refuses before this one does");
  const spanMs = lastOf(answers) - (from ?? (answers[0] as Answer)).call.sent + stepMs;
  return {
    admitted: admitted.length * quota.cost,
    added: unitsIn(quota, spanMs),
  };
}

/**
 * Makes calls against a rested quota, several of each, and then empties it. The calls were charged what it admits less
 * than after a rest.
 * @param viewer the caller whose quota it is
 */
export function* emptyingTrial(
  lab: Lab,
  subject: Subject,
  viewer: AuditCaller,
  shots: readonly Shot[],
  together: boolean,
): ExperimentSteps<ExperimentTrial> {
  const quota = emptiedOf(lab, subject, viewer);
  if (quota === null) throw new Unexercised("answers show no count of a window");
  const { name, cost } = quota;
  const measured = function* (): ExperimentSteps<UnitsBetween> {
    const { admitted, added } = unitsOf(yield* restedBurst(lab, subject, quota), undefined, quota, subject);
    return { least: admitted - added, most: admitted + cost };
  };
  const full = yield* lab.fullQuota(subject.operation, measured);
  const times = Math.max(1, Math.floor((callsIn(quota) * share) / shots.length));
  const many = Array.from({ length: times }, () => shots).flat();
  yield* rest(lab, subject, quota);
  const answers = together ? yield* lab.together(many) : yield* lab.send(...many);
  const plain = yield* burst(lab, subject, quota);
  const { admitted, added } = unitsOf(plain, answers[0], quota, subject);
  const took = (least: number): number => Math.ceil(least - admitted - cost);
  const units = took(full.least);
  // Calls are blamed for no surplus that rests without them show, too. Of windows twice as long, every other one does.
  const owed = answers.filter((answer) => !isRefused(answer)).length * cost;
  for (let rests = 0; rests < 2 && units > owed; rests++)
    if (took((yield* measured()).least) <= owed)
      throw new Unexercised("the quota had not all of its room again after a rest");
  const most = Math.floor(full.most + added - admitted);
  if (most - units > many.length * cost * sureShare)
    throw new Unexercised("the quota has room again too soon for charges to be told");
  return { answers, charged: [{ quota: name, units, most, plain: cost }], all: [...answers, ...plain] };
}
