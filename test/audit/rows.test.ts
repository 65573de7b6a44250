// A finding as a row: its calls in words, and the line that repeats it.
import { describe, expect, test } from "vitest";
import type { Agreement } from "../../src/audit/agreement.ts";
import type { Experiment } from "../../src/audit/experiment.ts";
import { costAsTold } from "../../src/audit/experiments/costs.ts";
import { experiments } from "../../src/audit/experiments.ts";
import { type FoundBroken, rowsOf, withEarlier } from "../../src/audit/rows.ts";
import {
  type Answer,
  type AuditFinding,
  broken,
  kept,
  type Shot,
  unexercised,
} from "../../src/audit/step.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { agreementName, type Row } from "../../src/summary/audit-result.ts";
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

/** An experiment without steps: its rows are made of findings by hand. */
const experiment = (name: string, law: LimiterLawName = "isolated"): Experiment => ({
  ...{
    name,
    law,
    section: "SPEC.md §2",
    promise: `${name} is kept`,
    needs: "",
    calls: 1,
    empties: 0,
    waits: 0,
  },
  lacks: () => null,
  run: () => [][Symbol.iterator]() as unknown as ReturnType<Experiment["run"]>,
});
const found = (of: Experiment, operation: string, finding: AuditFinding, isRepeated = true): FoundBroken =>
  ({ task: { experiment: of, subject: { operation } }, finding, isRepeated }) as unknown as FoundBroken;

const plain: Shot = {
  ...{ caller: { index: 0, name: "ann", attributes: {} }, operation: "get", attributes: {}, method: "GET" },
  ...{ path: "/x", headers: {}, body: null, cost: null, way: "kept" },
};
const answer = (line: number, shot: Partial<Shot> = {}, call: object = {}): Answer =>
  ({
    ...{ line, shot: { ...plain, ...shot }, headers: {}, body: null },
    call: { status: 200, outcome: "admitted", readings: [], ...call },
  }) as unknown as Answer;
const accused = (law: LimiterLawName, lines: readonly number[], suspects: readonly string[] = []) => ({
  ...{ law, lines, suspects, explanation: `${law} is broken` },
});
const target = (form: string | readonly string[] = "Bearer {token}") => ({
  ...{ target: "http://127.0.0.1:1", again: "again", trace: "a trace.ndjson" },
  policy: { auth: { header: "Authorization", form } } as unknown as Policy,
});
const rows = (findings: readonly FoundBroken[], of: readonly Experiment[], more: Partial<Agreement> = {}) =>
  rowsOf(findings, of, { ...agreed, ...more }, target());

test("a row is broken, kept or not exercised, and says why with which operation", () => {
  const own = experiment("own");
  const row = (...findings: readonly FoundBroken[]) => {
    const [{ state, why, operations, broken: shown } = {} as Row] = rows(findings, [own, experiment("else")]);
    return { state, why, operations, shown: shown.length };
  };
  const wrong = broken([answer(2)], "this", "that");
  expect(row()).toEqual({ state: "not exercised", why: null, operations: [], shown: 0 });
  expect(row(found(own, "get", kept), found(experiment("else"), "put", unexercised("no")))).toEqual({
    ...{ state: "kept", why: null, operations: ["get"], shown: 0 },
  });
  expect(
    row(found(own, "get", unexercised("too slow")), found(own, "put", unexercised("too slow"))),
  ).toMatchObject({
    ...{ state: "not exercised", why: "too slow" },
  });
  expect(
    row(
      ...["get", "put", "put"].map((operation) => found(own, operation, unexercised("too slow"))),
      found(own, "post", unexercised("no room")),
    ).why,
  ).toBe("get, put: too slow; post: no room");
  expect(row(found(own, "get", kept), found(own, "put", unexercised("no room")))).toMatchObject({
    ...{ state: "kept", why: "put: no room" },
  });
  expect(row(found(own, "get", kept), found(own, "put", wrong))).toEqual({
    ...{ state: "broken", why: null, operations: ["get"], shown: 1 },
  });
  expect(row(found(own, "put", wrong, false))).toMatchObject({
    ...{ state: "not exercised", why: "seen once (that), and not again" },
  });
});

test("what was seen once counts where the oracle accuses the same law, or one of its lines", () => {
  const own = experiment("own");
  const shown = (accusation: ReturnType<typeof accused>, isRepeated: boolean) =>
    rows([found(own, "get", broken([answer(2), answer(5)], "this", "that"), isRepeated)], [own], {
      accusations: [accusation],
    })[0]?.broken.map(({ oracle, law, isRepeated: repeated }) => [oracle, law, repeated]);
  expect(shown(accused("isolated", [9]), false)).toEqual([["agrees", "isolated", false]]);
  expect(shown(accused("monotone", [4, 5]), false)).toEqual([["agrees", "isolated", false]]);
  expect(shown(accused("monotone", [4]), false)).toEqual([]);
  expect(shown(accused("monotone", [4]), true)).toEqual([["does not see it", "isolated", true]]);
});

test("calls are told with their way, their count and their outcome, the first twelve of them", () => {
  const own = experiment("own");
  const reading = (
    quota: string,
    remaining: number | null,
    limit: number | null,
    used: number | null = 3,
  ) => ({ ...{ quota, remaining, limit, used } });
  const answers = [
    answer(
      2,
      { method: "HEAD", way: "pipelined" },
      { readings: [reading("a", 4, 10), reading("a", null, 10, null), reading("b", 5, null)] },
    ),
    answer(3, { caller: null }, { status: 401, outcome: "unknown", readings: [reading("a", null, 10)] }),
    answer(4, {}, { status: 429, outcome: "refused" }),
    answer(5, {}, { status: 429, outcome: "refused", by: "a", readings: [reading("a", 0, 10)] }),
    ...Array.from({ length: 9 }, (_, at) => answer(6 + at)),
  ];
  const [first] =
    rows([found(own, "get", broken(answers, "this", "that", "bounded"))], [own])[0]?.broken ?? [];
  expect(first).toMatchObject({
    law: "bounded",
    operation: "get",
    expected: "this",
    got: "that",
    follows: null,
  });
  expect(first?.calls.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  expect(first?.calls.slice(0, 5)).toEqual([
    { line: 2, what: "HEAD /x (pipelined) by ann", status: 200, said: "a 4 of 10 left; b 5 of ? left" },
    {
      line: 3,
      what: "GET /x by nobody known",
      status: 401,
      said: "nobody knows whether it was charged; a 3 used",
    },
    { line: 4, what: "GET /x by ann", status: 429, said: "refused" },
    { line: 5, what: "GET /x by ann", status: 429, said: "refused by a; a 0 of 10 left" },
    { line: 6, what: "GET /x by ann", status: 200, said: "" },
  ]);
});

test.each<[string, Partial<Shot>, string, (string | readonly string[])?]>([
  ["HEAD", { method: "HEAD" }, 'curl -sS -I -H "Authorization: Bearer $TOKEN" http://127.0.0.1:1/x'],
  [
    "a method, a body and what a shell would take apart",
    { method: "POST", body: '{"it\'s":1}', path: "/x?a=1&b=2", headers: { Accept: "a b" } },
    `curl -sS -i -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Accept: a b' ` +
      `-d '{"it'\\''s":1}' 'http://127.0.0.1:1/x?a=1&b=2'`,
  ],
  ["nobody", { caller: null, headers: { A: "b" } }, "curl -sS -i -H 'A: b' http://127.0.0.1:1/x"],
  [
    "the first of several forms of a token",
    {},
    'curl -sS -i -H "Authorization: token $TOKEN" http://127.0.0.1:1/x',
    ["token {token}", "Bearer {token}"],
  ],
  ["another way", { way: "lone" }, "again --only own"],
])("curl repeats one call: %s", (_, shot, line, form) => {
  const own = experiment("own");
  const finding = found(own, "get", broken([answer(2, shot)], "this", "that"));
  expect(rowsOf([finding], [own], agreed, target(form))[0]?.broken[0]?.repeat).toBe(line);
});

test("a breach of a law that explains others is what those of the same law follow", () => {
  const [one, root, other] = [
    experiment("one"),
    experiment("root", "limit-agrees"),
    experiment("other", "limit-agrees"),
  ];
  const wrong = broken([answer(2)], "this", "that");
  const follows = (experiments: readonly Experiment[]) =>
    rows(
      experiments.map((each) => found(each, "get", wrong)),
      experiments,
    ).map(({ broken: [first] }) => first?.follows);
  expect(follows([one, root, other])).toEqual([null, null, "root", undefined]);
  expect(follows([one, experiment("two")])).toEqual([null, null, undefined]);
  // The cost of a call explains whatever else looks broken.
  expect(follows([one, { ...experiment("x", "conserved"), name: costAsTold.name }, other])).toEqual([
    costAsTold.name,
    null,
    costAsTold.name,
    undefined,
  ]);
});

describe("the oracle's own row", () => {
  const own = experiment("own", "monotone");
  const last = (more: Partial<Agreement>, findings: readonly FoundBroken[] = []) =>
    rows(findings, [own], more).at(-1) as Row;

  test("is kept where it accuses nobody, and tells why it judged nothing", () => {
    expect(last({})).toMatchObject({
      name: agreementName,
      law: "conserved",
      state: "kept",
      why: null,
      broken: [],
    });
    expect(last({ unjudged: "nothing" })).toMatchObject({ state: "not exercised", why: "nothing" });
  });

  test("names each law once, with two suspects, twelve lines and the experiment that explains it", () => {
    const lines = Array.from({ length: 13 }, (_, at) => at + 2);
    const accusations = [
      accused("monotone", lines, ["a", "b", "c"]),
      accused("monotone", [99]),
      accused("bounded", [7]),
    ];
    const row = last({ accusations }, [found(own, "get", broken([answer(2)], "this", "that"))]);
    expect(row).toMatchObject({ law: "monotone", state: "broken", why: null });
    expect(row.broken).toEqual([
      {
        ...{ law: "monotone", operation: "all", expected: "the trace agrees with the rules" },
        ...{
          got: "monotone is broken (it looks like a or b)",
          isRepeated: false,
          oracle: "agrees",
          follows: "own",
        },
        calls: lines
          .slice(0, 12)
          .map((line) => ({ line, what: "in the trace", status: 0, said: "as verify tells it" })),
        repeat: "npx spillway verify 'a trace.ndjson'",
      },
      expect.objectContaining({ law: "bounded", got: "bounded is broken", follows: "own" }),
    ]);
    expect(last({ accusations }).broken[0]?.follows).toBeNull();
  });

  test("keeps what it said of the part before, but for laws that it names again", () => {
    const of = (...laws: readonly LimiterLawName[]) =>
      rows([], [own], { accusations: laws.map((law) => accused(law, [2])) });
    const laws = (result: readonly Row[]) => {
      const row = result.at(-1);
      return [row?.law, row?.state, row?.broken.map(({ law }) => law)];
    };
    expect(laws(withEarlier(of("bounded"), of("monotone", "bounded")))).toEqual([
      ...["bounded", "broken", ["bounded", "monotone"]],
    ]);
    expect(laws(withEarlier(of(), of("monotone", "bounded")))).toEqual([
      "monotone",
      "broken",
      ["monotone", "bounded"],
    ]);
    expect(withEarlier(of(), of("monotone"))).toHaveLength(2);
    expect(withEarlier(of(), of("monotone"))[0]).toEqual(of()[0]);
    expect(withEarlier(of("bounded"), of("bounded"))).toEqual(of("bounded"));
    expect(withEarlier(of(), [])).toEqual(of());
  });
});
