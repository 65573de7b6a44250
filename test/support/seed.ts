// The seed of every property of a test run, so that each run repeats the previous one. SPILLWAY_TEST_SEED sets another.
import fc from "fast-check";

const given = process.env["SPILLWAY_TEST_SEED"];
/** Seed of every property. */
export const seed = Number(given ?? 1);
if (!Number.isInteger(seed)) throw new TypeError(`SPILLWAY_TEST_SEED: got ${given}, allowed: a whole number`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** Words before a command that repeat a run's own seed; empty for the default seed. */
export const seedWords = given === undefined ? "" : `SPILLWAY_TEST_SEED=${seed} `;
