// A refusal by the rules of version 1: its windows lack room, and headers, body and Retry-After agree.
import { expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Docket } from "../../src/verify/docket.ts";
import { lawEvidence } from "../../src/verify/evidence.ts";
import { judgeRefusal } from "../../src/verify/refusal-laws.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import { graphql, rest } from "./traces.ts";

const whose = {
  organization: { org: "acme", user: null, scope: "rest" },
  user: { org: "acme", user: "u1", scope: "rest" },
} as const;

/** Accusations of a call: whose window, breach, suspects, words. */
function accused(call: TraceCall, terms: Partial<Terms> = {}) {
  const told: unknown[][] = [];
  const docket = {
    evidence: lawEvidence(),
    accuse: ({ law, breach, user, suspects, explanation }: Record<string, unknown>) =>
      void told.push([law, breach, user, (suspects as string[]).join(" "), explanation]),
  } as unknown as Docket;
  judgeRefusal(4, call, whose, { ...termsOf(null, call.scope), ...terms }, docket);
  return told;
}
/** A REST call that a full window of the user refuses, reset 60. */
const refused = (changes: Partial<TraceCall> = {}, body: object = {}): TraceCall =>
  rest(
    { at: 0, count: 60, userCount: 50 },
    {
      status: 429,
      refusal: { message: "no", scope: "rest_user", limit: 50, current: 50, reset: 60, ...body },
      ...changes,
    },
  );
const laxer = "remaining-of-laxer-window limit-changes-mid-window one-short scopes-mixed lost-expiry";
const short = "one-short remaining-of-laxer-window";

test("a right refusal is not accused", () => {
  expect(accused(refused())).toEqual([]);
  expect(accused(refused({ retryAfter: 60 }))).toEqual([]);
});

test("a refusal with room in both windows is needless", () => {
  expect(accused(refused({ userRemaining: 2 }, { current: 48 }))).toEqual([
    [
      "refusal-justified",
      "needless",
      "u1",
      laxer,
      "line 4 asked for 1 request and was refused, although the organization's window shows remaining 140 and the user's 2",
    ],
  ]);
  // The cost is just what is left.
  const last = accused(refused({ userRemaining: 1 }, { current: 49 }));
  expect(last.map((each) => each[3])).toEqual([short]);
  const organizations = accused(refused({ userRemaining: 3, remaining: 1 }, { current: 47 }));
  expect(organizations.map((each) => each[3])).toEqual([short]);
});

test("a needless refusal is evidence of both laws, since its body has numbers of its own", () => {
  const evidence = lawEvidence();
  const docket = { evidence, accuse: () => {} } as unknown as Docket;
  judgeRefusal(4, refused({ userRemaining: 2 }), whose, termsOf(null, "rest"), docket);
  const told = [evidence["refusal-justified"], evidence["refusal-agrees"]];
  expect(told.map(({ readings, refusals }) => [readings, refusals])).toEqual([
    [2, 1],
    [1, 1],
  ]);
});

test("a refusal names a window that lacks room", () => {
  const named = { scope: "rest", limit: 200, current: 60 };
  expect(accused(refused({}, named))).toEqual([
    [
      "refusal-agrees",
      "has room",
      null,
      "remaining-of-laxer-window limit-changes-mid-window",
      "line 4 asked for 1 request and was refused by the organization's window, which shows remaining 140 of 200",
    ],
  ]);
});

test("a refusal that names no window, or one that is not shown, is compared with nothing else", () => {
  expect(accused(refused({ retryAfter: 5, refusal: null }))).toEqual([]);
  expect(accused(refused({ retryAfter: 5, userScopeName: "other" }))).toEqual([]);
  expect(accused(refused({ retryAfter: 5, userLimit: null }))).toEqual([]);
  expect(accused(refused({ retryAfter: 5, userRemaining: null }))).toEqual([]);
});

test("points of a query need room for all, or for one if they are charged afterwards", () => {
  const query = (left: number): TraceCall =>
    graphql({ at: 0, count: 9000 }, 40, 0, {
      status: 429,
      userRemaining: left,
      refusal: {
        errors: [
          {
            message:
              "You have exceeded your per-user limit of 5000 complexity points. Please try again in 300 seconds.",
          },
        ],
      },
    });
  expect(accused(query(39))).toEqual([]);
  expect(accused(query(41))).toEqual([
    [
      "refusal-justified",
      "needless",
      "u1",
      laxer,
      "line 4 asked for 40 points and was refused, although the organization's window shows remaining 11000 and the user's 41",
    ],
  ]);
  expect(accused(query(40)).map((each) => each[3])).toEqual([short]);
  expect(accused(query(1), { charging: "postpaid" }).map((each) => each[1])).toEqual(["needless"]);
  expect(accused(query(0), { charging: "postpaid" })).toEqual([]);
});

test.each<[number, string | null]>([
  [58, "retry-too-soon"],
  [59, null],
  [61, null],
  [62, "reset-in-ms reset-disagrees"],
])("Retry-After %d where the window ends in 60 s", (retryAfter, suspects) => {
  expect(accused(refused({ retryAfter }))).toEqual(
    suspects === null
      ? []
      : [
          [
            "refusal-agrees",
            "wait",
            "u1",
            suspects,
            `line 4 was refused until its window ends in 60 s, and told to retry after ${retryAfter} s`,
          ],
        ],
  );
});

test("a reset that is not shown is compared with no wait and no body", () => {
  expect(accused(refused({ retryAfter: 5, userReset: null }, { reset: 5 }))).toEqual([]);
});

test("a counted refusal has its own charge in current", () => {
  const counted = (current: number, changes: Partial<TraceCall> = {}): unknown[][] =>
    accused(refused(changes, { current }), { refused: "counted" });
  expect(counted(51)).toEqual([]);
  expect(counted(50)).toEqual([
    [
      "refusal-justified",
      "needless",
      "u1",
      short,
      "line 4 was refused by the user's window and counted there, at current 50 of 50: only 49 were there before it",
    ],
  ]);
  expect(counted(50, { remaining: 0 }).map(([law, breach]) => [law, breach])).toEqual([
    ["refusal-agrees", "has room"],
  ]);
  expect(counted(50, { limit: null }).map(([law]) => law)).toEqual(["refusal-agrees"]);
  expect(accused(refused({}, { current: 50 }), { refused: "uncounted" })).toEqual([]);
});

test.each<[object, Partial<Terms>, string | null]>([
  [{ limit: 51 }, {}, "limit 51 against 50"],
  [{ reset: 58 }, {}, "reset 58 against 60"],
  [{ reset: 59 }, {}, null],
  [{ reset: 61 }, {}, null],
  [{ current: 49 }, {}, "current 49 against remaining 0 of 50"],
  [{ current: 55 }, {}, null],
  [{ current: 55 }, { remaining: "clamped" }, null],
  [{ current: 55 }, { remaining: "signed" }, "current 55 against remaining 0 of 50"],
  [
    { limit: 9, current: 3, reset: 1 },
    {},
    "limit 9 against 50, reset 1 against 60, current 3 against remaining 0 of 50",
  ],
])("a body of %j under %j", (body, terms, differs) => {
  const suspects = "reset" in body ? "reset-disagrees stale-cached-reset" : "remaining-of-laxer-window";
  expect(accused(refused({}, body), terms)).toEqual(
    differs === null
      ? []
      : [
          [
            "refusal-agrees",
            "body",
            "u1",
            suspects,
            `line 4 was refused with a body that differs from its headers: ${differs}`,
          ],
        ],
  );
});

test("a signed remaining is the body's", () => {
  const call = refused({ userRemaining: -5 }, { current: 55 });
  expect([
    accused(call, { remaining: "signed" }),
    accused(call),
    accused(call, { remaining: "clamped" }).length,
  ]).toEqual([[], [], 1]);
});
