// The window that has the least left, of those that answers showed and that are still open.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type SeenWindow, TightestWindow } from "../../src/load/tightest-window.ts";
import { scopes } from "../../src/rules/rules.ts";

const now = 1_000_000;
const acme = { org: "acme", user: null, scope: "rest" } as const;

test("is the one with the least share left, whosever it is", () => {
  const windows = new TightestWindow();
  const ann = windows.pair("acme", "ann", "rest");
  const bob = windows.pair("acme", "bob", "graphql");
  expect(windows.read(now)).toBeNull();
  ann.organization.see(200, 100, 10, now);
  expect(windows.read(now)).toEqual({ ...acme, limit: 200, remaining: 100 });
  ann.user.see(50, 24, 10, now);
  bob.organization.see(20_000, 12_000, 10, now);
  expect(windows.read(now)).toEqual({ ...acme, user: "ann", limit: 50, remaining: 24 });
  bob.user.see(5000, 0, 10, now);
  expect(windows.read(now)).toEqual({
    org: "acme",
    user: "bob",
    scope: "graphql",
    limit: 5000,
    remaining: 0,
  });
});

test("is open: until its reset is over", () => {
  const windows = new TightestWindow();
  const { organization, user } = windows.pair("acme", "ann", "rest");
  organization.see(200, 100, 20, now);
  user.see(50, 5, 10, now);
  expect(windows.read(now + 9_999)).toMatchObject({ limit: 50 });
  expect(windows.read(now + 10_000)).toMatchObject({ limit: 200 });
  expect(windows.read(now + 20_000)).toBeNull();
});

test("is one for all users of an organization, and one a scope", () => {
  const windows = new TightestWindow();
  const { organization } = windows.pair("acme", "ann", "rest");
  expect(windows.pair("acme", "bob", "rest").organization).toBe(organization);
  expect(windows.pair("acme", "ann", "graphql").organization).not.toBe(organization);
  expect(windows.pair("globex", "ann", "rest").organization).not.toBe(organization);
  expect(windows.pair("acme", "bob", "rest").user).not.toBe(windows.pair("acme", "ann", "rest").user);
});

test.each([
  ["a text", ["200", 100, 10]],
  ["no remaining", [200, null, 10]],
  ["no reset", [200, 100, "soon"]],
  ["a limit of nothing", [0, 0, 10]],
  ["a reset below 0", [200, 100, -1]],
] as const)("%s shows nothing, and what was seen before stays", (_, [limit, remaining, reset]) => {
  const windows = new TightestWindow();
  const { organization } = windows.pair("acme", "ann", "rest");
  organization.see(limit, remaining, reset, now);
  expect(windows.read(now)).toBeNull();
  organization.see(200, -3, 0.5, now);
  organization.see(limit, remaining, reset, now);
  expect(windows.read(now)).toEqual({ ...acme, limit: 200, remaining: 0 });
  expect(windows.read(now + 500)).toBeNull();
});

const answers = fc.array(
  fc.record({
    org: fc.constantFrom("acme", "globex"),
    user: fc.constantFrom("ann", "bob"),
    scope: fc.constantFrom(...scopes),
    isOwn: fc.boolean(),
    limit: fc.integer({ min: -1, max: 4 }),
    remaining: fc.integer({ min: -2, max: 4 }),
    reset: fc.integer({ min: -1, max: 3 }),
    afterMs: fc.constantFrom(0, 500, 1_000),
  }),
  { maxLength: 30 },
);

test("is the first of those with the least share, after any answers", () => {
  fc.assert(
    fc.property(answers, (drawn) => {
      const windows = new TightestWindow();
      const all = new Map<string, { endsMs: number; shown: SeenWindow | null }>();
      let nowMs = now;
      for (const { org, user, scope, isOwn, limit, remaining, reset, afterMs } of drawn) {
        nowMs += afterMs;
        const pair = windows.pair(org, user, scope);
        (isOwn ? pair.user : pair.organization).see(limit, remaining, reset, nowMs);
        for (const owner of [null, user]) {
          const name = JSON.stringify([org, owner, scope]);
          if (!all.has(name)) all.set(name, { endsMs: 0, shown: null });
          if (isOwn !== (owner !== null) || limit < 1 || reset < 0) continue;
          const shown = { org, user: owner, scope, limit, remaining: Math.max(0, remaining) };
          all.set(name, { endsMs: nowMs + 1_000 * reset, shown });
        }
      }
      const open = [...all.values()].flatMap(({ endsMs, shown }) =>
        endsMs > nowMs && shown !== null ? [shown] : [],
      );
      const [least = null] = open.sort((a, b) => a.remaining * b.limit - b.remaining * a.limit);
      expect(windows.read(nowMs)).toEqual(least);
    }),
  );
});
