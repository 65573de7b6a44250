// A mark: what one answer says about one window, and what its call may have added there. All that the judging
// of counts ever sees.
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
  /** The most it may leave charged; `Infinity` where its cost is unknown. */
  readonly most: number;
  /** The most it may hold while it is under way; under `reserved` more than `most`. */
  readonly held: number;
}

/** Facts of an answered call that tell the points that it adds to a window, by whatever terms. */
export interface Counted {
  readonly role: CallRole;
  /** Whose window refused, where it is a refusal that says so. */
  readonly refusedBy: Owner | null;
  /** Points asked for; `null` where unknown or nothing. */
  readonly cost: number | null;
  /** The most that it asks for: its cost, `Infinity` where that is unknown, 0 where it is no call that counts. */
  readonly asked: number;
  /** Points charged in the end, where the answer says so. */
  readonly actual: number | null;
  /** True if it was surely counted, if it was let through. */
  readonly sure: boolean;
}

export interface Mark extends Counted, MarkCharge {
  readonly line: number;
  readonly sent: number;
  readonly received: number;
  readonly limit: number;
  /** The count that was shown; with `clamped`, the least it can have been. */
  readonly count: number;
  readonly clamped: boolean;
  readonly reset: number;
  /** `reset_at` of a status body, ms since the epoch on the target's clock. */
  readonly resetAt: number | null;
  /** A status body that shows the caller's own count where the organization's belongs: a guess, for suspects. */
  readonly echoesUser: boolean;
  /** End of the window that was shown. */
  readonly end: Span;
}

const nothing: MarkCharge = { least: 0, most: 0, held: 0 };
/** Anything up to so many points. */
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

/** Reads what an answered call shows of its charge. */
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
 * REST counts before the resource is looked up: 404 and 405 count. An answer without any of the headers, a 401, a
 * 403, a 5xx that something between may have made, and a GraphQL answer other than 200 may or may not have been.
 */
function isSurelyCounted(call: TraceCall): boolean {
  return hasHeaders(call) && isCountedStatus(call.scope === "graphql", call.status);
}

/** Tells whether an answer of this status, with headers, is to a call that was surely counted if it was let through. */
export const isCountedStatus = (isGraphql: boolean, status: number): boolean =>
  isGraphql ? status === 200 : status < 500 && status !== 401 && status !== 403;

function admittedCharge({ asked, actual }: Counted, { charging }: Terms): MarkCharge {
  if (charging === "at-decision") return Number.isFinite(asked) ? exactly(asked) : upTo(asked);
  const least = actual ?? 0;
  const most = actual ?? asked;
  if (charging === "postpaid") return { least, most, held: most };
  return { least, most: charging === "reserved" ? most : asked, held: asked };
}

/** Refusals count nowhere, unless a switch says where (SPEC.md §8, `refused`, `refusedByUser`). */
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

/** The mark that an answer's reading makes in a quota. */
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
