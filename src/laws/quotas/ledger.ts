// The ledger of a history under a policy: the right numbers of each count, if the limiter's own decisions are charged as
// the policy says. The readable reference keeps the counts.
import type { Reading } from "../../engine/decision.ts";
import { type FoundCount, ReferenceLimiter } from "../../engine/reference.ts";
import { filledQuotas, quotaFor, windowMsOf } from "../../policy/effective.ts";
import type { Policy, Quota } from "../../policy/policy.ts";
import { wireOf } from "../../policy/presets.ts";
import { type AnswerReading, type ReadAnswer, readAnswer } from "../../wire/read-answer.ts";
import { type AnswerToWrite, writeAnswer } from "../../wire/write-answer.ts";
import {
  countShown,
  isWindow,
  type Look,
  nameOfCount,
  type QuotaKey,
  type ShownCount,
  type Sight,
} from "../sight.ts";
import { exactly } from "../window-book.ts";
import type { CallerAttributes, QuotaCallEvent, QuotaEvent } from "./script.ts";

/** A count of a caller, with its quota as it holds for this caller. */
interface CallersCount extends QuotaKey {
  readonly rule: Quota;
  readonly lengthMs: number;
  readonly name: string;
}

/** The last count that a limiter said of a window. */
interface Said {
  readonly untilMs: number;
  readonly used: number;
}

/** A sight whose `shown` still lacks the numbers of its HTTP answer. */
interface OpenSight extends Sight {
  readonly shown: ShownCount[];
}

/** The right answer, before it is written. */
interface Told extends AnswerToWrite {
  readonly readings: readonly Reading[];
}

/** Keeps the books of one history; `look` takes its events in order. */
export class QuotaLedger {
  readonly #policy: Policy;
  readonly #model: ReferenceLimiter;
  readonly #held = new Map<number, ReturnType<ReferenceLimiter["decide"]>["reservation"]>();
  /** Counts that were ever charged. */
  readonly #charged = new Set<string>();
  /** Counts that may pass their limit: charged while not enforced, or by a call that another quota refused. */
  readonly #free = new Set<string>();
  readonly #clocks = new Map<string, number>();
  readonly #said = new Map<string, Said>();
  /** Counts of each caller, by quota. Kept, since few callers make most operations. */
  readonly #counts = new WeakMap<CallerAttributes, Map<string, CallersCount>>();
  #floorMs = 0;
  #at = -1;

  constructor(policy: Policy) {
    this.#policy = policy;
    this.#model = new ReferenceLimiter(policy);
  }

  look(event: QuotaEvent): Look {
    this.#at += 1;
    if ("admitted" in event) return this.#call(event);
    const { op } = event;
    if (op.do === "settle" && "call" in event) {
      const held = event.call === null ? null : (this.#held.get(op.id) ?? null);
      if (held === null) return this.#look(event, [], null);
      const before = this.#read(held.caller, Object.keys(this.#uses(held.operation)), op.atMs);
      const right = this.#model.settle(held, op.actual, op.atMs);
      const sights = right.map((reading, place) =>
        this.#sight(event, held.caller, reading, null, before[place]?.used ?? 0),
      );
      return this.#look(event, sights, toldOf("admitted", right, held.cost));
    }
    if (op.do === "status") {
      const right = this.#read(op.caller, filledQuotas(this.#policy, op.caller), op.atMs);
      const sights = right.map((reading) => this.#sight(event, op.caller, reading, null, reading.used));
      return this.#look(event, sights, toldOf("status", right, 0));
    }
    if (op.do === "enforce") this.#model.setEnforced(op.quota, op.caller, op.enforced);
    if (op.do === "sweep") {
      this.#floorMs = Math.max(this.#floorMs, op.atMs);
      this.#model.sweep(op.atMs);
    }
    return this.#look(event, [], null);
  }

  #uses(operation: string) {
    return this.#policy.operations[operation]?.uses ?? {};
  }

  #read(caller: CallerAttributes, quotas: readonly string[], nowMs: number): readonly Reading[] {
    const ordered = Object.keys(this.#policy.quotas).filter((name) => quotas.includes(name));
    return this.#model.read(caller, ordered, nowMs);
  }

  #call(event: QuotaCallEvent): Look {
    const { op, admitted: isAdmitted, refusedBy } = event;
    const { caller, operation, cost } = op;
    const verdict = { isAdmitted, refusedBy };
    const { found, decision } = this.#model.follow({ caller, operation, cost }, verdict, op.atMs);
    if (decision.reservation !== null) this.#held.set(op.id, decision.reservation);
    const sights = decision.readings.map((reading, place) => {
      const one = found[place] as FoundCount;
      // The first quota either refused or had room, so it is never charged beyond its limit.
      const isLate = !isAdmitted && place > 0 && one.quota !== decision.refusedBy;
      return this.#sight(event, caller, reading, one, one.used, isLate);
    });
    const told = toldOf(isAdmitted ? "admitted" : "refused", decision.readings, cost);
    const { refusedBy: refusing, retryAtMs } = decision;
    return this.#look(event, sights, { ...told, refusedBy: refusing ?? refusedBy ?? null, retryAtMs });
  }

  #count(quota: string, caller: CallerAttributes): CallersCount {
    const own = this.#counts.get(caller) ?? new Map<string, CallersCount>();
    this.#counts.set(caller, own);
    const known = own.get(quota);
    if (known !== undefined) return known;
    const rule = quotaFor(this.#policy, quota, caller);
    const key = Object.fromEntries(rule.key.map((name) => [name, caller[name] ?? ""]));
    const count = { quota, key, rule, lengthMs: windowMsOf(rule), name: nameOfCount({ quota, key }) };
    own.set(quota, count);
    return count;
  }

  #sight(
    event: QuotaEvent,
    caller: CallerAttributes,
    right: Reading,
    found: FoundCount | null,
    used: number,
    isLate = false,
  ): OpenSight {
    const count = this.#count(right.quota, caller);
    const { quota, key, rule, lengthMs, name } = count;
    const clockMs = Math.max(this.#clocks.get(name) ?? 0, event.op.atMs, this.#floorMs);
    if (event.op.do !== "status") this.#clocks.set(name, clockMs);
    const charge = right.used - used;
    const isRenewed = used === 0 && this.#charged.has(name);
    if (charge > 0) this.#charged.add(name);
    const { limit, enforced: isEnforced } = right;
    if (used === 0) this.#free.delete(name);
    if (charge > 0 && (!isEnforced || (isLate && rule.charge.refusedByOther === "charged")))
      this.#free.add(name);
    const shown = saidOf(event, right);
    const givenBack = Math.max(0, -charge);
    const { current, last } = this.#sayings(count, right, shown[0], givenBack);
    return {
      quota,
      key,
      name,
      at: this.#at,
      event,
      rule,
      limit,
      lengthMs,
      lateMs: 0,
      clockMs,
      found: found && foundBy(found),
      before: exactly(used),
      after: exactly(right.used),
      charge: charge > 0 ? exactly(charge) : null,
      givenBack,
      sure: true,
      fresh: used === 0,
      isRenewed,
      window: isWindow(rule) ? right.resetAtMs : null,
      untilMs: right.used > 0 ? right.resetAtMs : null,
      isEnforced,
      mayPass: !isEnforced || this.#free.has(name),
      current,
      last,
      shown,
    };
  }

  /** Returns the count that a limiter says now, and the one that it said before in this window. */
  #sayings(
    { rule, name }: CallersCount,
    { resetAtMs: untilMs }: Reading,
    shown: ShownCount | undefined,
    givenBack: number,
  ): Pick<Sight, "current" | "last"> {
    const current = shown === undefined ? null : countShown(shown, rule);
    const before = this.#said.get(name);
    const last = before?.untilMs === untilMs && isWindow(rule) ? before.used - givenBack : null;
    const used = current ?? last;
    if (used === null) this.#said.delete(name);
    else this.#said.set(name, { untilMs, used });
    return { current, last };
  }

  #look(event: QuotaEvent, sights: readonly OpenSight[], told: Told | null): Look {
    const read = "read" in event ? event.read : null;
    if (read === null || told === null) return { at: this.#at, event, sights, answer: null };
    const write = (readings: readonly Reading[]): ReadAnswer => this.#roundTrip(event, { ...told, readings });
    const answer = write(told.readings);
    for (const [place, sight] of sights.entries())
      sight.shown.push(...readOf(read, sight, told.readings[place] as Reading, answer, write));
    return { at: this.#at, event, sights, answer };
  }

  /** Writes the right answer in the policy's format and reads it again, so that it is rounded as the format rounds. */
  #roundTrip({ op }: QuotaEvent, told: AnswerToWrite): ReadAnswer {
    const wire = wireOf(this.#policy);
    const quotas = told.readings.map(({ quota }) => quota);
    const isStatus = told.kind === "status";
    return readAnswer(wire, writeAnswer(wire, this.#policy.quotas, told, op.atMs), { quotas, isStatus });
  }
}

const foundBy = ({ used, limit, needed, roomAtMs }: FoundCount): Sight["found"] => ({
  used: exactly(used),
  limit,
  needed,
  roomAtMs,
});

const toldOf = (kind: Told["kind"], readings: readonly Reading[], cost: number): Told => ({
  kind,
  readings,
  cost,
  refusedBy: null,
  retryAtMs: null,
});

const certain = (value: number | null) => (value === null ? null : exactly(value));

type Numbers = Readonly<Record<"limit" | "remaining" | "used", number | null>>;

const shownCount = (
  by: ShownCount["by"],
  { limit, remaining, used }: Numbers,
  reset: number | null,
  right: Numbers,
  rightReset: number | null,
): ShownCount => ({
  by,
  name: "used",
  limit,
  remaining,
  used,
  reset,
  seconds: null,
  right: {
    limit: right.limit,
    remaining: certain(right.remaining),
    used: certain(right.used),
    reset: rightReset,
  },
});

/** Returns the numbers that a limiter says of a count, outside its HTTP answer, with the right ones. */
function saidOf(event: QuotaEvent, right: Reading): ShownCount[] {
  const said = "said" in event ? event.said.readings : undefined;
  return (said ?? []).flatMap((reading): ShownCount[] => {
    const { limit = null, remaining = null, used = null, resetAtMs: reset = null } = reading;
    if (reading.quota !== right.quota) return [];
    return [shownCount("said", { limit, remaining, used }, reset, right, right.resetAtMs)];
  });
}

/** Returns the numbers of a count in an answer. Omits the reset if it is an estimate or the count's clock is ahead. */
function readOf(
  { readings }: ReadAnswer,
  { quota, clockMs, event }: Sight,
  right: Reading,
  answer: ReadAnswer,
  write: (readings: readonly Reading[]) => ReadAnswer,
): ShownCount[] {
  const seen = readings.filter((reading) => reading.quota === quota);
  if (seen.length === 0) return [];
  const among = (read: ReadAnswer): AnswerReading[] =>
    read.readings.filter((reading) => reading.quota === quota);
  const rights = among(answer).length === seen.length ? among(answer) : among(write([right]));
  return seen.flatMap((reading, place): ShownCount[] => {
    const other = rights[place];
    if (other === undefined) return [];
    const timed = clockMs === event.op.atMs && reading.reset?.means !== "estimate";
    return [shownCount("answer", reading, timed ? timeOf(reading) : null, other, timeOf(other))];
  });
}

const timeOf = ({ reset }: AnswerReading): number | null => reset?.atMs ?? reset?.afterMs ?? null;
