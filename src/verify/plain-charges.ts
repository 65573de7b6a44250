// The charges of calls of the short way, in the form of a mark's row (`mark-rows.ts`). `chargeOf` tells each once by
// kind of answer, so that there is one reading of the rules.
import type { Owner } from "../rules/rules.ts";
import { type Counted, chargeOf } from "./mark.ts";
import { ACTUAL, COST, chargeBits, HAS_ACTUAL, HAS_COST, NONE, roleBits, SURE } from "./mark-rows.ts";
import type { Terms } from "./terms.ts";

/** Owners that refused, by kind of answer: admitted; refused by an unknown owner, by the user, by the organization. */
const refusers: readonly (Owner | null)[] = [null, null, "user", "organization"];

/** Returns the kind of an answer. @param by owner whose window refused; `null` if unknown */
export const kindOf = (isRefused: boolean, by: Owner | null): number =>
  isRefused ? (by === null ? 1 : refusers.indexOf(by, 2)) : 0;

/** Bits and place of `HELD` in a mark, by scope, kind of answer, whether it shows the final charge, and owner. */
export interface Charges {
  readonly bits: Int32Array;
  readonly held: Int32Array;
}

/** Tells all charges by `chargeOf`, with a call that asks for more than its final charge. */
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
