// The oracle: judges a trace by the rules alone, as FORMAT.md says what a judge may assume. It never imports the
// engine: two independent readings of the rules. Every call goes through the laws of one answer, then into the
// quotas that it touches; those judge window by window while the trace streams by.

import { voidEverywhere } from "../rules/laws.ts";
import { type Scope, scopes } from "../rules/rules.ts";
import type { CallBatch } from "../trace/batch.ts";
import { outOfOrderMsMost, type TraceLine } from "../trace/read.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { isAnswered } from "../wire/outcome.ts";
import type { Acceptance } from "./acceptance.ts";
import { AmountsTally } from "./amounts.ts";
import { headerReading, type ShownReading, statusReading, usedByUser } from "./answer.ts";
import { AnswerLaws } from "./answer-laws.ts";
import { TraceTime } from "./clock.ts";
import { judgeCommonGrid, type LastWindow } from "./common-grid.ts";
import { conclude } from "./conclusion.ts";
import { Docket } from "./docket.ts";
import { addAll, nothingTested } from "./evidence.ts";
import { Hypotheses, type Hypothesis } from "./hypotheses.ts";
import { inferCounts, inferOption } from "./inference.ts";
import {
  type Counted,
  chargeOf,
  countedOf,
  type Mark,
  type MarkCharge,
  markOf,
  unknownCharge,
} from "./mark.ts";
import { type JudgedRoute, PlainCalls } from "./plain-calls.ts";
import { makeAnonymous, type OrganizationScope, Quotas } from "./quotas.ts";
import { SwitchEvidence } from "./switch-evidence.ts";
import { TargetClock } from "./target-clock.ts";
import { type Terms, termsOf } from "./terms.ts";
import type { Inferred, RulesVerdict } from "./verdict.ts";
import { WindowShapes } from "./window-shapes.ts";

export interface JudgeOptions {
  /**
   * Windows that are over are looked for, judged and forgotten after so many calls; where this is left out, after
   * 4096, or a few for each quota that has to be looked at.
   */
  readonly callsBetweenClosings?: number;
  /**
   * Deviation that the owner of a limiter which is approximate on purpose accepts: a share, from 0 to 1, of what was
   * admitted that may have been admitted above a limit.
   */
  readonly accept?: Acceptance;
  /** Violations that are kept and told one by one; the others are counted. */
  readonly violationsMost?: number;
}

const closeEveryLeast = 4096;
const closeEveryPerQuota = 8;

/** Readings of a trace without rules. */
interface Shown {
  readonly evidence: SwitchEvidence;
  readonly shapes: Readonly<Record<Scope, WindowShapes>>;
}

/**
 * Judges a trace. A correct deployment is never accused; what cannot be judged is skipped by name.
 * @param calls in the order of `received`, give or take 120 s, as `readTrace` gives them
 */
export async function judge(
  header: TraceHeader,
  calls: AsyncIterable<TraceLine> | Iterable<TraceLine>,
  options: JudgeOptions = {},
): Promise<RulesVerdict> {
  const judgement = new Judgement(header, options);
  for await (const { line, call } of calls) judgement.add(line, call);
  return judgement.finish();
}

/** `judge`, by columns. A batch is used up before the next one is asked for. */
export async function judgeBatches(
  header: TraceHeader,
  batches: AsyncIterable<CallBatch>,
  options: JudgeOptions = {},
): Promise<RulesVerdict> {
  const judgement = new Judgement(header, options);
  for await (const batch of batches) judgement.addAll(batch);
  return judgement.finish();
}

/** A judgement under way. */
class Judgement {
  readonly #header: TraceHeader;
  readonly #amounts: AmountsTally;
  readonly #docket: Docket;
  readonly #time: TraceTime;
  readonly #answers: AnswerLaws;
  readonly #clock: TargetClock;
  readonly #terms: Readonly<Record<Scope, Terms>>;
  readonly #hypotheses: Readonly<Record<Scope, Hypotheses>>;
  /** Evidence on them in a trace without rules. */
  readonly #shown: Shown | null;
  readonly #quotas: Quotas;
  readonly #closeEvery: number | null;
  /** At how many records windows are closed next. */
  #closeNext: number;
  readonly #seen = new Set<Scope>();
  /** The short way, where rules are known. */
  readonly #plain: PlainCalls | null;
  #records = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(header: TraceHeader, { callsBetweenClosings, violationsMost = 1000, accept }: JudgeOptions) {
    const { rules, clock } = header;
    this.#amounts = new AmountsTally();
    this.#docket = new Docket({ amounts: this.#amounts, violationsMost, accept: accept ?? null });
    this.#closeEvery = callsBetweenClosings ?? null;
    this.#closeNext = callsBetweenClosings ?? closeEveryLeast;
    this.#header = header;
    this.#time = new TraceTime(clock);
    this.#answers = new AnswerLaws(rules, this.#docket);
    this.#clock = new TargetClock();
    this.#terms = { rest: termsOf(rules, "rest"), graphql: termsOf(rules, "graphql") };
    const of = (scope: Scope): Hypotheses =>
      new Hypotheses(scope, rules === null ? null : this.#terms[scope]);
    this.#hypotheses = { rest: of("rest"), graphql: of("graphql") };
    const shapes = (scope: Scope): WindowShapes => new WindowShapes(scope, this.#time, this.#docket);
    this.#shown =
      rules === null
        ? {
            evidence: new SwitchEvidence(this.#hypotheses, this.#docket),
            shapes: { rest: shapes("rest"), graphql: shapes("graphql") },
          }
        : null;
    this.#quotas = new Quotas(header, {
      time: this.#time,
      terms: this.#terms,
      hypotheses: this.#hypotheses,
      shapes: this.#shown?.shapes ?? null,
      docket: this.#docket,
    });
    this.#plain =
      rules === null
        ? null
        : new PlainCalls(
            this.#terms,
            this.#time,
            this.#docket,
            this.#amounts,
            this.#answers,
            this.#quotas.open,
            (org, user, scope) => this.#route(org, user, scope),
          );
  }

  addAll(batch: CallBatch): void {
    for (let row = 0; row < batch.size; row++)
      if (this.#plain?.add(batch, row) === true) this.#count(batch.received[row] ?? 0);
      else this.add(batch.line[row] ?? 0, batch.callAt(row));
  }

  add(line: number, call: TraceCall): void {
    this.#answers.check(line, call);
    this.#shown?.evidence.observe(line, call);
    const both = this.#quotas.organization(call.org);
    const own = both[call.scope];
    this.#seen.add(call.scope);
    if (call.user === null && !own.anonymous) makeAnonymous(own);
    if (!isAnswered(call)) this.#addUnknown(call, own);
    else this.#addAnswer(line, call, own);
    if (call.kind === "status") this.#addBody(line, call, both);
    this.#count(call.received);
  }

  #count(received: number): void {
    this.#records += 1;
    this.#latest = Math.max(this.#latest, received);
    if (this.#records < this.#closeNext) return;
    this.#quotas.close(this.#latest - outOfOrderMsMost);
    const every = this.#closeEvery ?? Math.max(closeEveryLeast, closeEveryPerQuota * this.#quotas.count);
    this.#closeNext = this.#records + every;
  }

  /** Quotas of calls. */
  #route(org: string, user: string, scope: Scope): JudgedRoute {
    const own = this.#quotas.organization(org)[scope];
    return {
      organization: own.organization,
      user: this.#quotas.user(org, user, scope, own),
      refusals: own.refusals,
    };
  }

  finish(): RulesVerdict {
    this.#plain?.finish();
    let windows = 0;
    const last: LastWindow[] = [];
    const charged = { organizations: 0, users: 0 };
    for (const [, both] of this.#quotas)
      for (const scope of scopes) {
        const { enforcement, enforced, refusals, organization, users, grid } = both[scope];
        refusals.finish(enforcement, this.#docket);
        grid?.finish(this.#docket);
        for (const { quota, bare } of [organization, ...users.values()]) {
          quota.finish();
          bare?.finish(enforcement, this.#docket);
          windows += quota.closed;
          if (quota.lastOnGrid !== null) last.push(quota.lastOnGrid);
          if (quota.isCharged) charged[quota === organization.quota ? "organizations" : "users"] += 1;
        }
        const { on, off } = enforced.finish();
        addAll(this.#docket.evidence.bounded, on);
        addAll(this.#docket.evidence["unenforced-never-refuses"], off);
      }
    judgeCommonGrid(last, this.#docket);
    // One caller alone is isolated from nobody.
    if (Math.max(charged.organizations, charged.users) < 2)
      Object.assign(this.#docket.evidence.isolated, nothingTested());
    for (const scope of scopes) this.#conclude(scope);
    this.#clock.finish(this.#docket);
    const { rules } = this.#header;
    // Whose windows they are is said by the rules of version 1: no accusation here says it otherwise.
    return this.#docket.verdict({
      records: this.#records,
      windows,
      voidReason: (law) => (rules === null ? null : voidEverywhere(law, rules)),
      inferred: rules === null ? this.#inferred() : null,
    }) as RulesVerdict;
  }

  #conclude(scope: Scope): void {
    this.#ruleOutByUsers(scope);
    const quotas = [...this.#quotas].flatMap(([org, both]) => {
      const { enforcement, organization, users } = both[scope];
      const lost = this.#quotas.lost(org, scope);
      return [organization, ...users.values()].map(({ quota }) => ({ quota, enforcement, lost }));
    });
    const hypotheses = this.#hypotheses[scope];
    conclude(hypotheses, quotas);
    for (const [, both] of this.#quotas)
      both[scope].order.finish(both[scope].enforcement, hypotheses, this.#docket);
    // A charge on completion may pass a limit by any cost; and without rules, an answer that waits for it may
    // show the limit of a later window.
    const fits = ({ terms }: Hypothesis): boolean =>
      terms.charging === "at-decision" || (hypotheses.isGiven && terms.charging === "reserved");
    if (!hypotheses.left.every(fits)) return;
    for (const [, both] of this.#quotas) both[scope].oversize.finish(both[scope].enforcement, this.#docket);
  }

  /** A user's window that refuses while limits are off does so always. */
  #ruleOutByUsers(scope: Scope): void {
    for (const [org, both] of this.#quotas) {
      const { refusals, enforcement } = both[scope];
      const exhibit = refusals.userEnforcedAlways(enforcement);
      if (exhibit === null) continue;
      this.#shown?.evidence.ruleOut(scope, {
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
    const shown = this.#shown;
    if (shown === null) return [];
    return scopes.flatMap((scope) => {
      const { anchor, rounding } = shown.shapes[scope];
      if (!this.#seen.has(scope)) return [];
      return [
        inferOption("anchor", scope, anchor),
        ...inferCounts(scope, this.#hypotheses[scope]),
        inferOption("reset", scope, rounding),
        inferOption("retryAfter", scope, shown.evidence.retryAfter[scope]),
      ];
    });
  }

  #addUnknown(call: TraceCall, own: OrganizationScope): void {
    const { most } = unknownCharge(call);
    for (const { quota } of this.#quotas.touched(call, own).values()) quota.addUnknown(call.sent, null, most);
  }

  #addAnswer(line: number, call: TraceCall, own: OrganizationScope): void {
    const terms = this.#terms[call.scope];
    const counted = countedOf(call);
    if (call.kind === "call" && counted.role === "refused")
      own.refusals.add(line, call.sent, call.received, counted.refusedBy);
    if (call.kind === "call" && counted.role === "refused") own.order.add(line, call);
    if (counted.sure && terms.charging !== "postpaid") own.oversize.add(line, call);
    this.#amounts.call(call.scope, counted);
    for (const [owner, { quota, bare }] of this.#quotas.touched(call, own)) {
      const charge = chargeOf(counted, owner, terms);
      const reading = headerReading(call, owner, terms.remaining === "signed");
      if (reading !== null && quota.isInRange(reading.reset))
        quota.add(this.#mark(line, call, call.scope, reading, counted, charge));
      else {
        quota.addUnknown(call.sent, call.received, charge.held);
        if (counted.role === "admitted") quota.addCharge(line, call.sent, call.received, charge.least);
      }
      // If there is but one clock, nothing stands between limiter and client that could answer in its place.
      if (reading === null && counted.role === "admitted" && call.status === 200)
        bare?.add(line, call.sent, call.received, chargeOf({ ...counted, sure: true }, owner, terms).least);
    }
  }

  #addBody(line: number, call: TraceCall, both: Record<Scope, OrganizationScope>): void {
    const counted = countedOf(call);
    for (const scope of scopes) {
      const reading = statusReading(call, scope);
      if (reading === null) continue;
      this.#docket.clues.statusBody(reading.count, scope === call.scope ? usedByUser(call) : null);
      const { organization, enforcement, grid } = both[scope];
      if (reading.resetAt !== null) grid?.observe(line, reading.resetAt, reading.reset);
      const mark = this.#mark(line, call, scope, reading, counted);
      if (organization.quota.isInRange(reading.reset)) {
        organization.quota.add(mark);
        this.#clock.observe({ line, at: call.received, org: call.org, scope }, reading, mark.end);
      }
      if (reading.enforced !== null) enforcement.observe(call.sent, call.received, reading.enforced);
    }
  }

  #mark(
    line: number,
    call: TraceCall,
    scope: Scope,
    reading: ShownReading,
    counted: Counted,
    charge?: MarkCharge,
  ): Mark {
    const rounding = this.#terms[scope].reset ?? this.#shown?.shapes[scope].rounding.known ?? null;
    const end = this.#time.windowEnd(call.sent, call.received, reading.reset, rounding);
    return markOf(line, call, reading, end, counted, charge);
  }
}
