// A judgement under way, whichever version of the trace it reads: windows are closed while calls come, and at the end
// each group of counts, and then each kind, says what stands.
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
   * Windows that are over are looked for, judged and forgotten after so many calls; where this is left out, after
   * 4096, or a few for each quota that has to be looked at.
   */
  readonly callsBetweenClosings?: number;
  /**
   * Deviation that the owner of a limiter which is approximate on purpose accepts: a share, from 0 to 1, of what was
   * admitted that may have been admitted above a limit.
   */
  readonly accept?: Acceptance;
  /**
   * Rows of one window that are held, where calls can be read again: of more, those go that are clean. Where a window is
   * stopped later, its calls are read again. Default: 32,768.
   */
  readonly rowsMost?: number;
  /** Violations that are kept and told one by one; the others are counted. */
  readonly violationsMost?: number;
}

const closeEveryLeast = 4096;
const closeEveryPerQuota = 8;

export class Judging {
  readonly amounts: AmountsTally;
  readonly docket: Docket;
  readonly time: TraceTime;
  readonly counts: Counts;
  readonly #groups: () => Iterable<CountGroup>;
  readonly #closeEvery: number | null;
  /** At how many records windows are closed next. */
  #closeNext: number;
  #records = 0;
  #windows = 0;
  #latest = Number.NEGATIVE_INFINITY;

  /** @param groups those that were seen so far, in the order in which they are judged */
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

  /** Records, and windows that were judged. */
  get seen(): { readonly records: number; readonly windows: number } {
    return { records: this.#records, windows: this.#windows };
  }

  /** The verdict, with what it lacks. */
  judged<V>(verdict: V): Judged<V> {
    return { verdict, asked: this.counts.open.held.asked };
  }

  /** One more call was taken. */
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

  /** A call used a count, whose windows are judged. @param mark `null` where its answer shows no window of it */
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
      for (const { name, quota, bare, isOnEpoch } of counts) {
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
    // One caller alone is isolated from nobody.
    if (Math.max(0, ...charged.values()) < 2) Object.assign(docket.evidence.isolated, nothingTested());
  }

  /** Says what stands of the counts of one kind. */
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
