// The laws that one answer shows by itself, and the values that answers show at all, by the quotas of a policy: the
// fewest calls that break each, and those nearest to it that do not.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";

/** An instant on the grid of minutes. */
const minute = Date.UTC(2026, 0, 5, 10, 0);

const window = (limit: number) => ({ kind: "fixed-window", limit, windowSeconds: 60 }) as const;
const policyInput = {
  version: 2,
  name: "apart",
  quotas: {
    tenant: { algorithm: window(20), key: ["tenant"] },
    user: { algorithm: window(10), key: ["tenant", "user"] },
    left: {
      algorithm: window(5),
      key: ["user"],
      charge: { when: "completion", fits: "any-left" },
      shown: { remaining: "signed" },
    },
    held: { algorithm: window(8), key: ["user"], charge: { when: "reserve-settle" } },
  },
  operations: {
    send: { uses: { tenant: "declared", user: 1 } },
    alone: { uses: { tenant: "declared", user: 1 }, relation: "each-alone" },
    stream: { uses: { left: "declared" } },
    book: { uses: { held: "declared" } },
  },
  routes: [{ path: "/send", operation: "send" }],
  auth: { attributes: ["tenant", "user"] },
  wire: {
    revision: "1",
    readings: ["tenant", "user", "left", "held"].map((quota) => {
      const lead = quota === "tenant" ? "X" : `X-${quota}`;
      return {
        quotas: [quota],
        on: ["admitted", "refused", "status"],
        headers: {
          [`${lead}-Limit`]: "{limit}",
          [`${lead}-Remaining`]: "{remaining}",
          [`${lead}-Reset`]: "{reset}",
        },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      };
    }),
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { "X-By": "{quota}" } }],
  },
};

const read = (
  quota: string,
  limit: number | null,
  remaining: number | null,
  changes: Partial<QuotaReading> = {},
): QuotaReading => ({
  quota,
  limit,
  remaining,
  used: null,
  reset: { afterMs: 30_000, atMs: null, gridMs: 1000 },
  ...changes,
});
let number = 0;
const call = (changes: Partial<QuotaCall> = {}): QuotaCall => ({
  sent: minute + 30_000,
  received: minute + 30_010,
  client: "agents/0",
  call: number++,
  caller: { tenant: "acme", user: "ann" },
  operation: "send",
  cost: 1,
  status: 200,
  outcome: "admitted",
  readings: [],
  ...changes,
});

async function judged(...calls: QuotaCall[]) {
  return judgedUnder(policyInput, ...calls);
}

async function judgedUnder(given: object, ...calls: QuotaCall[]) {
  return judgedBy(given, { kind: "virtual", resolutionMs: 0, errorMs: 0 }, ...calls);
}

async function judgedBy(given: object, clock: QuotaTraceHeader["clock"], ...calls: QuotaCall[]) {
  const header: QuotaTraceHeader = {
    format: "spillway-trace",
    version: 2,
    source: "simulator",
    scenario: null,
    seed: null,
    target: null,
    startedAt: minute + 20_000,
    clock,
    policy: parsePolicy(given as PolicyInput),
    complete: false,
    lost: 0,
  };
  return judgeQuotas(
    header,
    calls.map((each, at) => ({ line: at + 2, call: each })),
  );
}

/** Accusation: the law, the way in which it is broken, and its owner. */
async function accused(...calls: QuotaCall[]): Promise<string[][]> {
  const { violations } = await judged(...calls);
  return violations.map((violation) => [
    violation.law,
    "quota" in violation ? violation.quota : "",
    violation.explanation.replace(/^line (\d+) /, "$1: "),
  ]);
}

describe("numbers of one reading", () => {
  const shows = (...readings: QuotaReading[]) => accused(call({ operation: "status", readings }));
  test.each([
    [
      "another limit",
      read("tenant", 21, 5),
      [["limit-agrees", "tenant", "2: shows a limit of 21, the policy says 20"]],
    ],
    ["the policy's", read("tenant", 20, 5), []],
    ["all that is left", read("tenant", 20, 20), []],
    [
      "more than the limit is left",
      read("tenant", 20, 21),
      [["remaining-agrees", "tenant", "2: shows remaining 21 of 20, which is above the limit"]],
    ],
    [
      "more than the policy's limit, where none is shown",
      read("tenant", null, 21),
      [["remaining-agrees", "tenant", "2: shows remaining 21 of 20, which is above the limit"]],
    ],
    ["nothing is left", read("tenant", 20, 0), []],
    [
      "less than nothing",
      read("tenant", 20, -1),
      [["remaining-agrees", "tenant", "2: shows remaining -1 of 20, which is below 0"]],
    ],
    ["less than nothing, where numbers have signs", read("left", 5, -1), []],
    ["used and left add up", read("tenant", 20, 5, { used: 15 }), []],
    [
      "used and left do not",
      read("tenant", 20, 5, { used: 14 }),
      [["remaining-agrees", "tenant", "2: shows 14 used and 5 remaining of 20"]],
    ],
    [
      "all is used, and some of it left",
      read("tenant", 20, 5, { used: 20 }),
      [["remaining-agrees", "tenant", "2: shows 20 used and 5 remaining of 20"]],
    ],
    ["more used than the limit, and nothing left", read("tenant", 20, 0, { used: 23 }), []],
    ["all used, and a signed remainder", read("left", 5, -1, { used: 5 }), []],
    ["a reset by now", read("tenant", 20, 20, { reset: { afterMs: 0, atMs: null, gridMs: 1000 } }), []],
    [
      "a reset in the past",
      read("tenant", 20, 20, { reset: { afterMs: -1000, atMs: null, gridMs: 1000 } }),
      [["reset-agrees", "tenant", "2: shows a reset in -1 s, which is over"]],
    ],
    [
      "a reset a window away, and what rounding adds",
      read("tenant", 20, 20, { reset: { afterMs: 61_000, atMs: null, gridMs: 1000 } }),
      [],
    ],
    [
      "a reset beyond that",
      read("tenant", 20, 20, { reset: { afterMs: 61_001, atMs: null, gridMs: 1000 } }),
      [["reset-agrees", "tenant", "2: shows a reset in 61.001 s, which is more than a window of 60 s lasts"]],
    ],
  ] as const)("%s", async (_name, reading, expected) => {
    const laws = new Set(["limit-agrees", "remaining-agrees", "reset-agrees"]);
    const found = await shows(reading);
    expect(found.filter(([law = "", , words = ""]) => laws.has(law) && words.startsWith("2: shows"))).toEqual(
      expected,
    );
  });

  test("what broke it is suspected", async () => {
    const suspects = async (reading: QuotaReading) =>
      (await judged(call({ operation: "status", readings: [reading] }))).violations[0]?.suspects;
    expect(await suspects(read("tenant", 20, -1))).toEqual([
      "one-extra",
      "refused-counted",
      "race-read-then-write",
    ]);
    expect(await suspects(read("tenant", 20, 21))).toEqual(["remaining-of-laxer-window"]);
    const reset = (afterMs: number): QuotaReading =>
      read("tenant", 20, 20, { reset: { afterMs, atMs: null, gridMs: 1000 } });
    expect(await suspects(reset(-1000))).toEqual(["reset-negative"]);
    expect((await suspects(reset(70_000)))?.toSorted()).toEqual([
      "reset-disagrees",
      "reset-in-ms",
      "skewed-nodes",
      "two-interleaved-windows",
    ]);
    expect(await suspects(reset(7_000_000))).toEqual(["reset-in-ms", "reset-epoch"]);
  });

  test("off in two ways is accused of both", async () => {
    const both = await shows(read("tenant", 20, -1), read("tenant", 20, 21));
    expect(both.map(([, , words]) => words?.slice(0, 30))).toEqual([
      "2: shows remaining -1 of 20, w",
      "2: shows remaining 21 of 20, w",
    ]);
  });

  test("is evidence for each law that it tells of, and of refusals", async () => {
    const { evidence } = await judged(
      call({ readings: [read("tenant", 20, 19)] }),
      call({ readings: [read("tenant", null, 18)] }),
      call({ readings: [read("tenant", 20, null, { used: 3, reset: null })] }),
      call({ outcome: "refused", by: "tenant", status: 429, cost: 18, readings: [read("tenant", 20, 17)] }),
    );
    const numbers = (["limit-agrees", "remaining-agrees", "reset-agrees", "headers-present"] as const).map(
      (law) => [evidence?.[law].readings, evidence?.[law].refusals],
    );
    expect(numbers).toEqual([
      [3, 1],
      [3, 1],
      [3, 1],
      [4, 1],
    ]);
  });
});

test("a quota that an answer shows twice is judged by what tells its window, whichever comes first", async () => {
  const lost = (isFirst: boolean) => {
    const one = read("user", 10, 9);
    const other = read("user", null, 9, { reset: null });
    const readings = isFirst ? [one, other] : [other, one];
    return accused(
      call({ readings }),
      call({ sent: minute + 30_020, received: minute + 30_030, readings }),
      call({ sent: minute + 30_040, received: minute + 30_050, readings }),
    );
  };
  const found = await lost(true);
  expect(found.map(([law, quota]) => [law, quota])).toContainEqual(["conserved", "user"]);
  expect(await lost(false)).toEqual(found);
});

describe("a call that costs more than a limit", () => {
  const oversize = async (changes: Partial<QuotaCall>) =>
    (await accused(call(changes))).filter(([law]) => law === "refusal-justified").map(([, ...told]) => told);
  test.each([
    ["as much as it", { cost: 20 }, []],
    [
      "one more",
      { cost: 21 },
      [
        [
          "tenant",
          "2: asked for 21 requests, more than its limit of 20 can ever hold, and was let through while limits were enforced",
        ],
      ],
    ],
    ["one more, refused", { cost: 21, outcome: "refused", status: 429, by: "tenant" }, []],
    ["one more, from a cache", { cost: 21, via: "cache" }, []],
    ["one more, where the last call may pass it", { operation: "stream", cost: 6 }, []],
    ["of no known cost", { cost: null }, []],
    ["of nobody known", { cost: 21, caller: {} }, []],
  ] as const)("%s", async (_name, changes, expected) => {
    expect(await oversize(changes)).toEqual(expected);
  });
});

describe("a refusal", () => {
  /** The window began before the call was sent, and ends after its answer. */
  const room = (user: number, tenant: number, changes: Partial<QuotaCall> = {}): QuotaCall =>
    call({
      outcome: "refused",
      status: 429,
      readings: [read("tenant", 20, tenant), read("user", 10, user)],
      by: "user",
      ...changes,
    });
  const refusals = async (one: QuotaCall) =>
    (await accused(one))
      .filter(([law]) => law === "refusal-justified" || law === "refusal-agrees")
      .map(([law, quota]) => [law, quota]);
  const needless = [["refusal-justified", "user"]];
  const named = [["refusal-agrees", "user"]];
  const ending = { reset: { afterMs: 0, atMs: null, gridMs: 1000 } };
  const young = { sent: minute - 5, received: minute + 30_010 };
  test.each([
    ["by a user's quota that lacks room", room(0, 5), []],
    ["although all have room", room(1, 1), needless],
    [
      "although all have room, by nobody knows what",
      room(1, 1, { by: undefined }),
      [["refusal-justified", "tenant"]],
    ],
    ["although all have room, by what is no quota", room(1, 1, { by: "waf" }), []],
    ["for a cost that fits exactly", room(1, 5, { cost: 5 }), needless],
    ["for one that lacks a unit", room(1, 4, { cost: 5, by: "tenant" }), []],
    ["named by one that has room, where another lacks it", room(1, 0), named],
    [
      "named by one that has room, where another does not tell",
      room(1, 0, { readings: [read("user", 10, 1)] }),
      named,
    ],
    ["by one that does not tell", room(1, 1, { readings: [] }), []],
    ["for a cost that nobody knows", room(1, 1, { cost: null }), named],
    [
      "that shows what is used",
      room(0, 0, {
        readings: [read("tenant", 20, null, { used: 19 }), read("user", null, null, { used: 9 })],
      }),
      needless,
    ],
    [
      "that shows all used",
      room(0, 0, {
        readings: [read("tenant", 20, null, { used: 19 }), read("user", null, null, { used: 10 })],
      }),
      [],
    ],
    [
      "as the window ends",
      room(0, 0, { readings: [read("tenant", 20, 5, ending), read("user", 10, 5, ending)] }),
      [],
    ],
    ["that may be of the window before", room(1, 1, young), []],
    ["of a caller whom nobody knows", room(1, 1, { caller: {} }), []],
    [
      "where points are given back, which makes room",
      call({
        operation: "book",
        outcome: "refused",
        status: 429,
        by: "held",
        readings: [read("held", 8, 5)],
      }),
      [],
    ],
    [
      "where anything left is enough",
      call({
        operation: "stream",
        cost: 9,
        outcome: "refused",
        status: 429,
        by: "left",
        readings: [read("left", 5, 1)],
      }),
      [["refusal-justified", "left"]],
    ],
    [
      "where nothing is left",
      call({
        operation: "stream",
        outcome: "refused",
        status: 429,
        by: "left",
        readings: [read("left", 5, 0)],
      }),
      [],
    ],
  ] as const)("%s", async (_name, one, expected) => {
    expect(await refusals(one)).toEqual(expected);
  });

  // The end may lie a second before what is shown, and the time to come back a second after: here they meet.
  test.each([
    [57_999, named],
    [58_000, []],
  ])("that tells to come back at %d ms, where its window ends at 60,000: %j", async (retryMs, expected) => {
    const reset = { afterMs: null, atMs: minute + 60_000, gridMs: 1000 };
    const readings = [read("tenant", 20, 5), read("user", 10, 0, { reset })];
    expect(await refusals(room(0, 5, { readings, retryAt: minute + retryMs }))).toEqual(expected);
  });

  test.each([
    [20, [["refusal-agrees", "tenant"]]],
    [21, []],
  ])("that tells to come back too early, of %d units of a limit of 20: %j", async (cost, expected) => {
    const reset = { afterMs: null, atMs: minute + 60_000, gridMs: 1000 };
    const readings = [read("tenant", 20, 0, { reset }), read("user", 10, 5)];
    const refused = room(5, 0, { readings, cost, by: "tenant", retryAt: minute + 57_000 });
    expect(await refusals(refused)).toEqual(expected);
  });

  test("is told with what it asked for and what quotas show", async () => {
    const words = async (one: QuotaCall) => (await accused(one)).map(([, , each]) => each);
    expect(await words(room(1, 2))).toContain(
      "2: asked for 1 request and was refused, although every quota that it uses shows room: tenant 2 left of 20, user 1 left of 10",
    );
    expect(await words(room(1, 0))).toContain(
      "2: asked for 1 request and was refused by user, which shows room: tenant 0 left of 20, user 1 left of 10",
    );
  });

  const questions = async (one: QuotaCall) =>
    ((await judged(one)).questions ?? []).map(({ question }) => question.slice(0, 99));
  test("that names a quota where one before it lacks room, too, is asked about", async () => {
    const asked = [
      "Refusals name user where tenant, which comes before it in the policy, lacks room, too (line 2: tena",
    ];
    expect(await questions(room(0, 0))).toEqual(asked);
    expect(await questions(room(0, 1))).toEqual([]);
    expect(await questions(room(0, 0, { by: "tenant" }))).toEqual([]);
    expect(await questions(room(0, 0, { operation: "alone" }))).toEqual([]);
  });

  test("is evidence where readings tell of room", async () => {
    const evidence = async (one: QuotaCall) => {
      const { evidence: all } = await judged(one);
      return [all?.["refusal-justified"], all?.["refusal-agrees"]].map((law) => [
        law?.readings,
        law?.refusals,
      ]);
    };
    expect(await evidence(room(0, 5))).toEqual([
      [2, 1],
      [1, 1],
    ]);
    expect(await evidence(room(1, 1))).toEqual([
      [2, 1],
      [0, 0],
    ]);
    expect(await evidence(room(0, 5, { readings: [read("user", 10, 0)] }))).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(await evidence(room(0, 5, { readings: [read("tenant", 20, 5)] }))).toEqual([
      [1, 1],
      [0, 0],
    ]);
    expect(await evidence(room(0, 5, { readings: [] }))).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});

describe("values that answers show at all", () => {
  const found = async (...calls: QuotaCall[]) => {
    const { violations, questions = [] } = await judged(...calls);
    return {
      violations: violations
        .filter(({ law }) => law === "headers-present")
        .map(({ explanation, suspects }) => [explanation, suspects]),
      questions: questions.map((each) => [
        "quota" in each ? each.quota : "",
        each.question,
        each.suspects,
        each.lines,
      ]),
    };
  };
  const shown = () => call({ readings: [read("tenant", 20, 19)] });

  test("in none of the wire's forms are accused, with the form that was meant", async () => {
    const { violations } = await found(call({ unread: ["X-Remaining"] }));
    expect(violations).toEqual([
      [
        "line 2 has values in none of the forms of the policy's wire; no trace keeps them: X-Remaining, which is {remaining}",
        ["headers-doubled"],
      ],
    ]);
    const more = await found(call({ unread: ["X-Reset", "Retry-After", "X-Other"] }));
    expect(more.violations).toEqual([
      [
        "line 2 has values in none of the forms of the policy's wire; no trace keeps them: X-Reset, which is {reset} as delta-s; " +
          "Retry-After, which is delta-s; X-Other, which is of another form",
        ["headers-doubled", "reset-epoch", "reset-in-ms", "reset-negative"],
      ],
    ]);
  });

  test.each([
    ["of a body that was cut", { unread: ["body", "/left"] }],
    ["of a cache", { unread: ["X-Reset"], via: "cache" }],
    ["of an answer that no quota counts", { unread: ["X-Reset"], outcome: "exempt" }],
    ["of a caller whom nobody knows", { unread: ["X-Reset"], caller: {} }],
    ["of a call that uses nothing", { unread: ["X-Reset"], operation: "other" }],
  ] as const)("%s accuse nobody", async (_name, changes) => {
    expect((await found(call(changes))).violations).toEqual([]);
  });

  test("not at all on a kind of answer, though its format says so, are asked about", async () => {
    const refused = call({ outcome: "refused", status: 429, by: "user" });
    expect((await found(shown(), refused, { ...refused, call: 999 })).questions).toEqual([
      [
        "tenant",
        "None of 2 refusals shows a quota (line 3), as the policy's wire says. Is that meant? `on` of its readings settles it.",
        ["headers-missing-on-429"],
        [3],
      ],
    ]);
    expect((await found(call(), call())).questions).toEqual([
      [
        "tenant",
        "None of 2 admitted calls shows a quota (line 2), as the policy's wire says. Is that meant? The names in its readings settle it.",
        [],
        [2],
      ],
    ]);
    expect((await found(shown(), call({ operation: "status" }))).questions).toEqual([
      [
        "status",
        "None of 1 status shows a quota (line 3), as the policy's wire says. Is that meant? `on` of its readings settles it.",
        ["headers-missing-on-status"],
        [3],
      ],
    ]);
  });

  test("not at all on a status of 4xx that the format calls no refusal are asked about", async () => {
    const failed = (status: number) => call({ status });
    expect((await found(shown(), failed(403), failed(403), failed(404))).questions).toEqual([
      [
        "tenant",
        "None of 2 answers of 403 shows a quota (line 3), and the policy's wire calls none a refusal. Do they refuse? `outcomes` settles it.",
        ["headers-missing-on-429"],
        [3],
      ],
    ]);
    const each = await found(
      shown(),
      failed(403),
      failed(400),
      call({ outcome: "refused", status: 429, by: "user" }),
    );
    expect(
      (each.questions ?? []).map(([, question]) => String(question).replace(/ shows a quota.*/, "")),
    ).toEqual(["None of 1 refusal", "None of 1 answer of 403", "None of 1 answer of 400"]);
    const showing = { status: 403, readings: [read("tenant", 20, 18)] };
    expect((await found(shown(), failed(403), call(showing))).questions ?? []).toEqual([]);
  });

  test("not at all on refusals are right where the format says that some show nothing", async () => {
    const outcomes = [
      ...policyInput.wire.outcomes,
      { outcome: "refused", by: "waf", status: [403], readings: false },
    ];
    const given = { ...policyInput, wire: { ...policyInput.wire, outcomes } };
    const refused = call({ outcome: "refused", status: 429, by: "user" });
    expect((await judgedUnder(given, shown(), refused)).questions).toBeUndefined();
    expect((await judgedUnder(given, call())).questions).toHaveLength(1);
  });

  test("on one answer of a kind are enough, even in no form", async () => {
    expect((await found(call(), shown())).questions).toEqual([]);
    expect((await found(call(), call({ unread: ["X-Remaining"] }))).questions).toEqual([]);
    expect((await found(call({ operation: "other" }))).questions).toEqual([]);
  });

  test("of bodies that cannot be read are asked about, whatever others show", async () => {
    expect((await found(shown(), call({ unread: ["body"] }), call({ unread: ["body"] }))).questions).toEqual([
      [
        "tenant",
        "Of 3 admitted calls, 2 bodies cannot be read (line 3): cut, too long, or no JSON. What sends them?",
        [],
        [3],
      ],
    ]);
  });
});

test("the date and the counts of a cached answer are an earlier one's", async () => {
  const every = (second: number, remaining: number, changes: Partial<QuotaCall> = {}): QuotaCall => {
    const sent = minute + second * 1000;
    const reset = { afterMs: null, atMs: minute + 60_000, gridMs: 1000 };
    const readings = [read("tenant", 20, remaining, { reset })];
    return call({ sent, received: sent + 10, date: sent, readings, ...changes });
  };
  const wall = { kind: "wall", resolutionMs: 1, errorMs: 0 } as const;
  const found = async (...calls: QuotaCall[]) => {
    const { violations } = await judgedBy(policyInput, wall, ...calls);
    return violations.map(({ law }) => law);
  };
  const others = [every(31, 15), every(32, 14), every(34, 12), every(35, 11)] as const;
  for (const cached of [every(33, 19), every(33, 13, { date: minute + 3000 })]) {
    const among = (third: QuotaCall) => found(...others.slice(0, 2), third, ...others.slice(2));
    expect(await among({ ...cached, via: "cache" })).toEqual([]);
    expect(await among(cached)).not.toEqual([]);
  }
});

const date = (ms: number, afterMs: number) => ({
  ...{ afterMs: null, atMs: minute + ms + afterMs, gridMs: 1000 },
});
const span = (ms: number) => ({ afterMs: ms, atMs: null, gridMs: 1000 });
test.each([
  ["a date within a window that is half over", date, 31_000, "29.495", "two-interleaved-windows"],
  ["the date of a new window", date, 61_000, "59.495", "rearmed-per-hit"],
  ["a date a little beyond a window, as a window's", date, 62_000, "60", "rearmed-per-hit"],
  ["a span of half a window", span, 30_000, "30", "two-interleaved-windows"],
  ["the span of a new window", span, 60_000, "60", "rearmed-per-hit"],
])("an end is told in seconds: %s", async (_name, resetOf, ms, seconds, suspect) => {
  const tenant = { algorithm: { ...window(20), anchor: "first-request" }, key: ["tenant"] };
  const dated = (afterMs: number, remaining: number): QuotaCall => {
    const sent = minute + 1000 + afterMs;
    const reset = resetOf(ms, afterMs);
    return call({ sent, received: sent + 10, readings: [read("tenant", 20, remaining, { reset })] });
  };
  const given = { ...policyInput, quotas: { ...policyInput.quotas, tenant } };
  const { violations } = await judgedUnder(given, dated(0, 19), dated(4000, 18));
  expect(violations.map(({ suspects, explanation }) => [suspects[0], explanation])).toEqual([
    [
      suspect,
      `line 2 was told reset ${seconds} and line 3 reset ${seconds}: they show windows that end at least 3.0 s apart, ` +
        "which is nearer than a window of 60 s",
    ],
  ]);
});

test("a refusal while nothing is enforced is told by the quota's name, not by what its calls cost", async () => {
  const user = { algorithm: window(10), key: ["tenant", "user"], enforced: false };
  const given = { ...policyInput, quotas: { ...policyInput.quotas, user } };
  const { violations } = await judgedUnder(given, call({ status: 429, outcome: "refused", by: "user" }));
  expect(violations.map(({ law, explanation }) => [law, explanation])).toEqual([
    ["unenforced-never-refuses", "line 2 was refused while the limits of user were not enforced"],
  ]);
});

test("what is left is told of no limit where the answer shows none", async () => {
  const readings = [read("tenant", null, 7), read("user", 10, null, { used: 4 })];
  const refused = call({ status: 429, outcome: "refused", by: "tenant", readings });
  expect(await accused(refused)).toEqual([
    [
      "refusal-justified",
      "tenant",
      "2: asked for 1 request and was refused, although every quota that it uses shows room: tenant 7 left, user 4 used of 10",
    ],
  ]);
});
