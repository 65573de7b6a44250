// Calls that a law adds to a script.
import type { QuotaCallEvent, QuotaHistory, QuotaOp } from "./quotas/script.ts";

export const nextId = (history: QuotaHistory): number =>
  1 + Math.max(-1, ...history.map(({ op }) => ("id" in op ? op.id : 0)));

/**
 * Makes a call of a history once more, so much later; nobody calls meanwhile.
 * @param play a fresh limiter's, as `Trial` has it
 * @param isAnother false: that call itself comes so much later
 * @returns that history, with its last call; `null` where there is none
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
