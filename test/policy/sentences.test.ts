// Sentences of a policy: every kind of quota, charge and meaning has its own.
import { describe, expect, test } from "vitest";
import type { Quota, QuotaAlgorithm } from "../../src/policy/policy.ts";
import {
  allowance,
  operationSentences,
  quotaSentences,
  refusalSentence,
  resetSentence,
  roomDrawn,
} from "../../src/policy/sentences.ts";

const window = (windowSeconds: number, more: object = {}): QuotaAlgorithm =>
  ({ kind: "fixed-window", limit: 50, windowSeconds, anchor: "epoch", ...more }) as QuotaAlgorithm;
const bucket = (capacity: number, amount: number, everyMs: number): QuotaAlgorithm =>
  ({ kind: "token-bucket", capacity, refill: { amount, everyMs } }) as QuotaAlgorithm;
const sliding = (kind: "sliding-log" | "sliding-counter", limit: number) =>
  ({ kind, limit, windowSeconds: 3_600 }) as QuotaAlgorithm;
const concurrency = (limit: number) => ({ kind: "concurrency", limit }) as QuotaAlgorithm;

test.each<[QuotaAlgorithm, string]>([
  [window(1), "50 requests in each second"],
  [window(60), "50 requests in each minute"],
  [window(90), "50 requests in each 90 seconds"],
  [window(300, { limit: 1 }), "1 request in each 5 minutes"],
  [window(3_600, { limit: 5_000 }), "5,000 requests in each hour"],
  [window(172_800), "50 requests in each 2 days"],
  [
    window(1, { anchor: { calendar: "month", zone: "Europe/Berlin" } }),
    "50 requests in each month of Europe/Berlin",
  ],
  [bucket(10, 1, 1_000), "10 requests at once, of which 1 comes back in each second"],
  [bucket(10, 2, 250), "10 requests at once, of which 2 come back in each 250 ms"],
  [bucket(10, 2, 2_000), "10 requests at once, of which 2 come back in each 2 seconds"],
  [sliding("sliding-log", 7), "7 requests in any hour"],
  [sliding("sliding-counter", 7), "about 7 requests in any hour"],
  [concurrency(1), "1 call at a time"],
  [concurrency(4), "4 calls at a time"],
])("%j allows %s", (algorithm, text) => {
  expect(allowance(algorithm, "requests")).toBe(text);
});

describe("a quota", () => {
  const plain = { when: "admission", fits: "whole", refused: "free", refusedByOther: "free" };
  const told = (algorithm: QuotaAlgorithm, charge: object = {}, more: object = {}) =>
    quotaSentences({
      ...{ algorithm, key: ["org"], unit: "requests", charge: { ...plain, ...charge }, enforced: true },
      ...more,
    } as unknown as Quota);
  const ofCalendar = (calendar: string, zone: string) => window(60, { anchor: { calendar, zone } });
  const free = "Calls that it refuses cost nothing.";
  const grid = "Windows lie on the grid of Unix time.";
  const unenforced = "Spillway does not enforce it.";
  const judged = "The judge of traces judges what it lets through, and not its level.";
  const unjudged = "The judge of traces does not judge it.";

  test.each<[string, string[], string[]]>([
    ["on the grid", told(window(60)), [grid, free]],
    [
      "beside it",
      told(window(60, { anchor: { offsetMs: 500 } })),
      [`${grid.slice(0, -1)}, moved by 500 ms.`, free],
    ],
    [
      "beside it by hours",
      told(window(86_400, { anchor: { offsetMs: 28_800_000 } })),
      [`${grid.slice(0, -1)}, moved by 8 hours: they reset at 08:00 UTC.`, free],
    ],
    [
      "beside it by an hour",
      told(window(86_400, { anchor: { offsetMs: 3_600_000 } })),
      [`${grid.slice(0, -1)}, moved by 1 hour: they reset at 01:00 UTC.`, free],
    ],
    [
      "beside it by seconds",
      told(window(86_400, { anchor: { offsetMs: 90_000 } })),
      [`${grid.slice(0, -1)}, moved by 90 seconds: they reset at 00:01:30 UTC.`, free],
    ],
    [
      "beside it by less",
      told(window(86_400, { anchor: { offsetMs: 500 } })),
      [`${grid.slice(0, -1)}, moved by 500 ms: they reset at 00:00:00.500 UTC.`, free],
    ],
    ["of days", told(window(86_400)), [`${grid.slice(0, -1)}: they reset at 00:00 UTC.`, free]],
    ["of a calendar", told(ofCalendar("day", "UTC")), ["Windows reset every day at 00:00 in UTC.", free]],
    [
      "of a calendar whose clocks change",
      told(ofCalendar("month", "America/Los_Angeles")),
      [
        "Windows reset on the first of the month at 00:00 in America/Los_Angeles: by UTC at 08:00 in January and 07:00 in July.",
        free,
      ],
    ],
    [
      "of a calendar whose clocks do not",
      told(ofCalendar("week", "Asia/Tokyo")),
      ["Windows reset on Mondays at 00:00 in Asia/Tokyo: by UTC at 15:00.", free],
    ],
    [
      "from the first call",
      told(window(60, { anchor: "first-request", opens: "exact" })),
      ["A window opens with its first call.", free],
    ],
    [
      "from the first call's second",
      told(window(60, { anchor: "first-request", opens: "whole-second" })),
      ["A window opens with its first call, at the whole second.", free],
    ],
    ["a bucket", told(bucket(1, 1, 1_000)), [judged, free]],
    [
      "a bucket that is charged late",
      told(bucket(1, 1, 1_000), { when: "completion" }),
      [unjudged, "A call is charged when it has ended.", free],
    ],
    ["a log", told(sliding("sliding-log", 7)), [unenforced, judged, free]],
    ["a sliding counter", told(sliding("sliding-counter", 7)), [unenforced, judged, free]],
    ["calls at a time", told(concurrency(7)), [unenforced, unjudged, free]],
    [
      "held",
      told(window(60), { when: "reserve-settle" }),
      [grid, "A call's cost is held, and what it did not use comes back.", free],
    ],
    [
      "charged late",
      told(window(60), { when: "completion" }),
      [grid, "A call is charged when it has ended.", free],
    ],
    [
      "with any room",
      told(window(60), { fits: "any-left" }),
      [grid, "A call needs any room at all, not room for its whole cost.", free],
    ],
    [
      "that counts refusals",
      told(window(60), { refused: "counted", refusedByOther: "charged" }),
      [grid, "Calls that it refuses count, too.", "Calls that another quota refuses count here, too."],
    ],
    [
      "not enforced",
      told(window(60), {}, { enforced: false }),
      [grid, free, "It counts, and refuses nobody."],
    ],
    [
      "perhaps enforced",
      told(window(60), {}, { enforced: "unknown" }),
      [grid, free, "Nobody says whether it refuses."],
    ],
    [
      "enforced with another",
      told(window(60), {}, { enforced: { with: "core" } }),
      [grid, free, "It refuses only while core does."],
    ],
  ])("%s", (_, [, ...sentences], expected) => {
    expect(sentences).toEqual(expected);
  });

  test.each<[string[], string]>([
    [[], "All callers together may use 50 requests in each minute."],
    [["org"], "Each org may use 50 requests in each minute."],
    [["org", "user", "ip"], "Each org, user and ip may use 50 requests in each minute."],
  ])("of %j", (key, sentence) => {
    expect(told(window(60), {}, { key })[0]).toBe(sentence);
  });
});

test.each<[object, string, string[]]>([
  [{ a: 1 }, "all-or-nothing", ["A call uses 1 of a."]],
  [
    { a: 1, b: "declared" },
    "all-or-nothing",
    ["A call uses 1 of a and its cost of b.", "All must have room, or none is charged."],
  ],
  [
    { a: { atMost: 2_000 }, b: 2, c: 3 },
    "each-alone",
    [
      "A call uses up to 2,000 of a, 2 of b and 3 of c.",
      "Each that has room is charged, whatever the others say.",
    ],
  ],
  [
    { a: 1, b: 2 },
    "first-refusal-stops",
    ["A call uses 1 of a and 2 of b.", "Each is charged in turn, up to the first that refuses."],
  ],
])("a call that uses %j, %s", (uses, relation, sentences) => {
  expect(operationSentences({ uses, relation } as never)).toEqual(sentences);
});

test("resets and refusals", () => {
  const told = (...means: (string | null)[]) =>
    resetSentence({ readings: means.map((one) => (one === null ? {} : { reset: { means: one } })) } as never);
  expect(told()).toBe("Answers tell no reset.");
  expect(told(null, "window-end", "window-end")).toBe("A reset tells the end of the window.");
  expect(told("full", "next", "estimate")).toBe(
    "A reset tells the instant at which all is back, if nothing more is sent, the instant at which one more unit fits and an estimate, which promises nothing.",
  );
  expect(refusalSentence([403, 429])).toBe("Refusals have status 403 and 429.");
});

test("room comes back at once with a window, and by and by in a bucket", () => {
  expect(roomDrawn(window(60))).toBe(`${"▁".repeat(23)}█ 1 minute`);
  expect(roomDrawn(bucket(20, 2, 500))).toBe("▁▁▁▁▂▂▂▃▃▃▄▄▄▄▅▅▅▆▆▆▇▇▇█ 5 s");
  expect(roomDrawn(concurrency(3))).toBeNull();
  expect(roomDrawn(sliding("sliding-log", 3))).toMatch(/█ 1 hour$/u);
});
