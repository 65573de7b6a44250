// A policy that comes with the package: what an API promises, with sources, and answers that it gave.
import type { Fixed } from "./forms.ts";
import type { Policy } from "./policy.ts";
import type { PolicyInput } from "./schema.ts";
import type { WireInput } from "./wire-schema.ts";

export interface Preset {
  /** Title in one line: which API or program. */
  readonly title: string;
  /** Wire format that the policy names. */
  readonly wire: Fixed<WireInput>;
  readonly policy: Fixed<PolicyInput> | Policy;
  /** Sentences on what the policy leaves out, and which numbers are examples. */
  readonly notes: readonly string[];
  readonly sources: readonly Source[];
  /** Answers that are documented or were observed, with what they show. */
  readonly answers: readonly KnownAnswer[];
}

type Written = Fixed<WireInput>;
/** One row of a wire format, as presets write it. */
export type WrittenReading = NonNullable<Written["readings"]>[number];
/** One kind of answer of a wire format, as presets write it. */
export type WrittenOutcome = NonNullable<Written["outcomes"]>[number];

export interface Source {
  /** Repository and path, or a page without its scheme. */
  readonly at: string;
  /** Kind of source: documented by the owner, read in source code, or observed in an answer. */
  readonly kind: "documented" | "source" | "observed";
  /** Date on which the source was read: `2026-11-22`. */
  readonly seen: string;
}

export interface KnownAnswer {
  readonly title: string;
  readonly seen: string;
  /** Operation that was called, or `status`. */
  readonly operation: string;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  /** Expected members of the read answer; absent ones are not compared. */
  readonly shows: {
    readonly outcome: string;
    readonly by?: string | null;
    readonly retryAfter?: object | null;
    readonly readings: readonly object[];
  };
}
