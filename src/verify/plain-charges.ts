// The charges of calls of the short way, as a mark's row says them (`mark-rows.ts`): told by `chargeOf` once for each kind
// of answer, so that there is one reading of the rules.
import type { Owner } from "../rules/rules.ts";
import { type Counted, chargeOf } from "./mark.ts";
import { ACTUAL, COST, chargeBits, HAS_ACTUAL, HAS_COST, NONE, roleBits, SURE } from "./mark-rows.ts";
import type { Terms } from "./terms.ts";

/** The kinds of answers: let through; refused by nobody knows whose window; by the user's; by the organization's. */
const refusers: readonly (Owner | null)[] = [null, null, "user", "organization"];

/** @param by whose window refused; `null` where the refusal does not say */
export const kindOf = (isRefused: boolean, by: Owner | null): number =>
  isRefused ? (by === null ? 1 : refusers.indexOf(by, 2)) : 0;

/** By scope, kind of answer, whether it says what was charged in the end, and owner: a mark's bits, and where `HELD` is. */
export interface Charges {
  readonly bits: Int32Array;
  readonly held: Int32Array;
}

/** Asks `chargeOf` about each, by a call that asks for more than it is charged in the end. */
export function chargesOf(termsOf: readonly [Terms, Terms]): Charges {
  const each = termsOf.flatMap((terms) =>
    refusers.flatMap((refusedBy, kind) =>
      [null, 1].flatMap((actual) =>
        (["organization", "user"] as const).map((owner) => {
          const role = kind === 0 ? "admitted" : "refused";
          const counted: Counted = { role, refusedBy, cost: 2, asked: 2, actual, sure: kind === 0 };
          const left = chargeOf(counted, owner, terms);
          const known = HAS_COST | (actual === null ? 0 : HAS_ACTUAL) | (kind === 0 ? SURE : 0);
          return {
            bits: known | chargeBits({ ...left, actual }) | roleBits(role, refusedBy),
            held: left.held === 2 ? COST : left.held === 1 ? ACTUAL : NONE,
          };
        }),
      ),
    ),
  );
  return {
    bits: Int32Array.from(each, ({ bits }) => bits),
    held: Int32Array.from(each, ({ held }) => held),
  };
}
