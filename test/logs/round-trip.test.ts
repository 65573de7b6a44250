// Any rows, written in any format, read back the same; and where the chunks' boundaries are makes no difference.

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { looksSecret } from "../../src/logs/secrets.ts";
import { read } from "./reading.ts";
import { type Form, forms, type Written } from "./written.ts";

const baseMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const plainUser = fc.stringMatching(/^[a-z][a-z0-9._@-]{0,12}$/);
const anyUser = fc
  .oneof(plainUser, fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }))
  .filter((user) => !/[\r\n\0]/.test(user) && user !== "-" && user !== '"');

const rowsOf = ({ isCoarse, hasPlainUsers }: Form): fc.Arbitrary<Written[]> =>
  fc
    .array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: isCoarse ? 5 : 5000 }),
        durationMs: fc.integer({ min: 0, max: 2000 }),
        user: hasPlainUsers ? plainUser : anyUser,
        method: fc.constantFrom("GET", "POST", "DELETE"),
        path: fc.constantFrom(
          "/v2/organizations/acme/x",
          "/v2/organizations/größe/x?y=1",
          "https://a.b/v2/user/",
        ),
        status: fc.constantFrom(200, 404, 429, 500),
        zone: fc.constantFrom(0, 60, -480, 345),
      }),
      { minLength: 1, maxLength: 30 },
    )
    .map((rows) => {
      let atMs = baseMs;
      return rows.map(({ afterMs, ...row }) => {
        atMs += isCoarse ? 1000 * afterMs : afterMs;
        return { ...row, atMs };
      });
    })
    .filter((rows) => rows.every(({ user }) => !looksSecret(user)));

/** The organization of a user's calls that name none depends on the log: see callers.test.ts. */
const shown = (
  { atMs, user, status, durationMs }: Written,
  { hasNoDuration, isCoarse, options }: Form,
  rows: number,
) => {
  const stepMs = isCoarse && rows > 1 ? 1000 : 1;
  const began = options?.flags?.timeIs === "end" ? atMs - stepMs * Math.round(durationMs / stepMs) : atMs;
  return JSON.stringify([began, user, status, hasNoDuration === true ? null : durationMs]);
};

describe.each(forms)("$name", (form) => {
  test("reads back as it was written, in the order of time, whatever the chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsOf(form),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        async (rows, size, zipped) => {
          const text = form.write(rows);
          const reading = await read(zipped ? gzipSync(text) : text, { ...form.options, size });
          expect(reading.unread, JSON.stringify(reading.examples)).toBe(0);
          const found = reading.rows.map(({ at, caller, status, durationMs }) =>
            JSON.stringify([Date.parse(at), caller.slice(caller.indexOf("/") + 1), status, durationMs]),
          );
          expect(found.toSorted()).toEqual(rows.map((row) => shown(row, form, rows.length)).toSorted());
          const times = reading.rows.map(({ at }) => at);
          expect(times).toEqual(times.toSorted());
          expect(
            reading.rows.filter(({ caller }) => caller.startsWith("größe/")).length,
          ).toBeGreaterThanOrEqual(rows.filter(({ path }) => path.includes("größe")).length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
