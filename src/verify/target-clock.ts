// The target's clock, as status bodies show it: `reset` and `reset_at` share one instant, so their difference is
// what the target's clock read then. It may be off by any constant and drift; what it may not do is jump.
import type { TraceCall } from "../trace/record.ts";
import type { StatusReading } from "./answer.ts";
import { driftShare, type Span } from "./clock.ts";
import type { Docket } from "./docket.ts";

interface Offset {
  /** The target's clock is ahead of the clients' by at least and at most so many ms. */
  readonly from: number;
  readonly to: number;
  /** When that was known, clients' clock. */
  readonly at: number;
  readonly line: number;
}

/** Bodies farther apart than this are not compared: drift adds up. */
const comparedMsMost = 600_000;

export class TargetClock {
  readonly #docket: Docket;
  #offset: Offset | null = null;

  constructor(docket: Docket) {
    this.#docket = docket;
  }

  /** @param end where the window ends that this scope of the body shows, on the clients' clock */
  observe(line: number, call: TraceCall, scope: "rest" | "graphql", reading: StatusReading, end: Span): void {
    if (reading.resetAt === null) return;
    const shown = { from: reading.resetAt - end.to, to: reading.resetAt - end.from, at: call.received, line };
    const known = this.#offset;
    const apart = known === null ? Number.POSITIVE_INFINITY : Math.abs(shown.at - known.at);
    if (known === null || apart > comparedMsMost) {
      this.#offset = shown;
      return;
    }
    const drift = apart * driftShare;
    const from = Math.max(shown.from, known.from - drift);
    const to = Math.min(shown.to, known.to + drift);
    this.#offset = from <= to ? { from, to, at: shown.at, line } : shown;
    if (from > to) this.#accuse(known, shown, call, scope);
  }

  #accuse(known: Offset, shown: Offset, call: TraceCall, scope: "rest" | "graphql"): void {
    const apart = Math.max(shown.from - known.to, known.from - shown.to) / 1000;
    this.#docket.accuse({
      law: "reset-agrees",
      breach: "reset_at",
      suspects:
        apart > 2
          ? ["clock-step", "reset-disagrees", "skewed-nodes"]
          : ["reset-disagrees", "reset-at-drifts"],
      org: call.org,
      user: null,
      scope,
      window: null,
      lines: [...new Set([known.line, shown.line])].sort((a, b) => a - b),
      explanation:
        `by reset and reset_at of lines ${known.line} and ${shown.line} (${scope}), the target's clock jumped by at ` +
        `least ${apart.toFixed(1)} s between them`,
    });
  }
}
