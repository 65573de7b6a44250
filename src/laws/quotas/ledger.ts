// The ledger of a history under a policy: what each count is right to show, if the limiter's own decisions are charged as
// the policy says. The readable reference keeps the counts; laws see each operation as sights, one count each.
import type { Reading } from "../../engine/decision.ts";
import { type FoundCount, ReferenceLimiter } from "../../engine/reference.ts";
import { filledQuotas, quotaFor } from "../../policy/effective.ts";
import type { Policy, Quota } from "../../policy/policy.ts";
import { wireOf } from "../../policy/presets.ts";
import { type AnswerReading, type ReadAnswer, readAnswer } from "../../wire/read-answer.ts";
import { type AnswerToWrite, writeAnswer } from "../../wire/write-answer.ts";
import type { LawKind } from "../script.ts";
import type {
  CallerAttributes,
  QuotaCallEvent,
  QuotaCallOp,
  QuotaEvent,
  QuotaHistory,
  QuotaOp,
  QuotaScript,
} from "./script.ts";

/** One count: a quota of one key. */
export interface QuotaKey {
  readonly quota: string;
  readonly key: CallerAttributes;
}

/** The kind of a policy. */
export interface QuotasKind extends LawKind {
  readonly script: QuotaScript;
  readonly op: QuotaOp;
  readonly history: QuotaHistory;
  readonly window: QuotaKey;
  readonly call: QuotaCallOp;
  readonly answered: QuotaCallEvent;
}

/** Numbers of a count that a limiter showed, beside those that are right; `null` where it does not tell. */
export interface ShownCount {
  /** Said by the limiter itself, or read of its answer. */
  readonly by: "said" | "answer";
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly used: number | null;
  /** An instant, ms; of an answer, as its format tells it. */
  readonly reset: number | null;
  readonly right: Omit<ShownCount, "by" | "right">;
}

/** One count at one operation. */
export interface QuotaSight extends QuotaKey {
  readonly at: number;
  readonly event: QuotaEvent;
  /** As it holds for this key. */
  readonly rule: Quota;
  readonly limit: number;
  /** The count as a call found it; `null` where nothing was decided. */
  readonly found: FoundCount | null;
  /** The reading that is right just after. */
  readonly right: Reading;
  /** Units that this operation added; below 0 where it gave back. */
  readonly charge: number;
  /** Nothing is used, and an earlier charge of this key is over. */
  readonly isRenewed: boolean;
  readonly isEnforced: boolean;
  /** Something was charged to this count while nothing was refused: it may stand above its limit. */
  readonly mayPass: boolean;
  /** Time of the count, which never steps back. */
  readonly clockMs: number;
  readonly shown: readonly ShownCount[];
}

/** The operation as a whole. */
export interface QuotaLook {
  readonly at: number;
  readonly event: QuotaEvent;
  readonly sights: readonly QuotaSight[];
  /** The right answer to it as it is read; `null` where the limiter sent none. */
  readonly answer: ReadAnswer | null;
  /** The answer that is right; `null` of operations that nobody answers. */
  readonly told: AnswerToWrite | null;
}

/** A count of a caller. */
interface CallersCount {
  readonly rule: Quota;
  readonly key: CallerAttributes;
  readonly name: string;
}

/** Keeps the books of one history; `look` takes its events in order. */
class QuotaLedger {
  readonly #policy: Policy;
  readonly #model: ReferenceLimiter;
  readonly #held = new Map<number, ReturnType<ReferenceLimiter["decide"]>["reservation"]>();
  /** Counts in which something was charged. */
  readonly #charged = new Set<string>();
  /** Counts to which something was charged while their quota was not enforced. */
  readonly #free = new Set<string>();
  readonly #clocks = new Map<string, number>();
  /** Counts of each caller, by quota: most operations are by few callers. */
  readonly #counts = new WeakMap<CallerAttributes, Map<string, CallersCount>>();
  #floorMs = 0;
  #at = -1;

  constructor(policy: Policy) {
    this.#policy = policy;
    this.#model = new ReferenceLimiter(policy);
  }

  look(event: QuotaEvent): QuotaLook {
    this.#at += 1;
    if ("admitted" in event) return this.#call(event);
    const { op } = event;
    if (op.do === "settle" && "call" in event) {
      const held = event.call === null ? null : (this.#held.get(op.id) ?? null);
      if (held === null) return this.#look(event, [], null);
      const before = this.#read(held.caller, Object.keys(this.#uses(held.operation)), op.atMs);
      const right = this.#model.settle(held, op.actual, op.atMs);
      const sights = right.map((reading, place) =>
        this.#sight(event, held.caller, reading, null, reading.used - (before[place]?.used ?? 0)),
      );
      const told: AnswerToWrite = {
        kind: "admitted",
        readings: right,
        refusedBy: null,
        retryAtMs: null,
        cost: held.cost,
      };
      return this.#look(event, sights, told);
    }
    if (op.do === "status") {
      const right = this.#read(op.caller, filledQuotas(this.#policy, op.caller), op.atMs);
      const sights = right.map((reading) => this.#sight(event, op.caller, reading, null, 0));
      const told: AnswerToWrite = {
        kind: "status",
        readings: right,
        refusedBy: null,
        retryAtMs: null,
        cost: 0,
      };
      return this.#look(event, sights, told);
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

  #call(event: QuotaCallEvent): QuotaLook {
    const { op, admitted: isAdmitted, refusedBy } = event;
    const { caller, operation, cost } = op;
    const { found, decision } = this.#model.follow(
      { caller, operation, cost },
      { isAdmitted, refusedBy },
      op.atMs,
    );
    if (decision.reservation !== null) this.#held.set(op.id, decision.reservation);
    const sights = decision.readings.map((reading, place) => {
      const one = found[place] as FoundCount;
      return this.#sight(event, caller, reading, one, reading.used - one.used);
    });
    const told: AnswerToWrite = {
      kind: isAdmitted ? "admitted" : "refused",
      readings: decision.readings,
      refusedBy: decision.refusedBy ?? refusedBy ?? null,
      retryAtMs: decision.retryAtMs,
      cost,
    };
    return this.#look(event, sights, told);
  }

  #count(quota: string, caller: CallerAttributes): CallersCount {
    const own = this.#counts.get(caller) ?? new Map<string, CallersCount>();
    this.#counts.set(caller, own);
    const known = own.get(quota);
    if (known !== undefined) return known;
    const rule = quotaFor(this.#policy, quota, caller);
    const key = Object.fromEntries(rule.key.map((name) => [name, caller[name] ?? ""]));
    const count = { rule, key, name: nameOfCount({ quota, key }) };
    own.set(quota, count);
    return count;
  }

  #sight(
    event: QuotaEvent,
    caller: CallerAttributes,
    right: Reading,
    found: FoundCount | null,
    charge: number,
  ): QuotaSight {
    const { quota } = right;
    const { rule, key, name } = this.#count(quota, caller);
    const clockMs = Math.max(this.#clocks.get(name) ?? 0, event.op.atMs, this.#floorMs);
    if (event.op.do !== "status") this.#clocks.set(name, clockMs);
    const isRenewed = found !== null && found.used === 0 && this.#charged.has(name);
    if (charge > 0) this.#charged.add(name);
    const { limit, enforced: isEnforced } = right;
    if (found?.used === 0) this.#free.delete(name);
    if (charge > 0 && !isEnforced) this.#free.add(name);
    return {
      ...{ quota, key, at: this.#at, event, rule, limit, found, right, charge, isRenewed, isEnforced },
      mayPass: this.#free.has(name),
      clockMs,
      shown: saidOf(event, right),
    };
  }

  #look(event: QuotaEvent, sights: readonly QuotaSight[], told: AnswerToWrite | null): QuotaLook {
    const read = "read" in event ? event.read : null;
    if (read === null || told === null) return { at: this.#at, event, sights, answer: null, told };
    const write = (readings: readonly Reading[]): ReadAnswer => this.#roundTrip(event, { ...told, readings });
    const answer = write(told.readings as readonly Reading[]);
    const both = sights.map((sight) => ({
      ...sight,
      shown: [...sight.shown, ...readOf(read, sight, answer, write)],
    }));
    return { at: this.#at, event, sights: both, answer, told };
  }

  /** The right answer, written and read in the policy's format. */
  #roundTrip({ op }: QuotaEvent, told: AnswerToWrite): ReadAnswer {
    const wire = wireOf(this.#policy);
    const quotas = told.readings.map(({ quota }) => quota);
    const isStatus = told.kind === "status";
    return readAnswer(wire, writeAnswer(wire, this.#policy.quotas, told, op.atMs), { quotas, isStatus });
  }
}

export const nameOfCount = ({ quota, key }: QuotaKey): string => JSON.stringify([quota, key]);

const rightOf = ({ limit, remaining, used, resetAtMs }: Reading) => ({
  limit,
  remaining,
  used,
  reset: resetAtMs,
});

function saidOf(event: QuotaEvent, right: Reading): ShownCount[] {
  const said = "said" in event ? event.said.readings : undefined;
  return (said ?? []).flatMap(({ quota, limit, remaining, used, resetAtMs }) =>
    quota === right.quota
      ? [
          {
            by: "said",
            limit: limit ?? null,
            remaining: remaining ?? null,
            used: used ?? null,
            reset: resetAtMs ?? null,
            right: rightOf(right),
          },
        ]
      : [],
  );
}

/** Numbers of a count that an answer shows. An instant that a clock ahead of the caller's tells is not compared. */
function readOf(
  { readings }: ReadAnswer,
  { quota, right, clockMs, event }: QuotaSight,
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
    const { limit, remaining, used } = reading;
    const reset = timed ? timeOf(reading) : null;
    return [
      {
        ...{ by: "answer", limit, remaining, used, reset },
        right: {
          limit: other.limit,
          remaining: other.remaining,
          used: other.used,
          reset: timeOf(other),
        },
      },
    ];
  });
}

const timeOf = ({ reset }: AnswerReading): number | null => reset?.atMs ?? reset?.afterMs ?? null;

/** Looks by history: every law judges an order of overlapping calls by the same ones. */
const seen = new WeakMap<QuotaHistory, readonly QuotaLook[]>();

/** Returns each operation of a history, as its counts are right. */
export function looksOf({ policy }: QuotaScript, history: QuotaHistory): readonly QuotaLook[] {
  const known = seen.get(history);
  if (known !== undefined) return known;
  const ledger = new QuotaLedger(policy);
  const looks = history.map((event) => ledger.look(event));
  seen.set(history, looks);
  return looks;
}
