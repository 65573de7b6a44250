// The oracle for traces of version 2: judges by the quotas of any policy, on the assumptions of FORMAT.md. It never
// imports the engine. Every call is judged by the laws of one answer, then added to each count that it uses. Counts are
// judged window by window, as in version 1.
import type { Cost } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { LawName } from "../rules/laws.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { QuotaLine } from "../trace/quota-stream.ts";
import { isUntold, untoldWindow } from "../wire/rounding.ts";
import { AmountsTally } from "./amounts.ts";
import type { ShownReading } from "./answer.ts";
import type { Span } from "./clock.ts";
import { type Count, isJudged } from "./count.ts";
import type { Holding } from "./held-rows.ts";
import { type JudgeOptions, Judging } from "./judging.ts";
import { type Counted, chargeOf, type Mark, type MarkCharge, markOf, upTo } from "./mark.ts";
import { type Judged, judgeInPasses, passesOf } from "./passes.ts";
import { type JudgedReading, lateEnd, PolicyAnswers, type Used } from "./policy-answers.ts";
import { askedOf, countedBy, refusalOf, termsOf } from "./policy-charges.ts";
import { PolicyPresence } from "./policy-presence.ts";
import { type PolicyQuotaJudge, PolicyQuotas } from "./policy-quotas.ts";
import { TargetOffset } from "./target-offset.ts";
import type { ShownLevel, UnreadCall } from "./unread.ts";
import { noCounts, type QuotaVerdict } from "./verdict.ts";

type Calls = AsyncIterable<QuotaLine> | Iterable<QuotaLine>;

/**
 * Judges a trace of version 2. A correct deployment is never accused. Laws that cannot be judged are skipped by name.
 * @param again gives the same calls once more, as for `judge`
 */
export const judgeQuotas = (
  header: QuotaTraceHeader,
  calls: Calls,
  options: JudgeOptions = {},
  again?: () => Calls | Promise<Calls>,
): Promise<QuotaVerdict> =>
  judgeInPasses(passesOf(calls, again), options, async (lines, holding) => {
    const judgement = new QuotaJudgement(header, options, holding);
    for await (const { line, call } of lines) judgement.add(line, call);
    return judgement.finish();
  });

/** Judges a trace in one pass, some calls at a time. */
export async function judgeQuotaBatches(
  header: QuotaTraceHeader,
  batches: AsyncIterable<readonly QuotaLine[]>,
  options: JudgeOptions,
  holding: Holding,
): Promise<Judged<QuotaVerdict>> {
  const judgement = new QuotaJudgement(header, options, holding);
  for await (const lines of batches) for (const { line, call } of lines) judgement.add(line, call);
  return judgement.finish();
}

/** A judgement under way, by the quotas of a policy. */
class QuotaJudgement {
  readonly #header: QuotaTraceHeader;
  readonly #judging: Judging;
  readonly #offset: TargetOffset;
  readonly #presence: PolicyPresence;
  readonly #quotas: PolicyQuotas;
  readonly #answers: PolicyAnswers;
  /** Quotas that each operation uses, in the policy's order. */
  readonly #operations: ReadonlyMap<string, readonly (readonly [PolicyQuotaJudge, Cost])[]>;

  constructor(header: QuotaTraceHeader, options: JudgeOptions, holding: Holding) {
    const { policy, clock } = header;
    this.#header = header;
    const groups = () => this.#quotas.groups();
    this.#judging = new Judging(header, options, new AmountsTally(false), groups, holding);
    const { time, docket, counts } = this.#judging;
    this.#offset = new TargetOffset(time, clock.kind === "virtual");
    this.#quotas = new PolicyQuotas(header, counts);
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
    this.#presence = new PolicyPresence(wireOf(policy), docket);
    this.#answers = new PolicyAnswers(docket, time, {
      endOf: (call, judge, reading) => this.#endOf(call, judge, reading),
      retryBy: (call) => this.#retryBy(call),
    });
  }

  #judgeOf(quota: string): PolicyQuotaJudge {
    return this.#quotas.all.get(quota) as PolicyQuotaJudge;
  }

  add(line: number, given: QuotaCall): void {
    const call = endsFirst(given);
    const used = this.#usedBy(call);
    if (call.outcome === "unknown") {
      for (const { count, asked } of used) {
        count?.quota?.addUnknown(call.sent, null, asked);
        for (const judge of count?.unread ?? []) judge.addUnknown(asked);
      }
    } else this.#addAnswer(line, call, used);
    this.#judging.count(call.received);
  }

  /** Returns the counts that a call uses, with what it asks of each. */
  #usedBy(call: QuotaCall): readonly Used[] {
    const uses = this.#operations.get(call.operation) ?? [];
    return uses.map(([judge, cost]) => ({
      judge,
      count: this.#quotas.count(judge, call.caller),
      ...askedOf(call, cost, judge),
    }));
  }

  #addAnswer(line: number, call: QuotaCall, used: readonly Used[]): void {
    const { sent, received, date, outcome, via } = call;
    // A cached answer has the date and the counts of an earlier answer.
    const isFresh = via === undefined;
    if (date !== undefined && isFresh) this.#offset.date(sent, received, date);
    const { amounts } = this.#judging;
    if (used.length > 0 && outcome === "admitted") amounts.admitted += 1;
    if (used.length > 0 && outcome === "refused") amounts.refused += 1;
    const left = new Map(used.map((each) => [each.judge.name, each]));
    const shown: JudgedReading[] = [];
    for (const reading of isFresh ? call.readings : []) {
      const judge = this.#judgeOf(reading.quota);
      const each = left.get(reading.quota) ?? {
        judge,
        count: this.#quotas.count(judge, call.caller),
        asked: 0,
        cost: null,
        actual: null,
      };
      shown.push({ judge, count: each.count, reading });
      if (left.delete(reading.quota)) this.#charge(line, call, each, used, reading);
      else if (each.count !== null) this.#read(line, call, each, each.count, reading);
    }
    for (const each of left.values()) this.#charge(line, call, each, used, null);
    this.#presence.add(line, call, used);
    this.#answers.check(line, call, used, shown);
  }

  /** Adds a call to a count that it used, with the reading of its answer if there is one. */
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
    const counted = countedBy(call, each, this.#quotas.all);
    const charge = counted.isVague
      ? upTo(counted.asked)
      : chargeOf(counted, judge.owner, termsOf(call, judge, used));
    if (counted.role === "refused" && counted.refusedBy === judge.owner)
      count.group.refusals.add(line, sent, received, judge.owner);
    if (counted.role === "admitted") this.#judging.amounts.charge(judge.name, counted);
    if (counted.role === "admitted" && counted.sure && reading !== null)
      observeEnd(line, judge, count, reading);
    const least = counted.role === "admitted" ? charge.least : 0;
    if (count.unread.length > 0) {
      const refused = refusalOf(call, judge, used, counted);
      this.#tell(line, call, judge, count, reading, { least, most: charge.held, refused });
    }
    if (!isJudged(count)) return;
    const mark = reading && this.#mark(line, call, judge, count, reading, counted, charge);
    this.#judging.charge(count, line, call, counted, charge, mark);
    if (mark === null && least > 0) count.bare?.add(line, sent, received, least);
  }

  /** Adds a reading of a count that its call did not use. */
  #read(line: number, call: QuotaCall, each: Used, count: Count, reading: QuotaReading): void {
    if (count.quota === null) {
      this.#tell(line, call, each.judge, count, reading, { least: 0, most: 0, refused: null });
      return;
    }
    const mark = this.#mark(line, call, each.judge, count, reading, countedBy(call, each, this.#quotas.all));
    if (mark !== null) count.quota.add(mark);
  }

  /** Tells a count without windows of an answer. */
  #tell(
    line: number,
    call: QuotaCall,
    judge: PolicyQuotaJudge,
    count: Count,
    reading: QuotaReading | null,
    charge: Pick<UnreadCall, "least" | "most" | "refused">,
  ): void {
    const { sent, received } = call;
    const span = this.#judging.time.within(Math.min(sent, received), Math.max(sent, received));
    const level = levelOf(call, judge, count, reading);
    for (const unread of count.unread) unread.add({ line, ...span, ...charge, level });
  }

  /** Returns the mark of a reading; `null` if it shows no count, or no possible window. */
  #mark(
    line: number,
    call: QuotaCall,
    judge: PolicyQuotaJudge,
    { limit }: Count,
    reading: QuotaReading,
    counted: Counted,
    charge?: MarkCharge,
  ): Mark | null {
    const late = lateEnd(line, call, judge, reading);
    if (late !== null) this.#judging.docket.ask(late);
    const shown = shownCount(reading, judge, limit);
    const end = shown && this.#endOf(call, judge, reading);
    if (shown === null || end === null) return null;
    const { count, clamped } = shown;
    return markOf(
      line,
      call,
      { limit: shown.limit, count, clamped, reset: end.seconds },
      end.span,
      counted,
      charge,
    );
  }

  /** Returns the end of the window that a reading shows, on the clients' clock, and the seconds until then. */
  #endOf(
    { sent, received }: QuotaCall,
    { length, quota, rounding: told, tellsEnd }: PolicyQuotaJudge,
    { reset }: QuotaReading,
  ): { readonly span: Span; readonly seconds: number } | null {
    if (reset === null || length === null || !tellsEnd) return null;
    const { afterMs, atMs, gridMs } = reset;
    if (afterMs !== null) {
      if (afterMs < 0 || afterMs > length.most + gridMs) return null;
      // The simulator rounds as its policy says, or by the policy's default.
      const rounding = told ?? (this.#header.clock.kind === "virtual" ? quota.shown.reset : null);
      const span = this.#judging.time.windowEnd(
        sent,
        received,
        afterMs / 1000,
        rounding,
        undefined,
        gridMs / 1000,
      );
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

  /** Returns the latest instant at which a refusal may tell to come back, on the clients' clock; `null` if it tells none. */
  #retryBy({ sent, received, retryAfterMs, retryAt }: QuotaCall): number | null {
    // Waits have no unit of their own in a trace. Most have whole seconds.
    if (retryAfterMs !== undefined)
      return this.#judging.time.windowEnd(sent, received, retryAfterMs / 1000, null).to;
    return retryAt === undefined ? null : this.#offset.clientsTime({ from: retryAt, to: retryAt + 1000 }).to;
  }

  finish(): Judged<QuotaVerdict> {
    const { docket } = this.#judging;
    const all = [...this.#quotas.all.values()];
    this.#judging.closeAll();
    this.#presence.finish();
    for (const judge of all) this.#judging.conclude(judge);
    const notJudged = all.flatMap(({ name, notJudged, isBlurred }) => {
      const why =
        notJudged ?? (isUntold(this.#header.policy, name) ? untoldWindow : isBlurred ? blurred : null);
      return why === null ? [] : [{ quota: name, why }];
    });
    // By quotas no accusation names an organization, so that the cast is safe.
    const verdict = docket.verdict({
      ...this.#judging.seen,
      voidReason: (law) => this.#voidReason(law),
      inferred: null,
      ...(notJudged.length === 0 ? {} : { notJudged }),
    });
    return this.#judging.judged(verdict as QuotaVerdict);
  }

  #voidReason(law: LawName): string | null {
    if (this.#judging.unreadLaws.has(law)) return null;
    const judged = [...this.#quotas.all.values()].filter(({ notJudged }) => notJudged === null);
    if (judged.length === 0 && windowLaws.includes(law)) return noCounts;
    if (law !== "bounded" || judged.length === 0) return null;
    if (judged.every(({ terms }) => terms.refused === "counted")) return "refused calls are counted";
    return judged.every(({ terms }) => terms.charging === "postpaid")
      ? "what is charged later may overshoot"
      : null;
  }
}

/** Tells whether a reading shows a count, and the end of its window. */
const tellsWindow = ({ remaining, used, reset }: QuotaReading): boolean =>
  reset !== null && (remaining ?? used) !== null;

/** Puts readings that tell a window first: where an answer shows a quota twice, its call is judged by the first one. */
function endsFirst(call: QuotaCall): QuotaCall {
  const { readings } = call;
  const first = readings.findIndex((reading) => !tellsWindow(reading));
  if (first < 0 || !readings.some((reading, at) => at > first && tellsWindow(reading))) return call;
  return {
    ...call,
    readings: readings.toSorted((one, other) => Number(tellsWindow(other)) - Number(tellsWindow(one))),
  };
}

/** Holds the end of a window to its grid. One of which nothing is used may not have been opened, and end anywhere. */
function observeEnd(
  line: number,
  judge: PolicyQuotaJudge,
  { group, limit }: Count,
  reading: QuotaReading,
): void {
  const { reset } = reading;
  const isUsed = (shownCount(reading, judge, limit)?.count ?? 0) > 0;
  if (isUsed && reset?.atMs != null) group.grid?.observe(line, reset.atMs, reset.gridMs);
}

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

/** Reason why counts of a quota are not judged whose resets leave open which window they are of. */
const blurred = "resets are too coarse to tell its windows apart, so that its counts are not judged";

const isWhole = (value: number | null): value is number => Number.isSafeInteger(value);

/** Returns what an answer shows as used of a count; `null` if it shows none. */
function levelOf(
  { outcome }: QuotaCall,
  judge: PolicyQuotaJudge,
  { limit }: Count,
  reading: QuotaReading | null,
): ShownLevel | null {
  const shown = reading && shownCount(reading, judge, limit);
  return shown && { used: shown.count, limit: shown.limit, mayOverstate: outcome === "refused" };
}

/** Returns the count that a reading shows; `null` if it shows no possible count. */
function shownCount(
  { limit, remaining, used }: QuotaReading,
  { quota }: PolicyQuotaJudge,
  known: number | null,
): Omit<ShownReading, "reset"> | null {
  const most = limit ?? known;
  if (!isWhole(most) || most < 1) return null;
  // A `used` at the limit may hide a higher count, as a remaining of 0 does.
  if (isWhole(used) && used >= 0 && used !== most) return { limit: most, count: used, clamped: false };
  if (!isWhole(remaining) || remaining > most)
    return isWhole(used) && used >= most ? { limit: most, count: most, clamped: true } : null;
  const clamped = remaining <= 0 && quota.shown.remaining !== "signed";
  return { limit: most, count: clamped ? most : most - remaining, clamped };
}
