// A short mark of a value: pins hold it in place of all that the value says.
import { createHash } from "node:crypto";

/** Returns the first digits of the hash of a value as JSON. */
export const digestOf = (value: unknown, digits = 12): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, digits);
