// Notes beneath a counterexample of a limiter by key, by reports that are set: which key is odd, and who is told so.
import { expect, test } from "vitest";
import { type LawReport, parseRules, renderCounterexample } from "../../src/laws/index.ts";
import { memberNote } from "../../src/laws/member-names.ts";

/** The notes of a report in which a user's only call breaks a law for this reason. */
function notesOf(user: string, arithmetic: string, keyed = true): string[] {
  const op = { do: "call", atMs: 10, id: 0, organization: "", user, scope: "rest", cost: 1 };
  const rules = parseRules({ user: { rest: { limit: 4, windowSeconds: 10 } } });
  const report = {
    ...{ law: "bounded", statement: "no more than the limit", outcome: "violated", seed: 1, runs: 1 },
    counterexample: {
      script: { rules, keyed, algorithm: "unknown", startMs: 0, pick: 0, ops: [op] },
      history: [{ op, decision: { admitted: true, refusedBy: null } }],
      violation: { at: 0, window: null, expected: "a refusal", got: "admitted", arithmetic },
    },
  } as unknown as LawReport;
  return renderCounterexample(report)
    .filter((line) => /^ +note/.test(line))
    .map((line) => line.trim());
}

test("a key that every object has is told of, unless the breach is that alone", () => {
  const odd = memberNote("constructor");
  expect(notesOf("constructor", "1 of 4")).toEqual([`note     ${odd}`]);
  expect(notesOf("constructor", odd)).toEqual([]);
});

test("no other key is told of, nor a user's whose counts are by organization", () => {
  for (const user of ["ann", "construct", "a/b"]) expect(notesOf(user, "1 of 4")).toEqual([]);
  expect(notesOf("constructor", "1 of 4", false)).toEqual([]);
});
