// Clues of the whole trace for and against each fault. A clue that means nothing for a fault leaves its weight alone.
import { describe, expect, test } from "vitest";
import { Clues } from "../../src/verify/clues.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import { type Suspect, suspectNames } from "../../src/verify/suspects.ts";

const opens = [1_000_000, 1_060_000, 1_120_000, 1_180_000];
const rest = rulesQuota("acme", "ann", "rest");
const graphql = rulesQuota("acme", "ann", "graphql");
const organizations = rulesQuota("acme", null, "rest");

const times = (count: number, note: () => void): void => {
  for (let done = 0; done < count; done++) note();
};

/** Weights where a trace says nothing: a shared status count is likely, and a shared key of users is not. */
const unmoved = { "status-shares-user": 1.3, "wrong-user-key": 0.3 };

/** Faults whose weight is not that of a trace that says nothing. */
function moved(note: (clues: Clues) => void): Partial<Record<Suspect, number>> {
  const [clues, none] = [new Clues(), new Clues()];
  note(clues);
  const weights = suspectNames
    .map((name) => [name, clues.weight(name), none.weight(name)] as const)
    .filter(([, weight, before]) => weight !== before);
  return Object.fromEntries(weights.map(([name, weight]) => [name, Number(weight.toFixed(6))]));
}

test("a trace that says nothing leaves all faults alone but two", () => {
  const clues = new Clues();
  const weights = Object.fromEntries(suspectNames.map((name) => [name, clues.weight(name)]));
  expect(weights).toEqual({ ...Object.fromEntries(suspectNames.map((name) => [name, 1])), ...unmoved });
});

type Row = readonly [string, (clues: Clues) => void, Partial<Record<Suspect, number>>];

describe("what a trace shows weighs the faults that it fits or contradicts", () => {
  const ruledOver = { "new-reset-old-count": 0.8, "lost-expiry": 1.5, "immortal-by-polling": 0.5 };
  const spared = { "new-reset-old-count": 0.6, "lost-expiry": 0.6, "immortal-by-polling": 4 };
  const recovered = { "new-reset-old-count": 1.6, "lost-expiry": 0.3, "immortal-by-polling": 0.5 };
  const carried = (organization: number, user: number, anewUser: number) => (clues: Clues) => {
    times(organization, () => clues.window(organizations, true, false));
    times(user, () => clues.window(rest, true, true));
    times(anewUser, () => clues.window(rest, false, false));
  };
  const resets =
    (full: number, others: number, none = 0) =>
    (clues: Clues) => {
      times(full, () => clues.reset(true, 60));
      times(others, () => clues.reset(false, 59));
      times(none, () => clues.reset(false, 0));
    };
  const rows: readonly Row[] = [
    [
      "ends on the grid: one clock for all",
      (clues) => clues.dates(1, 0),
      { "two-interleaved-windows": 0.4, "organization-off-grid": 2 },
    ],
    [
      "ends off the grid: counters that are not one",
      (clues) => clues.dates(0, 1),
      { "skewed-nodes": 0.4, "per-instance-counters": 0.4 },
    ],
    [
      "some on the grid, some off it",
      (clues) => {
        clues.dates(3, 0);
        clues.dates(0, 1);
        clues.dates(0, 0);
      },
      { "skewed-nodes": 0.4, "per-instance-counters": 0.4, "organization-off-grid": 2 },
    ],
    ["one jump of the clock", (clues) => clues.jumps(1), { "organization-off-grid": 0.2 }],
    [
      "two jumps",
      (clues) => times(2, () => clues.jumps(1)),
      { "organization-off-grid": 0.2, "per-instance-counters": 0.4 },
    ],
    [
      "one jump, ends on the grid",
      (clues) => {
        clues.dates(1, 0);
        clues.jumps(1);
      },
      { "two-interleaved-windows": 0.4, "organization-off-grid": 0.2 },
    ],
    [
      "two jumps, ends on the grid: nodes whose clocks differ",
      (clues) => {
        clues.dates(1, 0);
        clues.jumps(2);
      },
      {
        "two-interleaved-windows": 0.4,
        "organization-off-grid": 0.2,
        "per-instance-counters": 0.4,
        "skewed-nodes": 3,
      },
    ],
    ["a status body that counts", (clues) => clues.statusBody(1, null), { "status-pristine": 0.2 }],
    ["a status body at nothing", (clues) => clues.statusBody(0, null), {}],
    [
      "one body in five shows another's count",
      (clues) => {
        clues.statusBody(0, 1);
        times(4, () => clues.statusBody(0, 0));
      },
      {},
    ],
    [
      "one body in four does",
      (clues) => {
        clues.statusBody(0, 1);
        times(3, () => clues.statusBody(0, 0));
      },
      { "status-shares-user": 0.3 },
    ],
    ["points of users that no call explains", (clues) => clues.unexplained(rest), { "wrong-user-key": 1 }],
    [
      "the same beside one window of the organization",
      (clues) => {
        clues.unexplained(rest);
        clues.counts(organizations);
        times(3, () => clues.counts(rest));
      },
      { "wrong-user-key": 1 },
    ],
    [
      "the same beside two, which add up",
      (clues) => {
        clues.unexplained(rest);
        times(2, () => clues.counts(organizations));
      },
      { "wrong-user-key": 3 },
    ],
    [
      "the same beside two, of which one does not",
      (clues) => {
        clues.unexplained(rest);
        clues.unexplained(organizations);
        times(2, () => clues.counts(organizations));
      },
      { "wrong-user-key": 0.5, "refusal-names-user": 0.2 },
    ],
    [
      "points of the organization's that no call explains",
      (clues) => clues.unexplained(organizations),
      { "refusal-names-user": 0.2 },
    ],
    [
      "points of GraphQL alone",
      (clues) => clues.unexplained(graphql),
      { "wrong-user-key": 1, "status-charged": 0.4 },
    ],
    [
      "points of both scopes",
      (clues) => {
        clues.unexplained(graphql);
        clues.unexplained(rest);
      },
      { "wrong-user-key": 1, "status-charged": 0.4, "scopes-mixed": 1.5 },
    ],
    [
      "points of windows that mostly began with an old count",
      (clues) => {
        times(10, () => clues.unexplained(rest));
        carried(3, 4, 0)(clues);
      },
      { "wrong-user-key": 1, "scopes-mixed": 0.3, ...ruledOver },
    ],
    [
      "points of windows that mostly did not",
      (clues) => {
        times(10, () => clues.unexplained(rest));
        carried(3, 3, 0)(clues);
      },
      { "wrong-user-key": 1, ...ruledOver },
    ],
    [
      "old counts of users beside an organization that adds up",
      (clues) => {
        clues.unexplained(rest);
        times(2, () => clues.counts(organizations));
        carried(0, 1, 0)(clues);
      },
      {
        "wrong-user-key": 3,
        "scopes-mixed": 0.3,
        "new-reset-old-count": 0.3,
        "lost-expiry": 0.3,
        "immortal-by-polling": 0.3,
      },
    ],
    ["an old count of an organization's", carried(1, 0, 0), ruledOver],
    [
      "the same beside two windows of it in which all points are explained",
      (clues) => {
        times(2, () => clues.counts(organizations));
        carried(1, 0, 0)(clues);
      },
      ruledOver,
    ],
    ["an old count of a user's", carried(0, 1, 0), ruledOver],
    ["two of an organization's, while four windows of users began anew", carried(2, 0, 4), spared],
    ["two, while three did", carried(2, 0, 3), ruledOver],
    ["one, while four did", carried(1, 0, 4), ruledOver],
    ["two, while four did and one of a user's did not", carried(2, 1, 4), ruledOver],
    [
      "an old count that was forgotten a window later",
      (clues) => {
        clues.window(rest, true, false);
        clues.window(rest, false, true);
      },
      recovered,
    ],
    ["windows that all began anew", carried(0, 0, 9), {}],
    [
      "a call told less than its own charge",
      (clues) => clues.underCharged("graphql"),
      { "cost-ignored": 2.5, "cost-over-limit-admitted": 0.3 },
    ],
    [
      "the same, of a call above the limit",
      (clues) => {
        clues.ruledIn.add("cost-over-limit-admitted");
        clues.underCharged("graphql");
      },
      { "cost-ignored": 2.5, "cost-over-limit-admitted": 0.3 },
    ],
    ["the same in REST, where all calls cost one", (clues) => clues.underCharged("rest"), {}],
    ["one reset in 500 is full", resets(1, 499), {}],
    ["one in 499 is", resets(1, 498), { "reset-zero": 2.5, "reset-truncated": 0.4 }],
    ["no reset is full", resets(0, 5), {}],
    ["one is negative", (clues) => clues.reset(false, -1), { "reset-negative": 2, "reset-zero": 0.2 }],
    ["half of the resets are 0", resets(0, 3, 3), { "reset-negative": 0.2 }],
    [
      "most are: what is past is cut off there",
      resets(1, 1, 3),
      { "reset-negative": 2, "reset-zero": 0.2, "reset-truncated": 0.4 },
    ],
    [
      "nodes a window apart: a count that others charged before",
      (clues) => clues.ruledIn.add("skewed-nodes"),
      { "skewed-nodes": 3, "per-instance-counters": 0.4 },
    ],
  ];
  test.each(rows)("%s", (_name, note, expected) => {
    expect(moved(note)).toEqual(expected);
  });

  test.each([
    ["cost-over-limit-admitted", 3],
    ["double-count", 1.8],
    ["refused-counted", 1.8],
    ["reset-in-ms", 4],
    ["window-slides", 2],
  ] as const)("%s, which an answer shows by itself", (name, weight) => {
    expect(moved((clues) => clues.ruledIn.add(name))).toEqual({ [name]: weight });
  });

  test.each(suspectNames)("%s, which an answer contradicts, weighs a fifth", (name) => {
    const none = new Clues().weight(name);
    expect(moved((clues) => clues.ruledOut.add(name))).toEqual({ [name]: Number((0.2 * none).toFixed(6)) });
  });
});

describe("when counts began again within windows tells a key's own timer from a sweep of all keys", () => {
  /** One user's windows; of each, so many ms after it opened its count began again, give or take 50. */
  function restarted(clues: Clues, ...afterMs: number[]): void {
    for (const [window, ms] of afterMs.entries()) {
      const opensAt = opens[window] ?? 1_000_000 + 60_000 * window;
      clues.restarts(rest, opensAt, [{ from: opensAt + ms - 50, to: opensAt + ms + 50 }]);
    }
  }
  const again =
    (...afterMs: number[]) =>
    (clues: Clues): void =>
      restarted(clues, ...afterMs);
  const own = { "double-roll": 2, "reset-all-sweep": 0.4 };
  const sweep = { "double-roll": 0.4, "reset-all-sweep": 2 };
  const alike = Array.from({ length: 10 }, () => 20_000);
  const rows: readonly Row[] = [
    ["at one share of each window: a timer of the key's own", again(20_000, 20_040, 19_970, 20_010), own],
    ["as far apart as measuring allows", again(20_000, 20_100, 20_050), own],
    ["and one ms further", again(20_000, 20_101, 20_050), sweep],
    ["so much earlier", again(20_000, 19_900, 19_950), own],
    ["and one ms earlier", again(20_000, 19_899, 19_950), sweep],
    ["each like the one before, but not all alike", again(20_000, 20_080, 20_160), sweep],
    ["each like the one before, ever earlier", again(20_000, 19_920, 19_840), sweep],
    ["now here, now there: a sweep", again(20_000, 35_000, 50_000, 5_000), sweep],
    ["ever earlier", again(50_000, 35_000, 20_000), sweep],
    ["one of eleven comes apart: a timer", again(...alike, 20_000, 40_000), own],
    ["one of ten does: a sweep", again(...alike, 40_000), sweep],
    ["two restarts alike are too few to tell", again(20_000, 20_000), {}],
    ["one restart says nothing", again(20_000), {}],
    ["20 windows of a quota are enough", again(...alike, ...alike, 1, 2_000, 4_000), own],
    [
      "several restarts within one window: a sweep",
      (clues) => {
        restarted(clues, 20_000, 20_000);
        const [opensAt = 0] = opens;
        const spans = [2_000, 20_000, 40_000].map((ms) => ({ from: opensAt + ms, to: opensAt + ms + 10 }));
        clues.restarts(rulesQuota("acme", "bob", "rest"), opensAt, spans);
      },
      sweep,
    ],
    [
      "windows without a restart say nothing",
      (clues) => {
        for (const opensAt of opens) clues.restarts(rest, opensAt, []);
        restarted(clues, 20_000);
      },
      {},
    ],
    [
      "one window each of many users says nothing",
      (clues) => {
        for (const [index, user] of ["ann", "bob", "cy"].entries())
          clues.restarts(rulesQuota("acme", user, "rest"), index, [
            { from: 20_000 * index, to: 20_000 * index },
          ]);
      },
      {},
    ],
  ];
  test.each(rows)("%s", (_name, note, expected) => {
    expect(moved(note)).toEqual(expected);
  });
});
