// A token bucket over a record of the table (POLICY.md §3). It counts what it lacks, in parts of `1 / everyMs` of a unit,
// of which `amount` come back each ms: integers throughout, so that nothing is rounded at any time since the epoch.
import { lowestTerms } from "../../policy/checks.ts";
import type { TokenBucket } from "../../policy/policy.ts";
import { COUNT, type CountTable, DOUBLES, type Profile, SEEN } from "../count-table.ts";

/** `first` is the parts that come back in a ms, `second` the parts of a unit. */
export function bucketProfile({ capacity, refill }: TokenBucket): Profile {
  const { amount, everyMs } = lowestTerms(refill);
  return { limit: capacity, first: amount, second: everyMs };
}

/** Parts that are lacking after `passedMs`. A product that is not exact is greater than any count. */
function partsAfter(parts: number, passedMs: number, amount: number): number {
  const back = passedMs * amount;
  return back >= parts ? 0 : parts - back;
}

/** Moves the clock to `nowMs`, never back, and gives back what came back since. */
export function advanceBucket(table: CountTable, row: number, nowMs: number): void {
  const { doubles } = table;
  const at = row * DOUBLES;
  const seen = doubles[at + SEEN] as number;
  if (nowMs <= seen) return;
  const parts = doubles[at + COUNT] as number;
  if (parts > 0) doubles[at + COUNT] = partsAfter(parts, nowMs - seen, table.profile(row).first);
  doubles[at + SEEN] = nowMs;
}

/** Whole units that there is room for. */
export function bucketRoom(table: CountTable, row: number): number {
  const { limit, second } = table.profile(row);
  return limit - Math.ceil((table.doubles[row * DOUBLES + COUNT] as number) / second);
}

export function chargeBucket(table: CountTable, row: number, cost: number): void {
  const at = row * DOUBLES + COUNT;
  const parts = (table.doubles[at] as number) + cost * table.profile(row).second;
  table.doubles[at] = Math.min(parts, Number.MAX_SAFE_INTEGER);
}

/** Gives back at any time, never above the capacity. */
export function giveBackBucket(table: CountTable, row: number, cost: number): void {
  const at = row * DOUBLES + COUNT;
  table.doubles[at] = Math.max(0, (table.doubles[at] as number) - cost * table.profile(row).second);
}

/** The instant at which there is room for `needed`, seen from the clock. */
export function bucketRoomAt(table: CountTable, row: number, needed: number): number {
  const { limit, first, second } = table.profile(row);
  const at = row * DOUBLES;
  const tooMany = (table.doubles[at + COUNT] as number) - (limit - needed) * second;
  return (table.doubles[at + SEEN] as number) + Math.max(0, Math.ceil(tooMany / first));
}

/** It is reset when it is full. */
export function readBucket(
  table: CountTable,
  row: number,
  now: number,
  out: { used: number; resetAtMs: number },
): void {
  const { first, second } = table.profile(row);
  const at = row * DOUBLES;
  const passed = now - (table.doubles[at + SEEN] as number);
  const parts = partsAfter(table.doubles[at + COUNT] as number, passed, first);
  out.used = Math.ceil(parts / second);
  out.resetAtMs = now + Math.ceil(parts / first);
}
