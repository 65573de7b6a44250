// The trace's form of an answer that a deployment sends: the eight headers, what else it has, and a body of a status or a
// refusal.
import { expect, test } from "vitest";
import { sentAnswer } from "../../sim/sent-answer.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";

const headers = {
  "RateLimit-Scope": "rest",
  "RateLimit-Remaining": 3,
  "RateLimit-Limit": 5,
  "RateLimit-Reset": 7,
  "RateLimit-User-Scope": "rest_user",
  "RateLimit-User-Remaining": 1,
  "RateLimit-User-Limit": 2,
  "RateLimit-User-Reset": 6,
};
const shown = {
  ...{ scopeName: "rest", remaining: 3, limit: 5, reset: 7 },
  ...{ userScopeName: "rest_user", userRemaining: 1, userLimit: 2, userReset: 6 },
};
const none = Object.fromEntries(Object.keys(shown).map((name) => [name, null]));
const scopes = { rest: { limit: 5 } };

test.each<[name: string, answer: Partial<HttpAnswer>, isStatus: boolean, sent: object]>([
  ["an answer", { body: { scopes } }, false, { status: 200, ...shown }],
  ["a bare answer", { headers: {} }, false, { status: 200, ...none }],
  ["a status", { body: { scopes } }, true, { status: 200, ...shown, body: scopes }],
  [
    "a refusal",
    { status: 429, headers: { ...headers, "Retry-After": 9 }, body: { message: "no" } },
    false,
    { status: 429, ...shown, retryAfter: 9, refusal: { message: "no" } },
  ],
])("of %s", (_name, answer, isStatus, sent) => {
  expect(sentAnswer({ status: 200, headers, ...answer } as HttpAnswer, isStatus)).toEqual(sent);
});
