/** Returns what steps come to, when all of them are done. */
export function resultOf<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
