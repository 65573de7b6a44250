// Counterexamples as text, by a drawing that names what it is given: which parts come, in which order, and at what times.
import { describe, expect, test } from "vitest";
import { breachLines, noteLine, rendered, renderedFailure, settingOf, time } from "../../src/laws/drawing.ts";
import type { OverlapDrawing } from "../../src/laws/interleavings-text.ts";
import { renderedInterleaving } from "../../src/laws/interleavings-text.ts";
import type { RulesKind } from "../../src/laws/law.ts";
import type { InterleavingReport } from "../../src/laws/overlaps.ts";
import { repeatHint } from "../../src/laws/repeats.ts";
import type { LawReport } from "../../src/laws/report.ts";

const startMs = Date.UTC(2026, 0, 1) + 7;
interface Asked {
  readonly op: { readonly id: number; readonly atMs: number };
}
const at = (...ms: readonly number[]): Asked[] =>
  ms.map((each, id) => ({ op: { id, atMs: startMs + each } }));
const drawing = {
  rules: ({ history }: { history: readonly Asked[] }) => [`rule: of ${history.length}`],
  timeline: (
    _script: unknown,
    history: readonly Asked[],
    fromMs: number,
    violation: { got: string } | null,
  ) => [`${history.length} from ${fromMs - startMs}, ${violation?.got ?? "no breach"}`],
  texts:
    () =>
    ({ op }: Asked) => [`asks ${op.id} `, `answers ${op.id} `],
  whose: () => "ann",
} as unknown as OverlapDrawing<RulesKind>;
const violation = { expected: "admitted", got: "a refusal", arithmetic: "1 of 2" };
const script = { startMs, ops: at(0, 50).map(({ op }) => op) };
const breach = [
  "              ^ expected admitted (ann)",
  "                answered a refusal",
  "                because  1 of 2",
];

test("times have a sign, seconds and milliseconds", () => {
  const of = (ms: number): string => time(startMs + ms, startMs);
  expect([of(0), of(-5), of(12_345), of(1_234_567)]).toEqual([
    ...["    +0.000 s", "    -0.005 s", "   +12.345 s", " +1234.567 s"],
  ]);
});

test("a breach names its owner, if it has one", () => {
  expect(breachLines(violation, "ann")).toEqual(breach);
  expect(breachLines(violation, null)[0]).toBe("              ^ expected admitted");
  expect(noteLine("that is all")).toBe("                note     that is all");
});

test("the setting ends with the instant of +0", () => {
  const played = { script, history: at(0) } as unknown as Parameters<typeof settingOf<RulesKind>>[0];
  expect(settingOf(played, drawing)).toEqual(["rule: of 1", "+0 is 2026-01-01T00:00:00.007Z", ""]);
});

describe("a law's report", () => {
  const counterexample = { script, history: at(0, 50), violation };
  const report = { law: "bounded", statement: "no more than the limit", repeat: "spillway check" };
  const lines = (more: object): string[] =>
    rendered({ ...report, ...more } as unknown as LawReport<RulesKind>, drawing);
  const setting = ["rule: of 2", "+0 is 2026-01-01T00:00:00.007Z", ""];

  test("without a counterexample has no lines", () => {
    expect(lines({})).toEqual([]);
  });

  test("tells a violation, and the command that repeats it", () => {
    expect(lines({ counterexample })).toEqual([
      ...["bounded is violated: no more than the limit", "", ...setting, "2 from 0, a refusal"],
      ...["", "repeat: spillway check"],
    ]);
    expect(lines({ counterexample, repeat: undefined }).at(-1)).toBe("2 from 0, a refusal");
  });

  test.each<[string, readonly Asked[], string]>([
    ["that is shifted starts later", at(1000, 1050), "2 from 1000, no breach"],
    ["that is not shifted alike does not", at(1000, 1051), "2 from 0, no breach"],
    ["that leaves some out does not", at(50), "1 from 0, no breach"],
    ["of nothing does not", [], "0 from 0, no breach"],
  ])("tells the other run that it was compared with: one %s", (_name, history, told) => {
    const compared = { label: "a second later", history };
    expect(lines({ counterexample: { ...counterexample, compared } })).toEqual([
      ...["bounded is violated: no more than the limit", "", ...setting, "2 from 0, a refusal", ""],
      ...["The other run, a second later:", told, "", "repeat: spillway check"],
    ]);
  });

  test("of runs that do not repeat says so, and not how to repeat them", () => {
    const told = lines({ counterexample, plays: { all: 10, broken: 3 } });
    expect(told[0]).toBe(
      "bounded cannot be judged: 3 of 10 plays of these calls broke the law, each on a fresh limiter",
    );
    expect(told.slice(-2)).toEqual(["", `note: ${repeatHint}`]);
  });

  test("of a limiter that failed tells the call that was not answered", () => {
    const history = [{ op: script.ops[0] }];
    const failure = { script, history, call: "decide(1)", got: "nothing", allowed: "an answer" };
    const failed = (more: object = {}): string[] => lines({ failure: { ...failure, ...more } });
    expect(failed()).toEqual([
      ...["bounded cannot be judged: the limiter failed", "", "rule: of 1", ...setting.slice(1)],
      ...["1 from 0, no breach", "    +0.050 s  decide(1)", "              ^ got      nothing"],
      ...["                expected an answer", "", "repeat: spillway check"],
    ]);
    const all = script.ops.map((op) => ({ op }));
    expect(failed({ history: all })).toContain("    +0.050 s  decide(1)");
    expect(failed({ history: [], script: { ...script, ops: [] } })).toContain("    +0.000 s  decide(1)");
    const quiet = renderedFailure({}, "it failed", failure as never, drawing);
    expect([quiet[0], quiet.at(-1)]).toEqual(["it failed", "                expected an answer"]);
  });
});

describe("overlapping calls", () => {
  const round = (ms: number, untilMs: number, ids: readonly number[], steps: readonly string[] = []) => ({
    ...{ atMs: startMs + ms, untilMs: startMs + untilMs, steps },
    events: ids.map((id) => ({ op: { id, atMs: startMs + ms } })),
  });
  const lines = (more: object, ...rounds: readonly object[]): string[] => {
    const counterexample = { script, rounds, law: "bounded", orders: 6, violation };
    const report = { outcome: "violated", repeat: "spillway check", counterexample, ...more };
    return renderedInterleaving(report as unknown as InterleavingReport<RulesKind>, drawing);
  };

  test("that no order explains are told round by round, with the breach of the last", () => {
    expect(
      lines({}, round(0, 0, [1]), round(20, 20, [2, 3], ["get a", "set a"]), round(30, 31, [4], ["get a"])),
    ).toEqual([
      ...["no order of the overlapping calls explains their answers (6 tried)", "", "rule: of 4"],
      ...["+0 is 2026-01-01T00:00:00.007Z", "", "    +0.000 s  asks 1   answers 1 "],
      ...["    +0.020 s  2 calls overlap", "              . get a", "              . set a"],
      ...["              call 2: asks 2: answers 2", "              call 3: asks 3: answers 3"],
      ...[
        "    +0.030 s  a call under way",
        "              . get a",
        "              call 4: asks 4: answers 4",
      ],
      ...[
        ...breach,
        "",
        "In the order of the answers bounded is broken, and in every other this law or another.",
      ],
      ...["", "repeat: spillway check"],
    ]);
  });

  test("that do not overlap at all are told as such", () => {
    const told = lines({ repeat: undefined }, round(0, 0, [1]));
    expect(told[0]).toBe("bounded is violated by one call after the other, before any overlap");
    expect(told.slice(5)).toEqual([
      ...["    +0.000 s  asks 1   answers 1 ", ...breach, ""],
      "Mend this first: then calls that overlap can be judged.",
    ]);
  });

  test("that are answered otherwise in a second play cannot be judged, nor repeated", () => {
    const told = lines({ outcome: "not-repeatable" }, round(0, 0, [1]));
    expect(told[0]).toMatch(/^overlapping calls cannot be judged: /);
    expect(told.slice(-2)).toEqual(["", `note: ${repeatHint}`]);
  });

  test("while the limiter failed, or without anything found", () => {
    const failure = { script, history: [], call: "decide(1)", got: "nothing", allowed: "an answer" };
    const failed = lines({ failure });
    expect([failed[0], failed.at(-1)]).toEqual([
      ...["the limiter failed in a check of overlapping calls", "repeat: spillway check"],
    ]);
    expect(lines({ failure, repeat: undefined }).at(-1)).toBe("                expected an answer");
    expect(lines({ failure: { ...failure, at: "mine.ts:7" }, repeat: undefined }).slice(-4)).toEqual([
      "              ^ got      nothing",
      "                at       mine.ts:7",
      "                expected an answer",
      "                note     if the limiter throws to refuse, catch that: a refusal is an answer",
    ]);
    expect(lines({ failure: { ...failure, hung: true }, repeat: undefined }).at(-1)).toBe(
      "                note     its promise did not settle: see which timer, lock or connection it waits for",
    );
    expect(lines({ counterexample: undefined })).toEqual([]);
  });
});
