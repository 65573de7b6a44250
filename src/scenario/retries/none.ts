// The client that does not retry.
import { GIVE_UP, type RefusalPolicy } from "../client.ts";

/** Gives up a refused call. The client then goes on with its next one. */
export function none(): RefusalPolicy {
  return { name: "none", retryAt: () => GIVE_UP };
}
