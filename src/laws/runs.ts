// Two runs of one script, compared answer by answer.
import type { History, HistoryEvent } from "./history.ts";
import { type Breach, type Compared, type Judgement, type Opinion, OpinionTally, type Trial } from "./law.ts";
import { algorithmOf } from "./script.ts";

/** Which part of an answer two runs are compared by. */
type Part = "organization" | "user";

const both: readonly Part[] = ["organization", "user"];

export interface ComparisonOptions {
  readonly parts?: readonly Part[];
  /** Indexes in the history, from the first that is compared to the first that is not. */
  readonly from?: number;
  readonly until?: number;
  /** Delay of the other run's operations, ms; they stand at the same indexes then. */
  readonly shiftMs?: number;
  /** Only who was admitted is compared. */
  readonly decisions?: boolean;
}

/**
 * Compares the answers of a run with those of another that has some of its operations, or all of them shifted.
 *
 * A bucket that adds up fractions may find 0.9999999999999999 units in one run and 1 in the other. So what is no
 * fixed window is compared by its decisions alone, and one that would be another 1 ms later, or at the next whole
 * second, is no difference.
 */
export async function comparison(
  trial: Trial,
  history: History,
  compared: Compared,
  options: ComparisonOptions = {},
): Promise<Judgement> {
  const { parts = both, from = 0, until = Number.POSITIVE_INFINITY, shiftMs = 0 } = options;
  const isExact = algorithmOf(trial.script) === "fixed-window";
  const shown = isExact && options.decisions !== true ? parts : null;
  const there = new Map(compared.history.map((event) => [event.op, event]));
  const tally = new OpinionTally();
  for (const [at, event] of history.entries()) {
    const other = shiftMs === 0 ? there.get(event.op) : compared.history[at];
    if (other === undefined || at < from) continue;
    if (at >= until) break;
    const opinion = same(event, other, shown, shiftMs);
    const differs = opinion !== null && opinion !== "kept";
    // From here on the two runs differ for a reason that is none.
    if (differs && !isExact && (await isNoise(trial, history, compared.history, event, other))) break;
    tally.add(opinion, at, null);
    if (differs) break;
  }
  return { history, compared, judged: tally.judged, violation: tally.violation };
}

/** Tells whether the run that refused would have admitted a moment later. */
async function isNoise(
  { play }: Trial,
  history: History,
  others: History,
  event: HistoryEvent,
  other: HistoryEvent,
): Promise<boolean> {
  const refused = "decision" in event && !event.decision.admitted;
  const [run, op] = refused ? [history, event.op] : [others, other.op];
  const before = run.slice(
    0,
    run.findIndex((candidate) => candidate.op === op),
  );
  for (const atMs of [op.atMs + 1, op.atMs - (op.atMs % 1000) + 1000]) {
    const later = await play([...before.map((earlier) => earlier.op), { ...op, atMs }]);
    const last = later.at(-1);
    if (last !== undefined && "decision" in last && last.decision.admitted) return true;
  }
  return false;
}

type Shown = readonly [path: string, members: Readonly<Record<string, unknown>> | null | undefined];

/** The parts of an answer that are compared: its verdict first, then what it shows. */
function shownBy(event: HistoryEvent, parts: readonly Part[] | null): readonly Shown[] {
  const shown: Shown[] = [];
  if ("decision" in event) {
    const { admitted, refusedBy } = event.decision;
    shown.push(["", { admitted, refusedBy }]);
  }
  if (parts === null) return shown;
  const readings = "decision" in event ? event.decision : "readings" in event ? event.readings : {};
  for (const part of parts) shown.push([`${part}.`, readings[part]]);
  if ("status" in event) shown.push(["rest.", event.status.rest], ["graphql.", event.status.graphql]);
  return shown;
}

/**
 * The first number that differs between two answers to the same operation, or "kept", or `null` (none shown). What one
 * run does not show is not compared.
 */
function same(
  here: HistoryEvent,
  there: HistoryEvent,
  parts: readonly Part[] | null,
  shiftMs: number,
): Opinion {
  const mine = shownBy(here, parts);
  let compared = false;
  for (const [at, [path, others]] of shownBy(there, parts).entries()) {
    const own = mine[at]?.[1];
    for (const [field, other] of Object.entries(others ?? {})) {
      const value = own?.[field] ?? undefined;
      const theirs =
        field === "resetAtMs" && typeof other === "number" ? other - shiftMs : (other ?? undefined);
      if (value === undefined || theirs === undefined) continue;
      compared = true;
      if (value !== theirs) return differs(path + field, value, theirs);
    }
  }
  return compared ? "kept" : null;
}

const differs = (path: string, here: unknown, there: unknown): Breach => ({
  expected: `${path} ${there}, as in the other run`,
  got: `${path} ${here}`,
  arithmetic: "the two runs differ only in what must not matter",
});
