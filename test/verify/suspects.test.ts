// Known faults that fit one kind of finding in one window, the likeliest first.
import { describe, expect, test } from "vitest";
import type { LawFinding } from "../../src/verify/finding.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import {
  endSuspects,
  movingEndSuspects,
  restartsOf,
  type Suspect,
  suspectsOf,
} from "../../src/verify/suspects.ts";
import { countsInput, type GivenWindow, markOf, time } from "./marks.ts";

const acme = rulesQuota("acme", null, "rest");
const graphql = rulesQuota("acme", "ann", "graphql");

/** Suspects of a window's findings, and the faults that its answers show by themselves. */
function suspected(findings: readonly LawFinding[], marks: readonly Mark[] = [], given: GivenWindow = {}) {
  const ruledIn: string[] = [];
  return { suspects: suspectsOf(countsInput({ marks, ruledIn, ...given }), findings), ruledIn };
}

type Row = readonly [string, readonly LawFinding[], readonly Mark[], GivenWindow, readonly Suspect[]];

const check = (rows: readonly Row[]): void =>
  test.each(rows)("%s", (_name, findings, marks, given, expected) => {
    expect(suspected(findings, marks, given).suspects).toEqual(expected);
  });

test("nothing is suspected where nothing was found", () => {
  expect(suspected([]).suspects).toEqual([]);
});

const charge = (sent: number, count: number, given: Partial<Mark> = {}): Mark =>
  markOf({ sent, received: sent + 5, count, ...given });
const status = (given: Partial<Mark> = {}): Mark =>
  markOf({ role: "status", least: 0, most: 0, held: 0, cost: null, asked: 0, ...given });
const refusal = (by: "user" | "organization", count: number): Mark =>
  markOf({ role: "refused", refusedBy: by, count, least: 0, most: 0, held: 0 });

describe("charges in one place", () => {
  // Last comes a timer that rolls twice, which may hide its traces.
  const overlap = (mark: Mark, over: Mark | null, lost = 1): LawFinding => ({
    kind: "overlap",
    mark,
    over,
    lost,
  });
  const together = overlap(charge(100, 3), charge(103, 3));
  const apart = overlap(charge(100, 3), charge(200, 3));
  const [falls, restarts] = [
    [charge(0, 5), charge(10, 3)],
    [charge(0, 7), charge(10, 2)],
  ];
  const read = overlap(charge(100, 3), status({ sent: 200, count: 3 }));
  const echo = overlap(charge(100, 3), status({ sent: 200, count: 3, echoesUser: true }));
  const three = { least: 3, most: 3, held: 3 };
  check([
    [
      "of calls that overlap: a race",
      [together],
      [],
      {},
      ["race-read-then-write", "per-instance-counters", "double-roll"],
    ],
    [
      "of calls that do as far as clocks tell",
      [overlap(charge(105, 3), charge(100, 3))],
      [],
      {},
      ["race-read-then-write", "per-instance-counters", "double-roll"],
    ],
    [
      "of calls that do as far as clocks tell, whichever came first",
      [overlap(charge(100, 3), charge(105, 3))],
      [],
      {},
      ["race-read-then-write", "per-instance-counters", "double-roll"],
    ],
    [
      "of calls one ms apart: several counters",
      [overlap(charge(106, 3), charge(100, 3))],
      [],
      {},
      ["per-instance-counters", "double-roll"],
    ],
    [
      "of calls one ms apart, whichever came first",
      [overlap(charge(100, 3), charge(106, 3))],
      [],
      {},
      ["per-instance-counters", "double-roll"],
    ],
    [
      "half of them of calls that overlap: a race perhaps",
      [together, apart],
      [],
      {},
      ["race-read-then-write", "per-instance-counters", "double-roll"],
    ],
    [
      "a third of them: several counters rather",
      [together, apart, apart],
      [],
      {},
      ["per-instance-counters", "race-read-then-write", "double-roll"],
    ],
    [
      "of a call of three that is counted as one: costs are ignored",
      [overlap(charge(100, 1, three), null, 2)],
      [],
      {},
      ["cost-ignored", "per-instance-counters", "double-roll"],
    ],
    [
      "of a call of two that is counted as one",
      [overlap(charge(100, 1, { least: 2 }), null, 1)],
      [],
      {},
      ["cost-ignored", "per-instance-counters", "double-roll"],
    ],
    [
      "of a count that hops once, and begins again once",
      [apart],
      [charge(0, 7), charge(10, 1), charge(20, 7), charge(30, 5)],
      {},
      ["per-instance-counters", "double-roll", "reset-all-sweep"],
    ],
    [
      "of one such call, and one that lost all",
      [overlap(charge(100, 1, three), null, 2), apart],
      [],
      {},
      ["per-instance-counters", "double-roll"],
    ],
    [
      "of a call of one that lost nothing",
      [overlap(charge(100, 3), charge(200, 3), 0)],
      [],
      {},
      ["per-instance-counters", "double-roll"],
    ],
    [
      "at the limit, shown as no more: one extra",
      [overlap(charge(100, 10, { clamped: true }), charge(200, 10))],
      [],
      {},
      ["one-extra", "per-instance-counters", "double-roll"],
    ],
    [
      "seven of them, which one extra does not make",
      Array.from({ length: 7 }, () => overlap(charge(100, 10, { clamped: true }), charge(200, 10))),
      [],
      {},
      ["per-instance-counters", "one-extra", "double-roll"],
    ],
    [
      "at the limit, and known to be no more",
      [overlap(charge(100, 10), charge(200, 10))],
      [],
      {},
      ["per-instance-counters", "double-roll"],
    ],
    ["of a count that hops", [apart], falls, {}, ["per-instance-counters", "double-roll"]],
    [
      "of calls that overlap half, of a count that hops",
      [together, apart],
      falls,
      {},
      ["per-instance-counters", "race-read-then-write", "double-roll"],
    ],
    [
      "of a count that begins again from nothing: a timer or a sweep",
      [apart],
      [charge(0, 7), charge(10, 1)],
      {},
      ["double-roll", "reset-all-sweep", "per-instance-counters"],
    ],
    [
      "of one that begins again at a seventh",
      [apart],
      restarts,
      {},
      ["double-roll", "reset-all-sweep", "per-instance-counters"],
    ],
    ["of reads alone: readings that lag", [read], [], {}, ["stale-replica-read", "race-read-then-write"]],
    [
      "of reads that show the user's count",
      [echo],
      [],
      {},
      ["status-shares-user", "stale-replica-read", "race-read-then-write"],
    ],
    [
      "of reads, half of which do",
      [echo, read],
      [],
      {},
      ["stale-replica-read", "status-shares-user", "race-read-then-write"],
    ],
    ["of reads and charges", [read, apart], [], {}, ["per-instance-counters", "double-roll"]],
  ]);
});

describe("charges that no call made", () => {
  const gap = (from: number, to: number, above: Mark, below: Mark | null = null): LawFinding => ({
    kind: "gap",
    from,
    to,
    above,
    below,
  });
  const refusals = (by: "user" | "organization", ...counts: number[]): Mark[] =>
    counts.map((count) => refusal(by, count));
  const overEach = (marks: readonly Mark[]): LawFinding[] => marks.map((mark) => gap(3, 4, mark));
  const others: readonly Suspect[] = ["wrong-user-key", "scopes-mixed", "two-interleaved-windows"];
  const [once, twice, thrice] = [
    refusals("user", 4, 5),
    refusals("user", 4, 4),
    refusals("user", 4, 4, 4),
  ] as const;
  const doubled = (of: number, all: number): Mark[] =>
    Array.from({ length: all }, (_, index) => charge(10 * index, 10 + index, { least: index < of ? 2 : 3 }));
  const under = (marks: readonly Mark[]): LawFinding[] => marks.map((mark) => gap(4, 6, mark));
  check([
    ["below a call of a user: somebody else's", [gap(3, 5, charge(9, 6))], [], {}, others],
    [
      "below a call of an organization",
      [gap(3, 5, charge(9, 6))],
      [],
      { name: acme },
      ["scopes-mixed", "two-interleaved-windows"],
    ],
    ["below a status call: it was charged", [gap(3, 4, status())], [], {}, ["status-charged", ...others]],
    [
      "below one of GraphQL's, whose status calls are REST's",
      [gap(3, 4, status())],
      [],
      { name: graphql },
      others,
    ],
    [
      "below a status call that shows the user's count",
      [gap(3, 4, status({ echoesUser: true }))],
      [],
      {},
      ["status-shares-user", ...others],
    ],
    ["below a refusal each: refusals were charged", overEach(once), once, {}, ["refused-counted", ...others]],
    ["below two refusals that show one count", overEach(twice), twice, {}, ["refused-counted", ...others]],
    [
      "below three that do: rather somebody else's",
      overEach(thrice),
      thrice,
      {},
      ["wrong-user-key", "refused-counted", "scopes-mixed", "two-interleaved-windows"],
    ],
    [
      "of an organization below refusals by users: those drain it",
      overEach(once),
      once,
      { name: acme },
      ["narrow-drains-broad", "scopes-mixed", "two-interleaved-windows"],
    ],
    [
      "of an organization below its own refusals",
      overEach(refusals("organization", 4, 5)),
      refusals("organization", 4, 5),
      { name: acme },
      ["refused-counted", "scopes-mixed", "two-interleaved-windows"],
    ],
    [
      "of one point above the limit: one extra",
      [gap(10, 11, charge(9, 11))],
      [],
      {},
      ["one-extra", ...others],
    ],
    ["from the start, of the first window", [gap(0, 3, charge(9, 4))], [], {}, others],
    ["of two points above the limit", [gap(10, 12, charge(9, 12))], [], {}, others],
    ["of one point up to the limit", [gap(9, 10, charge(9, 11))], [], {}, others],
    [
      "from the start, nearly as many as the window before had: a new reset with the old count",
      [gap(0, 9, charge(9, 10))],
      [],
      { previous: { count: 10, carried: false } },
      [
        "new-reset-old-count",
        "immortal-by-polling",
        "wrong-user-key",
        "scopes-mixed",
        "lost-expiry",
        "two-interleaved-windows",
      ],
    ],
    [
      "beside four others",
      [gap(0, 9, charge(9, 10)), ...Array.from({ length: 4 }, () => gap(11, 12, charge(9, 13)))],
      [],
      { previous: { count: 10, carried: false } },
      [
        "immortal-by-polling",
        "wrong-user-key",
        "scopes-mixed",
        "new-reset-old-count",
        "lost-expiry",
        "two-interleaved-windows",
      ],
    ],
    [
      "from the start, where the window before had begun so, too: its expiry is lost",
      [gap(0, 9, charge(9, 10))],
      [],
      { previous: { count: 10, carried: true } },
      [
        "lost-expiry",
        "new-reset-old-count",
        "immortal-by-polling",
        "wrong-user-key",
        "scopes-mixed",
        "two-interleaved-windows",
      ],
    ],
    [
      "from the start, one point: the window's last call may be in it",
      [gap(0, 1, charge(9, 2))],
      [],
      { previous: { count: 1, carried: false } },
      [
        "new-reset-old-count",
        "immortal-by-polling",
        "wrong-user-key",
        "scopes-mixed",
        "lost-expiry",
        "boundary-inclusive",
        "two-interleaved-windows",
      ],
    ],
    [
      "from the start, but fewer than the window before had",
      [gap(0, 8, charge(9, 10))],
      [],
      { previous: { count: 10, carried: true } },
      others,
    ],
    [
      "as many as the window before had, but not from the start",
      [gap(1, 11, charge(9, 12))],
      [],
      { previous: { count: 10, carried: true } },
      others,
    ],
    [
      "from the start, after a window without calls",
      [gap(0, 3, charge(9, 4))],
      [],
      { previous: { count: 0, carried: false } },
      others,
    ],
    [
      "as much again as calls explain",
      [gap(7, 11, charge(9, 12), charge(0, 2))],
      [charge(0, 2)],
      {},
      ["double-count", ...others],
    ],
    [
      "a fifth more than calls explain",
      [gap(7, 13, charge(9, 14), charge(0, 2))],
      [charge(0, 2)],
      {},
      ["double-count", ...others],
    ],
    ["two fifths more", [gap(7, 14, charge(9, 15), charge(0, 2))], [charge(0, 2)], {}, others],
    ["two fifths fewer", [gap(7, 10, charge(9, 11), charge(0, 2))], [charge(0, 2)], {}, others],
    ["as much again as four points", [gap(6, 10, charge(9, 11), charge(0, 2))], [charge(0, 2)], {}, others],
    ["as much, with nothing below", [gap(7, 11, charge(9, 12))], [charge(0, 2)], {}, others],
  ]);

  test("as much again below each of its charges: counted twice, first", () => {
    const marks = doubled(3, 3);
    const gaps = marks.map((mark) => gap(mark.count - 4, mark.count - 2, mark));
    expect(suspected(gaps, marks).suspects).toEqual(["double-count", ...others]);
    const third = suspected(gaps.slice(0, 1), marks).suspects;
    expect(third).toEqual(["wrong-user-key", "scopes-mixed", "double-count", "two-interleaved-windows"]);
  });

  test.each([
    ["four of five charges", 4, 5, ["double-count"]],
    ["five of five", 5, 5, ["double-count"]],
    ["three of five", 3, 5, []],
    ["all of four, which are too few", 4, 4, []],
  ])(
    "as much again below %s shows by itself that all are counted twice, or not",
    (_name, of, all, expected) => {
      const marks = doubled(of, all);
      expect(suspected(under(marks), marks).ruledIn).toEqual(expected);
    },
  );
});

describe("a count that fell", () => {
  const fall = (later: Mark): LawFinding => ({ kind: "fall", earlier: charge(0, 5), later, least: null });
  const [fell, pristine] = [fall(status({ count: 3 })), fall(status({ count: 0 }))];
  const echoing = fall(status({ count: 3, echoesUser: true }));
  const lagging = [
    "stale-replica-read",
    "per-instance-counters",
    "reset-all-sweep",
    "race-read-then-write",
  ] as const;
  check([
    ["in a status call: a reading that lags", [fell], [], {}, lagging],
    ["to nothing, in all status calls", [pristine], [], {}, ["status-pristine", ...lagging]],
    ["to nothing, in one of two", [pristine, fell], [], {}, lagging],
    ["to nothing, in a call that was charged", [fall(charge(9, 0))], [], {}, lagging.slice(1)],
    ["in status calls that show the user's", [echoing], [], {}, ["status-shares-user", ...lagging]],
    [
      "in one of two that does",
      [echoing, fell],
      [],
      {},
      ["stale-replica-read", "status-shares-user", ...lagging.slice(1)],
    ],
    [
      "in charges: several counters",
      [fall(charge(9, 3))],
      [charge(0, 5), charge(10, 3)],
      {},
      lagging.slice(1),
    ],
    [
      "in charges that began again from nothing",
      [fall(charge(9, 1))],
      [charge(0, 9), charge(10, 1)],
      {},
      ["reset-all-sweep", "double-roll", "per-instance-counters", "race-read-then-write"],
    ],
    [
      "in half of them",
      [fall(charge(9, 3)), fell],
      [charge(0, 9), charge(10, 5)],
      {},
      ["per-instance-counters", "stale-replica-read", "reset-all-sweep", "race-read-then-write"],
    ],
  ]);
});

describe("a count above the limit", () => {
  const beyond = (given: Partial<Mark>): LawFinding => ({ kind: "beyond", mark: charge(9, 11, given) });
  check([
    [
      "by one, once",
      [beyond({})],
      [],
      {},
      ["one-extra", "race-read-then-write", "refused-counted", "scopes-mixed"],
    ],
    [
      "by more and more, in refusals",
      [beyond({ role: "refused" }), beyond({ role: "refused", count: 12 })],
      [],
      {},
      ["refused-counted", "race-read-then-write", "one-extra", "scopes-mixed"],
    ],
    [
      "by one, in two refusals",
      [beyond({ role: "refused" }), beyond({ role: "refused" })],
      [],
      {},
      ["one-extra", "refused-counted", "race-read-then-write", "scopes-mixed"],
    ],
    [
      "by one, in one refusal: those are counted",
      [beyond({ role: "refused" })],
      [],
      {},
      ["refused-counted", "one-extra", "race-read-then-write", "scopes-mixed"],
    ],
    [
      "after a call that costs more than it",
      [beyond({ cost: 11 }), beyond({})],
      [],
      {},
      ["cost-over-limit-admitted", "one-extra", "race-read-then-write", "refused-counted", "scopes-mixed"],
    ],
    [
      "after a call that costs as much as it",
      [beyond({ cost: 10 })],
      [],
      {},
      ["one-extra", "race-read-then-write", "refused-counted", "scopes-mixed"],
    ],
  ]);
});

describe("more let through than fits", () => {
  const overrun = (sum: number): LawFinding => ({ kind: "overrun", after: null, marks: [], sum });
  check([
    [
      "by one: the limit is one more",
      [overrun(11)],
      [],
      {},
      ["one-extra", "race-read-then-write", "per-instance-counters", "cost-over-limit-admitted"],
    ],
    [
      "by two: a race",
      [overrun(12)],
      [],
      {},
      ["race-read-then-write", "per-instance-counters", "one-extra", "cost-over-limit-admitted"],
    ],
  ]);
});

describe("a count below what calls had left", () => {
  const short = (mark: Mark): LawFinding => ({ kind: "short", mark, least: 4, by: [] });
  const rolls = ["double-roll", "reset-all-sweep"] as const;
  const [own, one] = [charge(9, 2, { least: 3 }), charge(9, 1)];
  check([
    [
      "in a charge: a race",
      [short(one)],
      [one, charge(9, 3, { least: 3 })],
      {},
      ["race-read-then-write", "per-instance-counters", ...rolls, "cost-ignored"],
    ],
    [
      "by one, in a remaining of 0: the limit is one more",
      [{ kind: "short", mark: charge(9, 10, { clamped: true }), least: 11, by: [] }],
      [],
      {},
      ["one-extra", "race-read-then-write", "per-instance-counters", ...rolls, "cost-ignored"],
    ],
    [
      "after a count that was higher: another process's",
      [short(one)],
      [charge(0, 9), charge(10, 5)],
      {},
      ["per-instance-counters", "race-read-then-write", ...rolls, "cost-ignored"],
    ],
    [
      "after a count that was higher, from almost 0 again: it began anew",
      [short(one)],
      [charge(0, 9), charge(10, 1)],
      {},
      [...rolls, "race-read-then-write", "per-instance-counters", "cost-ignored"],
    ],
    [
      "where a call of three shows two",
      [short(one)],
      [one, own],
      {},
      ["cost-ignored", "race-read-then-write", "per-instance-counters", ...rolls],
    ],
    [
      "where a call of two shows one",
      [short(one)],
      [charge(9, 1, { least: 2 })],
      {},
      ["cost-ignored", "race-read-then-write", "per-instance-counters", ...rolls],
    ],
    [
      "where a call shows nothing",
      [short(one)],
      [charge(9, 0, { least: 3 }), charge(9, 0)],
      {},
      ["race-read-then-write", "per-instance-counters", ...rolls, "cost-ignored"],
    ],
    [
      "where a call of one shows none of it",
      [short(one)],
      [charge(9, 0.5)],
      {},
      ["race-read-then-write", "per-instance-counters", ...rolls, "cost-ignored"],
    ],
    [
      "in a status call at nothing",
      [short(status({ count: 0 }))],
      [],
      {},
      [
        "status-pristine",
        "stale-replica-read",
        "race-read-then-write",
        ...rolls,
        "cost-ignored",
        "per-instance-counters",
      ],
    ],
    [
      "in a status call that shows the user's",
      [short(status({ count: 1, echoesUser: true }))],
      [],
      {},
      [
        "status-shares-user",
        "stale-replica-read",
        "race-read-then-write",
        ...rolls,
        "cost-ignored",
        "per-instance-counters",
      ],
    ],
    [
      "in a refusal at nothing: a reading that lags",
      [short(refusal("user", 0))],
      [],
      {},
      ["stale-replica-read", "race-read-then-write", ...rolls, "cost-ignored", "per-instance-counters"],
    ],
  ]);
});

describe("a count above all that calls can have charged", () => {
  const byPolicy = { ...acme, told: { quota: "calls", key: {} } };
  const excess = (count: number, most: number): LawFinding => ({
    kind: "excess",
    mark: charge(9, count),
    most,
  });
  check([
    [
      "by nearly as much again: counted twice",
      [excess(9, 5)],
      [],
      {},
      ["double-count", "wrong-user-key", "scopes-mixed"],
    ],
    [
      "by three fifths: somebody else's",
      [excess(8, 5)],
      [],
      {},
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
    ["in an organization's window", [excess(8, 5)], [], { name: acme }, ["scopes-mixed", "double-count"]],
    [
      "beside a refusal, whose charge would not explain it",
      [excess(8, 5)],
      [refusal("user", 5)],
      {},
      ["wrong-user-key", "scopes-mixed", "double-count", "refused-counted"],
    ],
    [
      "beside as many refusals",
      [excess(8, 5)],
      [refusal("user", 5), refusal("user", 5), refusal("user", 5)],
      {},
      ["wrong-user-key", "refused-counted", "scopes-mixed", "double-count"],
    ],
    [
      "beside as many refusals, where those are charged",
      [excess(8, 5)],
      [refusal("user", 5), refusal("user", 5), refusal("user", 5)],
      { refused: "counted" },
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
    [
      "by more than all calls: no call is counted twice so",
      [excess(11, 5)],
      [],
      {},
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
    [
      "beside refusals and status calls",
      [excess(8, 5)],
      [refusal("user", 5), status()],
      {},
      ["wrong-user-key", "scopes-mixed", "double-count", "status-charged", "refused-counted"],
    ],
    [
      "beside as many refusals by a user's window, in an organization's",
      [excess(8, 5)],
      [refusal("user", 5), refusal("user", 5), refusal("user", 5)],
      { name: acme },
      ["narrow-drains-broad", "scopes-mixed", "double-count", "refused-counted"],
    ],
    [
      "beside as many of its own refusals, in an organization's",
      [excess(8, 5)],
      [refusal("organization", 5), refusal("organization", 5), refusal("organization", 5)],
      { name: acme },
      ["refused-counted", "scopes-mixed", "double-count", "narrow-drains-broad"],
    ],
    [
      "beside counts that fall: two nodes' windows, one of which the other has charged before",
      [excess(8, 5)],
      [charge(0, 7), charge(10, 2), charge(20, 8)],
      { name: byPolicy },
      ["skewed-nodes", "scopes-mixed", "double-count"],
    ],
    [
      "beside counts that fall one by one, after a window with a count: it slides",
      [excess(8, 5)],
      [charge(0, 7), charge(10, 6), charge(20, 7)],
      { name: byPolicy, previous: { count: 9, carried: false } },
      ["window-slides", "scopes-mixed", "double-count"],
    ],
    [
      "beside counts that rise",
      [excess(8, 5)],
      [charge(0, 2), charge(10, 7)],
      {},
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
    [
      "as high as the window before was",
      [excess(8, 5)],
      [],
      { previous: { count: 8, carried: false } },
      ["new-reset-old-count", "wrong-user-key", "immortal-by-polling", "scopes-mixed", "double-count"],
    ],
    [
      "as high as the window before, one point",
      [excess(1, 0)],
      [],
      { previous: { count: 1, carried: false } },
      ["new-reset-old-count", "wrong-user-key", "immortal-by-polling", "scopes-mixed", "double-count"],
    ],
    [
      "as high as two windows before it were",
      [excess(8, 5)],
      [],
      { previous: { count: 8, carried: true } },
      [
        "lost-expiry",
        "new-reset-old-count",
        "wrong-user-key",
        "immortal-by-polling",
        "scopes-mixed",
        "double-count",
      ],
    ],
    [
      "below the window before",
      [excess(8, 5)],
      [],
      { previous: { count: 9, carried: true } },
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
    [
      "after a window without calls",
      [excess(8, 5)],
      [],
      { previous: { count: 0, carried: true } },
      ["wrong-user-key", "scopes-mixed", "double-count"],
    ],
  ]);

  test.each([
    ["two nodes' windows", [charge(0, 7), charge(10, 2), charge(20, 8)], ["skewed-nodes"]],
    ["a window that slides", [charge(0, 7), charge(10, 6), charge(20, 7)], ["window-slides"]],
    ["counts that rise", [charge(0, 2), charge(10, 7)], []],
  ])("beside %s shows by itself that there is one, or not", (_name, marks, expected) => {
    const given = { name: byPolicy, previous: { count: 9, carried: false } };
    expect(suspected([excess(8, 5)], marks, given).ruledIn).toEqual(expected);
  });
});

test.each([
  ["where a count fell to a charge alone", [charge(0, 7), charge(10, 1)], [[0, 15]]],
  ["at 15% of the highest", [charge(0, 20), charge(10, 4)], [[0, 15]]],
  ["not at more", [charge(0, 20), charge(10, 5)], []],
  ["by the answers' order, whatever theirs", [charge(10, 1), charge(0, 7)], [[0, 15]]],
  ["from the highest, not the last", [charge(0, 7), charge(3, 6), charge(10, 1)], [[0, 15]]],
  ["not where calls overlap", [charge(0, 7), charge(5, 1)], []],
  ["not by reads", [charge(0, 7), status({ sent: 10, count: 0 })], []],
  ["not where a count stands", [charge(0, 1), charge(10, 1)], []],
  [
    "again and again",
    [charge(0, 7), charge(10, 1), charge(20, 7), charge(30, 1)],
    [
      [0, 15],
      [20, 35],
    ],
  ],
])("counts began again %s", (_name, marks, expected) => {
  expect(restartsOf(marks, time).map(({ from, to }) => [from, to])).toEqual(expected);
});

describe("ends of one window that cannot both be", () => {
  const end = (from: number, to: number, reset = 30): Mark =>
    markOf({ end: { from: from + 5_000, to: to + 5_000 }, reset });
  const minute = { ms: 60_000, known: true };
  test.each([
    [
      "far apart: windows of two clocks",
      end(0, 0),
      end(2_001, 2_001),
      false,
      [
        "two-interleaved-windows",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
        "rearmed-per-hit",
      ],
    ],
    [
      "near each other: a drift",
      end(0, 0),
      end(1_999, 1_999),
      false,
      [
        "reset-at-drifts",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "two-interleaved-windows",
        "rearmed-per-hit",
      ],
    ],
    [
      "between the two: either",
      end(0, 0),
      end(2_000, 2_000),
      false,
      [
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
        "two-interleaved-windows",
        "rearmed-per-hit",
      ],
    ],
    [
      "less than a second apart, where one shows 0: it seems to end in its last second",
      end(0, 0, 0),
      end(999, 999, 1),
      false,
      [
        "reset-zero",
        "reset-negative",
        "reset-at-drifts",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "two-interleaved-windows",
        "rearmed-per-hit",
      ],
    ],
    [
      "less than a second short of a window",
      end(0, 0, 60),
      end(59_001, 59_001, 0),
      true,
      [
        "reset-zero",
        "reset-negative",
        "stale-cached-reset",
        "two-interleaved-windows",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
        "rearmed-per-hit",
      ],
    ],
    [
      "a second apart, where one shows 0: it may be past",
      end(0, 0, 0),
      end(1000, 1000, 1),
      false,
      [
        "reset-negative",
        "reset-at-drifts",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "two-interleaved-windows",
        "rearmed-per-hit",
      ],
    ],
    [
      "both new: each hit arms the window again",
      end(0, 0, 59),
      end(2_001, 2_001, 60),
      false,
      [
        "rearmed-per-hit",
        "two-interleaved-windows",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
      ],
    ],
    [
      "one of them not new",
      end(0, 0, 58.9),
      end(2_001, 2_001, 60),
      false,
      [
        "two-interleaved-windows",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
        "rearmed-per-hit",
      ],
    ],
    [
      "in refusals alone, both of a whole window: each opens it anew",
      end(0, 0, 59),
      end(2_001, 2_001, 60),
      true,
      [
        "rearmed-per-hit",
        "stale-cached-reset",
        "two-interleaved-windows",
        "skewed-nodes",
        "per-instance-counters",
        "clock-step",
        "reset-disagrees",
        "reset-at-drifts",
      ],
    ],
  ])("%s", (_name, earlier, later, refusedOnly, expected) => {
    expect(endSuspects(earlier, later, minute, refusedOnly, false)).toEqual(expected);
  });

  const dated = (resetAt: number | null, reset = 30): Mark => markOf({ resetAt, reset });
  const far = ["skewed-nodes", "two-interleaved-windows", "reset-disagrees", "reset-at-drifts"] as const;
  const near = ["reset-at-drifts", "reset-disagrees", "skewed-nodes", "two-interleaved-windows"] as const;
  test.each([
    ["more than two seconds apart", dated(9_001), dated(7_000), far],
    ["the later one first", dated(7_000), dated(9_001), far],
    ["two seconds apart", dated(9_000), dated(7_000), near],
    ["both of new windows", dated(9_000, 59), dated(7_000, 60), ["rearmed-per-hit", ...near]],
    ["one of a new window", dated(9_000, 58.9), dated(7_000, 60), near],
  ])("as status bodies date them: %s", (_name, a, b, expected) => {
    expect(movingEndSuspects(a, b, minute)).toEqual(expected);
  });
});
