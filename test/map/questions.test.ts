// Questions on what answers do not settle: what was seen is said in the words and numbers of the answers. And names of
// headers, from which quotas and their numbers are told.
import { describe, expect, test } from "vitest";
import { isLimitLike, namedField } from "../../src/map/header-names.ts";
import { propose } from "../../src/map/propose.ts";
import { readTranscript } from "../../src/map/transcripts.ts";

const START = Date.UTC(2026, 10, 23, 10, 0, 20);

interface Answer {
  readonly afterMs?: number;
  readonly status?: number;
  readonly path?: string;
  readonly token?: string;
  readonly limit?: number;
  readonly remaining?: number | string;
  readonly reset?: string | number;
  readonly more?: Readonly<Record<string, string | number>>;
}

function questionsOf(...answers: readonly Answer[]): Record<string, string> {
  const text = answers
    .map(({ afterMs = 0, status = 200, path, token, limit, remaining, reset, more }) => {
      const shown = { limit, remaining, reset };
      return [
        ...(path === undefined
          ? []
          : [`$ curl -i https://x.example${path} -H 'Authorization: Bearer ${token ?? "one-token"}'`]),
        `HTTP/1.1 ${status} x`,
        `date: ${new Date(START + afterMs).toUTCString()}`,
        ...Object.entries(shown).flatMap(([name, value]) =>
          value === undefined ? [] : [`x-ratelimit-${name}: ${value}`],
        ),
        ...Object.entries(more ?? {}).map(([name, value]) => `${name}: ${value}`),
        "",
        "{}",
      ].join("\n");
    })
    .join("\n");
  return questionsIn(text);
}

function questionsIn(text: string): Record<string, string> {
  const secrets = new Set<string>();
  const { questions } = propose(readTranscript(text, "answers.txt", secrets), secrets, "my-api");
  return Object.fromEntries(questions.map(({ path, seen }) => [path, seen]));
}

const limitPath = "quotas.requests.algorithm.limit";
const windowPath = "quotas.requests.algorithm.windowSeconds";
const anchorPath = "quotas.requests.algorithm.anchor";
const resetPath = "wire.readings.0.reset";
const usesPath = "operations.call.uses.requests";

describe("a question says what was seen", () => {
  test("of a limit that differs, or is not shown", () => {
    expect(questionsOf({ limit: 5, remaining: 4 }, { limit: 50, remaining: 9 })[limitPath]).toBe(
      "Answers showed 2 limits: 5, 50; the greatest is taken.",
    );
    expect(questionsOf({ remaining: 4 }, { remaining: 9 })[limitPath]).toBe(
      "No limit was shown; 10 is one more than the most that was left.",
    );
    expect(questionsOf({ limit: 5, remaining: 4 })).not.toHaveProperty(limitPath);
    // As Reddit writes it, which tells no limit.
    const used = { remaining: "598.0", more: { "x-ratelimit-used": 2 } };
    expect(questionsOf(used, { remaining: 597, more: { "x-ratelimit-used": 3 } })[limitPath]).toBe(
      "No limit was shown; 600 is what was used and what was left together.",
    );
  });

  test("of a limit that refusals alone show: the most calls of one caller before it was refused", () => {
    const call = (token: string, status = 200): Answer => ({ token, status, path: "/v1/things" });
    const [ann, bob] = [call("ann-token"), call("bob-token")];
    const refused = [call("ann-token", 429), call("bob-token", 429)];
    expect(questionsOf(ann, bob, bob, ann, bob, ...refused, bob, bob, bob)[limitPath]).toBe(
      "No limit was shown, and nothing left. One caller was let through 3 times before a refusal: 3 is a guess.",
    );
    expect(questionsOf(refused[0] as Answer, ann)[limitPath]).toBe(
      "No limit was shown, and nothing left: 1 holds the place of the limit.",
    );
  });

  test.each<[string, (caller: string, status: number) => string]>([
    [
      "the users of an access log",
      (caller, status) =>
        `203.0.113.9 - ${caller} [23/Nov/2026:10:00:20 +0000] "GET /v1/things HTTP/1.1" ${status} 5`,
    ],
    [
      "the addresses of an access log without users",
      (caller, status) =>
        `203.0.113.${caller.length} - - [23/Nov/2026:10:00:20 +0000] "GET /v1/things HTTP/1.1" ${status} 5`,
    ],
    [
      "the accounts of JSON lines, in preference to addresses",
      (account, status) =>
        JSON.stringify({ ip: "203.0.113.9", request: { account, path: "/v1/things" }, status }),
    ],
    [
      "the users of JSON lines",
      (user, status) => JSON.stringify({ account: "all", user, path: "/v1/things", status }),
    ],
  ])("of each caller by itself: %s", (_, line) => {
    const statuses = [200, 200, 200, 429];
    const lines = statuses.flatMap((status) => ["ann", "barbara"].map((caller) => line(caller, status)));
    const questions = questionsIn(`${lines.join("\n")}\n`);
    expect(questions["quotas"]).toContain("the answers are those of 2 callers.");
    expect(questions[limitPath]).toContain("One caller was let through 3 times before a refusal");
  });

  test("of a count in no form, beside one that is read", () => {
    expect(questionsOf({ limit: 5, remaining: "plenty" })["wire.readings"]).toBe(
      "x-ratelimit-remaining looks like a limit, and is in no form that is known; it is left out.",
    );
    expect(questionsOf({ limit: 5, remaining: "4.0" })).not.toHaveProperty("wire.readings");
  });

  test("of a remaining below 0, which the policy then shows", () => {
    const below = questionsOf({ limit: 5, remaining: -2 }, { limit: 5, remaining: 3 });
    expect(below["quotas.requests.shown.remaining"]).toBe(
      "Remaining was -2: it is taken to fall below 0 once all is spent.",
    );
    expect(questionsOf({ limit: 5, remaining: 0 })).not.toHaveProperty("quotas.requests.shown.remaining");
  });

  test("of a header that is sent twice", () => {
    const doubled = { limit: 5, remaining: "4, 3" };
    expect(questionsOf(doubled)["wire.readings"]).toBe(
      "x-ratelimit-remaining has several numbers in one answer; the first is read.",
    );
    expect(questionsOf({ limit: 5, remaining: "4;w=60" })).not.toHaveProperty("wire.readings");
  });

  test("of a reset beside several quotas, which does not say whose it is", () => {
    const both = {
      "x-ratelimit-hour-limit": 36_000,
      "x-ratelimit-hour-remaining": 35_999,
      "x-ratelimit-second-limit": 10,
      "x-ratelimit-second-remaining": 9,
    };
    expect(questionsOf({ more: both, reset: 0 })["wire.readings"]).toBe(
      "x-ratelimit-reset does not say which of several quotas it is of; it is left out.",
    );
    expect(questionsOf({ more: both })).not.toHaveProperty("wire.readings");
  });

  test("of calls without a request, where another one leads everywhere", () => {
    const search = { limit: 5, remaining: 4, more: { "x-ratelimit-resource": "search" } };
    const core = { limit: 9, remaining: 8, more: { "x-ratelimit-resource": "core" } };
    const said = "No request of search_call was seen, so that no route leads to it.";
    expect(questionsOf(core, core, search)["routes"]).toBe(said);
    expect(questionsOf(core, core, { ...search, path: "/search" })).not.toHaveProperty("routes");
  });

  test("of a reset in no form, or in several that one value cannot tell apart", () => {
    const shown = { limit: 5, remaining: 4 };
    expect(questionsOf({ ...shown, reset: "soon" })[resetPath]).toBe(
      "x-ratelimit-reset is of no known form; it is left out.",
    );
    for (const reset of ["Mon, 01 Jan 2001 00:00:00 GMT", "2001-01-01T00:00:00Z"])
      expect(questionsOf({ ...shown, reset })[resetPath]).toBe(
        "x-ratelimit-reset is a time that is past, or more than a year ahead; it is left out.",
      );
    expect(questionsOf({ ...shown, reset: 40 })[resetPath]).toBe(
      "x-ratelimit-reset may be delta-s or delta-ms; it is left out.",
    );
  });

  test("of a window's length: nothing, or the longest wait and the usual length that holds it", () => {
    expect(questionsOf({ limit: 5, remaining: 4 })[windowPath]).toBe(
      "Nothing tells the window's length and beginning; 60 s from the first request on is a guess.",
    );
    // Two values that move with the time: seconds. A wait may lie 1.5 s beyond the length, and no more.
    const waiting = (seconds: number) =>
      questionsOf(
        { limit: 9, remaining: 8, reset: seconds },
        { afterMs: 5_000, limit: 9, remaining: 7, reset: seconds - 5 },
      )[windowPath];
    const said = (wait: number, length: number): string =>
      `The longest wait for a reset was ${wait} s; ${length} s is the usual length that holds it.`;
    expect(waiting(61)).toBe(said(61, 60));
    expect(waiting(62)).toBe(said(62, 300));
    expect(waiting(598)).toBe(said(598, 600));
    expect(waiting(3_000)).toBe(said(3_000, 3_600));
    expect(waiting(80_000)).toBe(said(80_000, 86_400));
  });

  test("of windows' ends: on the grid, off it, or unknown", () => {
    const ending = (endMs: number) =>
      questionsOf(
        { limit: 9, remaining: 8, reset: (endMs - START) / 1000 },
        { afterMs: 5_000, limit: 9, remaining: 7, reset: (endMs - START) / 1000 - 5 },
      )[anchorPath];
    const minute = START + 40_000;
    expect(ending(minute)).toBe("1 reset lay on the grid of 60 s.");
    const chance =
      '1 reset lay within 1 s of the grid of 60 s, which may be chance; "first-request" is a guess.';
    expect(ending(minute + 1_000)).toBe(chance);
    expect(ending(minute - 1_000)).toBe(chance);
    expect(ending(minute - 2_000)).toBe("1 reset did not lie on the grid of 60 s.");
    const full = (afterMs: number, remaining: number) => ({
      afterMs,
      limit: 9,
      remaining,
      reset: new Date(START + 30_000).toISOString(),
    });
    expect(questionsOf(full(0, 8))[anchorPath]).toBe(
      'No end of a window is known; "first-request" is a guess.',
    );
  });

  test("of a call's cost, where remaining fell by more than one", () => {
    const falling = (...left: readonly number[]) =>
      questionsOf(...left.map((remaining, at) => ({ afterMs: 1_000 * at, limit: 90, remaining })))[usesPath];
    expect(falling(80, 79, 78)).toBeUndefined();
    expect(falling(80, 75, 70)).toBe("Remaining fell by 5 from answer to answer, 2 times.");
    expect(falling(80, 75, 89, 86)).toBe(
      "Remaining fell by 3 to 5 from answer to answer; the least is taken for a call's cost.",
    );
  });

  test("of callers, credentials, refusals and paths", () => {
    const shown = { limit: 5, remaining: 4 };
    const bare = questionsOf(shown);
    expect(bare["quotas"]).toContain("the answers are those of 1 caller.");
    expect(Object.keys(bare)).toEqual(
      expect.arrayContaining(["auth", "wire.outcomes", "operations.call.samples"]),
    );
    const whole = questionsOf(
      { ...shown, path: "/v1/things", token: "one-token" },
      { ...shown, path: "/v1/things", token: "two-token", status: 429 },
    );
    expect(whole["quotas"]).toContain("the answers are those of 2 callers.");
    for (const path of ["auth", "wire.outcomes", "operations.call.samples"])
      expect(whole).not.toHaveProperty(path);
    expect(
      questionsOf({ ...shown, path: "/v1/limits" }, { ...shown, path: "/v1/things" })["routes"],
    ).toContain("A path names limits");
  });

  test("of advice when to come back that is in no form", () => {
    const shown = { limit: 5, remaining: 4 };
    expect(questionsOf({ ...shown, more: { "retry-after": "later" } })["wire.retryAfter"]).toBe(
      "retry-after is in no known form of time; it is left out.",
    );
    for (const advice of ["7", "1.5", "Mon, 23 Nov 2026 10:00:42 GMT", "1m30s"])
      expect(questionsOf({ ...shown, more: { "retry-after": advice } })).not.toHaveProperty(
        "wire.retryAfter",
      );
  });
});

describe("the name of a header", () => {
  test.each([
    ["X-RateLimit-Limit", { role: "limit", label: "" }],
    ["x-rate-limit-max", { role: "limit", label: "" }],
    ["x-ratelimit-limit-requests", { role: "limit", label: "requests" }],
    ["acme-ratelimit-build-minutes-remaining", { role: "remaining", label: "acme_build_minutes" }],
    ["x-quota-left", { role: "remaining", label: "quota" }],
    ["x-ratelimit-reset-after", { role: "reset", label: "" }],
    ["x-ratelimit-used", { role: "used", label: "" }],
    ["x-ratelimit-bucket", { role: "quota", label: "" }],
    ["ratelimit-policy", { role: "policy", label: "" }],
    ["ratelimit", { role: "limit", label: "" }],
    ["x-ms-retry-after", { role: "retry", label: "" }],
    ["x-request-id", null],
  ])("%s says %j", (name, field) => {
    expect(namedField(name)).toEqual(field);
  });

  test("may be a limit's or not", () => {
    const names = [
      "rate-limit",
      "RateLimit",
      "retry-after",
      "retry-in",
      "limit-day",
      "x-quota",
      "x-throttle",
      "x-reset",
    ];
    expect(names.filter((name) => !isLimitLike(name))).toEqual([]);
    expect(["x-limit-day", "remaining", "x-resetting", "date", "retry"].filter(isLimitLike)).toEqual([]);
  });
});

test("an API that has a preset's headers is told that the preset's requests are not its own", () => {
  const answer = `HTTP/1.1 200 OK
date: Mon, 23 Nov 2026 10:00:20 GMT
x-ratelimit-limit: 60
x-ratelimit-remaining: 59
x-ratelimit-used: 1
x-ratelimit-reset: ${(START + 40_000) / 1000}
x-ratelimit-resource: core

{}`;
  const secrets = new Set<string>();
  const { questions } = propose(readTranscript(answer, "answer.txt", secrets), secrets, "my-api");
  expect(questions.find(({ path }) => path === "quotas")).toEqual({
    path: "quotas",
    seen: "Windows, keys, routes and what no answer showed are those of the preset github.",
    settle: expect.stringMatching(
      /Another API that has these headers needs .* of its own: samples of github would be sent to it\.$/,
    ),
  });
});
