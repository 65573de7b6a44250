// Refusals that name no quota: the one that refused is told by what each quota has left, and by what the call asks of it.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import { type AskedCall, readAnswer } from "../../src/wire/read-answer.ts";

const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];
const wireWith = (grain?: number) =>
  wireOf(
    parsePolicy({
      version: 2,
      name: "refusers",
      quotas: Object.fromEntries(
        names.map((name) => [
          name,
          { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] },
        ]),
      ),
      operations: { call: { uses: { a: 1, b: 1 } } },
      routes: [{ path: "/**", operation: "call" }],
      wire: {
        revision: "1",
        readings: names.map((name) => ({
          quotas: [name],
          headers: {
            [`${name}-limit`]: "{limit}",
            [`${name}-left`]: "{remaining}",
            [`${name}-used`]: "{used}",
          },
          ...(grain !== undefined && { grain }),
        })),
      },
    }),
  );
const wire = wireWith();

/** Units that are left, by quota; or a limit, of which so many are used. */
type Shown = Partial<Record<Name, number | readonly [limit: number | null, used: number]>>;
const headersOf = (shown: Shown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(shown).flatMap(([name, amount]) => {
      if (typeof amount === "number") return [[`${name}-left`, String(amount)]];
      const [limit, used] = amount;
      return [...(limit === null ? [] : [[`${name}-limit`, String(limit)]]), [`${name}-used`, String(used)]];
    }),
  );
const refuser = (shown: Shown, asked: Omit<AskedCall, "isStatus">, by = wire) =>
  readAnswer(by, { status: 429, headers: headersOf(shown), body: undefined }, { isStatus: false, ...asked })
    .by;

test.each<[shown: Shown, needs: Partial<Record<Name, number | null>>, by: Name | null]>([
  // The only one with nothing left.
  [{ a: 0, b: 5 }, { a: 1, b: 1 }, "a"],
  [{ a: -3, b: 1 }, { a: 1, b: 1 }, "a"],
  [{ a: 0, b: 0 }, { a: 1, b: 1 }, null],
  [{ a: 5, b: [9, 9] }, { a: 1, b: 1 }, "b"],
  [{ a: 5, b: [9, 8] }, { a: 1, b: 1 }, null],
  [{ b: [null, 9] }, { a: 1, b: 1 }, null],
  [{ a: 0 }, { a: 1, b: 1 }, "a"],
  [{ a: 0, b: 2 }, { a: 1, b: 3 }, null],
  // The only one that lacks room, where all others show room.
  [{ a: 1, b: 5 }, { a: 2, b: 5 }, "a"],
  [{ a: 2, b: 5 }, { a: 2, b: 5 }, null],
  [{ a: 1, b: 4 }, { a: 2, b: 5 }, null],
  [{ a: 1 }, { a: 2, b: 1 }, null],
  // Needs that are not known.
  [{ a: 0, b: 5 }, { a: null, b: null }, "a"],
  [{ a: 1, b: 5 }, { a: null, b: null }, null],
  [{ a: 1, b: 1 }, { a: null, b: 1 }, null],
  // One of the call's quotas that it asks nothing of.
  [{ a: 1, b: 1, c: 0 }, { a: 1, b: 1 }, "c"],
  [{ a: 1, c: 0 }, { a: 1, b: 1 }, null],
  [{ a: 0, b: 1, c: 0 }, { a: 1, b: 1 }, "a"],
  [{ a: 1, b: 1, c: 1 }, { a: 1, b: 1 }, null],
])("with %j left, a call that needs %j was refused by %j", (shown, needs, by) => {
  expect(refuser(shown, { quotas: names, refusal: () => ({ needs, isCharged: false }) })).toBe(by);
});

test("the call's only quota refused it, whatever is left", () => {
  for (const left of [0, 5]) expect(refuser({ a: left }, { quotas: ["a"] })).toBe("a");
  expect(refuser({}, { quotas: ["a"] })).toBe("a");
  expect(refuser({}, { quotas: ["a", "b"] })).toBeNull();
});

test("a refusal that is charged may have taken the last of a quota that does not show what is left", () => {
  const asked = (isCharged: boolean) => ({
    quotas: ["a", "b"],
    refusal: () => ({ needs: { a: 1, b: 1 }, isCharged }),
  });
  expect([refuser({ a: 0 }, asked(false)), refuser({ a: 0 }, asked(true))]).toEqual(["a", null]);
  expect(refuser({ a: 0, b: 1 }, asked(true))).toBe("a");
});

test("rounded counts tell only whether nothing is left", () => {
  const asked = { quotas: ["a", "b"], refusal: () => ({ needs: { a: 2, b: 1 }, isCharged: false }) };
  expect([refuser({ a: 1, b: 5 }, asked), refuser({ a: 1, b: 5 }, asked, wireWith(2))]).toEqual(["a", null]);
  expect(refuser({ a: 0, b: 5 }, asked, wireWith(2))).toBe("a");
});

test("an error without readings beside answers that show some may be of something before the limiter", () => {
  const outcome = (status: number, quotas: readonly string[]) =>
    readAnswer(wire, { status, headers: {}, body: undefined }, { isStatus: false, quotas }).outcome;
  const all = [200, 302, 399, 400, 404].map((status) => outcome(status, ["a"]));
  expect(all).toEqual(["admitted", "unknown", "unknown", "unknown", "unknown"]);
  expect([302, 404].map((status) => outcome(status, []))).toEqual(["admitted", "admitted"]);
});
