// The result of a backtest, as plain data: the share of windows in which a model that was fitted to the first part of a
// recording was right about the rest.
import type { FitCheck } from "./check-result.ts";
import type { FittedModel } from "./model.ts";

/** Figures that are predicted of each window: calls sent in it that a quota counts, and their outcomes. */
export const predictedFigures = ["offered", "admitted", "refused", "waitP95Ms"] as const;
export type PredictedFigure = (typeof predictedFigures)[number];

/**
 * Fullness of a window as most simulations have it: something is refused in it; nothing is and at most 80 % of the
 * organization's limit is used; or nothing is, though it is nearly full.
 */
export type WindowClass = "saturated" | "far" | "near";

/** A value that was measured, and the spans that the simulations of all seeds predict for it, ends included. */
export interface Prediction {
  /** `null` where there was nothing to measure. */
  readonly measured: number | null;
  readonly middle: number | null;
  readonly narrow: readonly [number, number] | null;
  readonly wide: readonly [number, number] | null;
}

export interface PredictedWindow {
  readonly organization: string;
  /** `rest` or `graphql`; under a policy an operation. */
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
  /** `all` of them together. */
  readonly class: WindowClass | "all";
  /** Windows in which there was something to measure and to predict. */
  readonly windows: number;
  readonly insideNarrow: number;
  readonly insideWide: number;
}

export interface BacktestResult {
  /** The share of the recording's time that the model was fitted to. */
  readonly share: number;
  /** Ms since the epoch: where the one part ends and the other begins. */
  readonly splitAt: number;
  /** Kind of the second part's days that were predicted: those of the other kind, if any, are not in the first part. */
  readonly predicted: "all" | "weekdays" | "weekend";
  readonly seeds: number;
  /** The levels of the spans, 0.8 and 0.95 where there are seeds enough: 39 are exactly enough for both. */
  readonly levels: { readonly narrow: number; readonly wide: number };
  /** Model that was fitted to the first part. */
  readonly model: FittedModel;
  /** Whole windows of the second part in which anything was sent or predicted, by time; at most `windowsKept`. */
  readonly windows: readonly PredictedWindow[];
  readonly windowsSeen: number;
  readonly coverage: readonly Coverage[];
  /** Of all these windows together. */
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
  /** Recording that was fitted to, beside its simulation. `null` if nobody asked. */
  readonly check: FitCheck | null;
  readonly backtest: BacktestResult | null;
}
