// A trace that is read in a thread of its own: the same verdict, the same mistakes, and an end when it is told to end.
// @module-tag long
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { isFileOf, openTraceFile } from "../../src/runs/trace-thread.ts";
import { encodeQuotaCall } from "../../src/trace/quota-lines.ts";
import { openTrace, type TraceReading } from "../../src/trace/read.ts";
import { verify, verifyReading } from "../../src/verify/verify.ts";
import { callByQuotas, headerByQuotas } from "../verify/as-quotas.ts";

const golden = fileURLToPath(new URL("../golden/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "spillway-thread-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const inThread = (path: string, signal = new AbortController().signal) =>
  openTraceFile(path, { sort: false, signal, threadBytesLeast: 0 });

/** Its outcome, by the bytes of this thread and by those of another. */
async function compare(path: string): Promise<unknown> {
  const outcome = (verdict: Promise<unknown>): Promise<unknown> =>
    verdict.catch((error: Error & { problems?: unknown; code?: string }) => ({
      code: error.code,
      message: error.message,
      problems: error.problems,
    }));
  const here = await outcome(verify(createReadStream(path)));
  const there = await outcome(inThread(path).then((trace) => verifyReading(trace)));
  expect(there).toEqual(here);
  return here;
}

// Every twelfth: each starts a thread.
const traces = readdirSync(golden).filter((name) => name.endsWith(".ndjson"));
test.each(traces.filter((_, at) => at % 12 === 0))("%s has the same verdict", async (name) => {
  expect(await compare(`${golden}${name}`)).toHaveProperty("laws");
});

test("so have more batches than wait at a time, plain and gzip, with bodies, refusals and odd lines", async () => {
  const [header = "", ...lines] = readFileSync(`${golden}first-request-polled-ok.trace.ndjson`, "utf8")
    .trimEnd()
    .split("\n");
  const many: string[] = [header];
  for (let round = 0; many.length < 15_000; round++)
    for (const line of lines) {
      const call = JSON.parse(line) as { call: number; client: string };
      const text = JSON.stringify({ ...call, client: `${call.client}/${round}` });
      many.push(round % 50 === 7 ? text.replace(",", ", ") : text);
    }
  const content = `${many.join("\n")}\n`;
  const plain = (await compare(written("many.ndjson", content))) as { records: number };
  expect(plain.records).toBe(many.length - 1);
  const packed = await inThread(written("many.ndjson.gz", gzipSync(content)));
  expect(await verifyReading(packed)).toEqual(plain);
});

test("so has a trace of version 2", async () => {
  const path = `${golden}graphql-prepaid-ok.trace.ndjson`;
  const { header, calls } = (await openTrace(createReadStream(path))) as { version: 1 } & TraceReading;
  if (header.rules === null) throw new Error("a trace without rules");
  const lines = [JSON.stringify(headerByQuotas(header, header.rules))];
  for await (const { call } of calls) lines.push(encodeQuotaCall(callByQuotas(call)));
  expect(await compare(written("quotas.ndjson", `${lines.join("\n")}\n`))).toHaveProperty("laws");
});

test("mistakes are told as without a thread: in the header, in a line; and that there is no file", async () => {
  const text = readFileSync(`${golden}graphql-prepaid-ok.trace.ndjson`, "utf8");
  const lines = text.split("\n");
  const cut = [...lines.slice(0, 40), "{", ...lines.slice(40)].join("\n");
  expect(await compare(written("no-header.ndjson", lines.slice(1).join("\n")))).toMatchObject({
    code: "TRACE_INVALID",
  });
  expect(await compare(written("cut.ndjson", cut))).toMatchObject({ code: "TRACE_INVALID" });
  await expect(inThread(join(folder, "none.ndjson"))).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
});

test("it ends when it is told to", async () => {
  const controller = new AbortController();
  const trace = await inThread(`${golden}graphql-prepaid-ok.trace.ndjson`, controller.signal);
  controller.abort(new Error("enough"));
  await expect(verifyReading(trace, { signal: controller.signal })).rejects.toThrow("enough");
});

test("a file of so many bytes or more is one, and nothing else is", async () => {
  const path = written("seven", "1234567");
  const all = [isFileOf(7, path), isFileOf(8, path), isFileOf(0, folder), isFileOf(0, join(folder, "none"))];
  expect(await Promise.all(all)).toEqual([true, false, false, false]);
});
