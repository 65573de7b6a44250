// Of more windows than a summary keeps, those stay that say most: organizations', then the most refused, the fullest,
// the latest.
import { describe, expect, test } from "vitest";
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
