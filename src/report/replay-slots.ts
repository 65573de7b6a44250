// A replay's spans of time, as the pictures of calls over time take them.
import type { CallSlot } from "./call-bars.ts";
import type { SlotView } from "./replay-view.ts";

/** By time since the first of them. */
export function callSlots(slots: readonly SlotView[]): CallSlot[] {
  const startAt = slots[0]?.atMs ?? 0;
  return slots.map(({ atMs, calls, refusedByOrganization, refusedByUser, refusedByQuota }) => ({
    atMs: atMs - startAt,
    admitted: calls - refusedByOrganization - refusedByUser - refusedByQuota,
    refusedByUser,
    refusedByOrganization,
    refusedByQuota,
    refusedByUnknown: 0,
    unanswered: 0,
  }));
}

/** Calls of a span that would have been refused. */
export const refusedIn = ({ refusedByOrganization, refusedByUser, refusedByQuota }: SlotView): number =>
  refusedByOrganization + refusedByUser + refusedByQuota;
