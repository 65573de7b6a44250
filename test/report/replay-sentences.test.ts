// A replay's sentences: whom refusals hit, what the log itself says, and what callers that react came to.
import { describe, expect, test } from "vitest";
import { leftOutWords, reactionWords, retriesWords } from "../../src/report/replay-reaction-section.ts";
import {
  demandWords,
  expectedWords,
  hitWords,
  lookedAtWords,
  recordedWords,
  replayAnswer,
  replayName,
  replayOutcome,
  smallestWords,
} from "../../src/report/replay-words.ts";

const view = (members: object): never => members as never;

test.each([
  [[], "a log"],
  [["a.csv"], "a.csv"],
  [["a.csv", "b.csv"], "a.csv and 1 more"],
  [["a.csv", "b.csv", "c.csv"], "a.csv and 2 more"],
])("the log %j is called %s", (files, name) => {
  expect(replayName(view({ log: { files } }))).toBe(name);
});

const bound = (held: boolean, figure = "refusedShare") => ({ figure, bound: "<1%", actual: 0.25, held });

test.each([
  [[], 0, 0, "none", ""],
  [[], 1, 0, "good", ""],
  [[], 1, 1, "none", ""],
  [[bound(true)], 1, 1, "good", "As expected: refusedShare <1%."],
  [[bound(true), bound(false)], 1, 0, "bad", "Missed: refusedShare is 25%, expected <1%."],
])("expectations %j of %d calls, %d refused: %s", (expectations, calls, refused, outcome, words) => {
  const shown = view({ totals: { calls, refused }, expectations });
  expect([replayOutcome(shown), expectedWords(shown)]).toEqual([outcome, words]);
});

test.each([
  [0, 0, "The log has no call that a quota counts"],
  [1, 0, "None of 1 call would have been refused"],
  [2_000, 500, "500 of 2,000 calls (25%) would have been refused"],
])("%d calls, %d refused", (calls, refused, answer) => {
  expect(replayAnswer(view({ totals: { calls, refused } }))).toBe(answer);
});

describe("refusals hit", () => {
  const hits = [
    [10, "by the organization's window"],
    [0, "by both"],
    [2, "by a user's"],
  ];
  test.each([
    [{ refused: 0 }, ""],
    [
      { refused: 12, users: 4, usersRefused: 3, hopeless: 0 },
      "10 by the organization's window, 2 by a user's; 3 of 4 users would have been hit.",
    ],
    [
      { refused: 10, users: 1, usersRefused: 1, hopeless: 1 },
      "All by the organization's window, 2 by a user's; 1 of 1 user would have been hit. 1 call cost more than a limit: waiting would have helped none of them.",
    ],
  ])("%j", (totals, words) => {
    expect(hitWords(view({ totals, hits, under: "rules" }))).toBe(words);
  });

  test("callers, under a policy", () => {
    const totals = { refused: 12, users: 4, usersRefused: 3, hopeless: 0 };
    expect(hitWords(view({ totals, hits, under: "policy" }))).toContain("3 of 4 callers would");
  });
});

describe("limits that would have done", () => {
  const one = (limit: number, smallest: number) => ({ limit, smallest, words: "requests of acme" });
  const needed =
    "No row of this log, as it came, would have been refused with 250 instead of 200 requests of acme.";
  const late =
    " The demand may need more: the log has 3 refusals, and any call that was tried again came later than it was wanted.";
  test.each<[object[], object | null, object | null, string]>([
    [[one(200, 200)], null, null, ""],
    [[one(200, 250), one(9, 9)], null, null, needed],
    [[one(200, 250)], { refused: 0 }, null, needed],
    [[one(200, 250)], { refused: 3 }, {}, needed],
    [[one(200, 250)], { refused: 3 }, null, needed + late],
  ])("%j, recorded %j, demand %j", (smallest, recorded, demand, words) => {
    const totals = { refused: 5 };
    expect(smallestWords(view({ totals, smallest, recorded, demand }))).toBe(words);
  });

  test.each([
    [
      0,
      "No row of this log, as it came, would have been refused with 150 instead of 200 requests of acme, either.",
    ],
    [1, ""],
  ])("may be smaller, where %d were refused", (refused, words) => {
    const smallest = [one(200, 150), one(200, 200)];
    expect(smallestWords(view({ totals: { refused }, smallest, recorded: null, demand: null }))).toBe(words);
  });

  test("by the demand, as an interval", () => {
    const limit = (low: number, high: number) => ({ words: "requests", limit: 200, low, high });
    const told = (limits: object[], untold = 0, retries = 40) =>
      demandWords(
        view({ under: "rules", demand: { wishes: 1_000, retries, untold, untoldUsers: 2, limits } }),
      );
    const put =
      "The log's own refusals put calls off. Had each come when it was first wanted, the 1,000 calls would";
    const tries = " 40 refusals count as tries of a call that came again.";
    const or = (words: string) => words.replace("1,000", "1,000 to 1,001");
    expect(told([limit(150, 200)])).toBe(`${put} fit into these limits.${tries}`);
    expect(told([limit(150, 201), limit(300, 300)])).toBe(
      `${put} need 150 to 201 instead of 200 requests, 300 instead of 200 requests.${tries}`,
    );
    const untold =
      " Nobody can tell whether 1 refusal of 2 users came again: numbered attempts would tell it, times in milliseconds with durations may.";
    expect(told([], 1, 1)).toBe(
      `${or(put)} fit into these limits. 1 refusal counts as a try of a call that came again.${untold}`,
    );
    const demand = { wishes: 9, retries: 1, untold: 1, untoldUsers: 1, limits: [] };
    expect(demandWords(view({ demand, under: "policy" }))).toContain("1 refusal of 1 caller came again");
    expect(told([], 1, 0)).toBe(
      `${or(put).replace("put calls", "may have put calls")} fit into these limits.${untold}`,
    );
    expect(told([limit(300, 300)], 0, 0)).toBe(
      "No refused call of the log seems to have come again: its rows are taken for the demand.",
    );
    expect(demandWords(view({ demand: null }))).toBe("");
  });
});

test.each([
  [
    { firstAt: null, lastAt: null, unread: 0 },
    "rules",
    "",
    "9 calls of 2 users, replayed under these rules as they came.",
  ],
  [
    { firstAt: 1_000, lastAt: 61_000, unread: 1 },
    "policy",
    "Apart.",
    "9 calls of 2 users over 1 min, replayed under this policy as they came. 1 row could not be read. Apart.",
  ],
])("the log %j under a %s", (log, under, apart, words) => {
  expect(lookedAtWords(view({ log, under, apart, totals: { calls: 9 }, callers: "2 users" }))).toBe(words);
});

const calls = 1_200;
test.each([
  [null, ""],
  [
    { refused: 0, both: 0, onlyInReplay: 0, calls },
    "The log itself has no refusal among the 1,200 calls whose answer it knows. No call that it admitted would have been refused.",
  ],
  [
    { refused: 0, both: 0, onlyInReplay: 1, calls },
    "The log itself has no refusal among the 1,200 calls whose answer it knows. 1 call that it admitted would have been refused.",
  ],
  [
    { refused: 5, both: 3, onlyInReplay: 0, calls },
    "The log itself has 5 refusals among the 1,200 calls whose answer it knows: 3 would have been refused here, too, 2 would not. No call that it admitted would have been refused.",
  ],
  [
    { refused: 5, both: 5, onlyInReplay: 2, calls },
    "The log itself has 5 refusals among the 1,200 calls whose answer it knows: all would have been refused here, too. 2 calls that it admitted would have been refused.",
  ],
  [
    { refused: 1, both: 1, onlyInReplay: 0, calls },
    "The log itself has 1 refusal among the 1,200 calls whose answer it knows: here, too, it would have been refused. No call that it admitted would have been refused.",
  ],
  [
    { refused: 5, both: 0, onlyInReplay: 0, calls },
    "The log itself has 5 refusals among the 1,200 calls whose answer it knows: none would have been refused here. No call that it admitted would have been refused.",
  ],
])("recorded %j", (recorded, words) => {
  expect(recordedWords(view({ recorded }))).toBe(words);
});

describe("callers that react", () => {
  const reaction = {
    ...{ calls: 100, admittedAtOnce: 60, admittedLater: 40, gaveUp: 0, unfinished: 0 },
    ...{ attempts: 160, refusals: 40, endsLaterMs: 0, byClock: 0, delays: null },
    waits: { p50: 0, p95: 10, p99: 20, max: 30 },
  };
  const tried =
    "Of 100 calls, sent 160 times in all (25% refused), 60 get through at the first try, 40 after a refusal, 0 are given up, 0 still wait at the end.";
  test.each([
    [{}, tried],
    [{ delays: reaction.waits }, tried],
    [
      { delays: { p50: 0, p95: 10, p99: 25, max: 2_000 } },
      `${tried} With waits behind the caller's earlier calls, 95% get through at most 10 ms later than in the log, all at most 2 s.`,
    ],
    [{ byClock: 1 }, `${tried} 1 call begins by a clock, as cron's do, and waits for no earlier one.`],
    [{ byClock: 5, refusals: 0, attempts: 100 }, tried.replace("160", "100").replace("25%", "0%")],
    [
      { gaveUp: 1, unfinished: 1, endsLaterMs: 1 },
      "Of 100 calls, sent 160 times in all (25% refused), 60 get through at the first try, 40 after a refusal, 1 are given up, 1 still wait at the end. The last one is answered 1 ms later than in the log: a call waits for its caller's earlier ones.",
    ],
    [
      { calls: 1, attempts: 0, admittedAtOnce: 0, admittedLater: 0 },
      "Of 1 call, sent 0 times in all (0% refused), 0 get through at the first try, 0 after a refusal, 0 are given up, 0 still wait at the end.",
    ],
  ])("%j", (members, words) => {
    expect(reactionWords(view({ ...reaction, ...members }))).toBe(words);
  });

  test("what of the log's refusals they stand for, and what is left out", () => {
    expect(retriesWords(view({ retries: 1 }))).toBe(
      "1 refusal of the log and what was tried again are one call each, wanted when it was first sent.",
    );
    const left = "2 refusals of the log cannot be told from calls that come anyway and are left out, ";
    expect(leftOutWords(view({ leftOut: 2, refusals: 0 }))).toBe(
      `${left}so that none is refused here says nothing; --keep-refused takes each for a call.`,
    );
    expect(leftOutWords(view({ leftOut: 2, refusals: 1 }))).toBe(
      `${left}so refusals here are too few; --keep-refused takes each for a call.`,
    );
  });
});
