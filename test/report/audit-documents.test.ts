// An audit's documents, whole: for a pull request, for a build server, and the file that a later audit goes on with.
import { expect, test } from "vitest";
import type { FolderWriter } from "../../src/files/folder-writer.ts";
import { addAuditReport, auditLine, parseAudit } from "../../src/report/audit-documents.ts";
import type { AuditResult, Row } from "../../src/summary/audit-result.ts";

const row = (name: string, changes: Partial<Row>): Row => ({
  name,
  law: "conserved",
  section: "2.1",
  promise: `${name} is promised`,
  state: "kept",
  why: null,
  operations: ["read"],
  broken: [],
  ...changes,
});
const result: AuditResult = {
  format: "spillway-audit",
  version: 1,
  target: "http://127.0.0.1:1",
  policy: "own",
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  endedAt: Date.UTC(2026, 0, 2, 3, 5, 15),
  calls: 12,
  alone: true,
  assumptions: [],
  ended: "whole",
  rows: [
    row("first", {}),
    row("second", {
      state: "broken",
      broken: [
        {
          law: "bounded",
          operation: "read",
          expected: "at most 5",
          got: "6 & more",
          calls: [{ line: 2, what: "GET /a by ann", status: 200, said: "rest 0 of 5 left" }],
          isRepeated: true,
          oracle: "agrees",
          follows: null,
          repeat: "spillway audit --only second",
        },
      ],
    }),
    row("third", { state: "not exercised", why: "no bucket" }),
    row("fourth", { state: "not exercised" }),
  ],
  verdict: { verdict: "violated", records: 12, windows: 3, violations: [] },
};

/** Files of an audit, by name. */
async function filesOf(audit: AuditResult): Promise<{ files: Map<string, string>; junit: string }> {
  const files = new Map<string, string>();
  const writer = { write: async (name: string, text: string) => void files.set(name, text) };
  const junit = await addAuditReport(writer as unknown as FolderWriter, audit, "the trace", "1.0.0");
  return { files, junit };
}

const line = "audit of own: 1 kept, 1 broken (bounded), 2 not exercised; 12 calls in 1 min 10 s";

test("are each written once; the audit's own file is read again", async () => {
  const { files, junit } = await filesOf(result);
  expect([...files.keys()]).toEqual(["trace.ndjson", "report.html", "summary.md", "junit.xml", "audit.json"]);
  expect([files.get("trace.ndjson"), files.get("junit.xml")]).toEqual(["the trace", junit]);
  expect(parseAudit(files.get("audit.json") ?? "", "audit.json")).toEqual(result);
});

test("name what is broken, and how it is repeated", async () => {
  const { files, junit } = await filesOf(result);
  expect(auditLine(result)).toBe(line);
  expect(files.get("summary.md")).toBe(
    `${line}\n\n- **second** (bounded, 2.1): expected at most 5; got 6 &#38; more\n`,
  );
  const failure = "bounded, read: expected at most 5; got 6 &amp; more. Repeat: spillway audit --only second";
  const of = 'classname="audit.experiments"';
  expect(junit).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="spillway audit">
<testsuite name="audit experiments" tests="4" failures="1" errors="0" skipped="2" time="0" timestamp="2026-01-02T03:04:05">
<properties><property name="verdict" value="${line}"/></properties>
<testcase ${of} name="first: first is promised" time="0"></testcase>
<testcase ${of} name="second: second is promised" time="0"><failure message="${failure}">${failure}</failure></testcase>
<testcase ${of} name="third: third is promised" time="0"><skipped message="no bucket"/></testcase>
<testcase ${of} name="fourth: fourth is promised" time="0"><skipped message="not exercised"/></testcase>
</testsuite>
</testsuites>
`);
});

test("of an audit that found nothing are one line", async () => {
  const rows = result.rows.slice(0, 1);
  const { files } = await filesOf({ ...result, rows });
  expect(files.get("summary.md")).toBe(
    "audit of own: 1 kept, 0 broken, 0 not exercised; 12 calls in 1 min 10 s\n",
  );
});

test.each([
  ["no JSON", "{"],
  ["no object", "null"],
  ["another format", { format: "spillway-plan" }],
  ["another version", { version: 2 }],
  ["no rows", { rows: null }],
  ["a row without a name", { rows: [{ ...result.rows[0], name: 1 }] }],
  ["a row of no known state", { rows: [result.rows[0], { ...result.rows[0], state: "fine" }] }],
  ["a row without its operations", { rows: [{ ...result.rows[0], operations: null }] }],
  ["a row without its findings", { rows: [{ ...result.rows[0], broken: null }] }],
])("a file with %s is no audit", (_name, changes) => {
  const text = typeof changes === "string" ? changes : JSON.stringify({ ...result, ...changes });
  expect(() => parseAudit(text, "here/audit.json")).toThrow(
    expect.objectContaining({
      code: "RESUME_INVALID",
      problems: [
        { path: "here/audit.json", got: "another file", allowed: "the audit.json of spillway audit" },
      ],
    }),
  );
});
