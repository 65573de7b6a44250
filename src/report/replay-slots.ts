// A replay's spans of time, in the form for pictures of calls over time.
import type { CallSlot } from "./call-bars.ts";
import type { SlotView } from "./replay-view.ts";

/** Returns the spans by their time since the first one. */
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

/** Returns the number of a span's calls that would have been refused. */
export const refusedIn = ({ refusedByOrganization, refusedByUser, refusedByQuota }: SlotView): number =>
  refusedByOrganization + refusedByUser + refusedByQuota;
