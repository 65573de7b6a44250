// A policy that comes with the package: what an API promises, by which sources, and answers that it gave.
import type { Fixed } from "./forms.ts";
import type { Policy } from "./policy.ts";
import type { PolicyInput } from "./schema.ts";
import type { WireInput } from "./wire-schema.ts";

export interface Preset {
  /** One line: which API or program. */
  readonly title: string;
  /** Its wire format, which the policy names. */
  readonly wire: Fixed<WireInput>;
  readonly policy: Fixed<PolicyInput> | Policy;
  /** Sentences: what the policy leaves out, and which numbers are examples. */
  readonly notes: readonly string[];
  readonly sources: readonly Source[];
  /** Answers as they are documented or were seen, and what they show. */
  readonly answers: readonly KnownAnswer[];
}

type Written = Fixed<WireInput>;
/** One row of a wire format, as presets write it. */
export type WrittenReading = NonNullable<Written["readings"]>[number];
/** One kind of answer of a wire format, as presets write it. */
export type WrittenOutcome = NonNullable<Written["outcomes"]>[number];

export interface Source {
  /** A repository and path, or a page without its scheme. */
  readonly at: string;
  /** Documented by the owner, read in source code, or observed in an answer. */
  readonly kind: "documented" | "source" | "observed";
  /** `2026-11-22`. */
  readonly seen: string;
}

export interface KnownAnswer {
  readonly title: string;
  readonly seen: string;
  /** The operation that was called, or `status`. */
  readonly operation: string;
  /** The caller's clock, ms since the epoch. */
  readonly nowMs: number;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  /** Members of what is read of it; those that are left out are not compared. */
  readonly shows: {
    readonly outcome: string;
    readonly by?: string | null;
    readonly retryAfter?: object | null;
    readonly readings: readonly object[];
  };
}
