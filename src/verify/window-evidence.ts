// The evidence of one window whose counts were judged: the laws that it tested, and by how much. A window tests a law
// if the law's breach would have shown.

import { addWindow } from "./evidence.ts";
import type { RoleCounts } from "./mark-rows.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { Terms } from "./terms.ts";

/** A window whose counts were judged. */
export interface TestedWindow {
  readonly setting: QuotaSetting;
  readonly roles: RoleCounts;
  /** Earliest instant at which it can have opened, and latest at which it can have ended. */
  readonly from: number;
  readonly to: number;
  readonly fromZero: boolean;
  /** True if every call that may have been charged here is known. */
  readonly complete: boolean;
  /** True if a window of the same quota was seen before it. */
  readonly isNext: boolean;
  /** True if its count came to its limit. */
  readonly isFull: boolean;
  /** Hypotheses that may hold, by their terms. */
  readonly left: readonly { readonly terms: Terms }[];
}

/** Adds a window's evidence to each law that it tested. */
export function noteTested(window: TestedWindow): void {
  const { setting, roles, fromZero, complete, isNext } = window;
  const { evidence } = setting.docket;
  const { size, refused, status, admitted } = roles;
  const accountable = fromZero && complete;
  const compared = size > 1;
  if (accountable || compared) addWindow(evidence.conserved, size, refused, isNext);
  if (compared || (accountable && isNext)) addWindow(evidence.monotone, size, refused, isNext);
  noteEnforced(window);
  if (!complete) return;
  if (status > 0 && (fromZero || compared)) addWindow(evidence["status-free"], status, 0, isNext);
  const free = refused > 0 && (fromZero || compared) ? freeRefusals(window) : 0;
  if (free > 0) addWindow(evidence["all-or-nothing"], free, free, isNext);
  if (!fromZero) return;
  addWindow(evidence.isolated, size, refused, isNext);
  if (isNext && admitted + refused > 0) addWindow(evidence.recovers, admitted + refused, refused, true);
}

/** Returns the number of a window's refusals that charge it nothing, whichever terms hold. */
function freeRefusals({ setting: { name }, roles, left }: TestedWindow): number {
  const { refusedByOrganization, refusedByUser, refused } = roles;
  const unnamed = refused - refusedByOrganization - refusedByUser;
  const spares = left.every(({ terms }) => terms.refused === "uncounted");
  if (name.owner === "user") return refusedByOrganization + (spares ? refusedByUser + unnamed : 0);
  const drainsNothing = left.every(({ terms }) => terms.refusedByUser === "charges-nothing");
  return (
    (spares ? refusedByOrganization : 0) +
    (drainsNothing ? refusedByUser : 0) +
    (spares && drainsNothing ? unnamed : 0)
  );
}

interface Left {
  readonly terms: Terms;
}
const binds = ({ terms }: Left): boolean => terms.refused === "uncounted" && terms.charging !== "postpaid";
const followsOrganization = ({ terms }: Left): boolean => terms.userEnforced === "with-organization";
const isEnforcedAlways = ({ terms }: Left): boolean => terms.userEnforced === "always";

/** Adds evidence that hinges on enforcement: counts under a limit that binds, and calls admitted where it does not. */
function noteEnforced({ setting, roles, from, to, fromZero, isNext, isFull, left }: TestedWindow): void {
  const { name, docket, enforcement } = setting;
  const isBound = fromZero && left.some(binds);
  const isAlways = name.owner === "user" && left.every(isEnforcedAlways);
  if (isBound && isAlways) addWindow(docket.evidence.bounded, roles.size, roles.refused, isNext);
  const speaksOfOff = isFull && (name.owner === "organization" || left.every(followsOrganization));
  const value = isBound || speaksOfOff ? enforcement.throughout(from, to) : null;
  if (value === null || (value && (!isBound || isAlways)) || (!value && !speaksOfOff)) return;
  setting.enforced.add(value, from, to, roles.size, roles.refused, isNext);
}
