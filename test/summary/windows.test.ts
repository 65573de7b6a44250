// Of more windows than a summary keeps, those stay that say most: organizations', then the most refused, the fullest,
// the latest.
import { describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { windowsMost } from "../../src/summary/summary.ts";
import { rulesLengths, whoseName } from "../../src/summary/told.ts";
import { WindowTracker } from "../../src/summary/windows.ts";
import type { Whose } from "../../src/trace/whose.ts";
import { rulesOwner } from "../support/rules-owner.ts";

interface Shown {
  readonly user: string | null;
  readonly org?: string;
  readonly scope?: "rest" | "graphql";
  /** The minute that it ends with. */
  readonly minute: number;
  readonly admitted?: number;
  readonly refused?: number;
}

const start = Date.UTC(2026, 0, 1);

const owners = new Map<string, Whose>();

/** The same object for the same owner, as a teller gives it. */
function owner(org: string, user: string | null, scope: "rest" | "graphql"): Whose {
  const whose = { org, user, scope };
  const known = owners.get(whoseName(whose)) ?? whose;
  owners.set(whoseName(whose), known);
  return known;
}

/** The windows that are kept, as `owner@minute`. */
function kept(shown: readonly Shown[]): readonly string[] {
  const tracker = new WindowTracker(rulesLengths(null));
  for (const { user, org = "acme", scope = "rest", minute, admitted = 1, refused = 0 } of shown) {
    const sent = start + minute * 60_000 - 30_000;
    const entry = tracker.place({
      whose: owner(org, user, scope),
      limit: 50,
      count: 1,
      reset: 30,
      sent,
      received: sent,
    });
    entry.admitted += admitted;
    entry.refused += refused;
  }
  const { windows, windowsSeen } = tracker.finish();
  expect(windowsSeen).toBe(shown.length);
  const minuteOf = (endsAt: number): number => Math.round((endsAt - start) / 60_000);
  return windows.map(rulesOwner).map(({ user, endsAt }) => `${user ?? "all"}@${minuteOf(endsAt)}`);
}

/** One more than are kept, of one user, a window each minute. */
const many = (count: number, changes: Partial<Shown> = {}): Shown[] =>
  Array.from({ length: count }, (_, minute) => ({ user: "ann", minute: minute + 1, ...changes }));

describe.each([
  ["one more than are kept", 1],
  ["twice as many and more", windowsMost + 40],
])("of %s", (_, more) => {
  const count = windowsMost + more;

  test("the latest stay, where nothing else tells them apart", () => {
    const found = kept(many(count));
    expect(found).toHaveLength(windowsMost);
    expect(found).toEqual(
      many(count)
        .slice(more)
        .map(({ minute }) => `ann@${minute}`),
    );
  });

  test.each<[string, Partial<Shown>]>([
    ["an organization's", { user: null }],
    ["one that refused", { refused: 1 }],
    ["a fuller one", { admitted: 2 }],
  ])("%s stays, however early it was", (_name, changes) => {
    const shown = many(count);
    const [first = { user: "ann", minute: 1 }, ...others] = shown;
    const owner = changes.user === null ? "all" : "ann";
    const found = kept([{ ...first, ...changes }, ...others]);
    expect(found).toContain(`${owner}@1`);
    expect(found).toHaveLength(windowsMost);
    expect(found).not.toContain("ann@2");
  });

  test("refusals weigh more than a fuller window, and an organization's more than both", () => {
    const shown = many(count, { admitted: 9 }).map((one, index) =>
      index === 0 ? { ...one, admitted: 1, refused: 1 } : one,
    );
    expect(kept(shown)).toContain("ann@1");
    const [first = { user: "ann", minute: 1 }, ...others] = many(count, { refused: 3, admitted: 9 });
    expect(kept([{ ...first, user: null, refused: 0, admitted: 0 }, ...others])).toContain("all@1");
  });
});

describe("a window", () => {
  const limits = { organization: { rest: { windowSeconds: 60 } }, user: { rest: { windowSeconds: 60 } } };
  const known = rulesLengths(parseRules(limits as never));
  const reading = (sent: number, reset: number, more: object = {}) => ({
    ...{ whose: owner("acme", "ann", "rest"), limit: 50, count: 3, reset, sent: start + sent },
    ...{ received: start + sent + 40, ...more },
  });

  test("is that of readings whose ends may be one; it has the highest count, the last limit, the first call", () => {
    const tracker = new WindowTracker(known);
    const first = tracker.place(reading(10_000, 50));
    // From 10,000 + 50,000 - 1,000 to 10,040 + 50,000.
    expect(first).toMatchObject({ earliestEnd: start + 59_000, latestEnd: start + 60_040, windowMs: 60_000 });
    first.admitted += 1;
    const same = tracker.place(reading(9_000, 51, { count: 7, limit: 40 }));
    expect(same).toBe(first);
    expect(tracker.place(reading(12_000, 48, { count: null, limit: null }))).toBe(first);
    expect(tracker.place(reading(13_000, 47, { count: 2, limit: 60 }))).toBe(first);
    first.refused += 2;
    const { windows, windowsSeen } = tracker.finish();
    expect(windowsSeen).toBe(1);
    expect(
      windows.map((one) => ({ ...one, opensAt: one.opensAt - start, endsAt: one.endsAt - start })),
    ).toEqual([
      {
        ...{ org: "acme", user: "ann", scope: "rest", opensAt: 0, endsAt: 60_000 },
        ...{ limit: 60, highest: 7, admitted: 1, refused: 2 },
      },
    ]);
  });

  test("of unknown length opens with its first call; what no answer shows is not known", () => {
    const tracker = new WindowTracker(rulesLengths(null));
    tracker.place(reading(10_000, 50, { limit: null, count: null }));
    const { windows } = tracker.finish();
    expect(windows).toMatchObject([
      { opensAt: start + 10_000, endsAt: start + 60_000, limit: null, highest: null },
    ]);
    expect(windows).toMatchObject([{ admitted: 0, refused: 0 }]);
    // The tracker is used up: nothing is counted twice.
    expect(tracker.finish().windowsSeen).toBe(1);
  });

  test("that ended just before is known, and a new one begins", () => {
    const tracker = new WindowTracker(known);
    const first = tracker.place(reading(10_000, 50));
    const next = tracker.place(reading(60_100, 60));
    expect(next).not.toBe(first);
    const justBefore = [59_999, 60_000, 60_999, 61_000].map((ms) =>
      tracker.resetJustBefore(next, start + ms),
    );
    expect(justBefore).toEqual([false, true, true, false]);
    expect(tracker.finish()).toMatchObject({
      windowsSeen: 2,
      windows: [{ endsAt: start + 60_000 }, { endsAt: start + 120_000 }],
    });
  });

  test("by a floor begins its span at its reset", () => {
    const floor = parseRules({ ...limits, semantics: { reset: "floor" } } as never);
    const entry = new WindowTracker(rulesLengths(floor)).place(reading(10_000, 50));
    expect(entry).toMatchObject({ earliestEnd: start + 60_000, latestEnd: start + 61_040 });
  });

  test("of a quota is told by its name and key", () => {
    const tracker = new WindowTracker({ lengthMs: () => 60_000, beforeMs: () => 1000 });
    const keys = [
      { quota: "own", key: { user: "bob" } },
      { quota: "daily", key: { account: "acme" } },
      { quota: "own", key: { user: "ann" } },
    ];
    for (const whose of keys) tracker.place({ ...reading(10_000, 50), whose });
    const told = tracker.finish().windows as unknown as readonly { quota: string; key: object }[];
    expect(told.map(({ quota, key }) => [quota, ...Object.values(key)])).toEqual([
      ["daily", "acme"],
      ["own", "ann"],
      ["own", "bob"],
    ]);
  });
});

test("are told by place: organization, scope, the organization's own before its users', then time", () => {
  const tracker = new WindowTracker(rulesLengths(null));
  const place = (org: string, user: string | null, scope: "rest" | "graphql", minute: number): void => {
    const sent = start + minute * 60_000;
    tracker.place({ whose: owner(org, user, scope), limit: 50, count: 1, reset: 30, sent, received: sent });
  };
  place("globex", null, "rest", 1);
  place("acme", "bob", "rest", 1);
  place("acme", "ann", "graphql", 1);
  place("acme", "ann", "rest", 3);
  place("acme", "ann", "rest", 1);
  place("acme", null, "rest", 2);
  const told = tracker
    .finish()
    .windows.map(rulesOwner)
    .map(({ org, user, scope, endsAt }) => [org, user, scope, Math.floor((endsAt - start) / 60_000)]);
  expect(told).toEqual([
    ["acme", null, "rest", 2],
    ["acme", "ann", "rest", 1],
    ["acme", "ann", "rest", 3],
    ["acme", "bob", "rest", 1],
    ["acme", "ann", "graphql", 1],
    ["globex", null, "rest", 1],
  ]);
});
