// Coded errors that the code under test ends with, by which it tells of a user's mistake.
import { SpillwayError } from "../../src/rules/errors.ts";

/** Returns the coded error that work throws. @throws any other error; RangeError if nothing is thrown */
export function codedError(work: () => unknown): SpillwayError {
  try {
    work();
  } catch (error) {
    if (error instanceof SpillwayError) return error;
    throw error;
  }
  throw new RangeError("nothing was thrown");
}

/** Returns the coded error that a promise is rejected with. @throws as `codedError` does */
export const codedErrorOf = (promise: Promise<unknown>): Promise<SpillwayError> =>
  promise.then(
    () => codedError(() => undefined),
    (thrown: unknown) =>
      codedError(() => {
        throw thrown;
      }),
  );
