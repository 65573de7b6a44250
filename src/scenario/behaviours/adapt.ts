// A pace that adapts to refusals: pauses grow by a factor at each refusal and shrink again with time, as TCP's window
// does (additive increase, multiplicative decrease). Failures and missing answers count as refusals.
import { isFailure, isRefusal } from "../../wire/outcome.ts";
import type { ClientEvent, ClientRecord } from "../client.ts";
import type { Mistakes } from "../mistakes.ts";
import type { Spread } from "../spread.ts";
import { thinkMs } from "./think.ts";

export interface AdaptInput {
  /** Share of the pace that a refusal leaves, above 0 and below 1. Default: 0.5. */
  readonly decrease?: number;
  /** Share of the full pace that each minute of pauses adds, 0 or more. Default: 0.1. */
  readonly increase?: number;
  /** Least share of the full pace, above 0 and at most 1. Default: 0.01. */
  readonly least?: number;
}

/** Numbers of a client that adapts. */
export type AdaptRecord = {
  /** Share of the full pace, up to 1. */
  share: number;
  /** Number of attempts at the current call that have slowed the client already. */
  slowed: number;
};

const isShare = (share: number): boolean => share > 0 && share < 1;

/** A pace that adapts, and the pauses at full pace. */
export class AdaptivePace {
  readonly #think: Spread;
  readonly #decrease: number;
  readonly #increase: number;
  readonly #least: number;

  constructor(path: string, given: AdaptInput, think: Spread, mistakes: Mistakes) {
    mistakes.options(path, given, ["decrease", "increase", "least"]);
    const { decrease = 0.5, increase = 0.1, least = 0.01 } = given;
    this.#think = think;
    this.#decrease = mistakes.number(`${path}.decrease`, decrease, isShare, "a share above 0 and below 1");
    this.#increase = mistakes.number(
      `${path}.increase`,
      increase,
      (step) => step >= 0,
      "a share of the full pace, 0 or more",
    );
    this.#least = mistakes.number(
      `${path}.least`,
      least,
      (share) => isShare(share) || share === 1,
      "a share above 0 and at most 1",
    );
  }

  /** Returns the numbers of a client at its start, or at the start of a session after `before`. */
  start(before: AdaptRecord | undefined): AdaptRecord {
    return { share: before?.share ?? 1, slowed: 0 };
  }

  /** Slows a client for each refusal of an answered call; returns true if the last answer is one. */
  isSlowedBy(record: AdaptRecord, { attempt, status }: ClientEvent): boolean {
    const failed = isRefusal(status) || isFailure(status);
    const refusals = attempt + Number(failed);
    // The retry policy may have made several attempts since the client last heard of this call.
    for (; record.slowed < refusals; record.slowed++)
      record.share = Math.max(this.#least, record.share * this.#decrease);
    if (!failed) record.slowed = 0;
    return failed;
  }

  /** Draws a pause at the client's present pace, whole ms. */
  waitMs(record: ClientRecord<AdaptRecord>): number {
    return Math.ceil(thinkMs(record, this.#think) / record.share);
  }

  /** Draws the pause after an answer, whole ms: the pace grows meanwhile. */
  pauseMs(record: ClientRecord<AdaptRecord>): number {
    const pauseMs = this.waitMs(record);
    record.share = Math.min(1, record.share + (this.#increase * pauseMs) / 60_000);
    return pauseMs;
  }
}
