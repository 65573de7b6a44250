// The account of a run: what each call, client and line that was printed adds to it.
import { expect, test } from "vitest";
import { Account } from "../../src/load/account.ts";

const call = (status: number, sent: number, received = sent + 10, outcome?: "refused" | "admitted") => ({
  ...{ status, sent, received },
  ...(outcome !== undefined && { outcome }),
});

test("of nothing is empty, and began with its header", () => {
  expect(new Account(500).finish(3)).toEqual({
    ...{ startedAt: 500, calls: 0, unanswered: 0, refused: 0, failures: new Map(), clients: 0, cutOff: 0 },
    ...{ lost: 3, torn: 0, silence: null, errors: [], printed: [] },
  });
});

test("begins with its first client, and knows those who did not end", () => {
  const account = new Account(500);
  account.begin("a");
  expect(account.startedAt).toBe(500);
  account.begin("b", 900);
  account.begin("c", 700);
  account.end("b");
  expect(account.finish(0)).toMatchObject({ startedAt: 700, clients: 3, cutOff: 2 });
});

test("counts refusals, failures by status, and calls without an answer", () => {
  const account = new Account(0);
  for (const status of [200, 429, 404, 404, 399, 400, 500, 0, 301]) account.call(call(status, 1));
  expect(account.finish(0)).toMatchObject({ calls: 9, refused: 1, unanswered: 1 });
  expect([...account.finish(0).failures]).toEqual([
    [404, 2],
    [400, 1],
    [500, 1],
  ]);
});

test("takes a policy's word for what is refused", () => {
  const account = new Account(0);
  account.call(call(403, 1, 2, "refused"));
  account.call(call(429, 1, 2, "admitted"));
  account.call(call(200, 1, 2, "refused"));
  expect(account.finish(0)).toMatchObject({ refused: 2, failures: new Map([[429, 1]]) });
});

test("tells a silence: calls that were sent since the last answer", () => {
  const account = new Account(100);
  account.call(call(0, 100));
  expect(account.finish(0).silence).toEqual({ sinceMs: 100, calls: 1 });
  account.call(call(200, 150, 200));
  expect(account.finish(0).silence).toBeNull();
  // One that was on the way when the last answer came is none.
  account.call(call(0, 199));
  expect(account.finish(0).silence).toBeNull();
  account.call(call(0, 200));
  account.call(call(0, 300));
  expect(account.finish(0).silence).toEqual({ sinceMs: 200, calls: 2 });
});

test("keeps the first twenty errors and lines, of lines the first 500 characters", () => {
  const account = new Account(0);
  for (let number = 0; number < 21; number++) {
    account.fail(`client-${number}`, "broken");
    account.print(`${number} ${"x".repeat(600)}`);
  }
  const { errors, printed } = account.finish(0);
  expect(errors).toHaveLength(20);
  expect(errors[0]).toEqual({ client: "client-0", message: "broken" });
  expect(printed).toHaveLength(20);
  expect(printed[19]).toBe(`19 ${"x".repeat(497)}`);
});
