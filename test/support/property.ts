// Properties as tests. A title is the same in every run; a failure shows its seed.
import fc from "fast-check";
import { test } from "vitest";

type Arbitraries<Values extends unknown[]> = { [Place in keyof Values]: fc.Arbitrary<Values[Place]> };

/** Returns a test that the predicate holds for all values: it neither throws nor returns false. */
export function property<Values extends [unknown, ...unknown[]]>(
  arbitraries: Arbitraries<Values>,
  parameters: fc.Parameters<NoInfer<Values>> = {},
) {
  return (title: string, holds: (...values: Values) => unknown, timeoutMs?: number): void =>
    test(
      title,
      () =>
        fc.assert(
          fc.asyncProperty<Values>(...arbitraries, async (...values) => (await holds(...values)) !== false),
          parameters,
        ),
      timeoutMs,
    );
}
