// The result of a backtest, as plain data. A model is fitted to a recording's first part. The result holds the share of
// later windows for which its predictions were right.
import type { FitCheck } from "./check-result.ts";
import type { FittedModel } from "./model.ts";

/** Figures that are predicted of each window: calls sent in it that a quota counts, and their outcomes. */
export const predictedFigures = ["offered", "admitted", "refused", "waitP95Ms"] as const;
export type PredictedFigure = (typeof predictedFigures)[number];

/**
 * Fullness of a window in most simulations. `saturated`: calls are refused. `far`: none is, and at most 80% of the
 * organization's limit is used. `near`: none is, but more is used.
 */
export type WindowClass = "saturated" | "far" | "near";

/** A measured value, and the spans, ends included, that the simulations of all seeds predict for it. */
export interface Prediction {
  /** `null` if there was nothing to measure. */
  readonly measured: number | null;
  readonly middle: number | null;
  readonly narrow: readonly [number, number] | null;
  readonly wide: readonly [number, number] | null;
}

export interface PredictedWindow {
  readonly organization: string;
  /** `rest` or `graphql`; under a policy, an operation's name. */
  readonly scope: string;
  /** Ms since the epoch. */
  readonly opensAt: number;
  readonly endsAt: number;
  readonly class: WindowClass;
  readonly figures: Readonly<Record<PredictedFigure, Prediction>>;
}

/** Number of measured values that lay within their spans. */
export interface Coverage {
  readonly figure: PredictedFigure;
  /** `all`: windows of every class together. */
  readonly class: WindowClass | "all";
  /** Number of windows with a measured and a predicted value. */
  readonly windows: number;
  readonly insideNarrow: number;
  readonly insideWide: number;
}

export interface BacktestResult {
  /** The share of the recording's time that the model was fitted to. */
  readonly share: number;
  /** End of the first part and start of the second, ms since the epoch. */
  readonly splitAt: number;
  /** Kind of the second part's days that were predicted. If one is named, the first part lacks the other. */
  readonly predicted: "all" | "weekdays" | "weekend";
  readonly seeds: number;
  /** Levels that the spans really have: exactly 0.8 and 0.95 with 39 seeds; with fewer, `wide` is below 0.95. */
  readonly levels: { readonly narrow: number; readonly wide: number };
  /** Model that was fitted to the first part. */
  readonly model: FittedModel;
  /** Whole windows of the second part with calls sent or predicted, in the order of time; at most `windowsKept`. */
  readonly windows: readonly PredictedWindow[];
  readonly windowsSeen: number;
  readonly coverage: readonly Coverage[];
  /** Sums over all whole windows of the second part. */
  readonly totals: Readonly<Record<Exclude<PredictedFigure, "waitP95Ms">, Prediction>>;
  /** Findings in words, the failures first. */
  readonly findings: readonly string[];
}

export const windowsKept = 2_000;

/** Result of `spillway fit`. */
export interface FitResult {
  readonly format: "spillway-fit";
  readonly version: 1;
  readonly model: FittedModel;
  /** The scenario as TypeScript. */
  readonly source: string;
  /** Comparison of the recording with its simulations; `null` if nobody asked for it. */
  readonly check: FitCheck | null;
  readonly backtest: BacktestResult | null;
  /** Reason why there is no backtest though nobody declined it. */
  readonly backtestLeftOut?: string;
}
