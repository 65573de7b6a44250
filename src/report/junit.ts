// junit.xml: each law and each expectation as a test case, for build servers that show tests.
import { lawNames, lawStatements } from "../rules/laws.ts";
import type { Verdict } from "../verify/verdict.ts";
import { figureText } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Run } from "./run.ts";
import { expectationsOf, figureOf, ownerWords } from "./source.ts";

interface TestCase {
  readonly name: string;
  /** Why it failed, or why nothing was judged. */
  readonly failure?: string;
  readonly skipped?: string;
}

/** The run as JUnit XML. A run that was not judged has one skipped case. */
export function renderJunit(run: Run): string {
  const { record } = run;
  const suites = [
    suite("laws", run, run.verdict === null ? [notJudged] : lawCases(run.verdict)),
    suite("expectations", run, expectationCases(run)),
  ];
  return html`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${`spillway ${record.scenario.name}`}">
${suites}</testsuites>
`.text;
}

const notJudged: TestCase = { name: "verdict", skipped: "the run was not judged" };

function suite(name: string, { record }: Run, cases: readonly TestCase[]): Html | null {
  if (cases.length === 0) return null;
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const timestamp = new Date(record.startedAt).toISOString().slice(0, 19);
  return html`<testsuite name="${`${record.scenario.name} ${name}`}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="0" timestamp="${timestamp}">
${cases.map((one) => testCase(`${record.scenario.name}.${name}`, one))}</testsuite>
`;
}

function testCase(className: string, { name, failure, skipped }: TestCase): Html {
  const outcome =
    failure !== undefined
      ? html`<failure message="${failure.split("\n")[0] ?? ""}">${failure}</failure>`
      : skipped !== undefined
        ? html`<skipped message="${skipped}"/>`
        : null;
  return html`<testcase classname="${className}" name="${name}" time="0">${outcome}</testcase>\n`;
}

function lawCases({ laws, violations }: Verdict): TestCase[] {
  return lawNames.map((law) => {
    const state = laws[law] as Verdict["laws"][typeof law] | undefined;
    const name = `${law}: ${lawStatements[law]}`;
    if (state === "held") return { name };
    if (state !== "violated") return { name, skipped: state?.skipped ?? "not judged" };
    const failure = violations
      .filter((violation) => violation.law === law)
      .map(
        ({ org, user, scope, explanation, lines }) =>
          `${ownerWords({ org, user, scope })}: ${explanation} (trace lines ${lines.join(", ")})`,
      )
      .join("\n");
    return { name, failure: failure === "" ? "broken" : failure };
  });
}

function expectationCases(run: Run): TestCase[] {
  return expectationsOf(run).map(({ figure, bound, actual, held }) => {
    const name = `${figure} ${bound}`;
    return held
      ? { name }
      : { name, failure: `${figure} was ${figureText(figureOf(figure), actual)}, expected ${bound}` };
  });
}
