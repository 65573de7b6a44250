// A finding as a row: its calls in words, and the line that repeats it.
import { expect, test } from "vitest";
import type { Agreement } from "../../src/audit/agreement.ts";
import type { Experiment } from "../../src/audit/experiment.ts";
import { experiments } from "../../src/audit/experiments.ts";
import { rowsOf } from "../../src/audit/rows.ts";
import { type Answer, broken } from "../../src/audit/step.ts";
import { limit, Played, type Served, serving } from "./played.ts";

const agreed: Agreement = {
  accusations: [],
  unjudged: null,
  shown: { verdict: "ok", records: 0, windows: 0, violations: [] },
};

/** The row of a finding that so many calls of the first caller show. */
function shownOf(server: Served, calls: number, change: Partial<Experiment> = {}) {
  const played = new Played(server);
  const { lab } = played;
  const [subject] = lab.subjects;
  const [caller] = lab.callers;
  const [first] = experiments;
  if (subject === undefined || caller === undefined || first === undefined)
    throw new RangeError("no subject");
  const experiment: Experiment = { ...first, name: "own", empties: 0, waits: 0, ...change };
  const answers: readonly Answer[] = played.play(
    lab.send(...Array.from({ length: calls }, () => lab.shot(caller, subject.operation))),
  );
  const finding = broken(answers, "this", "that");
  const target = {
    target: "http://127.0.0.1:1",
    policy: lab.policy,
    again: "npx spillway audit --target http://127.0.0.1:1",
    trace: "trace.ndjson",
  };
  const [row] = rowsOf(
    [{ task: { experiment, subject }, finding, isRepeated: true }],
    [experiment],
    agreed,
    target,
  );
  return row?.broken[0];
}

test("says who called, how it was answered, and which quota refused", () => {
  const shown = shownOf(serving(), limit + 1);
  expect(shown?.calls.at(0)).toEqual({
    line: 2,
    what: "GET /blue by user-0",
    status: 200,
    said: "requests 9 of 10 left",
  });
  expect(shown?.calls.at(limit)).toMatchObject({
    status: 429,
    said: "refused by requests; requests 0 of 10 left",
  });
});

test("a refusal of nobody knows which quota is one, and an outage is told as neither", () => {
  const other = serving(({ headers }) => ({ status: 429, headers: { ...headers, "x-left": "3" } }));
  expect(shownOf(other, 1)?.calls[0]?.said).toBe("refused by requests; requests 3 of 10 left");
  const outage = serving(() => ({ status: 503 }));
  expect(shownOf(outage, 1)?.calls[0]?.said).toBe("nobody knows whether it was charged");
});

test("is repeated by curl where one call shows it whatever came before, else by its experiment", () => {
  const again = "npx spillway audit --target http://127.0.0.1:1 --only own";
  expect(shownOf(serving(), 1)?.repeat).toBe(
    'curl -sS -i -H "Authorization: Bearer $TOKEN" http://127.0.0.1:1/blue',
  );
  expect(shownOf(serving(), 2)?.repeat).toBe(again);
  expect(shownOf(serving(), 1, { waits: 1 })?.repeat).toBe(again);
  expect(shownOf(serving(), 1, { empties: 1 })?.repeat).toBe(again);
  expect(
    shownOf(
      serving(({ headers }) => ({ status: 429, headers })),
      1,
    )?.repeat,
  ).toBe(again);
});
