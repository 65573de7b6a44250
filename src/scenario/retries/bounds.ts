// The bounds that all retry policies share: when they stop trying.
import { type ClientEvent, type ClientRecord, GIVE_UP, type RefusalPolicy } from "../client.ts";
import type { Duration, Mistakes } from "../mistakes.ts";

export interface BoundsInput {
  /** Greatest number of attempts at a call, the first one included; no bound where it is left out. */
  readonly attempts?: number;
  /** No attempt is sent later than this after the call was first wanted; no bound where it is left out. */
  readonly deadline?: Duration;
  /**
   * Calls without an answer, and those answered 5xx, are tried again, too, after the same waits; not where it is left
   * out. They show no headers: what waits by a header waits its `fallback`, or gives up.
   */
  readonly unanswered?: boolean;
}

export const boundMembers: readonly string[] = ["attempts", "deadline", "unanswered"];

/**
 * A policy that tries again as `wait` says, within bounds.
 * @param path what mistakes in the bounds are called by: the function's name
 * @param wait ms from the answer, whole, or `GIVE_UP`
 */
export function bounded(
  name: string,
  path: string,
  { attempts = Number.MAX_SAFE_INTEGER, deadline, unanswered = false }: BoundsInput,
  mistakes: Mistakes,
  wait: (record: ClientRecord, event: ClientEvent) => number,
): RefusalPolicy {
  const most = mistakes.whole(`${path}.attempts`, attempts, 1, Number.MAX_SAFE_INTEGER);
  const deadlineMs =
    deadline === undefined ? Number.POSITIVE_INFINITY : mistakes.duration(`${path}.deadline`, deadline, 1);
  if (typeof unanswered !== "boolean") mistakes.add(`${path}.unanswered`, unanswered, "true or false");
  mistakes.finish("this retry policy cannot be used");
  return {
    name,
    ...(unanswered ? { unanswered } : {}),
    retryAt(record, event) {
      if (event.attempt + 1 >= most) return GIVE_UP;
      const waitMs = wait(record, event);
      if (waitMs === GIVE_UP) return GIVE_UP;
      const atMs = event.nowMs + waitMs;
      return atMs - event.wantedMs > deadlineMs ? GIVE_UP : atMs;
    },
  };
}
