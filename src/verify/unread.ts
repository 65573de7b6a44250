// A count without windows that are read: what is let through, refused and shown as used tells of it.
import type { LawName } from "../rules/laws.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";

/** Units that an answer shows as used, of a limit. */
export interface ShownLevel {
  readonly used: number;
  readonly limit: number;
  /** True of a refusal, which may show nothing left whatever is. */
  readonly mayOverstate: boolean;
}

/** An answered call, as far as it may have used the count. */
export interface UnreadCall {
  readonly line: number;
  /** Span in which it was decided, and its answer written, on the clients' clock, ms. */
  readonly from: number;
  readonly to: number;
  /** Units that it surely left charged when it was let through; 0 for any other call. */
  readonly least: number;
  /** Most units that it may have left charged. */
  readonly most: number;
  /** What its answer shows of the count; `null` if nothing. */
  readonly level: ShownLevel | null;
  /** Units that this count refused, and whether the refusal names it; `null` for other calls. */
  readonly refused: { readonly cost: number; readonly isNamed: boolean } | null;
}

export interface UnreadJudge {
  readonly law: LawName;
  /** True once something was held to the law. */
  readonly isTested: boolean;
  add(call: UnreadCall): void;
  /** Adds a call of unknown outcome. @param most units that it may be charged at any later time */
  addUnknown(most: number): void;
  /** @param enforcement enforcement of the limit; nothing is judged while it is not known */
  finish(enforcement: Enforcement, docket: Docket): void;
}
