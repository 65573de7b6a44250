// The laws under rules, each against one wrong answer: the engine's own, changed at one place. Which laws accuse it, and
// with which words, stands beside it; right answers are accused by none.
import { expect, test } from "vitest";
import type { LimiterFactory, PartialDecision, PartialReadings } from "../../src/engine/adapter.ts";
import { judgeScript } from "../../src/laws/causes.ts";
import { engineFactory } from "../../src/laws/engine-factory.ts";
import type { Op, Script } from "../../src/laws/script.ts";
import { type LimiterLawName, limiterLawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Scope } from "../../src/rules/rules.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";

const startMs = Date.UTC(2026, 0, 1);
const rules = parseRules({
  organization: { rest: { limit: 4, windowSeconds: 10 }, graphql: { limit: 10, windowSeconds: 20 } },
  user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 6, windowSeconds: 20 } },
  semantics: { graphqlCharge: "reserved" },
});

let id = 0;
const at = (seconds: number) => ({ atMs: startMs + 1000 * seconds });
const call = (seconds: number, user: string, scope: Scope = "rest", cost = 1): Op => ({
  ...{ do: "call", ...at(seconds), id: id++ },
  ...{ organization: "acme", user, scope, cost },
});
const settle = (seconds: number, of: Op, actual: number): Op => ({
  ...{ do: "settle", ...at(seconds), actual },
  id: "id" in of ? of.id : -1,
});
const status = (seconds: number, user: string): Op => ({
  ...{ do: "status", ...at(seconds) },
  ...{ organization: "acme", user },
});
const enforce = (seconds: number, enforced: boolean): Op => ({
  ...{ do: "enforce", ...at(seconds), enforced },
  ...{ organization: "acme", scope: "rest" },
});

const query = call(5, "ann", "graphql", 5);
/** Ann is refused by her own window, Bob by the organization's; a query gives points back, and windows end. */
const ops: readonly Op[] = [
  call(1, "ann"),
  call(2, "ann"),
  status(2, "ann"),
  call(3, "ann"),
  call(4, "ann"),
  query,
  call(6, "ann", "graphql", 2),
  settle(7, query, 2),
  call(8, "ann", "graphql", 2),
  call(8, "bob"),
  call(9, "bob"),
  call(10, "ann"),
  call(11, "bob", "graphql", 11),
  enforce(12, false),
  call(12, "ann"),
  call(13, "ann"),
  call(14, "ann"),
  call(15, "ann"),
  enforce(16, true),
  call(16, "ann"),
  status(17, "bob"),
  call(20, "ann"),
  call(21, "bob", "graphql", 6),
];
const script: Script = { rules, startMs, ops, pick: 0 };

interface Changes {
  readonly decide?: (said: PartialDecision) => PartialDecision;
  readonly read?: (said: PartialReadings) => PartialReadings;
  readonly answer?: (said: HttpAnswer) => HttpAnswer;
}

/** The engine, whose answers of one second are changed; below 0, those from there on. */
function changed(seconds: number, { decide, read, answer }: Changes): LimiterFactory {
  const isDue = (nowMs: number): boolean =>
    seconds < 0 ? nowMs >= startMs - 1000 * seconds : nowMs === startMs + 1000 * seconds;
  return {
    ...engineFactory,
    async create(given, seam) {
      const limiter = await engineFactory.create(given, seam);
      return {
        ...limiter,
        async decide(asked, nowMs) {
          const said = await limiter.decide(asked, nowMs);
          return isDue(nowMs) && decide ? decide(said) : said;
        },
        async settle(reservation, actual, nowMs) {
          const said = (await limiter.settle?.(reservation, actual, nowMs)) ?? {};
          return isDue(nowMs) && read ? read(said) : said;
        },
        async answer(asked, nowMs) {
          const said = (await limiter.answer?.(asked, nowMs)) as HttpAnswer;
          return isDue(nowMs) && answer ? answer(said) : said;
        },
      };
    },
  };
}

type Accused = Partial<Record<LimiterLawName, string>>;

/** The laws that accuse, with what they expected and got. */
async function accusations(factory: LimiterFactory): Promise<Accused> {
  const found: Accused = {};
  // A change at one time is none of a run that is shifted.
  for (const law of limiterLawNames.filter((each) => each !== "time-translates")) {
    const { violation } = await judgeScript(factory, law, script);
    if (violation !== null) found[law] = `${violation.expected}; ${violation.got}; ${violation.arithmetic}`;
  }
  return found;
}

const shown =
  (owner: "organization" | "user", member: "limit" | "current" | "remaining" | "reset", by: number) =>
  <Said extends PartialReadings>(said: Said): Said => {
    const reading = said[owner] ?? {};
    return { ...said, [owner]: { ...reading, [member]: (reading[member] ?? 0) + by } };
  };
const admitted = (said: PartialDecision): PartialDecision => ({ ...said, admitted: true, refusedBy: null });
const refusedBy =
  (owner: "organization" | "user" | null) =>
  (said: PartialDecision): PartialDecision => ({ ...said, admitted: false, refusedBy: owner });
const header =
  (name: string, value: (was: string) => string | null) =>
  (said: HttpAnswer): HttpAnswer => ({
    ...said,
    headers: Object.fromEntries(
      Object.entries(said.headers).flatMap(([each, was]) => {
        const now = each.toLowerCase() === name.toLowerCase() ? value(String(was)) : was;
        return now === null ? [] : [[each, now]];
      }),
    ) as HttpAnswer["headers"],
  });

const cases: [string, number, Changes, Accused][] = [
  ["nothing is wrong", 1, {}, {}],
  [
    "one more is used of the user's window",
    2,
    { decide: shown("user", "current", 1) },
    {
      conserved: "current 2; current 3; 1 charged before, this operation adds 1: 2",
      "remaining-agrees": "remaining 0; remaining 1; max(0, 3 - 3) = 0",
    },
  ],
  [
    "one less is left of the organization's window",
    2,
    { decide: shown("organization", "remaining", -1) },
    { "remaining-agrees": "remaining 2; remaining 1; max(0, 4 - 2) = 2" },
  ],
  [
    "the user's limit is one higher",
    1,
    { decide: shown("user", "limit", 1) },
    {
      "remaining-agrees": "remaining 3; remaining 2; max(0, 4 - 1) = 3",
      "limit-agrees": "limit 3; limit 4; the rules say so",
    },
  ],
  [
    "the user's window ends 1 s later",
    3,
    { decide: shown("user", "reset", 1) },
    { "reset-agrees": "reset = ceil(7000 ms); reset 8; reset_at - now = 7 s" },
  ],
  [
    "each window of the organization ends a window later",
    -1,
    { decide: shown("organization", "reset", 10) },
    { "reset-agrees": "1 <= reset <= 10; reset 19; the window is 10 s long" },
  ],
  [
    "a completed query keeps its points",
    7,
    { read: shown("user", "current", 3) },
    {
      conserved: "current 2; current 5; 5 charged before, this operation charges nothing, 3 given back: 2",
      "remaining-agrees": "remaining 1; remaining 4; max(0, 6 - 5) = 1",
      monotone: "current >= 5; current 4; 5 was shown before in this window, 0 given back since",
    },
  ],
  [
    "a completed query gives one too many back",
    7,
    { read: shown("organization", "remaining", 1) },
    { "remaining-agrees": "remaining 8; remaining 9; max(0, 10 - 2) = 8" },
  ],
  [
    "who has room is refused by the organization",
    2,
    { decide: refusedBy("organization") },
    {
      conserved: "current 1; current 2; 1 charged before, this operation charges nothing: 1",
      "all-or-nothing":
        "current 1, as before the refused call; current 2; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by rest; the call found rest 2 of 4, rest_user 2 of 3, and takes 1",
      "refusal-agrees":
        "a refusal that names a quota without room; rest; it had 1 of 4, and the call takes 1",
    },
  ],
  [
    "who has room is refused by nobody",
    2,
    { decide: refusedBy(null) },
    {
      conserved: "current 1; current 2; 1 charged before, this operation charges nothing: 1",
      "all-or-nothing":
        "current 1, as before the refused call; current 2; a refused call is not charged here",
      "refusal-justified": "admitted; refused; the call found rest 2 of 4, rest_user 2 of 3, and takes 1",
      "refusal-agrees":
        "a refusal that names a quota without room; rest; it had 1 of 4, and the call takes 1",
    },
  ],
  [
    "who has no room is admitted",
    4,
    { decide: admitted },
    { conserved: "current 4; current 3; 3 charged before, this operation adds 1: 4" },
  ],
  [
    "a cost above all limits is admitted",
    11,
    { decide: admitted },
    {
      conserved: "current 15; current 4; 4 charged before, this operation adds 11: 15",
      monotone:
        "current 11; current 0; this is the first call, so the count was 0 and only this operation is in it",
      "twice-at-most":
        "at most 20 admitted in any 20 s; 21 admitted in the 20 s up to this call; 2 x 10 = 20",
      "rate-bound":
        "at most 10 admitted at one instant; 11 admitted at one instant, up to this call; the capacity is 10",
    },
  ],
  [
    "a refusal names the other window",
    4,
    { decide: refusedBy("organization") },
    {
      "refusal-agrees":
        "a refusal that names a quota without room; rest; it had 3 of 4, and the call takes 1",
    },
  ],
  [
    "a refusal by the organization names the user's",
    9,
    { decide: refusedBy("user") },
    {
      "refusal-agrees":
        "a refusal that names a quota without room; rest_user; it had 1 of 3, and the call takes 1",
    },
  ],
  [
    "a window that is not enforced refuses",
    14,
    { decide: refusedBy("user") },
    {
      conserved: "current 3; current 4; 3 charged before, this operation charges nothing: 3",
      "all-or-nothing":
        "current 3, as before the refused call; current 4; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by rest_user; the call found rest 4 of 4 (not enforced), rest_user 4 of 3 (not enforced), and takes 1",
      "unenforced-never-refuses":
        "admitted; refused by rest_user; enforced is false; the call found rest 4 of 4 (not enforced), rest_user 4 of 3 (not enforced), and takes 1",
    },
  ],
  [
    "the first of a new window is refused",
    10,
    { decide: refusedBy("user") },
    {
      conserved:
        "current 0; current 1; nothing was charged in this window before, this operation charges nothing: 0",
      "all-or-nothing":
        "current 0, as before the refused call; current 1; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by rest_user; the call found rest 1 of 4, rest_user 1 of 3, and takes 1",
      monotone:
        "current 0; current 1; the window before has ended, so the count was 0 and only this operation is in it",
      recovers: "admitted; refused by rest_user; that window ended, nothing was charged since, and 1 <= 3",
      "unenforced-never-refuses": "current 1; current 2; counting goes on while unenforced: 0 + 1",
      "refusal-agrees":
        "a refusal that names a quota without room; rest_user; it had 0 of 3, and the call takes 1",
      "honest-wait":
        "admitted; refused again; the refusal before said reset 6 s later, the caller waited so long, and nobody else called",
    },
  ],
  [
    "everybody is admitted from the third second on",
    -3,
    { decide: admitted },
    {
      conserved: "current 4; current 3; 3 charged before, this operation adds 1: 4",
      "refusal-justified": "a refusal; admitted; the call found rest 4 of 4, rest_user 4 of 3, and takes 1",
      monotone:
        "current 11; current 0; this is the first call, so the count was 0 and only this operation is in it",
      "twice-at-most":
        "at most 20 admitted in any 20 s; 23 admitted in the 20 s up to this call; 2 x 10 = 20",
      "rate-bound":
        "at most 10 admitted at one instant; 11 admitted at one instant, up to this call; the capacity is 10",
    },
  ],
  [
    "everybody is refused from the tenth second on",
    -10,
    { decide: refusedBy("user") },
    {
      conserved:
        "current 0; current 1; nothing was charged in this window before, this operation charges nothing: 0",
      "all-or-nothing":
        "current 0, as before the refused call; current 1; a refused call is not charged here",
      "refusal-justified":
        "admitted; refused by rest_user; the call found rest 1 of 4, rest_user 1 of 3, and takes 1",
      monotone:
        "current 0; current 1; the window before has ended, so the count was 0 and only this operation is in it",
      recovers: "admitted; refused by rest_user; that window ended, nothing was charged since, and 1 <= 3",
      "unenforced-never-refuses":
        "admitted; refused by rest_user; enforced is false; the call found rest 2 of 4 (not enforced), rest_user 2 of 3 (not enforced), and takes 1",
      "refusal-agrees":
        "a refusal that names a quota without room; rest_user; it had 0 of 3, and the call takes 1",
      "honest-wait":
        "admitted; refused again; the refusal before said reset 6 s later, the caller waited so long, and nobody else called",
    },
  ],
  [
    "a new window begins with what the old one had",
    10,
    { decide: shown("user", "current", 3) },
    {
      bounded:
        "0 <= current <= 3; current 4; the limit is 3 and every call of this window was decided while enforced",
      conserved: "current 1; current 4; nothing was charged in this window before, this operation adds 1: 1",
      "remaining-agrees": "remaining 0; remaining 2; max(0, 3 - 4) = 0",
      "refusal-justified": "a refusal; admitted; the call found rest 0 of 4, rest_user 3 of 3, and takes 1",
      monotone:
        "current 1; current 4; the window before has ended, so the count was 0 and only this operation is in it",
    },
  ],
  [
    "a refusal says to come back 1 s early",
    4,
    { answer: header("Retry-After", (was) => String(Number(was) - 1)) },
    {
      "refusal-agrees":
        "headers of the user's window that agree with the body; reset 6 in the body, 5 in the headers; the body and the headers of a refusal show one window at one instant",
    },
  ],
  [
    "the limit's header is missing",
    2,
    { answer: header("RateLimit-Limit", () => null) },
    { "headers-present": "RateLimit-Limit: an integer; no such header; the answer has status 200" },
  ],
  [
    "a header is sent twice",
    2,
    { answer: header("RateLimit-Remaining", (was) => `${was}, ${was}`) },
    { "headers-present": 'RateLimit-Remaining: an integer; "2, 2"; the answer has status 200' },
  ],
  [
    "the scope is another one's",
    2,
    { answer: header("RateLimit-Scope", () => "graphql") },
    { "headers-present": 'RateLimit-Scope: rest; "graphql"; the answer has status 200' },
  ],
  [
    "a refusal is answered 503",
    4,
    { answer: (said) => ({ ...said, status: 503 }) },
    { "refusal-agrees": "status 429; status 503; the call was refused" },
  ],
  [
    "a refusal is answered 200",
    4,
    { answer: (said) => ({ ...said, status: 200 }) },
    { "refusal-agrees": "status 429; status 200; the call was refused" },
  ],
  [
    "a refusal's body is another text",
    4,
    { answer: (said) => ({ ...said, body: { message: "slow down" } }) },
    {
      "refusal-agrees":
        '{"message","scope","limit","current","reset"}; {"message":"slow down"}; the body of a refusal',
    },
  ],
];

test.each(cases)("the laws on answers in which %s", async (_name, seconds, changes, expected) => {
  const got = await accusations(changed(seconds, changes));
  expect(got).toEqual(expected);
});
