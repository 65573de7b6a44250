// The pause between an answer and the next call.
import type { ClientRecord } from "../client.ts";
import { between } from "../random.ts";
import { drawSpread, type Spread } from "../spread.ts";

/**
 * Draws the time that a client thinks, whole ms. A constant time above 0 takes a draw, too: removing that draw would
 * change the runs that existing seeds stand for.
 */
export function thinkMs(record: ClientRecord, think: Spread): number {
  if ("shape" in think) return drawSpread(record, think);
  return think.most === 0 ? 0 : between(record, think.least, think.most);
}
