// A replay's spans of time, as the pictures of calls over time take them.
import type { ReplaySlot } from "../summary/replay-result.ts";
import type { CallSlot } from "./call-bars.ts";

/** By time since the first of them. */
export function callSlots(slots: readonly ReplaySlot[]): CallSlot[] {
  const startAt = slots[0]?.atMs ?? 0;
  return slots.map(({ atMs, calls, refusedByOrganization, refusedByUser }) => ({
    atMs: atMs - startAt,
    admitted: calls - refusedByOrganization - refusedByUser,
    refusedByUser,
    refusedByOrganization,
    refusedByQuota: 0,
    refusedByUnknown: 0,
    unanswered: 0,
  }));
}
