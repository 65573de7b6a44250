// The oracle: judges a trace by the rules alone, on the assumptions of FORMAT.md. It never imports the engine: the two
// are independent readings of the rules. Every call is judged by the laws of one answer, then added to the quotas that
// it touches. Quotas are judged window by window while the trace streams by.

import { voidEverywhere } from "../rules/laws.ts";
import { type Scope, scopes } from "../rules/rules.ts";
import type { CallBatch } from "../trace/batch.ts";
import type { TraceLine } from "../trace/read.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { isAnswered } from "../wire/outcome.ts";
import { AmountsTally } from "./amounts.ts";
import { headerReading, type ShownReading, statusReading, usedByUser } from "./answer.ts";
import type { Count, CountKind, JudgedCount } from "./count.ts";
import type { Holding } from "./held-rows.ts";
import { Hypotheses } from "./hypotheses.ts";
import { inferCounts, inferOption } from "./inference.ts";
import { type JudgeOptions, Judging } from "./judging.ts";
import {
  type Counted,
  chargeOf,
  countedOf,
  type Mark,
  type MarkCharge,
  markOf,
  unknownCharge,
} from "./mark.ts";
import { type Judged, judgeInPasses, passesOf } from "./passes.ts";
import { PlainCalls } from "./plain-calls.ts";
import { makeAnonymous, type OrganizationScope, Quotas } from "./quotas.ts";
import { RulesAnswers } from "./rules-answers.ts";
import { SwitchEvidence } from "./switch-evidence.ts";
import { TargetClock } from "./target-clock.ts";
import { termsOf } from "./terms.ts";
import type { Inferred, RulesVerdict } from "./verdict.ts";
import { WindowShapes } from "./window-shapes.ts";

type Calls = AsyncIterable<TraceLine> | Iterable<TraceLine>;

/**
 * Judges a trace. A correct deployment is never accused. Laws that cannot be judged are skipped by name.
 * @param calls in the order of `received`, give or take 120 s, as `readTrace` gives them
 * @param again gives the same calls once more; an array needs none. With it long windows hold few of their calls
 */
export const judge = (
  header: TraceHeader,
  calls: Calls,
  options: JudgeOptions = {},
  again?: () => Calls | Promise<Calls>,
): Promise<RulesVerdict> =>
  judgeInPasses(passesOf(calls, again), options, async (lines, holding) => {
    const judgement = new RulesJudgement(header, options, holding);
    for await (const { line, call } of lines) judgement.add(line, call);
    return judgement.finish();
  });

/** Judges a trace in one pass, by columns. A batch is used up before the next one is asked for. */
export async function judgeBatches(
  header: TraceHeader,
  batches: AsyncIterable<CallBatch>,
  options: JudgeOptions,
  holding: Holding,
): Promise<Judged<RulesVerdict>> {
  const judgement = new RulesJudgement(header, options, holding);
  for await (const batch of batches) judgement.addAll(batch);
  return judgement.finish();
}

/** A judgement under way, by the rules of version 1. */
class RulesJudgement {
  readonly #header: TraceHeader;
  readonly #judging: Judging;
  readonly #answers: RulesAnswers;
  readonly #clock = new TargetClock();
  readonly #kinds: Readonly<Record<Scope, CountKind>>;
  readonly #quotas: Quotas;
  /** Evidence on the switches in a trace without rules. */
  readonly #evidence: SwitchEvidence | null;
  /** The short way through the judge; `null` without rules. */
  readonly #plain: PlainCalls | null;
  readonly #seen = new Set<Scope>();

  constructor(header: TraceHeader, options: JudgeOptions, holding: Holding) {
    const { rules } = header;
    this.#header = header;
    const groups = () => this.#quotas.groups;
    this.#judging = new Judging(header, options, new AmountsTally(), groups, holding);
    const { docket, time, counts } = this.#judging;
    this.#answers = new RulesAnswers(docket);
    const of = (scope: Scope): CountKind => {
      const terms = termsOf(rules, scope);
      return {
        terms,
        hypotheses: new Hypotheses(scope, rules === null ? null : terms),
        // The switch `graphqlCharge` decides whether a count holds points for a while and gives them back.
        givesBack: true,
        shapes: rules === null ? new WindowShapes(scope, time, docket) : null,
      };
    };
    const { rest, graphql } = { rest: of("rest"), graphql: of("graphql") };
    this.#kinds = { rest, graphql };
    this.#quotas = new Quotas(header, this.#kinds, time, counts);
    this.#evidence =
      rules === null
        ? new SwitchEvidence({ rest: rest.hypotheses, graphql: graphql.hypotheses }, docket)
        : null;
    this.#plain = rules === null ? null : new PlainCalls(this.#kinds, this.#judging, this.#quotas);
  }

  addAll(batch: CallBatch): void {
    for (let row = 0; row < batch.size; row++)
      if (this.#plain?.add(batch, row) === true) this.#judging.count(batch.received[row] as number);
      else this.add(batch.line[row] as number, batch.callAt(row));
  }

  add(line: number, call: TraceCall): void {
    const both = this.#quotas.organization(call.org);
    const own = both[call.scope];
    this.#seen.add(call.scope);
    if (call.user === null && !own.anonymous) makeAnonymous(own);
    const user = call.user === null ? null : this.#quotas.user(call.org, call.user, call.scope, own);
    const touched = user === null ? [own.organization] : [own.organization, user];
    const isDecided = isAnswered(call);
    if (isDecided) this.#answers.check(line, call, both, user);
    this.#evidence?.observe(line, call);
    if (isDecided) this.#addAnswer(line, call, own, touched);
    else for (const { quota } of touched) quota.addUnknown(call.sent, null, unknownCharge(call).most);
    if (call.kind === "status") this.#addBody(line, call, both);
    this.#judging.count(call.received);
  }

  finish(): Judged<RulesVerdict> {
    const { docket } = this.#judging;
    const { rules } = this.#header;
    this.#plain?.finish();
    this.#judging.closeAll();
    for (const scope of scopes) {
      this.#ruleOutByUsers(scope);
      this.#judging.conclude(this.#kinds[scope]);
    }
    this.#clock.finish(docket);
    // The rules of version 1 name an organization in every accusation, so that the cast is safe.
    const verdict = docket.verdict({
      ...this.#judging.seen,
      voidReason: (law) => (rules === null ? null : voidEverywhere(law, rules)),
      inferred: rules === null ? this.#inferred() : null,
    });
    return this.#judging.judged(verdict as RulesVerdict);
  }

  /** Rules out that users' windows follow the organization's, if one refused while limits were off. */
  #ruleOutByUsers(scope: Scope): void {
    for (const [org, both] of this.#quotas) {
      const { refusals, enforcement } = both[scope].group;
      const exhibit = refusals.userEnforcedAlways(enforcement);
      if (exhibit === null) continue;
      this.#evidence?.ruleOut(scope, {
        name: "userEnforced",
        value: "with-organization",
        law: "unenforced-never-refuses",
        suspects: ["unenforced-refuses"],
        org,
        user: null,
        exhibit,
      });
    }
  }

  #inferred(): readonly Inferred[] {
    return scopes.flatMap((scope) => {
      const { shapes, hypotheses } = this.#kinds[scope];
      if (shapes === null || this.#evidence === null || !this.#seen.has(scope)) return [];
      return [
        inferOption("anchor", scope, shapes.anchor),
        ...inferCounts(scope, hypotheses),
        inferOption("reset", scope, shapes.rounding),
        inferOption("retryAfter", scope, this.#evidence.retryAfter[scope]),
      ];
    });
  }

  #addAnswer(
    line: number,
    call: TraceCall,
    { group }: OrganizationScope,
    touched: readonly JudgedCount[],
  ): void {
    const { terms } = group.kind;
    const { sent, received, limit, userLimit } = call;
    const counted = countedOf(call);
    if (call.kind === "call" && counted.role === "refused") {
      group.refusals.add(line, sent, received, counted.refusedBy);
      group.order?.add(line, call);
    }
    if (counted.sure && terms.charging !== "postpaid") group.oversize.add(line, call, [limit, userLimit]);
    this.#judging.amounts.call(call.scope, counted);
    for (const count of touched) {
      const { owner } = count.name;
      const charge = chargeOf(counted, owner, terms);
      const reading = headerReading(call, owner, terms.remaining === "signed");
      const mark = reading && this.#mark(line, call, count, reading, counted, charge);
      this.#judging.charge(count, line, call, counted, charge, mark);
      // A virtual clock is the only one: nothing between limiter and client could have answered in its place.
      if (reading === null && counted.role === "admitted" && call.status === 200)
        count.bare?.add(line, sent, received, chargeOf({ ...counted, sure: true }, owner, terms).least);
    }
  }

  #addBody(line: number, call: TraceCall, both: Record<Scope, OrganizationScope>): void {
    const counted = countedOf(call);
    for (const scope of scopes) {
      const reading = statusReading(call, scope);
      if (reading === null) continue;
      this.#judging.docket.clues.statusBody(reading.count, scope === call.scope ? usedByUser(call) : null);
      const { organization, group } = both[scope];
      if (reading.resetAt !== null) group.grid?.observe(line, reading.resetAt, reading.reset);
      const mark = this.#mark(line, call, organization, reading, counted);
      if (mark !== null) {
        organization.quota.add(mark);
        this.#clock.observe({ line, at: call.received, org: call.org, scope }, reading, mark.end);
      }
      if (reading.enforced !== null) group.enforcement.observe(call.sent, call.received, reading.enforced);
    }
  }

  /** Returns the mark of a reading; `null` if its `reset` is out of range, which is accused by itself. */
  #mark(
    line: number,
    call: TraceCall,
    { group, resetLeast, windowSeconds }: Count,
    reading: ShownReading,
    counted: Counted,
    charge?: MarkCharge,
  ): Mark | null {
    const { terms, shapes } = group.kind;
    const { reset } = reading;
    if (reset < resetLeast || reset > windowSeconds) return null;
    const rounding = terms.reset ?? shapes?.rounding.known ?? null;
    const end = this.#judging.time.windowEnd(call.sent, call.received, reset, rounding);
    return markOf(line, call, reading, end, counted, charge);
  }
}
