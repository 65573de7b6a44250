// Jobs made at random, whose fates are known beforehand: the figures must tell them, however the lines of
// different clients fall between each other.
import fc from "fast-check";
import { expect, it } from "vitest";
import { summarize } from "../../src/summary/summarizer.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { traceCall, traceHeader } from "./traces.ts";

const statusOf = { admitted: 200, refused: 429, broken: 0 } as const;
type Outcome = keyof typeof statusOf;

const job = fc.record({
  client: fc.integer({ min: 0, max: 3 }),
  wanted: fc.integer({ min: 0, max: 5_000 }),
  /** Outcomes of the attempts before the last. */
  failed: fc.array(fc.constantFrom<Outcome[]>("refused", "broken"), { maxLength: 4 }),
  last: fc.constantFrom<Outcome[]>("admitted", "refused", "broken"),
  stepMs: fc.integer({ min: 1, max: 900 }),
});
type Job = typeof job extends fc.Arbitrary<infer T> ? T : never;

/** Two jobs of one client that are wanted at one instant are told apart by nothing in the trace. */
const jobs = fc.uniqueArray(job, { selector: ({ client, wanted }) => `${client}/${wanted}`, maxLength: 40 });

const outcomesOf = ({ failed, last }: Job): Outcome[] => [...failed, last];
const answeredAt = ({ wanted, stepMs }: Job, attempt: number): number => wanted + (attempt + 1) * stepMs;

function linesOf(all: readonly Job[]): TraceCall[] {
  const lines = all.flatMap((one) =>
    outcomesOf(one).map((outcome, attempt) =>
      traceCall({
        client: `agents/${one.client}`,
        user: `user-${one.client}`,
        wanted: one.wanted,
        attempt,
        sent: answeredAt(one, attempt) - 1,
        received: answeredAt(one, attempt),
        status: statusOf[outcome],
      }),
    ),
  );
  return lines.sort((a, b) => a.received - b.received);
}

it("tells what became of each job", () => {
  fc.assert(
    fc.property(jobs, (all) => {
      const { figures, users } = summarize(traceHeader(), linesOf(all));
      const outcomes = all.flatMap(outcomesOf);
      const ended = (last: Outcome): Job[] => all.filter((one) => one.last === last);
      const waits = ended("admitted").map((one) => answeredAt(one, one.failed.length) - one.wanted);
      expect(figures).toMatchObject({
        calls: outcomes.length,
        jobs: all.length,
        admitted: ended("admitted").length,
        refused: outcomes.filter((outcome) => outcome === "refused").length,
        unanswered: outcomes.filter((outcome) => outcome === "broken").length,
        gaveUp: ended("refused").length,
        waitMaxMs: waits.length === 0 ? null : Math.max(...waits),
      });
      const sum = users.reduce((total, user) => total + (user.figures.gaveUp ?? 0), 0);
      expect(sum).toBe(figures.gaveUp);
    }),
  );
});

it("gives percentiles that so many jobs were no slower than, and one was just as slow as", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 300 }), (waits) => {
      const lines = waits.map((received) => traceCall({ sent: 0, received }));
      const { figures } = summarize(traceHeader(), lines);
      for (const [name, percent] of [
        ["waitP50Ms", 50],
        ["waitP95Ms", 95],
        ["waitP99Ms", 99],
      ] as const) {
        const value = figures[name] ?? -1;
        expect(waits).toContain(value);
        expect(waits.filter((wait) => wait <= value).length * 100).toBeGreaterThanOrEqual(
          percent * waits.length,
        );
        expect(waits.filter((wait) => wait < value).length * 100).toBeLessThan(percent * waits.length);
      }
    }),
  );
});
