// The bounds of all retry policies, after which they stop trying.
import { type ClientEvent, type ClientRecord, GIVE_UP, type RefusalPolicy } from "../client.ts";
import type { Duration, Mistakes } from "../mistakes.ts";

export interface BoundsInput {
  /** Greatest number of attempts at a call, the first one included. Default: no bound. */
  readonly attempts?: number;
  /** Latest time of an attempt after the call was first wanted. Default: no bound. */
  readonly deadline?: Duration;
  /**
   * True if calls without an answer, and those answered 5xx, are retried with the same waits. Default: false. They show
   * no headers, so a policy that waits by a header waits its `fallback`, or gives up.
   */
  readonly unanswered?: boolean;
}

export const boundMembers: readonly string[] = ["attempts", "deadline", "unanswered"];

/**
 * Returns a policy that tries again as `wait` says, within bounds.
 * @param path the function's name, for mistakes in the bounds
 * @param wait returns ms from the answer, whole, or `GIVE_UP`
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
