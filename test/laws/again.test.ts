// A call of a history that is made again: after a wait, by itself or in its own place.
import { expect, test } from "vitest";
import { nextId, triedAgain } from "../../src/laws/again.ts";
import type { QuotaHistory, QuotaOp } from "../../src/laws/quotas/script.ts";

const call = (id: number, atMs: number) => ({
  ...{ op: { do: "call", id, atMs, caller: {}, operation: "read", cost: 1 }, admitted: true },
});
const status = (atMs: number) => ({ op: { do: "status", atMs, caller: {} } });
const history = [call(4, 10), status(20), call(2, 30), call(7, 40)] as unknown as QuotaHistory;

/** The operations that are played, in short. */
async function played(
  at: number,
  isAnother?: boolean,
  answer = (ops: readonly QuotaOp[]) => asAnswered(ops),
) {
  let asked: readonly QuotaOp[] = [];
  const play = async (ops: readonly QuotaOp[]): Promise<QuotaHistory> => {
    asked = ops;
    return answer(ops);
  };
  const found = await triedAgain(play, history, at, 500, isAnother);
  const short = asked.map((op) => ("id" in op ? `${op.id} at ${op.atMs}` : op.do));
  return { short, last: found?.last.op, tried: found?.tried.length };
}
const asAnswered = (ops: readonly QuotaOp[]): QuotaHistory =>
  ops.map((op) => ({ op, ...(op.do === "call" && { admitted: false }) })) as unknown as QuotaHistory;

test("the next id is one more than the greatest", () => {
  expect([nextId([]), nextId(history), nextId([status(1)] as unknown as QuotaHistory)]).toEqual([0, 8, 1]);
});

test("a call is made again after a wait, under an id of its own", async () => {
  expect(await played(2)).toEqual({
    short: ["4 at 10", "status", "2 at 30", "8 at 530"],
    last: { ...call(8, 530).op },
    tried: 4,
  });
});

test("a call may come later instead", async () => {
  expect(await played(2, false)).toMatchObject({ short: ["4 at 10", "status", "2 at 530"], tried: 3 });
});

test("what is no call, or has no answer of one, is not made again", async () => {
  expect(await played(1)).toEqual({ short: [], last: undefined, tried: undefined });
  expect((await played(2, true, () => [])).last).toBeUndefined();
  expect((await played(2, true, () => [status(1)] as unknown as QuotaHistory)).last).toBeUndefined();
});
