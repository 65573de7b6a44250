// The windows that a simulated run's answers tell of, in columns, against a plain list of windows.
import fc from "fast-check";
import { expect } from "vitest";
import { MeasuredWindows } from "../../sim/measured-windows.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { rulesLengths } from "../../src/summary/told.ts";
import { endedJustBefore, narrowed, takeOver, type WindowEnd } from "../../src/summary/window-ends.ts";
import { property } from "../support/property.ts";

const seat = (organization: string, user: string) => ({ organization, user, number: 0 }) as never;
const scopes = ["rest", "graphql"] as const;

const reading = fc.record({
  who: fc.nat({ max: 39 }),
  scope: fc.constantFrom(0, 1),
  /** Time that passes, a trip's, and s to the reset that is told. */
  passed: fc.oneof({ weight: 8, arbitrary: fc.nat(3_000) }, { weight: 1, arbitrary: fc.nat(200_000) }),
  trip: fc.oneof({ weight: 8, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(9_000) }),
  reset: fc.oneof(fc.constantFrom(0, 1, 5), fc.nat(70)),
  asked: fc.nat(12_000),
});

property(
  [
    fc.constantFrom("ceil", "floor", "round"),
    fc.constantFrom(0, Date.UTC(2026, 0, 1)),
    fc.array(reading, { minLength: 60, maxLength: 120 }),
  ],
  {
    numRuns: 150,
  },
)(
  "each reading is of the window that a list of all would say, and so is each end",
  (rounding, startMs, readings) => {
    const rules = parseRules({
      organization: { rest: { windowSeconds: 60 }, graphql: { windowSeconds: 20 } },
      user: { rest: { windowSeconds: 10 }, graphql: { windowSeconds: 7 } },
      semantics: { reset: rounding as "ceil" },
    });
    const columns = new MeasuredWindows(rules, startMs);
    const lists = new Map<string, WindowEnd[]>();
    /** Windows of the lists by their numbers, which are given again once a window is taken out. */
    const byNumber = new Map<number, WindowEnd>();
    const lengths = [60_000, 20_000] as const;
    const owners = new Map<number, number>();
    const ownerOf = (who: number): number => {
      const known = owners.get(who);
      if (known !== undefined) return known;
      const made = who < 4 ? columns.organization(seat(`org-${who}`, "")) : columns.newOwner();
      owners.set(who, made);
      return made;
    };
    let atMs = startMs;
    for (const { who, scope, passed, trip, reset, asked } of readings) {
      atMs += passed;
      const owner = ownerOf(who);
      const key = `${who} ${scope}`;
      const list = lists.get(key) ?? [];
      lists.set(key, list);
      const beforeMs = rulesLengths(rules).beforeMs({ org: "", user: null, scope: scopes[scope] ?? "rest" });
      const [earliestEnd, latestEnd] = [
        atMs + reset * 1000 - beforeMs,
        atMs + trip + reset * 1000 + 1000 - beforeMs,
      ];
      const placed = columns.place(owner, scope, reset, atMs - startMs, atMs - startMs + trip);
      let window = narrowed(list, earliestEnd, latestEnd);
      if (window === undefined) {
        while (takeOver(list, atMs + trip) !== undefined);
        window = { windowMs: lengths[scope] as number, earliestEnd, latestEnd };
        const before = byNumber.get(placed);
        expect([...lists.values()].some((all) => all.includes(before as WindowEnd))).toBe(false);
        expect(columns.refused(placed)).toEqual([]);
        columns.refused(placed)[who] = true;
        byNumber.set(placed, window);
        list.push(window);
      }
      expect(byNumber.get(placed)).toBe(window);
      expect(columns.refused(placed)[who]).toBe(true);
      if (who >= 4) continue;
      const when = atMs + trip + asked - 6_000;
      expect(columns.endedJustBefore(owner, scope, when - startMs)).toBe(endedJustBefore(list, when));
    }
    expect(columns.organization(seat("org-0", "other"))).toBe(ownerOf(0));
  },
);
