// One seed for every property of a test run, so that a run repeats the last one. SPILLWAY_TEST_SEED sets another.
import fc from "fast-check";

const given = process.env["SPILLWAY_TEST_SEED"];
/** Seed of every property. */
export const seed = Number(given ?? 1);
if (!Number.isInteger(seed)) throw new TypeError(`SPILLWAY_TEST_SEED: got ${given}, allowed: a whole number`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** Words before the command of a run that has a seed of its own, so that the line repeats it. */
export const seedWords = given === undefined ? "" : `SPILLWAY_TEST_SEED=${seed} `;
