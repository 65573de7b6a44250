// Parts that reading a trace is made of, each against a plain re-statement: texts and digits compared several bytes at
// once, calls that stand there twice, and what each member of a line may be.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { checkCall } from "../../src/trace/batch-reader.ts";
import { fourDigits } from "../../src/trace/digits.ts";
import { Literal } from "../../src/trace/literal.ts";
import { answerMembers } from "../../src/trace/quota-answer.ts";
import { QuotaLineReader } from "../../src/trace/quota-lines.ts";
import { CallNumbers } from "../../src/trace/sequence.ts";
import type { ReadAnswer } from "../../src/wire/read-answer.ts";
import { inference } from "../policy/policies.ts";
import { traceCall } from "../summary/traces.ts";

const viewOf = (text: string): DataView => new DataView(new TextEncoder().encode(text).buffer);

describe("a text that must stand in a line", () => {
  test.each(Array.from({ length: 22 }, (_, at) => at + 4))(
    "of %d bytes: stands where each byte is there, and nowhere else",
    (length) => {
      const text = Array.from({ length }, (_, at) => String.fromCharCode(97 + at)).join("");
      const literal = new Literal(text);
      expect(literal.length).toBe(length);
      expect(literal.stands(viewOf(`>>${text}<<`), 2)).toBe(true);
      expect(literal.stands(viewOf(`>>${text}<<`), 1)).toBe(false);
      for (let at = 0; at < length; at++) {
        const other = `${text.slice(0, at)}~${text.slice(at + 1)}`;
        expect(literal.stands(viewOf(`>>${other}<<`), 2)).toBe(false);
      }
    },
  );
});

test("four characters are a number where all of them are digits, and below 0 where one is not", () => {
  const word = (text: string): number => viewOf(text).getInt32(0, true);
  const character = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code));
  const digits = fc.array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(..."0123456789") }, { weight: 1, arbitrary: character }),
    { minLength: 4, maxLength: 4 },
  );
  fc.assert(
    fc.property(
      digits.map((each) => each.join("")),
      (text) => {
        expect(Math.max(-1, fourDigits(word(text)))).toBe(/^\d{4}$/.test(text) ? Number(text) : -1);
      },
    ),
    { numRuns: 300 },
  );
  for (const text of ["0000", "9999", "1234", "0907"]) expect(fourDigits(word(text))).toBe(Number(text));
  for (const text of ["/000", "0:00", "00/0", "000:"]) expect(fourDigits(word(text))).toBe(-1);
});

test("a pair of client and call was there before, or not, as a set says", () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 14 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(pairs, (calls) => {
      const numbers = new CallNumbers();
      const known = new Set<string>();
      for (const [client, call] of calls) {
        expect(numbers.add(client, call)).toBe(!known.has(`${client}/${call}`));
        known.add(`${client}/${call}`);
      }
    }),
    { numRuns: 300 },
  );
});

/** The member that an error names, and what it may be; `null` where there is none. */
function mistake(check: () => unknown): readonly string[] | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const [problem] = error.problems;
    return [problem?.path ?? "", problem?.got ?? "", problem?.allowed ?? ""];
  }
}

describe("members of a call's line", () => {
  const right = { ...traceCall(), scopeName: "rest", limit: 5 };
  const wrong = (changes: object): readonly string[] | null =>
    mistake(() => checkCall({ ...right, ...changes }, 7));
  const whole = "a whole number >= 0";
  const header = "a whole number, text, or null";
  test.each([
    ["sent", [0, 1.5, -1], [null, "1", Number.NaN, Number.POSITIVE_INFINITY], "milliseconds since the epoch"],
    ["client", ["", "a"], [null, 1, undefined], "text"],
    ["call", [0, 7], [-1, 1.5, "1", null, 2 ** 53], whole],
    ["user", [null, "a"], [1, undefined], "text or null"],
    ["scope", ["rest", "graphql"], ["grpc", null], '"rest" or "graphql"'],
    ["kind", ["call", "status", "other"], ["calls", null], "one of call, status, other"],
    ["cost", [null, 0, 3], [-1, 1.5, undefined], "a whole number >= 0, or null"],
    ["status", [0, 100, 999], [1, 99, 1000, -1, 200.5, null], "an HTTP status from 100 to 999, or 0"],
    ["limit", [null, 5, "5, 5", -1], [1.5, true, undefined], header],
    ["retryAfter", [undefined, null, 5, "5"], [1.5, true], `${header}, or no such member`],
    ["wanted", [undefined, 5.5], [null, "5"], "milliseconds since the epoch, or no such member"],
    ["attempt", [undefined, 0], [null, -1, 0.5], `${whole}, or no such member`],
    ["error", [undefined, "reset"], [null, 1], "text, or no such member"],
    ["body", [undefined, null, {}, "x"], [], ""],
  ] as const)("%s", (member, allowed, others, words) => {
    for (const value of allowed) expect(wrong({ [member]: value })).toBeNull();
    for (const value of others)
      expect(wrong({ [member]: value })).toMatchObject([
        expect.stringContaining(member),
        expect.any(String),
        words,
      ]);
  });

  test("actual is at most the cost, where that is known", () => {
    expect([
      wrong({ cost: 3, actual: 3 }),
      wrong({ cost: null, actual: 9 }),
      wrong({ cost: 3, actual: 0 }),
    ]).toEqual([null, null, null]);
    expect(wrong({ cost: 3, actual: 4 })?.[2]).toBe("a whole number >= 0, at most cost, or no such member");
    expect(wrong({ cost: 3, actual: -1 })).not.toBeNull();
  });

  test.each([null, 5, "x", [right]])("%j is no call", (value) => {
    expect(mistake(() => checkCall(value, 7))?.[2]).toBe("a call, as a JSON object");
  });

  test("a second header says so", () => {
    expect(mistake(() => checkCall({ format: "spillway-trace" }, 7))?.slice(1)).toEqual([
      "a header",
      "a call",
    ]);
    expect(mistake(() => checkCall({ format: "other" }, 7))?.[1]).toBe("nothing");
  });
});

describe("members of a call's line by quotas", () => {
  const reader = new QuotaLineReader({ policy: parsePolicy(inference) });
  const right = {
    sent: 1,
    received: 2,
    client: "a/0",
    call: 0,
    caller: { tenant: "acme" },
    operation: "complete",
    cost: 1,
    status: 200,
    outcome: "admitted",
    readings: [["tenant", 40, 39, null, 5000]],
  };
  const wrong = (changes: object): string | null =>
    mistake(() => reader.read({ ...right, ...changes }, 7))?.[0] ?? null;
  const reading = (...values: unknown[]) => [["tenant", ...values]];
  test.each([
    ["caller", [{}, { user: "ann" }], [null, [], { user: 1 }, "ann"]],
    ["outcome", ["admitted", "refused", "exempt", "unknown"], ["maybe", null]],
    ["via", [undefined, "cache"], ["proxy", null]],
    ["unread", [undefined, [], ["X-Limit"]], ["X-Limit", [1], {}]],
    ["by", [undefined, "waf"], [null, 1]],
    ["operation", ["status", "other", "list"], ["lists", null]],
    [
      "readings",
      [
        [],
        reading(null, null, null, null),
        reading(1, -2, 3, 4, 5),
        reading(1, 2, 3, null, 5, 1000),
        reading(1, 2, 3, 4, null, null),
      ],
      [
        null,
        {},
        [null],
        [[]],
        reading(1, 2, 3),
        reading(1, 2, 3, 4, 5, 6, 7),
        reading(1.5, 2, 3, 4),
        reading("1", 2, 3, 4),
        reading(1, 2, 3, 4, 5, 0),
        reading(1, 2, 3, 4, 5, -1),
        [[5, 1, 2, 3, 4]],
        [["nobody", 1, 2, 3, 4]],
      ],
    ],
  ] as const)("%s", (member, allowed, others) => {
    for (const value of allowed) expect(wrong({ [member]: value })).toBeNull();
    for (const value of others) expect(wrong({ [member]: value })).toContain(member);
  });

  test("a name that the policy lacks is told with the nearest", () => {
    const error = (changes: object): unknown => {
      try {
        return reader.read({ ...right, ...changes }, 7);
      } catch (caught) {
        return caught;
      }
    };
    expect(error({ operation: "complte" })).toMatchObject({ hint: "did you mean complete?" });
    expect(error({ operation: "zzzzzzz" })).toMatchObject({ hint: undefined });
  });
});

test("of an answer a trace keeps the readings of known quotas in whole numbers, and what it says besides", () => {
  const reading = { limit: 10, remaining: 9, used: 1.5, reset: null };
  const answer = {
    outcome: "refused",
    by: "tenant",
    readings: [
      { ...reading, quota: "tenant", reset: { afterMs: 5, atMs: null, gridMs: 1, means: "window-end" } },
      { ...reading, quota: null },
      { ...reading, quota: "stranger" },
    ],
    retryAfter: { afterMs: 7, atMs: null, gridMs: 1 },
    isCached: false,
    unread: [{ at: "X-A" }, { at: "X-A" }, { at: "X-B" }],
  } as unknown as ReadAnswer;
  const bare = {
    ...answer,
    by: null,
    retryAfter: { afterMs: null, atMs: 9, gridMs: 1 },
    unread: [],
    isCached: true,
  } as ReadAnswer;
  const quotas = new Set(["tenant"]);
  expect(answerMembers(answer, quotas)).toEqual({
    outcome: "refused",
    readings: [
      { quota: "tenant", limit: 10, remaining: 9, used: null, reset: { afterMs: 5, atMs: null, gridMs: 1 } },
    ],
    by: "tenant",
    retryAfterMs: 7,
    retryAt: undefined,
    via: undefined,
    unread: ["X-A", "X-B"],
  });
  expect(answerMembers(bare, quotas)).toMatchObject({
    by: undefined,
    retryAfterMs: undefined,
    retryAt: 9,
    via: "cache",
    unread: undefined,
  });
});
