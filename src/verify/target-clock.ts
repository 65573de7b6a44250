// The target's clock, as status bodies show it: `reset` and `reset_at` share one instant, so that their difference is
// the clock's reading. The clock may be off by any constant and may drift, but it may not jump.
import type { Scope } from "../rules/rules.ts";
import type { ScopeReading } from "./answer.ts";
import { driftShare, type Span } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Suspect } from "./suspects.ts";

/** Bounds from one body: the target's clock is ahead of the clients' by at least `from` and at most `to` ms. */
interface Offset extends Span {
  /** Instant of the body, on the clients' clock. */
  readonly at: number;
  readonly line: number;
  readonly org: string;
  readonly scope: Scope;
}

/** Longest time, ms, between bodies that are compared: drift adds up. */
const comparedMsMost = 600_000;

/** Consecutive offsets, and the jumps between them. */
class Sequence {
  readonly jumps: { readonly before: Offset; readonly after: Offset }[] = [];
  #known: Offset | null = null;

  add(shown: Offset): void {
    const known = this.#known;
    this.#known = shown;
    if (known === null) return;
    const apart = Math.abs(shown.at - known.at);
    if (apart > comparedMsMost) return;
    const from = Math.max(shown.from, known.from - apart * driftShare);
    const to = Math.min(shown.to, known.to + apart * driftShare);
    if (from <= to) this.#known = { ...shown, from, to };
    else this.jumps.push({ before: known, after: shown });
  }
}

export class TargetClock {
  readonly #all = new Sequence();
  readonly #scopes: Readonly<Record<Scope, Sequence>> = { rest: new Sequence(), graphql: new Sequence() };

  /** @param end end of the window that this scope of the body shows, on the clients' clock */
  observe({ line, at, org, scope }: Omit<Offset, "from" | "to">, { resetAt }: ScopeReading, end: Span): void {
    if (resetAt === null) return;
    const offset = { from: resetAt - end.to, to: resetAt - end.from, at, line, org, scope };
    this.#all.add(offset);
    this.#scopes[scope].add(offset);
  }

  /** Accuses the first jump, if there is one. */
  finish(docket: Docket): void {
    docket.clues.jumps(this.#all.jumps.length);
    const [jump] = this.#all.jumps;
    if (jump === undefined) return;
    const { before, after } = jump;
    const apart = Math.max(after.from - before.to, before.from - after.to) / 1000;
    docket.accuse({
      law: "reset-agrees",
      breach: "reset_at",
      suspects: this.#suspects(),
      org: after.org,
      user: null,
      scope: after.scope,
      window: null,
      count: this.#all.jumps.length,
      lines: [...new Set([before.line, after.line])].sort((a, b) => a - b),
      explanation:
        `by reset and reset_at, the target's clock jumped by at least ${apart.toFixed(1)} s between ` +
        `line ${before.line} (${before.scope}) and line ${after.line} (${after.scope})`,
    });
  }

  /** Names suspects: one jump is a clock that was set. Several are nodes, or scopes if neither scope jumps by itself. */
  #suspects(): readonly Suspect[] {
    const { rest, graphql } = this.#scopes;
    if (rest.jumps.length === 0 && graphql.jumps.length === 0) return ["reset-disagrees", "reset-at-drifts"];
    return this.#all.jumps.length === 1
      ? ["clock-step", "skewed-nodes", "reset-disagrees"]
      : ["skewed-nodes", "reset-at-drifts", "reset-disagrees"];
  }
}
