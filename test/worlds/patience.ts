// Reactions of the worlds' callers to a refusal. Fitted scenarios are tested with the same policies, by name.
import type { Patience } from "./world.ts";

/** Returns the reset plus a delay shorter than a call, as in programs. */
export const atReset: Patience = ({ receivedMs, resetMs }, _attempt, chance) =>
  Math.max(receivedMs, resetMs) + chance.between(5, 80);

export const patiences: Readonly<Record<"reset" | "spread" | "backoff", Patience>> = {
  reset: atReset,
  spread: ({ receivedMs, resetMs }, _attempt, chance) =>
    Math.max(receivedMs, resetMs) + chance.between(0, 10_000),
  backoff: ({ receivedMs }, attempt, chance) =>
    receivedMs + Math.min(60_000, 1_000 * 2 ** (attempt - 1)) * chance.between(0.5, 1),
};
