// Options of tables, and the mistakes that they make.
import { SpillwayError } from "../../src/rules/errors.ts";

/** Makes something of options that no type allows: some are wrong on purpose. */
export const made = (of: unknown, ...options: unknown[]): unknown =>
  (of as (...all: unknown[]) => unknown)(...options);

/** Paths and words of the mistakes that something makes; empty where it makes none. */
export function mistakesOf(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof SpillwayError)
      return error.problems.map(({ path, allowed }) => `${path}: ${allowed}`);
    throw error;
  }
  return [];
}
