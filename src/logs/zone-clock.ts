// Times of a log that name no zone, as UTC.
import { instantIn } from "../policy/calendar.ts";

/** Zone of times that name none: minutes east of Greenwich, or the name of a time zone, such as `Europe/Paris`. */
export type LogZone = number | string;

/** Length of a span of local time in which a zone's clocks do not change, ms. */
const spanMs = 900_000;

/** Makes UTC of local times. Of an hour that clocks show twice, the first one is meant. */
export class ZoneClock {
  readonly #zone: string;
  #span = Number.NaN;
  #offsetMs: number;

  constructor(zone: LogZone) {
    this.#zone = typeof zone === "string" ? zone : "";
    this.#offsetMs = typeof zone === "string" ? 0 : zone * 60_000;
  }

  /** @param localMs ms from 1970 to a date and time of day, as if they were UTC */
  utc(localMs: number): number {
    const span = Math.floor(localMs / spanMs);
    if (this.#zone !== "" && span !== this.#span && !Number.isNaN(span)) {
      this.#span = span;
      this.#offsetMs = span * spanMs - instantIn(span * spanMs, this.#zone);
    }
    return localMs - this.#offsetMs;
  }
}
