// The client that takes no for an answer.
import { GIVE_UP, type RefusalPolicy } from "../client.ts";

/** A refused call is lost; the client goes on with what it would do next. */
export function none(): RefusalPolicy {
  return { name: "none", retryAt: () => GIVE_UP };
}
