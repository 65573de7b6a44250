// What a probe by a policy concludes of each member, from few calls that are set.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { conclude, costOf } from "../../src/probe/policy-conclude.ts";
import type { PolicySession } from "../../src/probe/policy-session.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";
import { policyOf } from "./parcels.ts";

/** A second of a window of 20 s, by its `sent`; the first calls lie in the window's first seconds. */
const read = (used: number | null, more: Partial<QuotaReading> = {}): QuotaReading => ({
  ...{ quota: "short", limit: 12, remaining: null, used, reset: null, ...more },
});
function session(policy: Policy, calls: readonly Partial<QuotaCall>[]): PolicySession {
  const made = calls.map((call, at) => ({
    ...{ sent: 1000 * at, received: 1000 * at + 10, client: "probe/0", call: at, caller: { client: "ann" } },
    ...{ operation: "look", cost: 1, status: 200, outcome: "admitted", readings: [], ...call },
  }));
  const caller = { token: "secret", attributes: { client: "ann" } };
  return { calls: made, options: { policy, caller } } as unknown as PolicySession;
}
const admitted = (used: number | null, more: Partial<QuotaReading> = {}): Partial<QuotaCall> => ({
  readings: [read(used, more)],
});
const refused = (used: number | null = null, more: Partial<QuotaCall> = {}): Partial<QuotaCall> => ({
  ...{ status: 429, outcome: "refused", by: "short", readings: used === null ? [] : [read(used)], ...more },
});
const statusCall = (used: number): Partial<QuotaCall> => ({ operation: "status", readings: [read(used)] });

/** A finding of the quota as value, confidence, evidence and calls, or what it would need. */
function said(
  name: string,
  calls: readonly Partial<QuotaCall>[],
  policy = policyOf({}),
): unknown[] | undefined {
  const [member, operation] = name.split(" ");
  const found = conclude(session(policy, calls)).find(
    (each) => each.quota === "short" && each.name === member && each.operation === operation,
  );
  return found && [found.value, found.confidence, found.evidence, found.needs ?? found.calls];
}
const budget = "a larger --budget, so that a call is refused";

describe("a limit", () => {
  test("that answers show is likely until a call is refused by it", () => {
    expect(said("limit", [admitted(1), admitted(2)])).toEqual([
      ...[12, "likely", "2 answers show it, no call was refused by it", [1]],
    ]);
    expect(said("limit", [admitted(1), admitted(2), refused(12)])).toEqual([
      ...[12, "certain", "3 answers show it, and a call was refused after 2", [1, 3]],
    ]);
    expect(said("limit", [admitted(1), refused(2, { by: "bursts" })])?.[1]).toBe("likely");
    expect(said("limit", [refused(12)])?.[2]).toBe("1 answer show it, and a call was refused after enough");
  });

  test("that a refusal contradicts is likely what was used by then", () => {
    expect(said("limit", [admitted(1), admitted(2), refused(2)])).toEqual([
      ...[2, "likely", "answers show 12, but a call was refused with 2 used", [3]],
    ]);
    // A write of three may lack room where one of one has it.
    const write = { ...refused(10), operation: "write" };
    expect(said("limit", [admitted(9), admitted(10), write])?.slice(0, 2)).toEqual([12, "certain"]);
    expect(said("limit", [refused(9)])?.slice(0, 3)).toEqual([
      ...[9, "likely", "answers show 12, but a call was refused with 9 used"],
    ]);
  });

  test("is not what two windows let through", () => {
    // The second window has as many used as the first one had.
    const calls = [admitted(9), admitted(10), admitted(10), admitted(11), admitted(12), refused(12)];
    const two = calls.map((call) => ({
      ...call,
      readings: [{ ...read(null), ...call.readings?.[0], limit: 3 }],
    }));
    expect(said("limit", two)?.[0]).toBe(5);
    const shared = [1, 2, 2, 3].map((used) => admitted(used, { limit: 3 }));
    expect(said("limit", [...shared, refused(null)])?.slice(0, 2)).toEqual([3, "certain"]);
  });

  test("that answers do not agree on is not seen", () => {
    expect(said("limit", [admitted(1), admitted(2, { limit: 13 })])).toEqual([
      ...[null, "not seen", "answers show 12 and 13", "answers that agree on the limit"],
    ]);
  });

  test("that no answer shows is likely what was let through before a refusal", () => {
    const hidden = (used: number) => admitted(used, { limit: null });
    const through = "no answer shows it; a call was refused after";
    expect(said("limit", [hidden(1), hidden(2), refused()])).toEqual([
      ...[2, "likely", `${through} 2 were let through`, [3]],
    ]);
    // A new window began, a status and a refused call take nothing, and a write is three.
    const calls = [hidden(7), hidden(1), statusCall(1), refused(null, { by: "bursts" })];
    const hiddenStatus = calls.map((call) => ({
      ...call,
      readings: call.readings?.map((one) => ({ ...one, limit: null })) ?? [],
    }));
    expect(
      said("limit", [...hiddenStatus, { operation: "write", outcome: "admitted" }, refused()])?.[2],
    ).toBe(`${through} 4 were let through`);
    expect(said("limit", [hidden(1)])).toEqual([
      ...[null, "not seen", "no answer shows it, and none was refused by it", budget],
    ]);
    expect(said("limit", [refused()])).toEqual([
      ...[
        null,
        "not seen",
        "no answer shows it, nor what was used when one was refused",
        "answers that show it",
      ],
    ]);
  });

  test("above which one window let through is likely more", () => {
    const two = (used: number) => admitted(used, { limit: 2 });
    expect(said("limit", [two(1), two(2), two(3), refused(null)])).toEqual([
      ...[3, "likely", "answers show 2, but one window let 3 through", [4]],
    ]);
    expect(said("limit", [two(1), two(2), refused(null)])?.slice(0, 2)).toEqual([2, "certain"]);
  });
});

describe("a cost", () => {
  test("is certain by two pairs of answers in a row, and likely by one", () => {
    expect(said("cost look", [admitted(1), admitted(3), admitted(5)])).toEqual([
      ...[2, "certain", "2 calls took 2", [2, 3]],
    ]);
    expect(said("cost look", [admitted(1), admitted(3)])).toEqual([2, "likely", "1 call took 2", [2]]);
    expect(said("cost write", [admitted(1), { operation: "write", readings: [read(4)] }])?.[0]).toBe(3);
  });

  test("is not seen where calls took different amounts, or no use is shown", () => {
    expect(said("cost look", [admitted(1), admitted(2), admitted(4)])).toEqual([
      ...[null, "not seen", "calls took 1, 2", "a time at which nobody else calls"],
    ]);
    expect(said("cost look", [admitted(1), admitted(null), admitted(2)])).toEqual([
      ...[null, "not seen", "no two answers in a row show its use", "answers that show it, and two calls"],
    ]);
  });

  test("is not that of a refusal, of a fall, or across the end of a window", () => {
    const none = "no two answers in a row show its use";
    expect(said("cost look", [admitted(1), refused(2)])?.[2]).toBe(none);
    expect(said("cost look", [admitted(3), admitted(1)])?.[2]).toBe(none);
    const ending = (used: number, afterMs: number) =>
      admitted(used, { reset: { afterMs, atMs: null, gridMs: 1000 } });
    expect(said("cost look", [ending(1, 5000), ending(3, 4000)])?.[0]).toBe(2);
    expect(said("cost look", [ending(1, 5000), ending(3, 9000)])?.[2]).toBe(none);
  });

  test("is not seen where each call may have met a window of its own", () => {
    // Calls of a second each, in windows of a second: one is used each time.
    const slow = (at: number) => ({
      ...{ sent: 1000 * at, received: 1000 * at + 900 },
      ...admitted(1, { reset: { afterMs: 1000, atMs: null, gridMs: 1000 } }),
    });
    expect(said("cost look", [slow(0), slow(1), slow(2)])).toEqual([
      ...[null, "not seen", "calls took 0, or 1 if a new window began before each"],
      "longer windows, or faster answers",
    ]);
    // A longer window surely goes on: these calls were free.
    const free = admitted(1, { reset: { afterMs: 9000, atMs: null, gridMs: 1000 } });
    expect(said("cost look", [free, free, free])?.slice(0, 2)).toEqual([0, "certain"]);
    // Instants count by the target's clock, which no answer tells here.
    const instant = admitted(1, { reset: { afterMs: null, atMs: 90_000, gridMs: 1000 } });
    expect(said("cost look", [instant, instant, instant])?.[0]).toBeNull();
    const dated = { ...instant, date: 0 };
    expect(said("cost look", [dated, dated, dated])?.slice(0, 2)).toEqual([0, "certain"]);
  });

  test("is what the policy says: a number, what a sample declares, or nothing", () => {
    const of = (cost: unknown, samples: readonly object[] = []) =>
      costOf(
        { operations: { send: { uses: { short: cost }, samples } } } as unknown as Policy,
        "send",
        "short",
      );
    expect([
      of(3),
      of("declared"),
      of("declared", [{ cost: 7 }, { cost: 9 }]),
      of({ atMost: 5 }),
      of(undefined),
    ]).toEqual([3, 1, 7, null, null]);
    expect(costOf({ operations: {} } as unknown as Policy, "send", "short")).toBeNull();
  });
});

describe("refusals", () => {
  const count = "answers show no count that goes on when it is full";
  const shows = "answers that show used, or a remaining below 0";

  test("are counted where a second one shows more", () => {
    const two = "two refusals in a row show 12 and";
    expect(said("refused", [refused(12), refused(13)])).toEqual([
      ...["counted", "certain", `${two} 13 used`, [1, 2]],
    ]);
    expect(said("refused", [refused(12), refused(12)])).toEqual([
      ...["nothing", "certain", `${two} 12 used`, [1, 2]],
    ]);
    const below = (remaining: number) => refused(null, { readings: [read(null, { remaining })] });
    expect(said("refused", [below(-1), below(-2)])?.slice(0, 3)).toEqual([
      ...["counted", "certain", "two refusals in a row show 1 and 2 used"],
    ]);
    expect(said("refused", [below(0), below(0)])).toEqual([null, "not seen", count, shows]);
    expect(said("refused", [refused(12)])).toEqual([null, "not seen", count, shows]);
    expect(said("refused", [refused(12), refused()])).toEqual([null, "not seen", count, shows]);
  });

  test("of two windows, or with calls between them, tell nothing of each other", () => {
    expect(said("refused", [refused(12), admitted(1), refused(12)])?.[0]).toBeNull();
    const ending = (used: number, afterMs: number) =>
      refused(null, { readings: [read(used, { reset: { afterMs, atMs: null, gridMs: 1000 } })] });
    expect(said("refused", [ending(13, 1000), ending(13, 20_000)])?.[0]).toBeNull();
    expect(said("refused", [ending(13, 9000), ending(13, 8000)])?.slice(0, 2)).toEqual([
      "nothing",
      "certain",
    ]);
    expect(said("refused", [refused(13), refused(1), refused(2)])?.slice(0, 3)).toEqual([
      ...["counted", "likely", "two refusals in a row show 1 and 2 used"],
    ]);
  });

  test("say when to come back, or do not", () => {
    const back = (more: Partial<QuotaCall>) => said("retryAfter", [admitted(1), refused(1, more)]);
    expect(back({ retryAfterMs: 3500 })).toEqual(["after 3.5 s", "certain", "call 2 was answered 429", [2]]);
    expect([back({ retryAt: 5 })?.[0], back({})?.[0]]).toEqual(["at an instant", "never"]);
    const { wire, ...others } = JSON.parse(JSON.stringify(policyOf({})));
    const silent = parsePolicy({ ...others, wire: { ...wire, retryAfter: [] } });
    expect(said("retryAfter", [refused(1)], silent)).toEqual([
      ...[null, "not seen", "the policy's wire does not say where", "`retryAfter` in it"],
    ]);
  });

  test("that were none tell nothing", () => {
    for (const name of ["refused", "retryAfter"])
      expect(said(name, [admitted(1), refused(1, { by: "bursts" })])).toEqual([
        ...[null, "not seen", "no call was refused by it", budget],
      ]);
  });
});

test("a status is free or charged, by two of them in a row", () => {
  const lasting = { reset: { afterMs: 9000, atMs: null, gridMs: 1000 } };
  const status = (used: number, more: Partial<QuotaReading> = lasting): Partial<QuotaCall> => ({
    ...{ operation: "status", readings: [read(used, more)] },
  });
  expect(said("status", [status(3), status(3)])).toEqual([
    ...["free", "certain", "a status call took 0", [2]],
  ]);
  // A new window may have begun meanwhile, and somebody else may have called.
  expect(said("status", [statusCall(3), statusCall(3)])?.slice(0, 2)).toEqual(["free", "likely"]);
  expect(said("status", [statusCall(0), statusCall(0)])?.slice(0, 2)).toEqual(["free", "certain"]);
  expect(said("status", [status(3), status(4)])?.slice(0, 3)).toEqual([
    ...["charged", "likely", "a status call took 1"],
  ]);
  expect([
    said("status", [statusCall(3), admitted(4), statusCall(4)]),
    said("status", [statusCall(3)]),
  ]).toEqual([...[undefined, undefined]]);
});

describe("windows", () => {
  const answers = "answers that tell what is used of it, and when it ends";
  test("of which no answer shows the end, or too few were seen, are not seen", () => {
    for (const name of ["windowSeconds", "anchor"])
      expect(said(name, [admitted(1)])).toEqual([
        ...[null, "not seen", "no answer shows both its use and its end", answers],
      ]);
    const ending = { afterMs: 5000, atMs: null, gridMs: 1000 };
    expect(said("windowSeconds", [admitted(1, { reset: ending })])).toEqual([
      ...[null, "not seen", "1 window of it was seen", "a longer --max-wait, so that windows end"],
    ]);
    const { quotas, ...others } = JSON.parse(JSON.stringify(policyOf({})));
    const calendar = { kind: "fixed-window", limit: 12, anchor: { calendar: "day", zone: "Europe/Paris" } };
    const daily = parsePolicy({
      ...others,
      quotas: { ...quotas, short: { ...quotas.short, algorithm: calendar } },
    });
    const reset = { afterMs: 5000, atMs: null, gridMs: 1000 };
    const days = "days: a calendar's windows are not inferred";
    expect(said("windowSeconds", [admitted(1, { reset })], daily)).toEqual([
      ...[null, "not seen", "1 window of it was seen", days],
    ]);
    expect(
      said(
        "anchor",
        [admitted(1, { reset }), admitted(1, { reset: { ...reset, afterMs: 90_000 } })],
        daily,
      )?.[2],
    ).toBe("2 windows of it were seen");
  });
});
