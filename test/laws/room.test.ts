// What limiters without fixed windows say is left: it is there at that very instant, and all of it once every call is
// forgotten. Under `remaining-agrees`, for a user's 4 within 10 s.
import { expect, test } from "vitest";
import type { Script } from "../../src/laws/script.ts";
import type { Algorithm } from "../../src/rules/algorithms.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, type Said } from "./scripted.ts";

const rulesOf = (semantics: object = {}) =>
  parseRules({
    organization: { rest: { limit: 1000, windowSeconds: 10 } },
    user: { rest: { limit: 4, windowSeconds: 10 } },
    semantics,
  });

/** `3@0:1 !2@5:1 =0@7`: calls by cost and time, ms, and what their answers say is left; `!` is refused, `=0` completes. */
function of(text: string, algorithm: Algorithm, terms: Partial<Script> = {}) {
  const calls = text.split(" ").map((word) => {
    const [, mark = "", cost = "", ms = "", left] =
      /^([!=]?)(\d+|off|on)@(\d+)(?::(-?\d+))?$/.exec(word) ?? [];
    return { mark, cost, ms: Number(ms), left };
  });
  const said: Said = (one, before) => {
    if (one.do === "settle")
      return { call: before.find((call) => "id" in call && call.id === one.id) ?? null, readings: {} };
    const asked = calls[before.length];
    if (one.do !== "call" || asked === undefined) return {};
    const refusedBy = asked.mark === "!" ? "user" : null;
    const user = asked.left === undefined ? {} : { remaining: Number(asked.left) };
    return { decision: { admitted: refusedBy === null, refusedBy, user } };
  };
  const words = calls.map(({ mark, cost }, at) =>
    cost === "off" || cost === "on" ? cost : mark === "=" ? `=${cost}` : `a${at}x${cost}`,
  );
  return judged("remaining-agrees", words.join(" "), {
    ...{ rules: rulesOf(), keyed: true, opensToMs: 1, algorithm, times: calls.map(({ ms }) => ms), said },
    ...terms,
  });
}

const forgotten = (admitted: number): string =>
  `every call before this instant is forgotten, and ${admitted} of 4 were admitted at it`;
const fallen = (least: number, shown: number, before: number): string =>
  `remaining ${least} or more; remaining ${shown}; by the answer before and what was admitted since, ${before} remain, and time alone takes nothing`;
const promised = (left: number, cost: number): string =>
  `admitted; a refusal; the answer before, at this very instant, said that ${left} remain, and the call costs ${cost}`;

test.each<[Algorithm, right: string, judged: number, wrong: string, said: string, Partial<Script>?]>([
  ["sliding-log", "1@0:3", 1, "1@0:2", `remaining 3; remaining 2; ${forgotten(1)}`],
  ["sliding-log", "1@0:3", 1, "1@0:4", `remaining 3; remaining 4; ${forgotten(1)}`],
  ["sliding-log", "1@0:3 2@0:1", 3, "1@0:3 2@0:2", `remaining 1; remaining 2; ${forgotten(3)}`],
  ["sliding-log", "3@0:1 !2@0:1", 2, "3@0:1 !2@0:0", `remaining 1; remaining 0; ${forgotten(3)}`],
  ["sliding-log", "3@0:1 !2@0:1", 2, "3@0:1 !1@0:1", promised(1, 1)],
  ["sliding-log", "1@0 1@5 !1@6:0", 1, "1@0 2@5:2 !2@5:2", promised(2, 2)],
  ["sliding-log", "3@0:1 !2@1:1", 2, "3@0:1 !1@1:5", "remaining 4 or less; remaining 5; the limit is 4"],
  ["sliding-log", "1@0:3 1@5:4", 2, "1@0:3 1@5:5", "remaining 4 or less; remaining 5; the limit is 4"],
  [
    "sliding-log",
    "1@0:3 1@5:2",
    2,
    "1@0:3 1@5:-1",
    "remaining 0 or more; remaining -1; what is left is never less than nothing",
  ],
  ["sliding-log", "4@0:0 1@19999:2", 2, "4@0:0 1@20000:2", `remaining 3; remaining 2; ${forgotten(1)}`],
  [
    "sliding-log",
    "4@0:0 !1@0:0 1@20000:3",
    3,
    "4@0:0 1@20001:4",
    `remaining 3; remaining 4; ${forgotten(1)}`,
  ],
  ["token-bucket", "1@0:2", 1, "1@0:1", `remaining 2 to 3; remaining 1; ${forgotten(1)}`],
  ["token-bucket", "4@0:0", 1, "1@0:4", `remaining 2 to 3; remaining 4; ${forgotten(1)}`],
  ["sliding-counter", "1@0:2 1@0:1", 3, "1@0:2 1@0:0", `remaining 1 to 2; remaining 0; ${forgotten(2)}`],
  ["sliding-counter", "4@0:0 !1@4:2 1@5:0", 3, "4@0:0 !1@4:4 !1@5:2", fallen(3, 2, 4)],
  ["token-bucket", "4@0:0 !1@4:3 1@5:1", 3, "4@0:0 !1@4:3 1@5:0", fallen(1, 0, 2)],
  ["sliding-log", "1@0:3 1@5:2 1@6:1", 3, "1@0:3 1@5 1@6:0", fallen(1, 0, 1)],
  ["concurrency", "1@0:3 1@5:2 =0@6", 2, "1@0:3 1@5:1", fallen(2, 1, 2)],
  ["unknown", "1@0:3 1@5:1", 2, "1@0:2", `remaining 3; remaining 2; ${forgotten(1)}`],
  [
    "sliding-log",
    "1@0:3 !4@5:1",
    2,
    "1@0:2",
    `remaining 3; remaining 2; ${forgotten(1)}`,
    { rules: rulesOf({ refused: "counted" }) },
  ],
  ["unknown", "1@0:3", 1, "1@0:2", `remaining 3; remaining 2; ${forgotten(1)}`],
  ["concurrency", "1@0:3 1@60000:2", 2, "1@0:2", `remaining 3; remaining 2; ${forgotten(1)}`],
  ["concurrency", "1@0:3 =0@0 1@0:2", 2, "1@0:3 1@0:0", `remaining 2; remaining 0; ${forgotten(2)}`],
  [
    "sliding-log",
    "1@0:3 !4@0:3 1@20000:0",
    3,
    "1@0:2",
    `remaining 3; remaining 2; ${forgotten(1)}`,
    { rules: rulesOf({ refused: "counted" }) },
  ],
  [
    "sliding-log",
    "4@0:0 2@1:-2",
    2,
    "4@0:0 1@20000:-2",
    `remaining 3; remaining -2; ${forgotten(1)}`,
    { rules: rulesOf({ remaining: "signed" }) },
  ],
])("%s: %s is right in %i opinions, %s is not", async (algorithm, right, count, wrong, said, terms) => {
  expect(await of(right, algorithm, terms)).toMatchObject({ broken: null, judged: count });
  const at = wrong.split(" ").length - 1;
  expect((await of(wrong, algorithm, terms)).broken).toBe(`${at}: ${said}`);
});

test("calls while limits are off take room that nobody tells", async () => {
  expect(await of("1@0:3 off@5 2@6 on@7 1@8:0", "sliding-log")).toMatchObject({ broken: null });
});

test("what refuses nobody, and a clock that stepped back, are not judged", async () => {
  expect(await of("off@0 1@0:9", "sliding-log")).toMatchObject({ judged: 0, broken: null });
  expect(await of("1@5:3 1@4:9 1@6:9", "sliding-log")).toMatchObject({ judged: 1, broken: null });
});
