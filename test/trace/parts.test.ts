// Parts that reading a trace is made of, each against a plain re-statement: texts and digits compared several bytes at
// once, calls that stand there twice, and what each member of a line may be.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { CallBatch } from "../../src/trace/batch.ts";
import { checkCall } from "../../src/trace/batch-reader.ts";
import { Block } from "../../src/trace/blocks.ts";
import { fourDigits } from "../../src/trace/digits.ts";
import { HabitMemory } from "../../src/trace/habit-memory.ts";
import { Literal } from "../../src/trace/literal.ts";
import { answerMembers } from "../../src/trace/quota-answer.ts";
import { QuotaLineReader } from "../../src/trace/quota-lines.ts";
import { readTrace } from "../../src/trace/read.ts";
import { CallNumbers } from "../../src/trace/sequence.ts";
import type { ReadAnswer } from "../../src/wire/read-answer.ts";
import { inference } from "../policy/policies.ts";
import { traceCall } from "../summary/traces.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { chunks } from "./samples.ts";

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

test("a block holds chunks of any size, and readable bytes behind them; what is forgotten makes room", () => {
  const block = new Block();
  const bytesOf = (length: number, from: number): Uint8Array =>
    Uint8Array.from({ length }, (_, at) => from + (at % 7));
  const parts = [bytesOf(5, 1), bytesOf(300_000, 20), bytesOf(400_000, 40)];
  for (const chunk of parts) {
    block.add(chunk);
    expect(block.view.buffer).toBe(block.bytes.buffer);
    expect(block.bytes.length - block.filled).toBeGreaterThanOrEqual(256);
  }
  expect(Buffer.concat(parts).equals(block.bytes.subarray(0, block.filled))).toBe(true);
  block.end = 300_005;
  block.forget();
  expect([block.filled, block.end]).toEqual([400_000, 0]);
  expect(Buffer.from(parts[2] ?? []).equals(block.bytes.subarray(0, block.filled))).toBe(true);
  expect(new Block().bytes.length).toBe(2 ** 18 + 256);
});

test("a trace without a byte is told so, by its first line", async () => {
  const { code, problems, message } = await codedErrorOf(readTrace(chunks("")));
  expect([code, message.split("\n")[0], ...problems]).toEqual([
    "TRACE_INVALID",
    "this trace is empty",
    { path: "line 1", got: "nothing", allowed: "a trace's header" },
  ]);
});

describe("a client's habits", () => {
  const columns = ["org", "user", "scope", "kind", "cost", "status", "limit"] as const;
  const batch = new CallBatch({ text: () => "" } as never);
  /** Text of a habit between others, of so many bytes. */
  const textOf = (habit: number, length: number): string =>
    `${habit}`.padEnd(length - 1, "abcdefg") + String(habit % 10);
  const placed = (habit: number, length: number): DataView => viewOf(`>>>${textOf(habit, length)}<<<<<<<<`);
  const valuesOf = (habit: number): number[] => columns.map((_, place) => 10 * habit + place + 1);

  function keep(memory: HabitMemory, client: number, habit: number, length = 40): void {
    for (const [place, column] of columns.entries()) batch[column][5] = valuesOf(habit)[place] ?? 0;
    batch.client[5] = client;
    memory.keep(placed(habit, length), 3, 3 + length, batch, 5, 100 + habit);
  }

  /** Values of the habit that is found, with its bits; `null` if none is. */
  function found(memory: HabitMemory, client: number, habit: number, length = 40): number[] | null {
    for (const column of columns) batch[column][6] = 0;
    const end = memory.read(placed(habit, length), 3, client, batch, 6);
    if (end === -1) return null;
    expect(end).toBe(3 + length);
    return [...columns.map((column) => batch[column][6] as number), memory.has];
  }

  const said = (habit: number): number[] => [...valuesOf(habit), 100 + habit];

  test("are its last two lines, with all their values; a third replaces the one that was not used last", () => {
    const memory = new HabitMemory();
    for (const client of [0, 1, 2, 4094, 4095]) {
      expect(found(memory, client, 1)).toBeNull();
      keep(memory, client, 1);
      keep(memory, client, 2);
      expect([2, 1, 1, 2, 1].map((habit) => found(memory, client, habit))).toEqual([2, 1, 1, 2, 1].map(said));
      keep(memory, client, 3);
      expect([1, 2, 3, 1].map((habit) => found(memory, client, habit))).toEqual([
        said(1),
        null,
        said(3),
        said(1),
      ]);
    }
    for (const client of [0, 1, 2, 4094, 4095]) expect(found(memory, client, 3)).toEqual(said(3));
    for (const client of [3, 4093, 2048]) expect(found(memory, client, 3)).toBeNull();
  });

  test("are known at once to the client whose number is 4,096 higher, and forgotten by its lines", () => {
    const memory = new HabitMemory();
    keep(memory, 7, 1);
    expect(found(memory, 4103, 1)).toEqual(said(1));
    keep(memory, 4103, 2);
    keep(memory, 4103, 3);
    expect(found(memory, 7, 1)).toBeNull();
  });

  test.each([8, 9, 15, 16, 17, 63, 64, 255, 256])("of %d bytes are known by every one of them", (length) => {
    const memory = new HabitMemory();
    keep(memory, 1, 4, length);
    keep(memory, 1, 5, length);
    expect([4, 5].map((habit) => found(memory, 1, habit, length))).toEqual([4, 5].map(said));
    const text = textOf(4, length);
    for (let at = 0; at < length; at++) {
      const other = viewOf(`>>>${text.slice(0, at)}~${text.slice(at + 1)}<<<<<<<<`);
      expect(memory.read(other, 3, 1, batch, 6)).toBe(-1);
    }
  });

  test("of more than 256 bytes are read each time", () => {
    const memory = new HabitMemory();
    keep(memory, 1, 4, 257);
    expect(found(memory, 1, 4, 257)).toBeNull();
  });
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
