// A mark: what one answer says of one window, and what its call may have charged there. Counts are judged by marks
// alone.
import type { Owner } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { refuserIn } from "../wire/bodies.ts";
import { hasHeaders } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { ShownReading } from "./answer.ts";
import type { Span } from "./clock.ts";
import type { Terms } from "./terms.ts";

export type CallRole = "admitted" | "refused" | "status" | "other";

/** Points that a call adds to a window, as far as they are known. */
export interface MarkCharge {
  /** Points that it surely leaves charged, if it belongs to this window at all. */
  readonly least: number;
  /** Most points that it may leave charged; `Infinity` if its cost is unknown. */
  readonly most: number;
  /** Most points that it may hold while it is under way; under `reserved` more than `most`. */
  readonly held: number;
}

/** Facts of an answered call that tell its charge to a window, under any terms. */
export interface Counted {
  readonly role: CallRole;
  /** Owner whose window refused, if the refusal says so. */
  readonly refusedBy: Owner | null;
  /** Points asked for; `null` if unknown or nothing. */
  readonly cost: number | null;
  /** Most points that it asks for: its cost; `Infinity` if that is unknown; 0 if the call does not count. */
  readonly asked: number;
  /** Points charged in the end; `null` if the answer does not say. */
  readonly actual: number | null;
  /** True if it was admitted and surely counted. */
  readonly sure: boolean;
}

export interface Mark extends Counted, MarkCharge, ShownReading {
  readonly line: number;
  readonly sent: number;
  readonly received: number;
  /** `reset_at` of a status body, ms since the epoch on the target's clock. */
  readonly resetAt: number | null;
  /** True for a status body that seems to show the caller's own count as the organization's. A guess, for suspects. */
  readonly echoesUser: boolean;
  /** End of the window that was shown. */
  readonly end: Span;
}

const nothing: MarkCharge = { least: 0, most: 0, held: 0 };
/** Returns a charge of anything up to some points. */
export const upTo = (most: number): MarkCharge => ({ least: 0, most, held: most });
const exactly = (points: number): MarkCharge => ({ least: points, most: points, held: points });

/** Returns the points that a call has given back by its answer. */
export const returnedOf = (held: number, most: number): number => (held === most ? 0 : held - most);

function roleOf(call: TraceCall): CallRole {
  if (isRefusal(call.status)) return "refused";
  return call.kind === "call" ? "admitted" : call.kind;
}

/** Returns the points that a call of unknown outcome may add: anything up to its cost. */
export function unknownCharge(call: TraceCall): MarkCharge {
  return call.kind === "call" ? upTo(costOf(call)) : nothing;
}

const costOf = (call: TraceCall): number =>
  call.cost ?? (call.scope === "rest" ? 1 : Number.POSITIVE_INFINITY);

/** Reads from an answered call the facts that tell its charge. */
export function countedOf(call: TraceCall): Counted {
  const role = roleOf(call);
  const counts = call.kind === "call";
  return {
    role,
    refusedBy: role === "refused" ? refuserIn(call.refusal) : null,
    cost: call.cost,
    asked: counts ? costOf(call) : 0,
    actual: call.actual ?? null,
    sure: counts && role === "admitted" && isSurelyCounted(call),
  };
}

/** Returns the points that an answered call adds to its owner's window (SPEC.md §2, §6, §8). */
export function chargeOf(counted: Counted, owner: Owner, terms: Terms): MarkCharge {
  if (counted.asked === 0) return nothing;
  if (counted.role === "refused") return refusedCharge(counted, owner, terms);
  return counted.sure ? admittedCharge(counted, terms) : upTo(counted.asked);
}

/**
 * Tells whether a call was surely counted. REST counts before it looks up the resource, so that 404 and 405 count. An
 * answer without headers, a 401, 403 or 5xx, and a GraphQL answer other than 200 may or may not have been counted.
 */
function isSurelyCounted(call: TraceCall): boolean {
  return hasHeaders(call) && isCountedStatus(call.scope === "graphql", call.status);
}

/** Tells whether an answer of this status, with headers, shows that an admitted call was surely counted. */
export const isCountedStatus = (isGraphql: boolean, status: number): boolean =>
  isGraphql ? status === 200 : status < 500 && status !== 401 && status !== 403;

function admittedCharge({ asked, actual }: Counted, { charging }: Terms): MarkCharge {
  if (charging === "at-decision") return Number.isFinite(asked) ? exactly(asked) : upTo(asked);
  const least = actual ?? 0;
  const most = actual ?? asked;
  if (charging === "postpaid") return { least, most, held: most };
  return { least, most: charging === "reserved" ? most : asked, held: asked };
}

/** Returns a refusal's charge: nothing, unless a switch charges it (SPEC.md §8, `refused`, `refusedByUser`). */
function refusedCharge(
  { asked, refusedBy: named }: Counted,
  owner: Owner,
  { refused, refusedByUser }: Terms,
): MarkCharge {
  const known = named !== null;
  const spared = refused === "uncounted" || (known && named !== owner);
  const undrained = refusedByUser === "charges-nothing" || owner === "user" || named === "organization";
  if (spared && undrained) return nothing;
  const counted = !spared && known && refused === "counted";
  const drained = !undrained && known && refusedByUser === "charges-organization";
  return (counted || drained) && Number.isFinite(asked) ? exactly(asked) : upTo(asked);
}

/** Returns the mark that an answer's reading makes in a quota. */
export function markOf(
  line: number,
  call: Pick<TraceCall, "sent" | "received">,
  reading: ShownReading & Partial<Pick<Mark, "resetAt" | "echoesUser">>,
  end: Span,
  { role, refusedBy, cost, asked, actual, sure }: Counted,
  { least, most, held }: MarkCharge = nothing,
): Mark {
  return {
    line,
    sent: Math.min(call.sent, call.received),
    received: Math.max(call.sent, call.received),
    role,
    refusedBy,
    cost,
    asked,
    actual,
    sure,
    limit: reading.limit,
    count: reading.count,
    clamped: reading.clamped,
    reset: reading.reset,
    resetAt: reading.resetAt ?? null,
    echoesUser: reading.echoesUser ?? false,
    end,
    least,
    most,
    held,
  };
}
