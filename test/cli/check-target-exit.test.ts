// The exit status of `check --target`: what a CI job does next hangs on it. And its advice where answers look otherwise.
import { expect, test } from "vitest";
import { exitOf, sayLive } from "../../src/cli/check-target.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

type Report = Parameters<typeof exitOf>[0];

const ended = (why: "interrupted" | "unwelcome" | "budget") => ({ why, reason: "" });

test.each<[string, number, Partial<Report>]>([
  ["a law held", 0, {}],
  ["a law held before the budget was used up", 0, { ended: ended("budget") }],
  ["a law is violated", 1, { ok: false }],
  ["a law is violated, and the run was interrupted", 1, { ok: false, ended: ended("interrupted") }],
  ["no law could be judged", 2, { laws: { conserved: "skipped" } as never }],
  ["the target had enough of it", 3, { ended: ended("unwelcome") }],
  ["it was interrupted", 130, { ended: ended("interrupted") }],
])("%s: %i", (_, status, members) => {
  const report = { ok: true, ended: null, laws: { conserved: "held", monotone: "skipped" }, ...members };
  expect(exitOf(report as unknown as Report)).toBe(status);
});

/** Returns the lines that are told of a report. */
function said(report: object): string[] {
  const lines: string[] = [];
  const terminal = { say: (...more: string[]) => lines.push(...more) } as unknown as Terminal;
  const plain = { target: "http://127.0.0.1:1", laws: {}, evidence: {}, counterexample: null, ok: true };
  sayLive({ ...plain, ended: null, ...report } as unknown as Report, terminal);
  return lines;
}

test("an early end is told with its reason", () => {
  expect(said({ ended: { why: "budget", reason: "no call is left" } })).toContain(
    "ended early: no call is left",
  );
  expect(said({}).join("\n")).not.toContain("ended early");
});

test.each([
  ["violated", 1],
  ["held", 0],
])("audit is named where answers lack the default API's headers: %s", (state, times) => {
  const lines = said({ laws: { "headers-present": state }, ok: state === "held" });
  const advice = "npx spillway audit --target http://127.0.0.1:1 --tokens FILE";
  expect(lines.filter((line) => line.includes(advice))).toHaveLength(times);
});
