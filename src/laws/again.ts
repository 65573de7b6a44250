// Adds calls to a history, for laws that ask what a limiter would answer next.
import type { QuotaCallEvent, QuotaHistory, QuotaOp } from "./quotas/script.ts";

export const nextId = (history: QuotaHistory): number =>
  1 + Math.max(-1, ...history.map(({ op }) => ("id" in op ? op.id : 0)));

/**
 * Repeats a call of a history after a wait, in ms, in which nobody calls.
 * @param play plays operations on a fresh limiter (`Trial.play`)
 * @param isAnother false: the call is not repeated, but comes later by that wait
 * @returns the new history and its last call; `null` if operation `at` is no call
 */
export async function triedAgain(
  play: (ops: readonly QuotaOp[]) => Promise<QuotaHistory>,
  history: QuotaHistory,
  at: number,
  waitMs: number,
  isAnother = true,
): Promise<{ readonly tried: QuotaHistory; readonly last: QuotaCallEvent } | null> {
  const ops = history.slice(0, at + 1).map(({ op }) => op);
  const op = ops.at(-1);
  if (op?.do !== "call") return null;
  const again = { ...op, atMs: op.atMs + waitMs, ...(isAnother && { id: nextId(history) }) };
  const tried = await play([...(isAnother ? ops : ops.slice(0, -1)), again]);
  const last = tried.at(-1);
  return last !== undefined && "admitted" in last ? { tried, last } : null;
}
