// Costs of experiments, told before they are made: calls for each operation, windows that are emptied, windows that are
// waited for; those that run alone, and those that disturb nobody.
import { expect, test } from "vitest";
import { costFrom } from "../../src/audit/experiments/costs.ts";
import { experiments } from "../../src/audit/experiments.ts";
import type { Lab } from "../../src/audit/lab.ts";

const costs: readonly (readonly [cost: string, names: string])[] = [
  ["10 0 0 lone", "cost-as-told other-resource"],
  [
    "12 0 0 lone",
    "other-user other-organization one-user-elsewhere names-once-joined names-in-other-letters names-in-other-unicode names-that-begin-alike other-operation no-token unknown-token",
  ],
  ["50 0 0 lone", "each-caller-apart"],
  [
    "10 0 0",
    "status-is-free status-head status-query-string status-trailing-slash status-letter-case-of-path status-letter-case-of-name status-letter-case-of-scheme status-percent-encoded status-gzip status-if-none-match status-with-a-body status-forwarded-for status-other-client status-method-override status-on-a-connection-of-its-own status-pipelined status-http-1.0 status-http-2 status-cut-off-while-sending status-cut-off-while-waiting status-cut-off-while-reading",
  ],
  ["12 0 0", "status-is-true users-in-turn-on-one-connection"],
  ["4 0 0", "status-reset-agrees dear-refusal-names-the-quota answered-413 headers-on-every-answer"],
  [
    "8 0 0",
    "cost-above-the-limit twin-head twin-query-string twin-trailing-slash twin-letter-case-of-path twin-letter-case-of-name twin-letter-case-of-scheme twin-percent-encoded twin-gzip twin-if-none-match twin-with-a-body twin-forwarded-for twin-other-client twin-method-override twin-on-a-connection-of-its-own twin-pipelined twin-http-1.0 twin-http-2 twin-cut-off-while-sending twin-cut-off-while-waiting twin-cut-off-while-reading window-on-its-grid",
  ],
  [
    "6 0 0",
    "cost-that-fits-exactly query-that-cannot-be-read query-of-another-schema query-too-deep query-too-complex query-of-no-cost two-operations-in-one-request batch-of-queries query-by-get answered-304 answered-400 answered-404 answered-405",
  ],
  ["20 0 0", "other-requests calls-at-once"],
  ["4 1 0", "status-while-empty"],
  ["2 1 0", "last-place-2"],
  ["8 1 0", "last-place-8 reset-counts-down"],
  ["32 1 0", "last-place-32"],
  ["40 1 0", "burst-is-bounded emptied-has-room-again emptied-leaves-others emptied-wait-is-honest"],
  ["3 1 1", "refusal-names-the-quota refusal-by-other-quota"],
  ["8 1 1", "refusal-is-free"],
  ["4 1 1", "refusal-leaves-others"],
  ["10 1 1", "broad-quota-refuses"],
  ["12 1 1", "reset-is-kept"],
  ["16 0 1 gentle", "first-calls-at-once"],
  ["40 0 1 gentle", "calls-across-the-reset"],
  ["80 0 1 gentle", "window-watched"],
  ["4 0 1", "pause-then-status-then-call"],
  ["4 0 1 gentle", "call-slower-than-its-window"],
  ["8 0 1 gentle", "reset-of-the-last-second"],
];

test.each(costs)("%s", (cost, names) => {
  const of = ({ calls, empties = 0, waits = 0, isLone, isGentle }: (typeof experiments)[number]): string =>
    [
      calls,
      empties,
      waits,
      ...(isLone === true ? ["lone"] : []),
      ...(isGentle === true ? ["gentle"] : []),
    ].join(" ");
  expect(experiments.filter((one) => of(one) === cost).map(({ name }) => name)).toEqual(names.split(" "));
});

test.each([
  [1, 4],
  [4, 4],
  [5, 7],
  [7, 7],
  [20, 22],
])("the least cost of a sample of 4, by 3 each, that reaches %d is %d", (units, cost) => {
  const dearest = () => ({ cost: 4, dearer: { pointer: "/first", costEach: 3 } });
  expect(costFrom({ dearest } as unknown as Lab, "ask", units)).toBe(cost);
});

test("those that disturb least come first", () => {
  const ranks = experiments.map(({ isLone, empties = 0, waits = 0 }) =>
    isLone === true ? 0 : empties === 0 ? (waits === 0 ? 1 : 4) : waits === 0 ? 2 : 3,
  );
  expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
  expect(new Set(ranks).size).toBe(5);
});
