// A counterexample's last look: every operation goes without which the law is broken as well, the last one, too.
import { expect, test } from "vitest";
import type { Counterexample } from "../../src/laws/report.ts";
import type { Script } from "../../src/laws/script.ts";
import { minimal } from "../../src/laws/trials.ts";

const found = (ops: readonly number[]): Counterexample => ({ script: { ops } }) as unknown as Counterexample;
const opsOf = ({ script }: { readonly script: Script }): readonly number[] =>
  script.ops as unknown as readonly number[];

/** Breaks the law where all that it needs is there; counts how often it is asked. */
function needing(...needed: readonly number[]) {
  const asked: (readonly number[])[] = [];
  const broken = async (script: Script): Promise<Counterexample | null> => {
    const ops = opsOf({ script });
    asked.push(ops);
    return needed.every((one) => ops.includes(one)) ? found(ops) : null;
  };
  return { asked, broken };
}

test.each([
  [[1, 2, 3, 4], [2], [2]],
  [
    [1, 2, 3, 4],
    [1, 4],
    [1, 4],
  ],
  [
    [1, 2, 3, 4],
    [1, 2, 3],
    [1, 2, 3],
  ],
  [[1, 2, 3, 4], [], []],
])("of %j, the law is broken by %j: %j is left", async (ops, needed, left) => {
  expect(opsOf(await minimal(found(ops), needing(...needed).broken))).toEqual(left);
});

test("each operation is left out once, the last one first; a script of more than 60 is left as it is", async () => {
  const { asked, broken } = needing(1, 2, 3);
  await minimal(found([1, 2, 3]), broken);
  expect(asked).toEqual([
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
  const ops = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  expect(opsOf(await minimal(found(ops(61)), needing(0).broken))).toHaveLength(61);
  expect(opsOf(await minimal(found(ops(60)), needing(0).broken))).toEqual([0]);
});
