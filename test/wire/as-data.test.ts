// Wire formats as data say more than readings (POLICY.md §8): refusals without readings, several places of one
// advice, values of a body that are no text.
import { expect, test } from "vitest";
import { type RefusalFacts, refusalFacts } from "../../src/policy/effective.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";
import { writeAnswer } from "../../src/wire/write-answer.ts";

const NOW = 1_795_305_600_250;

/** A policy of two quotas, whose answers show the first. */
const policyOf = (wire: object) =>
  parsePolicy({
    version: 2,
    name: "mine",
    quotas: {
      calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 } },
      all: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 } },
    },
    operations: { call: { uses: { calls: 1, all: 1 } } },
    wire: {
      revision: "1",
      readings: [
        { quotas: ["calls"], headers: { "X-Limit": "{limit}", "X-Remaining": "{remaining}" } },
        { quotas: ["all"], headers: { "X-All": "{remaining}" } },
      ],
      ...wire,
    },
  });

const asked = { quotas: ["calls", "all"], isStatus: false };

/** Writes a refusal by a quota, 4.5 s before there is room. */
function refused(wire: object, by: "calls" | "all") {
  const policy = policyOf(wire);
  const reading = { used: 0, resetAtMs: NOW + 4500 };
  const readings = [
    { ...reading, quota: "calls", limit: 5, remaining: by === "calls" ? 0 : 3 },
    { ...reading, quota: "all", limit: 9, remaining: by === "all" ? 0 : 3 },
  ];
  const told = { kind: "refused", readings, refusedBy: by, retryAtMs: NOW + 4500, cost: 1 } as const;
  const answer = writeAnswer(wireOf(policy), policy.quotas, told, NOW);
  return { answer, read: readAnswer(wireOf(policy), answer, asked) };
}

test("an outcome that only a body tells is unknown of HEAD, unless all that it may be agree", () => {
  const ofBody = (outcome: string, status: number) => ({
    outcome,
    status: [status],
    body: { "/ok": "false" },
  });
  const outcomes = [ofBody("refused", 200), ofBody("refused", 429), ofBody("exempt", 404)];
  const told = (status: number, method: string, body?: object) =>
    readAnswer(
      wireOf(policyOf({ outcomes })),
      { status, headers: { "X-All": "3" }, body },
      { ...asked, method },
    ).outcome;
  expect([200, 429, 404, 500].map((status) => told(status, "HEAD"))).toEqual([
    "unknown",
    "refused",
    "unknown",
    "unknown",
  ]);
  expect([200, 404].map((status) => told(status, "GET", { ok: true }))).toEqual(["admitted", "admitted"]);
  expect([200, 404].map((status) => told(status, "GET", { ok: false }))).toEqual(["refused", "exempt"]);
});

test("a refusal of a kind without readings neither shows nor reads any", () => {
  const outcomes = [
    { outcome: "refused", by: "all", status: [429], headers: { "X-Limit": "0" }, readings: false },
    { outcome: "refused", status: [429] },
  ];
  const { answer, read } = refused({ outcomes }, "all");
  expect(answer.headers).toEqual({ "X-Limit": "0" });
  expect(read).toMatchObject({ outcome: "refused", by: "all", readings: [], unread: [] });
  expect(refused({ outcomes }, "calls").read).toMatchObject({
    by: "calls",
    readings: [{ quota: "calls", remaining: 0 }, { quota: "all" }],
  });
});

test("an advice stands in each of its places, there in its first form", () => {
  const retryAfter = [
    { pointer: "/wait", form: "delta-s-float" },
    { header: "Retry-After", form: "delta-s" },
    { header: "Retry-After", form: "http-date" },
  ];
  const { answer, read } = refused({ retryAfter }, "all");
  expect(answer).toMatchObject({ headers: { "Retry-After": 5 }, body: { wait: 4.5 } });
  expect(read.retryAfter).toMatchObject({ afterMs: 4500 });
});

test("a body holds numbers, true, false and null as such", () => {
  const body = { "/ok": "false", "/code": "88", "/data": "null", "/id": "007", "/text": "at {limit}" };
  const { answer } = refused({ outcomes: [{ outcome: "refused", body }] }, "calls");
  expect(answer.body).toEqual({ ok: false, code: 88, data: null, id: "007", text: "at 5" });
});

test("what one reading leaves unnamed, another names: the quota that shows nothing left refused", () => {
  const readings = [
    { headers: { "X-Remaining": "{remaining}" } },
    { quotas: ["all"], headers: { "X-All": "{remaining}" } },
  ];
  const answer = { status: 429, headers: { "X-Remaining": "0", "X-All": "0" } };
  expect(readAnswer(wireOf(policyOf({ readings })), answer, asked).by).toBe("all");
});

const facts = (needs: RefusalFacts["needs"], isCharged = false): RefusalFacts => ({ needs, isCharged });

test.each<[calls: string | undefined, all: string | undefined, needs: object | undefined, by: string | null]>(
  [
    ["3", "8", { calls: 5, all: 1 }, "calls"],
    ["4", "4", { calls: 4, all: 5 }, "all"],
    ["5", "8", { calls: 5, all: 1 }, null],
    ["3", "8", undefined, null],
    ["5", "0", { calls: 5, all: 1 }, "all"],
    // Both lack room, or nobody knows it of one of them.
    ["3", "4", { calls: 5, all: 5 }, null],
    ["0", "0", { calls: 5, all: 1 }, null],
    ["3", "0", { calls: 5, all: 1 }, null],
    ["3", undefined, { calls: 5, all: 1 }, null],
    [undefined, "8", { calls: 5, all: 1 }, null],
    ["3", "8", { calls: 5, all: null }, null],
    ["3", "8", { calls: null, all: 1 }, null],
    // `all` refuses nobody, so that it is meant only where `calls` shows room.
    ["3", "0", { calls: 5 }, "calls"],
    ["0", "0", { calls: 5 }, "calls"],
    [undefined, "0", { calls: 5 }, "calls"],
    ["5", "0", { calls: 5 }, "all"],
    ["5", "8", { calls: 5 }, null],
  ],
)("a refusal that names none, of %s calls and %s of all, for %j: %s", (calls, all, needs, by) => {
  const headers = { ...(calls && { "X-Remaining": calls }), ...(all && { "X-All": all }) };
  const call = { ...asked, ...(needs && { refusal: () => facts(needs as Record<string, number | null>) }) };
  expect(readAnswer(wireOf(policyOf({})), { status: 429, headers }, call).by).toBe(by);
});

test("a quota that charges refused calls shows nothing left after a call that another one refused", () => {
  const answer = { status: 429, headers: { "X-Remaining": "0" } };
  const by = (isCharged: boolean): string | null =>
    readAnswer(wireOf(policyOf({})), answer, {
      ...asked,
      refusal: () => facts({ calls: 1, all: 1 }, isCharged),
    }).by;
  expect([by(false), by(true)]).toEqual(["calls", null]);
});

test("a rounded count does not tell that it lacks room", () => {
  const readings = [
    { quotas: ["calls"], grain: 10, headers: { "X-Remaining": "{remaining}" } },
    { quotas: ["all"], headers: { "X-All": "{remaining}" } },
  ];
  const answer = { status: 429, headers: { "X-Remaining": "10", "X-All": "8" } };
  const call = { ...asked, refusal: () => facts({ calls: 12, all: 1 }) };
  expect(readAnswer(wireOf(policyOf({ readings })), answer, call).by).toBeNull();
});

test("a call needs what its operation uses of the quotas that may refuse it", () => {
  const window = { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] } as const;
  const policy = parsePolicy({
    version: 2,
    name: "needs",
    quotas: {
      fixed: window,
      said: window,
      held: { ...window, charge: { when: "reserve-settle" } },
      any: { ...window, charge: { when: "completion", fits: "any-left" } },
      open: { ...window, enforced: false },
    },
    operations: { call: { uses: { fixed: 5, said: "declared", held: { atMost: 4 }, any: 7, open: 3 } } },
    routes: [{ path: "/**", operation: "call" }],
  });
  const needs = { fixed: 5, said: 2, held: 4, any: 1 };
  expect(refusalFacts(policy, "call", { user: "ann" }, 2)).toEqual(facts(needs));
  expect(refusalFacts(policy, "call", { user: "ann" }, null)).toEqual(facts({ ...needs, said: null }));
  expect(refusalFacts(policy, "status", { user: "ann" }, 2).needs).toEqual({});
});

test.each<[relation: string | undefined, charge: object, isCharged: boolean]>([
  [undefined, {}, false],
  [undefined, { refused: "counted" }, true],
  [undefined, { refusedByOther: "charged" }, true],
  ["each-alone", {}, true],
  ["first-refusal-stops", {}, true],
])("a refused call under %s, of a quota with %j, may be charged: %s", (relation, charge, isCharged) => {
  const window = { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 } } as const;
  const policy = parsePolicy({
    ...{ version: 2, name: "charged", quotas: { one: window, two: { ...window, charge } } },
    operations: { call: { uses: { one: 1, two: 1 }, ...(relation && { relation }) } },
    routes: [{ path: "/**", operation: "call" }],
  } as PolicyInput);
  expect(refusalFacts(policy, "call", {}, null).isCharged).toBe(isCharged);
});

test("members without names are nobody's, unless there is one", () => {
  const readings = [{ headers: { "X-Policy": { list: { ".": "{limit}", w: "{window}" } } } }];
  const one = { quotas: ["calls"], isStatus: false };
  const quotas = (text: string) =>
    readAnswer(
      wireOf(policyOf({ readings })),
      { status: 200, headers: { "x-policy": text } },
      one,
    ).readings.map(({ quota, limit, windowSeconds }) => [quota, limit, windowSeconds]);
  expect(quotas("5;w=60")).toEqual([["calls", 5, 60]]);
  expect(quotas("5;w=60, 9;w=3600")).toEqual([
    [null, 5, 60],
    [null, 9, 3600],
  ]);
});

test.each([
  ['"a";r=1, "a";r=1', 1],
  ['"a";r=1, "a";r=2', 0],
  ['"a"', 0],
  ["200, 200", 0],
  ['"a, b";r=1', 0],
])("of a list %s, %i members are read; else it is unread", (text, read) => {
  const readings = [{ headers: { "X-Left": { list: { ".": "{quota}", r: "{remaining}" } } } }];
  const answer = readAnswer(
    wireOf(policyOf({ readings })),
    { status: 200, headers: { "X-Left": text } },
    asked,
  );
  expect(answer.readings).toHaveLength(read);
  expect(answer.unread).toEqual(read === 0 ? [{ at: "X-Left", text }] : []);
});

test("numbers that are 0 are left out, and read as 0 where another is there", () => {
  const readings = [
    { quotas: ["calls"], omitsZero: true, body: { "/limit": "{limit}", "/left": "{remaining}" } },
  ];
  const { answer, read } = refused({ readings }, "calls");
  expect(answer.body).toEqual({ limit: 5 });
  expect(read).toMatchObject({
    by: "calls",
    readings: [{ quota: "calls", limit: 5, remaining: 0, used: null }],
  });
  expect(
    readAnswer(wireOf(policyOf({ readings })), { status: 200, headers: {}, body: {} }, asked).readings,
  ).toEqual([]);
});
