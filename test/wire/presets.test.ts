// Wire formats as data: each preset reads what it writes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import type { AnswerKind, WireReading } from "../../src/policy/wire-data.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";
import { writeAnswer } from "../../src/wire/write-answer.ts";

const NOW = 1_795_305_600_250;

const quotasOf = ({ operations, quotas }: Policy, operation: string): string[] =>
  operation === "status" ? Object.keys(quotas) : Object.keys(operations[operation]?.uses ?? {});

/** Tells whether a row shows a number. */
const has = (row: WireReading, placeholder: string): boolean =>
  JSON.stringify([row.headers, row.body]).includes(`{${placeholder}}`);

/** Rows that show a quota in such an answer. */
const rowsOf = (rows: readonly WireReading[], quota: string, kind: AnswerKind): WireReading[] =>
  rows.filter((row) => row.on.includes(kind) && (row.quotas?.includes(quota) ?? true));

describe.each(Object.entries(presets))("%s", (_, preset) => {
  const policy = parsePolicy(preset.policy);
  const wire = wireOf(policy);

  test.each(["admitted", "refused"] as const)("reads what it writes: %s", (kind) => {
    const counts = fc.record({
      limit: fc.integer({ min: 1, max: 1_000_000 }),
      used: fc.integer({ min: 0, max: 1_000_000 }),
      inMs: fc.integer({ min: 0, max: 86_400_000 }),
    });
    const operations = Object.keys(policy.operations);
    fc.assert(
      fc.property(
        fc.constantFrom(...operations),
        fc.array(counts, { minLength: 16, maxLength: 16 }),
        fc.nat(),
        (operation, drawn, refuser) => {
          const quotas = quotasOf(policy, operation);
          const by = quotas[refuser % quotas.length] ?? "";
          const readings = quotas.map((quota, index) => {
            const { limit = 1, used = 0, inMs = 0 } = drawn[index] ?? {};
            const spent = kind === "refused" && quota === by ? limit : Math.min(used, limit - 1);
            return { quota, limit, used: spent, remaining: limit - spent, resetAtMs: NOW + inMs };
          });
          const refusing = readings.find(({ quota }) => quota === by);
          const retryAtMs = kind === "refused" ? (refusing?.resetAtMs ?? null) : null;
          const refusedBy = kind === "refused" ? by : null;
          const told = { kind, readings, refusedBy, retryAtMs, cost: 1 };
          const read = readAnswer(wire, writeAnswer(wire, policy.quotas, told, NOW), {
            quotas,
            isStatus: false,
          });
          expect(read.unread).toEqual([]);
          expect(read.outcome).toBe(kind);
          if (quotas.includes(read.by ?? "")) expect(read.by).toBe(by);
          if (read.retryAfter !== null) {
            const { afterMs, atMs, gridMs } = read.retryAfter;
            expect(Math.abs((atMs ?? NOW + (afterMs ?? 0)) - (retryAtMs ?? 0))).toBeLessThan(gridMs);
          }
          for (const shown of read.readings) {
            const meant = readings.find(({ quota }) => quota === shown.quota);
            // A row that shows the scarcest of several does not name it.
            if (meant === undefined) continue;
            const row = rowsOf(wire.readings, meant.quota, kind).find(
              ({ limitPerSeconds }) => limitPerSeconds === undefined,
            );
            if (shown.limit !== null) expect(shown.limit).toBe(meant.limit);
            const grain = (row?.grain ?? 1) / 2;
            if (shown.remaining !== null)
              expect(Math.abs(shown.remaining - meant.remaining)).toBeLessThanOrEqual(grain);
            if (shown.reset !== null && shown.reset.means !== "next") {
              const { afterMs, atMs, gridMs } = shown.reset;
              expect(Math.abs((atMs ?? NOW + (afterMs ?? 0)) - meant.resetAtMs)).toBeLessThan(gridMs);
            }
          }
          // Whatever an operation's only quota may show is shown.
          for (const { quota } of quotas.length === 1 ? readings : [])
            for (const row of rowsOf(wire.readings, quota, kind)) {
              const shown = read.readings.find((one) => one.quota === quota);
              for (const member of ["limit", "remaining", "used"] as const)
                if (has(row, member) && row.limitPerSeconds === undefined)
                  expect(shown?.[member], member).not.toBeNull();
            }
        },
      ),
      { numRuns: 60 },
    );
  });
});
