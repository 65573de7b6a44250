// A judgement under way, of either version of the trace: windows are closed while calls come. At the end each group of
// counts, and then each kind, is concluded.
import type { LawName } from "../rules/laws.ts";
import { outOfOrderMsMost } from "../trace/read.ts";
import type { TraceHeader } from "../trace/record.ts";
import type { Acceptance } from "./acceptance.ts";
import type { AmountsTally } from "./amounts.ts";
import { TraceTime } from "./clock.ts";
import { judgeCommonGrid, type LastWindow } from "./common-grid.ts";
import { conclude } from "./conclusion.ts";
import { type CountGroup, type CountKind, Counts, type JudgedCount } from "./count.ts";
import { Docket } from "./docket.ts";
import { addAll, nothingTested } from "./evidence.ts";
import type { Holding } from "./held-rows.ts";
import type { Counted, Mark, MarkCharge } from "./mark.ts";
import type { Judged } from "./passes.ts";

export interface JudgeOptions {
  /**
   * Number of calls between two closings. A closing judges every window that has ended, then drops it. Default: 4,096,
   * or eight for each count if that is more.
   */
  readonly callsBetweenClosings?: number;
  /**
   * Share of admitted points, from 0 to 1, that may have been above a limit: the deviation that the owner of an
   * approximate limiter accepts.
   */
  readonly accept?: Acceptance;
  /**
   * Number of rows that a window holds, if calls can be read again; of more rows, clean ones go. A window that is
   * stopped later is read again. Default: 32,768.
   */
  readonly rowsMost?: number;
  /** Number of violations that are kept and told one by one; further ones are counted. Default: 1,000. */
  readonly violationsMost?: number;
}

const closeEveryLeast = 4096;
const closeEveryPerQuota = 8;

export class Judging {
  readonly amounts: AmountsTally;
  readonly docket: Docket;
  readonly time: TraceTime;
  readonly counts: Counts;
  /** Laws that counts which are not read were held to; known once all is closed. */
  readonly unreadLaws = new Set<LawName>();
  readonly #groups: () => Iterable<CountGroup>;
  readonly #closeEvery: number | null;
  /** Number of records at which windows are closed next. */
  #closeNext: number;
  #records = 0;
  #windows = 0;
  #latest = Number.NEGATIVE_INFINITY;

  /** @param groups returns the groups seen so far, in the order in which they are judged */
  constructor(
    header: Pick<TraceHeader, "startedAt" | "clock" | "complete">,
    { callsBetweenClosings, violationsMost = 1000, accept }: JudgeOptions,
    amounts: AmountsTally,
    groups: () => Iterable<CountGroup>,
    holding: Holding,
  ) {
    this.amounts = amounts;
    this.docket = new Docket({ amounts, violationsMost, accept: accept ?? null });
    this.time = new TraceTime(header.clock);
    this.counts = new Counts(header, this.time, this.docket, holding);
    this.#groups = groups;
    this.#closeEvery = callsBetweenClosings ?? null;
    this.#closeNext = callsBetweenClosings ?? closeEveryLeast;
  }

  get seen(): { readonly records: number; readonly windows: number } {
    return { records: this.#records, windows: this.#windows };
  }

  /** Returns the verdict with the quotas that asked for rows which had gone. */
  judged<V>(verdict: V): Judged<V> {
    return { verdict, asked: this.counts.open.held.asked };
  }

  count(received: number): void {
    this.#records += 1;
    if (received > this.#latest) this.#latest = received;
    if (this.#records >= this.#closeNext) this.#close();
  }

  /** Closes the windows that are over by now (`JudgedQuota.close`). */
  #close(): void {
    const watermark = this.#latest - outOfOrderMsMost;
    for (const { counts } of this.#groups())
      for (const { quota, bare } of counts) {
        quota?.close(watermark);
        bare?.close(watermark);
      }
    const every = this.#closeEvery ?? Math.max(closeEveryLeast, closeEveryPerQuota * this.counts.size);
    this.#closeNext = this.#records + every;
  }

  /** Adds a call to a count that it used. @param mark `null` if its answer shows no window of the count */
  charge(
    { quota }: JudgedCount,
    line: number,
    { sent, received }: { readonly sent: number; readonly received: number },
    { role }: Counted,
    { least, held }: MarkCharge,
    mark: Mark | null,
  ): void {
    if (mark !== null) {
      quota.add(mark);
      return;
    }
    quota.addUnknown(sent, received, held);
    if (role === "admitted") quota.addCharge(line, sent, received, least);
  }

  /** Judges all windows that are left. */
  closeAll(): void {
    const { docket } = this;
    const last: LastWindow[] = [];
    const charged = new Map<string, number>();
    for (const { refusals, enforcement, enforced, grid, counts } of this.#groups()) {
      refusals.finish(enforcement, docket);
      grid?.finish(docket);
      for (const { name, quota, bare, unread, isOnEpoch } of counts) {
        for (const judge of unread) {
          judge.finish(enforcement, docket);
          if (judge.isTested) this.unreadLaws.add(judge.law);
        }
        if (quota === null) continue;
        quota.finish();
        bare?.finish(enforcement, docket);
        this.#windows += quota.closed;
        if (isOnEpoch && quota.lastOnGrid !== null) last.push(quota.lastOnGrid);
        const peers = "quota" in name.told ? name.told.quota : name.owner;
        if (quota.isCharged) charged.set(peers, (charged.get(peers) ?? 0) + 1);
      }
      const { on, off } = enforced.finish();
      addAll(docket.evidence.bounded, on);
      addAll(docket.evidence["unenforced-never-refuses"], off);
    }
    judgeCommonGrid(last, docket);
    // A single caller has no other caller to be isolated from.
    if (Math.max(0, ...charged.values()) < 2) Object.assign(docket.evidence.isolated, nothingTested());
  }

  conclude(kind: CountKind): void {
    const { hypotheses } = kind;
    const groups = [...this.#groups()].filter((group) => group.kind === kind);
    const judged = groups.flatMap(({ enforcement, lost, counts }) =>
      counts.flatMap(({ quota }) => (quota === null ? [] : [{ quota, enforcement, lost }])),
    );
    conclude(hypotheses, judged);
    for (const { order, enforcement } of groups) order?.finish(enforcement, hypotheses, this.docket);
    // Without rules, an answer that waits for its charge may show the limit of a later window.
    const fits = hypotheses.isGiven || hypotheses.left.every(({ terms }) => terms.charging === "at-decision");
    if (fits) for (const { oversize, enforcement } of groups) oversize.finish(enforcement, this.docket);
  }
}
