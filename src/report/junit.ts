// junit.xml: each law and each expectation as a test case, for build servers that show tests.

import { lawNames, lawStatements } from "../rules/laws.ts";
import { shortName } from "../rules/printable.ts";
import type { ExpectationResult } from "../summary/summary.ts";
import type { LawVerdict, Verdict, Violation } from "../verify/verdict.ts";
import { figureText } from "./format.ts";
import { document, type TestCase } from "./junit-document.ts";
import type { Run } from "./run.ts";
import { expectationsOf, figureOf, ownerWords, verdictWords } from "./source.ts";
import { evidenceWords } from "./verdict-words.ts";

/** Returns the run as JUnit XML. A run that was not judged has one skipped case. */
export function renderJunit(run: Run): string {
  const name = shortName(run.record.scenario.name);
  return document(name, run.record.startedAt, [
    ["laws", run.verdict === null ? [notJudged] : lawCases(run.verdict), verdictWords(run.verdict)],
    ["expectations", expectationsOf(run).map(expectationCase)],
  ]);
}

/**
 * Returns a verdict alone as JUnit XML.
 * @param name what was judged, in its owner's words
 */
export const renderVerdictJunit = (name: string, verdict: Verdict): string =>
  document(name, null, [["laws", lawCases(verdict), verdictWords(verdict)]]);

const notJudged: TestCase = { name: "verdict", skipped: "the run was not judged" };

/** Greatest number of violations that a failure names; the verdict has the others. */
const violationsNamed = 20;

function lawCases({ laws, evidence, violations }: Verdict): TestCase[] {
  return lawNames.map((law) => {
    const state = laws[law] as LawVerdict | undefined;
    const tested = evidence === undefined ? "" : evidenceWords(evidence[law]);
    const named = {
      name: `${law}: ${lawStatements[law]}`,
      ...(tested === "" ? {} : { output: `tested on ${tested}` }),
    };
    if (state === "held") return named;
    if (state !== "violated") return { ...named, skipped: state?.skipped ?? "not judged" };
    const broken = violations.filter((violation) => violation.law === law);
    const failure = broken
      .slice(0, violationsNamed)
      .map(violationWords)
      .concat(broken.length > violationsNamed ? [`and ${broken.length - violationsNamed} more`] : [])
      .join("\n");
    return { ...named, failure: failure === "" ? "broken" : failure };
  });
}

function violationWords(violation: Violation): string {
  const { explanation, lines, suspects } = violation;
  const guess = suspects.length === 0 ? "" : `; likely ${suspects.slice(0, 3).join(", ")}`;
  return `${ownerWords(violation)}: ${explanation} (trace lines ${lines.join(", ")}${guess})`;
}

export function expectationCase({ figure, bound, actual, held }: ExpectationResult): TestCase {
  const name = `${figure} ${bound}`;
  if (held) return { name };
  return { name, failure: `${figure} was ${figureText(figureOf(figure), actual)}, expected ${bound}` };
}
