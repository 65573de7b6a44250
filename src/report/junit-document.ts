// JUnit XML, for build servers that show tests: suites of cases that passed, failed or were skipped.
import { type Html, html } from "./html.ts";

export interface TestCase {
  readonly name: string;
  /** Reason why the case failed. */
  readonly failure?: string;
  /** Reason why nothing was judged. */
  readonly skipped?: string;
  /** Further words on the case. */
  readonly output?: string;
}

/** Name, cases, and their outcome in a sentence. */
export type Suite = readonly [name: string, cases: readonly TestCase[], said?: string];

/** @param startedAt ms since the epoch; `null` if unknown */
export function document(name: string, startedAt: number | null, suites: readonly Suite[]): string {
  return html`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${`spillway ${name}`}">
${suites.map((one) => suite(name, startedAt, one))}</testsuites>
`.text;
}

function suite(of: string, startedAt: number | null, [name, cases, said]: Suite): Html | null {
  if (cases.length === 0) return null;
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const time =
    startedAt === null ? null : html` timestamp="${new Date(startedAt).toISOString().slice(0, 19)}"`;
  return html`<testsuite name="${`${of} ${name}`}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="0"${time}>
${said === undefined ? null : html`<properties><property name="verdict" value="${said}"/></properties>\n`}${cases.map((one) => testCase(`${of}.${name}`, one))}</testsuite>
`;
}

function testCase(className: string, { name, failure, skipped, output }: TestCase): Html {
  const outcome =
    failure !== undefined
      ? html`<failure message="${failure.split("\n")[0] ?? ""}">${failure}</failure>`
      : skipped !== undefined
        ? html`<skipped message="${skipped}"/>`
        : null;
  return html`<testcase classname="${className}" name="${name}" time="0">${outcome}${output === undefined ? null : html`<system-out>${output}</system-out>`}</testcase>\n`;
}
