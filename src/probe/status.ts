// The status of an organization's limits, for people: one free call a reading.

import { quotaNames } from "../policy/names.ts";
import { SpillwayError } from "../rules/errors.ts";
import { type Owner, type Scope, scopes } from "../rules/rules.ts";
import { headersOf } from "../wire/fields.ts";
import { contact } from "./contact.ts";
import { Stopped } from "./hand.ts";
import { dateOffset } from "./offsets.ts";
import { type SeenCall, whole } from "./seen.ts";
import { ProbeSession, type SessionOptions } from "./session.ts";

export interface StatusOptions
  extends Omit<SessionOptions, "base" | "graphqlUrl" | "user" | "allowance" | "onProgress"> {
  /** URL to which paths are appended, without a slash at the end. The caller has checked that it may be called. */
  readonly target: string;
}

/** A window as it stood when it was read. */
export interface StatusWindow {
  readonly scope: Scope;
  readonly owner: Owner;
  readonly limit: number;
  /** Count so far. For the user's window `limit - remaining`, which may hide a count above the limit. */
  readonly used: number;
  /** End of the window, ms since the epoch by this machine's clock. */
  readonly endsAtMs: number;
  /** True if the window is enforced; `null` for the user's window, of which no answer says it. */
  readonly enforced: boolean | null;
}

/** Result of one status call, as plain JSON. */
export interface StatusReading {
  readonly organization: string;
  /** Time of the reading, ms since the epoch by this machine's clock. */
  readonly atMs: number;
  /** The target's `Date` minus this machine's clock, to the second, ms; `null` if there was no `Date`. */
  readonly skewMs: number | null;
  /** All windows but the user's in GraphQL, which only GraphQL's own answers show. */
  readonly windows: readonly StatusWindow[];
}

/** Reads the status repeatedly, over the same connection. */
export class StatusReader {
  readonly #session: ProbeSession;

  constructor(options: StatusOptions) {
    this.#session = new ProbeSession({
      ...options,
      base: options.target,
      graphqlUrl: "",
      user: null,
      allowance: { calls: 0, points: 0, statusCalls: Number.POSITIVE_INFINITY, waitMs: 0 },
    });
  }

  /** Reads the status once. @throws SpillwayError `TARGET_UNREACHABLE`, with what was seen instead of a status */
  async read(): Promise<StatusReading> {
    const seen = await contact(this.#session).catch((error: unknown) => {
      if (!(error instanceof Stopped)) throw error;
      throw new SpillwayError(
        "TARGET_UNREACHABLE",
        `the target no longer shows its status: ${error.message}`,
      );
    });
    // Each reading stands by itself; only the calls that tell the clocks are kept.
    const clock = dateOffset(this.#session.calls.slice(-60));
    this.#session.forget(60);
    const skewMs = clock === null ? null : Math.round((clock.loMs + clock.hiMs) / 2);
    const { organization } = this.#session.options;
    return { organization, atMs: seen.receivedMs, skewMs, windows: windowsOf(seen, skewMs) };
  }
}

/** Reads the status of an organization's limits once, free of charge. */
export async function readStatus(options: StatusOptions): Promise<StatusReading> {
  return await new StatusReader(options).read();
}

function windowsOf(seen: SeenCall, skewMs: number | null): StatusWindow[] {
  const windows: StatusWindow[] = [];
  for (const scope of scopes) {
    const body = seen.statusScopes?.[scope] ?? null;
    if (body !== null) {
      const { limit, current, enforced, resetAtMs, reset } = body;
      const endsAtMs = endOf(seen, reset, skewMs === null ? null : resetAtMs - skewMs);
      windows.push({ scope, owner: "organization", limit, used: current, endsAtMs, enforced });
    }
    const { scopeName, ...shown } = headersOf(seen.headers, "user");
    const [limit, remaining, reset] = [whole(shown.limit), whole(shown.remaining), whole(shown.reset)];
    const isOwn = scopeName === quotaNames[scope].user;
    if (isOwn && limit !== null && remaining !== null && reset !== null) {
      // Windows on the same grid end together, and the end of the organization's is known.
      const same = body?.reset === reset ? windows.at(-1)?.endsAtMs : undefined;
      const endsAtMs = same ?? endOf(seen, reset, null);
      windows.push({ scope, owner: "user", limit, used: limit - remaining, endsAtMs, enforced: null });
    }
  }
  return windows;
}

/** Returns the end by `Date` if that agrees with `reset`; otherwise by `reset` alone. */
function endOf({ receivedMs }: SeenCall, reset: number, byDateMs: number | null): number {
  const byResetMs = receivedMs + reset * 1000;
  return byDateMs !== null && Math.abs(byDateMs - byResetMs) <= 2000 ? byDateMs : byResetMs;
}
