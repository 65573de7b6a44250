// A sight: one answer's view of one window. All conclusions on clocks, lengths and anchors rest on sights.

import { quotaNames } from "../policy/names.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import { headersOf } from "../wire/fields.ts";
import { type SeenCall, whole } from "./seen.ts";

/** A reading of a window, true at some instant from `call.sentMs` to `call.receivedMs`. */
export interface WindowReadingSight {
  readonly call: SeenCall;
  readonly limit: number | null;
  /** Count, from the status body alone: headers are clamped. */
  readonly current: number | null;
  readonly remaining: number | null;
  readonly reset: number | null;
  /** Time of the reset by the target's clock, ms, from the status body alone. */
  readonly resetAtMs: number | null;
}

/** An organization's window as a status body shows it, with all members. */
export interface FullSight extends WindowReadingSight {
  readonly limit: number;
  readonly current: number;
  readonly reset: number;
  readonly resetAtMs: number;
}

/** Returns the sights of an organization's window in status bodies, in order. */
export function statusSights(calls: readonly SeenCall[], scope: Scope): FullSight[] {
  return calls.flatMap((call) => {
    const body = call.statusScopes?.[scope] ?? null;
    if (body === null) return [];
    const { limit, current, reset, resetAtMs } = body;
    return [{ call, limit, current, remaining: null, reset, resetAtMs }];
  });
}

/** Returns the sights of a window in headers, in order; only from answers that name the window correctly. */
export function headerSights(calls: readonly SeenCall[], scope: Scope, owner: Owner): WindowReadingSight[] {
  return calls.flatMap((call) => {
    const { scopeName, limit, remaining, reset } = headersOf(call.headers, owner);
    if (call.scope !== scope || scopeName !== quotaNames[scope][owner]) return [];
    return [
      {
        call,
        limit: whole(limit),
        current: null,
        remaining: whole(remaining),
        reset: whole(reset),
        resetAtMs: null,
      },
    ];
  });
}
