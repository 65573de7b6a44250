// An audit's documents: audit.json and its reading, the page, the summary for a pull request, and JUnit XML.
import type { FolderWriter } from "../files/folder-writer.ts";
import { duration } from "../rules/duration.ts";
import { SpillwayError } from "../rules/errors.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { counted } from "../rules/words.ts";
import {
  type AuditResult,
  answerWords,
  countsOf,
  type Row,
  type ShownBroken,
} from "../summary/audit-result.ts";
import { page } from "./frame.ts";
import { type Html, html } from "./html.ts";
import { document } from "./junit-document.ts";
import { plain } from "./markdown-text.ts";
import { Gallery } from "./picture.ts";
import { json, resultFiles } from "./result-writer.ts";
import { runFiles } from "./run.ts";
import { table } from "./table.ts";

/** Returns one line on an audit, for a terminal or a pull request. */
export function auditLine(result: AuditResult): string {
  const { kept, broken, "not exercised": left } = countsOf(result);
  const laws = [...new Set(result.rows.flatMap((row) => row.broken.map(({ law }) => law)))];
  const named = laws.length === 0 ? "" : ` (${laws.join(", ")})`;
  const took = duration(result.endedAt - result.startedAt);
  return `audit of ${result.policy}: ${kept} kept, ${broken} broken${named}, ${left} not exercised; ${counted(result.calls, "call")} in ${took}`;
}

/**
 * Writes all of an audit's files into its folder.
 * @param trace text of the trace
 * @returns the JUnit XML
 */
export async function addAuditReport(
  writer: FolderWriter,
  result: AuditResult,
  trace: string,
  version: string,
): Promise<string> {
  const junit = renderAuditJunit(result);
  await writer.write(runFiles.trace, trace);
  await writer.write(runFiles.html, renderAudit(result, version));
  await writer.write(runFiles.markdown, renderAuditMarkdown(result));
  await writer.write(runFiles.junit, junit);
  await writer.write(resultFiles.audit, json(result));
  return junit;
}

/** @throws SpillwayError `RESUME_INVALID` if the text is no audit */
export function parseAudit(text: string, path: string): AuditResult {
  const value = ((): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  })();
  const isRow = (row: unknown): boolean =>
    isPlainObject(row) &&
    typeof row["name"] === "string" &&
    ["kept", "broken", "not exercised"].includes(String(row["state"])) &&
    Array.isArray(row["broken"]) &&
    Array.isArray(row["operations"]);
  if (isPlainObject(value) && value["format"] === "spillway-audit" && value["version"] === 1)
    if (Array.isArray(value["rows"]) && value["rows"].every(isRow)) return value as unknown as AuditResult;
  throw new SpillwayError("RESUME_INVALID", "there is no audit to go on with", {
    problem: { path, got: "another file", allowed: "the audit.json of spillway audit" },
  });
}

function renderAuditJunit(result: AuditResult): string {
  const cases = result.rows.map((row) => {
    const name = `${row.name}: ${row.promise}`;
    if (row.state === "not exercised") return { name, skipped: row.why ?? "not exercised" };
    return row.broken.length === 0 ? { name } : { name, failure: row.broken.map(brokenWords).join("\n") };
  });
  return document("audit", result.startedAt, [["experiments", cases, auditLine(result)]]);
}

const brokenWords = ({ law, operation, expected, got, repeat }: ShownBroken): string =>
  `${law}, ${operation}: expected ${expected}; got ${got}. Repeat: ${repeat}`;

function renderAuditMarkdown(result: AuditResult): string {
  const broken = result.rows.filter(({ state }) => state === "broken");
  const lines = broken.flatMap((row) =>
    row.broken.map(
      (one) =>
        `- **${plain(row.name)}** (${one.law}, ${row.section}): ${plain(`expected ${one.expected}; got ${one.got}`)}`,
    ),
  );
  return `${[plain(auditLine(result)), ...(lines.length === 0 ? [] : ["", ...lines])].join("\n")}\n`;
}

function renderAudit(result: AuditResult, version: string): string {
  const title = `Audit of ${result.policy}`;
  const body = html`<main><h1>${title}</h1>
<p>${auditLine(result)}. Target ${result.target}.</p>
${result.assumptions.map((text) => html`<p>Assumed: ${text}.</p>\n`)}${result.rows.map((row) => brokenSection(row))}<h2>Experiments</h2>
${table<Row>(
  [
    { title: "Experiment", name: true, cell: ({ name }) => name },
    { title: "Result", cell: ({ state }) => state },
    { title: "Law", cell: ({ law, section }) => `${law}, ${section}` },
    { title: "Promise", cell: ({ promise }) => promise },
    {
      title: "Operations, or why not",
      cell: ({ operations, why }) =>
        [operations.join(", "), why ?? ""].filter((text) => text !== "").join("; "),
    },
  ],
  result.rows,
  { caption: "Experiments", titled: true, stack: true },
)}</main>
`;
  return page({
    title,
    description: auditLine(result),
    version,
    madeFrom: "audit.json",
    body,
    gallery: new Gallery(null),
  }).html;
}

function brokenSection({ name, section, broken }: Row): Html | null {
  if (broken.length === 0) return null;
  return html`<section><h2>${name}</h2>
${broken.map(
  ({
    law,
    operation,
    expected,
    got,
    calls,
    follows,
    repeat,
  }) => html`<p><strong>${law}</strong>, ${section}, ${operation}${follows === null ? null : `; it may follow from ${follows}`}</p>
<p>Expected: ${expected}. Got: ${got}.</p>
${table(
  [
    { title: "Call", name: true, cell: ({ line, what }) => `line ${line}: ${what}` },
    { title: "Answer", cell: answerWords },
  ],
  calls,
  { caption: `Calls that show it, ${operation}` },
)}<p>Repeat:</p>
<pre>${repeat}</pre>
`,
)}</section>
`;
}
