// The oracle, by the quotas of any policy: judges a trace of version 2 as FORMAT.md says what a judge may assume. It never
// imports the engine. Every call goes through the laws of one answer, then into each count that it uses; a count is
// judged window by window, as those of version 1 are.
import type { Cost } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireData } from "../policy/wire-data.ts";
import type { LawName } from "../rules/laws.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { QuotaLine } from "../trace/quota-stream.ts";
import { outOfOrderMsMost } from "../trace/read.ts";
import { isUntold, readingsOf, tellingEnds, untoldWindow } from "../wire/rounding.ts";
import { AmountsTally } from "./amounts.ts";
import { type Span, TraceTime } from "./clock.ts";
import { judgeCommonGrid, type LastWindow } from "./common-grid.ts";
import { conclude } from "./conclusion.ts";
import { Docket } from "./docket.ts";
import { addAll, nothingTested } from "./evidence.ts";
import type { JudgeOptions } from "./judge.ts";
import { type CallRole, type Counted, chargeOf, type Mark, type MarkCharge, upTo } from "./mark.ts";
import { answerLaws, type Used } from "./policy-answers.ts";
import { PolicyPresence } from "./policy-presence.ts";
import { type Count, type PolicyQuotaJudge, PolicyQuotas } from "./policy-quotas.ts";
import { TargetOffset } from "./target-offset.ts";
import type { Terms } from "./terms.ts";
import { noCounts, type QuotaVerdict } from "./verdict.ts";

const closeEveryLeast = 4096;
const closeEveryPerQuota = 8;

/** Judges a trace of version 2. A correct deployment is never accused; what cannot be judged is skipped by name. */
export async function judgeQuotas(
  header: QuotaTraceHeader,
  calls: AsyncIterable<QuotaLine> | Iterable<QuotaLine>,
  options: JudgeOptions = {},
): Promise<QuotaVerdict> {
  const judgement = new QuotaJudgement(header, options);
  for await (const { line, call } of calls) judgement.add(line, call);
  return judgement.finish();
}

/** `judgeQuotas`, some calls at a time. */
export async function judgeQuotaBatches(
  header: QuotaTraceHeader,
  batches: AsyncIterable<readonly QuotaLine[]>,
  options: JudgeOptions = {},
): Promise<QuotaVerdict> {
  const judgement = new QuotaJudgement(header, options);
  for await (const lines of batches) for (const { line, call } of lines) judgement.add(line, call);
  return judgement.finish();
}

/** A window's reading, as far as its count goes. */
interface Shown {
  readonly limit: number;
  readonly count: number;
  readonly clamped: boolean;
}

/** A judgement under way. */
class QuotaJudgement {
  readonly #header: QuotaTraceHeader;
  readonly #docket: Docket;
  readonly #amounts = new AmountsTally(false);
  readonly #time: TraceTime;
  readonly #offset: TargetOffset;
  readonly #presence: PolicyPresence;
  readonly #quotas: PolicyQuotas;
  /** The quotas that each operation uses, in the policy's order. */
  readonly #operations: ReadonlyMap<string, readonly (readonly [PolicyQuotaJudge, Cost])[]>;
  /** Quotas whose resets tell the end of a window. */
  readonly #tellEnds: ReadonlySet<string>;
  readonly #closeEvery: number | null;
  #closeNext: number;
  #records = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(
    header: QuotaTraceHeader,
    { callsBetweenClosings, violationsMost = 1000, accept }: JudgeOptions,
  ) {
    const { policy, clock } = header;
    this.#header = header;
    this.#docket = new Docket({ amounts: this.#amounts, violationsMost, accept: accept ?? null });
    this.#time = new TraceTime(clock);
    this.#offset = new TargetOffset(this.#time, clock.kind === "virtual");
    this.#quotas = new PolicyQuotas(header, { time: this.#time, docket: this.#docket });
    const names = Object.keys(policy.quotas);
    this.#operations = new Map(
      Object.entries(policy.operations).map(([name, { uses }]) => [
        name,
        names.flatMap((quota) => {
          const cost = uses[quota];
          return cost === undefined || cost === 0 ? [] : [[this.#judgeOf(quota), cost] as const];
        }),
      ]),
    );
    const wire = wireOf(policy);
    this.#presence = new PolicyPresence(wire, this.#docket);
    this.#tellEnds = new Set(names.filter((name) => meansEnd(wire, name)));
    this.#closeEvery = callsBetweenClosings ?? null;
    this.#closeNext = callsBetweenClosings ?? closeEveryLeast;
  }

  #judgeOf(quota: string): PolicyQuotaJudge {
    return this.#quotas.all.get(quota) as PolicyQuotaJudge;
  }

  add(line: number, call: QuotaCall): void {
    const used = this.#usedBy(call);
    if (call.outcome === "unknown") {
      for (const { count, asked } of used) count?.judged?.quota.addUnknown(call.sent, null, asked);
    } else this.#addAnswer(line, call, used);
    this.#count(call.received);
  }

  #count(received: number): void {
    this.#records += 1;
    this.#latest = Math.max(this.#latest, received);
    if (this.#records < this.#closeNext) return;
    this.#quotas.close(this.#latest - outOfOrderMsMost);
    const every = this.#closeEvery ?? Math.max(closeEveryLeast, closeEveryPerQuota * this.#quotas.size);
    this.#closeNext = this.#records + every;
  }

  /** The counts that a call uses, with what it asks of each. */
  #usedBy(call: QuotaCall): readonly Used[] {
    const uses = this.#operations.get(call.operation) ?? [];
    return uses.map(([judge, cost]) => ({
      judge,
      count: this.#quotas.count(judge, call.caller),
      ...askedOf(call, cost, judge),
    }));
  }

  #addAnswer(line: number, call: QuotaCall, used: readonly Used[]): void {
    const { sent, received, date, outcome } = call;
    if (date !== undefined) this.#offset.date(sent, received, date);
    if (used.length > 0 && outcome === "admitted") this.#amounts.admitted += 1;
    if (used.length > 0 && outcome === "refused") this.#amounts.refused += 1;
    const left = new Map(used.map((each) => [each.judge.name, each]));
    for (const reading of call.readings) {
      const judge = this.#judgeOf(reading.quota);
      const each = left.get(reading.quota) ?? {
        judge,
        count: this.#quotas.count(judge, call.caller),
        asked: 0,
        cost: null,
        actual: null,
      };
      if (left.delete(reading.quota)) this.#charge(line, call, each, used, reading);
      else if (each.count !== null) this.#read(line, call, each, each.count, reading);
    }
    for (const each of left.values()) this.#charge(line, call, each, used, null);
    this.#presence.add(line, call, used);
    answerLaws(line, call, used, {
      docket: this.#docket,
      quotas: this.#quotas,
      time: this.#time,
      tellEnds: this.#tellEnds,
      endOf: (judge, reading) => this.#endOf(sent, received, judge, reading)?.span ?? null,
    });
  }

  /** A call used a count, and its answer shows it or does not. */
  #charge(
    line: number,
    call: QuotaCall,
    each: Used,
    used: readonly Used[],
    reading: QuotaReading | null,
  ): void {
    const { count, judge } = each;
    if (count === null) return;
    const { sent, received } = call;
    const counted = this.#counted(call, each);
    const charge = counted.isVague
      ? upTo(counted.asked)
      : chargeOf(counted, judge.owner, termsOf(call, judge, used));
    if (counted.role === "refused" && counted.refusedBy === judge.owner)
      count.refusals.add(line, sent, received, judge.owner);
    if (counted.role === "admitted") this.#amounts.charge(judge.name, counted);
    const { judged } = count;
    if (judged === null) return;
    const mark = reading === null ? null : this.#mark(line, call, judge, count, reading, counted, charge);
    if (mark !== null) judged.quota.add(mark);
    else {
      judged.quota.addUnknown(sent, received, charge.held);
      if (counted.role !== "admitted" || charge.least === 0) return;
      judged.quota.addCharge(line, sent, received, charge.least);
      judged.bare?.add(line, sent, received, charge.least);
    }
  }

  /** An answer shows a count that its call did not use. */
  #read(line: number, call: QuotaCall, each: Used, count: Count, reading: QuotaReading): void {
    if (count.judged === null) return;
    const counted = this.#counted(call, each);
    const mark = this.#mark(line, call, each.judge, count, reading, counted, nothing);
    if (mark !== null) count.judged.quota.add(mark);
  }

  #counted(
    { operation, outcome, status, by, via }: QuotaCall,
    each: Used,
  ): Counted & { readonly isVague: boolean } {
    const { asked, cost, actual, judge } = each;
    const isCall = operation !== "status" && operation !== "other" && outcome !== "exempt";
    const role: CallRole =
      operation === "status" ? "status" : !isCall ? "other" : outcome === "refused" ? "refused" : "admitted";
    const isRefused = role === "refused";
    const other = judge.owner === "user" ? "organization" : "user";
    const refusedBy = !isRefused || by === undefined ? null : by === judge.name ? judge.owner : other;
    return {
      role,
      refusedBy,
      cost,
      asked: isCall ? asked : 0,
      actual,
      // No policy says yet what a 4xx costs.
      sure: isCall && !isRefused && status < 400 && via === undefined,
      // A refusal by something that is no quota may come after a charge, or before it.
      isVague: isCall && (via !== undefined || (isRefused && by !== undefined && !this.#quotas.all.has(by))),
    };
  }

  /** The mark that a reading makes; `null` where it shows no count, or no window that can be. */
  #mark(
    line: number,
    { sent, received }: QuotaCall,
    judge: PolicyQuotaJudge,
    { limit }: Count,
    reading: QuotaReading,
    counted: Counted,
    charge: MarkCharge,
  ): Mark | null {
    const shown = shownCount(reading, judge, limit);
    const end = shown === null ? null : this.#endOf(sent, received, judge, reading);
    if (shown === null || end === null) return null;
    return {
      line,
      sent: Math.min(sent, received),
      received: Math.max(sent, received),
      role: counted.role,
      refusedBy: counted.refusedBy,
      cost: counted.cost,
      asked: counted.asked,
      actual: counted.actual,
      sure: counted.sure,
      ...shown,
      reset: end.seconds,
      resetAt: null,
      echoesUser: false,
      end: end.span,
      ...charge,
    };
  }

  /** The end of the window that a reading shows, on the clients' clock, and how far it lay ahead. */
  #endOf(
    sent: number,
    received: number,
    { name, length, quota, rounding: told }: PolicyQuotaJudge,
    { reset }: QuotaReading,
  ): { readonly span: Span; readonly seconds: number } | null {
    if (reset === null || length === null || !this.#tellEnds.has(name)) return null;
    const { afterMs, atMs, gridMs } = reset;
    if (afterMs !== null) {
      if (afterMs < 0 || afterMs > length.most + gridMs) return null;
      // The simulator rounds as its policy says, by word or by default.
      const rounding = told ?? (this.#header.clock.kind === "virtual" ? quota.shown.reset : null);
      const span = this.#time.windowEnd(sent, received, afterMs / 1000, rounding, undefined, gridMs / 1000);
      return { span, seconds: afterMs / 1000 };
    }
    if (atMs === null) return null;
    this.#offset.end(sent, received, atMs, gridMs, length.most);
    const span = this.#offset.clientsTime({
      from: atMs - (told === "floor" ? 0 : gridMs),
      to: atMs + (told === "ceil" ? 0 : gridMs),
    });
    const ahead = Math.max(0, (span.from + span.to - sent - received) / 2);
    if (!Number.isFinite(ahead) || ahead > length.most + 2 * gridMs) return null;
    return { span, seconds: Math.round(Math.min(ahead, length.most)) / 1000 };
  }

  finish(): QuotaVerdict {
    const docket = this.#docket;
    let windows = 0;
    let isShared = false;
    const last: LastWindow[] = [];
    for (const judge of this.#quotas.all.values()) {
      let charged = 0;
      for (const { enforcement, refusals, judged } of judge.counts.values()) {
        refusals.finish(enforcement, docket);
        if (judged === null) continue;
        const { quota, bare, enforced } = judged;
        quota.finish();
        bare?.finish(enforcement, docket);
        windows += quota.closed;
        if (quota.isCharged) charged += 1;
        if (judge.isOnEpoch && quota.lastOnGrid !== null) last.push(quota.lastOnGrid);
        const { on, off } = enforced.finish();
        addAll(docket.evidence.bounded, on);
        addAll(docket.evidence["unenforced-never-refuses"], off);
      }
      isShared ||= charged > 1;
    }
    this.#presence.finish();
    judgeCommonGrid(last, docket);
    // One key alone is isolated from nobody.
    if (!isShared) Object.assign(docket.evidence.isolated, nothingTested());
    for (const judge of this.#quotas.all.values()) this.#conclude(judge);
    const notJudged = [...this.#quotas.all.values()].flatMap(({ name, notJudged }) => {
      const why = notJudged ?? (isUntold(this.#header.policy, name) ? untoldWindow : null);
      return why === null ? [] : [{ quota: name, why }];
    });
    // By quotas: no accusation here names an organization.
    return docket.verdict({
      records: this.#records,
      windows,
      voidReason: (law) => this.#voidReason(law),
      inferred: null,
      ...(notJudged.length === 0 ? {} : { notJudged }),
    }) as QuotaVerdict;
  }

  #conclude(judge: PolicyQuotaJudge): void {
    const lost = judge.lost(this.#header.lost);
    const counts = [...judge.counts.values()].flatMap(({ judged, enforcement }) =>
      judged === null ? [] : [{ quota: judged.quota, enforcement, lost }],
    );
    conclude(judge.hypotheses, counts);
  }

  #voidReason(law: LawName): string | null {
    const judged = [...this.#quotas.all.values()].filter(({ notJudged }) => notJudged === null);
    if (judged.length === 0 && windowLaws.includes(law)) return noCounts;
    if (law !== "bounded" || judged.length === 0) return null;
    if (judged.every(({ terms }) => terms.refused === "counted")) return "refused calls are counted";
    return judged.every(({ terms }) => terms.charging === "postpaid")
      ? "what is charged later may overshoot"
      : null;
  }
}

/** Laws on the counts of windows. */
const windowLaws: readonly LawName[] = [
  "bounded",
  "conserved",
  "status-free",
  "all-or-nothing",
  "isolated",
  "monotone",
  "recovers",
  "unenforced-never-refuses",
  "twice-at-most",
  "reset-agrees",
  "refusal-justified",
  "refusal-agrees",
];

const nothing: MarkCharge = { least: 0, most: 0, held: 0 };

/** Tells whether each reset that may be a quota's tells when its window ends; at that end a window is full again. */
function meansEnd(wire: WireData, quota: string): boolean {
  return readingsOf(wire, quota).every(
    ({ reset }) => reset === undefined || tellingEnds.includes(reset.means),
  );
}

/** Units that a call asks of a quota, and those that it was charged in the end, where that is known. */
function askedOf(
  { cost, actual, outcome }: QuotaCall,
  of: Cost,
  { quota }: PolicyQuotaJudge,
): Pick<Used, "asked" | "cost" | "actual"> {
  if (typeof of === "number") return { asked: of, cost: of, actual: of };
  const asked = of === "declared" ? cost : of.atMost;
  const known = quota.charge.when === "admission" ? asked : outcome === "admitted" ? (actual ?? null) : null;
  return { asked: asked ?? Number.POSITIVE_INFINITY, cost: asked, actual: known };
}

/**
 * The terms by which a call was charged. Where another quota refuses it: under `each-alone`, nobody knows whether this
 * one had room; under `first-refusal-stops`, those before it were charged, and none after it.
 */
function termsOf({ operation, by }: QuotaCall, judge: PolicyQuotaJudge, used: readonly Used[]): Terms {
  const { terms } = judge;
  if (by === undefined || by === judge.name) return terms;
  const relation = judge.relationOf(operation);
  if (relation === "all-or-nothing") return terms;
  if (relation === "each-alone") return { ...terms, refusedByUser: null };
  const place = (name: string): number => used.findIndex((each) => each.judge.name === name);
  return {
    ...terms,
    refusedByUser: place(judge.name) < place(by) ? "charges-organization" : "charges-nothing",
  };
}

const isWhole = (value: number | null): value is number => Number.isSafeInteger(value);

/** The count that a reading shows; `null` where it shows none that can be. */
function shownCount(
  { limit, remaining, used }: QuotaReading,
  { quota }: PolicyQuotaJudge,
  known: number,
): Shown | null {
  const most = limit ?? known;
  if (!isWhole(most) || most < 1) return null;
  // At the limit it may hide what went beyond, as a remaining of 0 does.
  if (isWhole(used) && used >= 0 && used !== most) return { limit: most, count: used, clamped: false };
  if (!isWhole(remaining) || remaining > most)
    return isWhole(used) && used >= most ? { limit: most, count: most, clamped: true } : null;
  const clamped = remaining <= 0 && quota.shown.remaining !== "signed";
  return { limit: most, count: clamped ? most : most - remaining, clamped };
}
