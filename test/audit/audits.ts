// `npm run audits`: the audit against each fault that a network shows, in windows of a minute and of five; against the right
// deployment, also on a busy machine and through a slow network; and against limiters of others.
//   npm run audits                                  all of it, into reports/audit (about half an hour)
//   npm run audits -- --only double-count,clean,express-rate-limit
//   npm run audits -- --only nginx --out reports/audit   these anew, whose other rows stay as they are
//   npm run audits -- --windows 5,8                 in shorter windows
import { readFile } from "node:fs/promises";
import { request as callOn } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { faults } from "../../src/faults/catalogue.ts";
import { writeWhole } from "../../src/files/whole-file.ts";
import { count } from "../../src/rules/words.ts";
import { type AuditResult, countsOf } from "../../src/summary/audit-result.ts";
import { audited, deployed } from "./deployment.ts";
import { listening, type Started, strangers } from "./strangers.ts";

interface Row {
  readonly name: string;
  readonly found: readonly string[];
  readonly kept: number;
  readonly left: number;
  readonly calls: number;
  readonly seconds: number;
  /** False where it ended early: somebody was silent. */
  readonly isWhole: boolean;
}

type Windows = readonly [number, number];

/** Audits at a time: they mostly wait. */
const width = 24;
const maxMs = 360_000;
const staggerMs = 3000;

/** @returns the exit status: 1 where a fault was missed, or a right server accused */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      windows: { type: "string", default: "60,300" },
      clean: { type: "string", default: "20" },
      out: { type: "string" },
    },
  });
  const [rest = 60, graphql = 300] = values.windows.split(",").map(Number);
  const windows: Windows = [rest, graphql];
  const wanted = (names: readonly string[]): string[] =>
    names.filter((name) => values.only?.split(",").includes(name) ?? true);
  const all = runNames(Number(values.clean));
  const runs = wanted(["clean"]).length > 0 ? all : wanted(all);
  const isBusy = (name: string): boolean => name.startsWith("busy");
  const [rows, quiet, others] = await Promise.all([
    each(wanted(visible()), width, (name) => auditFault(name, windows)),
    each(
      runs.filter((name) => !isBusy(name)),
      width,
      (name) => cleanRun(name, windows),
    ),
    each(wanted(Object.keys(strangers)), 4, auditStranger),
  ]);
  // Two threads keep the processor busy.
  const burning = runs.some(isBusy)
    ? [0, 1].map(() => new Worker("for (;;) Math.sqrt(2);", { eval: true }))
    : [];
  const busy = await each(runs.filter(isBusy), 3, (name) => cleanRun(name, windows));
  await Promise.all(burning.map((thread) => thread.terminate()));
  const clean = runs
    .map((name) => [...quiet, ...busy].find((row) => row.name === name))
    .filter((row) => row !== undefined);
  const missed = rows.filter(({ found }) => found.length === 0);
  const accused = [...clean, ...others].filter(({ found }) => found.length > 0);
  // A part is written where its place is named.
  const out = values.out ?? (values.only === undefined ? "reports/audit" : null);
  if (out !== null) await publish(out, { rows, clean, others, windows }, values.only !== undefined);
  for (const { name } of missed) console.log(`MISSED   ${name}`);
  for (const { name, found } of accused) console.log(`ACCUSED  ${name}: ${found.join("; ")}`);
  console.log(
    `${rows.length - missed.length} of ${rows.length} faults found, ${accused.length} of ${clean.length + others.length} right servers accused`,
  );
  return missed.length + accused.length > 0 ? 1 : 0;
}

const visible = (): string[] =>
  faults
    .filter(
      ({ nets, name }) =>
        nets.some((net) => net !== "P") && name !== "overflow" && name !== "boundary-inclusive",
    )
    .map(({ name }) => name);

async function each<T>(
  names: readonly string[],
  most: number,
  make: (name: string) => Promise<T>,
): Promise<T[]> {
  const rows: T[] = [];
  let next = 0;
  const worker = async (_: unknown, place: number): Promise<void> => {
    // All at once would wait for each other's processor time, and take it for silence.
    await wait(place * staggerMs);
    for (let at = next++; at < names.length; at = next++) rows[at] = await make(names[at] ?? "");
  };
  await Promise.all(Array.from({ length: Math.min(most, names.length) }, worker));
  return rows;
}

async function auditFault(name: string, windows: Windows): Promise<Row> {
  const { serving, rules } = await deployed(name, windows);
  const { result } = await audited(serving.url, rules, { maxMs });
  await serving.close();
  return rowOf(name, result);
}

function rowOf(name: string, result: AuditResult): Row {
  const { kept, "not exercised": left } = countsOf(result);
  const found = result.rows.flatMap((row) => row.broken.map(({ law }) => `${row.name} (${law})`));
  const seconds = Math.round((result.endedAt - result.startedAt) / 1000);
  console.log(
    `${name}: ${found.length === 0 ? "nothing" : found.slice(0, 4).join(", ")}; ${result.calls} calls, ${seconds} s`,
  );
  return {
    name,
    found: [...new Set(found)],
    kept,
    left,
    calls: result.calls,
    seconds,
    isWhole: result.ended === "whole",
  };
}

/** Runs against the right deployment: three on a busy machine, two through a network of 0 to 300 ms. */
const runNames = (runs: number): string[] =>
  Array.from({ length: runs }, (_, at) =>
    at < 2 ? `slow network ${at + 1}` : at < 5 ? `busy machine ${at - 1}` : `plain ${at - 4}`,
  );

async function cleanRun(name: string, windows: Windows): Promise<Row> {
  const { serving, rules } = await deployed(null, windows);
  const proxy = name.startsWith("slow") ? await delaying(serving.url) : null;
  const { result } = await audited(proxy?.url ?? serving.url, rules, { maxMs });
  await proxy?.close();
  await serving.close();
  return rowOf(name, result);
}

/** A proxy that holds requests and answers back, 0 to 300 ms together. */
function delaying(target: string): Promise<Started> {
  return listening(async (given, reply) => {
    await wait(Math.random() * 150);
    const { method, url = "/", headers } = given;
    const asked = callOn(
      target + url,
      { method, headers: { ...headers, connection: "close" } },
      async (answer) => {
        await wait(Math.random() * 150);
        reply.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(reply);
      },
    );
    asked.on("error", () => reply.destroy());
    given.pipe(asked);
  });
}

async function auditStranger(name: string): Promise<Row> {
  const started = await strangers[name]?.();
  if (started === undefined) throw new RangeError(`no server ${name}`);
  try {
    return rowOf(name, (await audited(started.url, started.policy, { maxMs })).result);
  } finally {
    await started.close();
  }
}

/** Writes the page; beside what was made anew, rows that stand there stay. */
async function publish(out: string, made: Page, isPart: boolean): Promise<void> {
  const path = `${out}/audits.json`;
  const before = isPart ? (JSON.parse(await readFile(path, "utf8")) as Page) : null;
  const merged = (old: readonly Row[] = [], anew: readonly Row[]): Row[] => [
    ...old.map((row) => anew.find(({ name }) => name === row.name) ?? row),
    ...anew.filter(({ name }) => !old.some((row) => row.name === name)),
  ];
  const page: Page = {
    rows: merged(before?.rows, made.rows),
    clean: merged(before?.clean, made.clean),
    others: merged(before?.others, made.others),
    windows: before?.windows ?? made.windows,
  };
  await writeWhole(path, `${JSON.stringify(page, null, 2)}\n`);
  await writeWhole(`${out}/README.md`, text(page));
}

interface Page {
  readonly rows: readonly Row[];
  readonly clean: readonly Row[];
  readonly others: readonly Row[];
  readonly windows: Windows;
}

function text({ rows, clean, others, windows: [rest, graphql] }: Page): string {
  const line = ({ name, found, kept, left, calls, seconds, isWhole }: Row): string => {
    const few = found.slice(0, 4).join(", ");
    const more = found.length > 4 ? `, and ${found.length - 4} more` : "";
    return `| ${name} | ${few === "" ? "nothing" : few + more} | ${kept} | ${left} | ${count(calls)} | ${seconds}${isWhole ? "" : ", ended early"} |`;
  };
  const table = (title: string, of: readonly Row[]): string =>
    [
      `| ${title} | found by | kept | not exercised | calls | seconds |`,
      "|---|---|---:|---:|---:|---:|",
      ...of.map(line),
    ].join("\n");
  const caught = rows.filter(({ found }) => found.length > 0).length;
  const accused = [...clean, ...others].filter(({ found }) => found.length > 0).length;
  return `# The audit against servers

\`spillway audit --alone\`, no experiment of which begins after ${maxMs / 60_000} minutes, against the reference deployment with windows of
${rest} s (REST) and ${graphql} s (GraphQL). Repeat it with \`npm run audits\`. Real runs take real time, so their counts differ a little from run to run.

${caught} of ${rows.length} faults were found; ${accused} of ${clean.length + others.length} right servers were accused.
What no audit sees, and why: [src/audit](../../src/audit/README.md).

## Faults

${table("fault", rows)}

## The right deployment

\`slow network\`: through a proxy that delays each call by 0 to 300 ms. \`busy machine\`: two threads of the same process compute all the while.

${table("run", clean)}

## Limiters of others

express-rate-limit and @fastify/rate-limit: 40 requests in 20 s by token, windows that open with the first call. nginx: \`limit_req\`, 2
requests a second and 20 more at once (\`nodelay\`), by token; it shows no count, so that trials empty its bucket. envoyproxy/ratelimit: 40 requests a minute by descriptor, in Redis.

${table("limiter", others)}
`;
}
