// Findings of all experiments, word for word, with the calls and the time that they took: of a right server; and
// those of servers that are each wrong in one way, as far as they differ. `npm test -- test/audit/pinned.test.ts -u` writes the files of `pinned/` anew;
// read the difference.
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { type AuditFinding, type Shot, Unexercised } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { Played, type Sent, type Served } from "./played.ts";

const windowMs = 10_000;
const limits = { own: 40, shared: 60, points: 60 };
type Quota = keyof typeof limits;

const algorithm = (limit: number) => ({
  ...{ kind: "fixed-window", limit, windowSeconds: windowMs / 1000, anchor: "first-request" },
});
/** Requests of a user and of its organization, all or nothing; points of queries, which say what they cost. */
const policy = parsePolicy({
  version: 2,
  name: "pinned",
  quotas: {
    own: { algorithm: algorithm(limits.own), key: ["user"] },
    shared: { algorithm: algorithm(limits.shared), key: ["organization"] },
    points: { algorithm: algorithm(limits.points), key: ["user"], unit: "points" },
  },
  operations: {
    call: {
      uses: { own: 1, shared: 1 },
      relation: "all-or-nothing",
      samples: [{ path: "/rooms/blue" }, { path: "/rooms/green" }],
    },
    query: {
      uses: { points: "declared" },
      samples: [
        {
          ...{ method: "POST", path: "/query", headers: { "content-type": "application/json" } },
          ...{ body: { first: 4 }, cost: 4, dearer: { pointer: "/first", costEach: 1 } },
        },
      ],
    },
  },
  routes: [
    { methods: ["GET", "HEAD"], path: "/limits", operation: "status" },
    { path: "/query", operation: "query" },
    { path: "/rooms/**", operation: "call" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
  provoke: {
    "404": { method: "GET", path: "/rooms/none", headers: {} },
    "405": { method: "DELETE", path: "/rooms/blue", headers: {} },
  },
  wire: {
    revision: "2026",
    readings: (["own", "shared", "points"] as const).map((quota) => ({
      quotas: [quota],
      headers: {
        [`X-${quota}-Limit`]: "{limit}",
        [`X-${quota}-Left`]: "{remaining}",
        [`X-${quota}-Reset`]: "{reset}",
      },
      reset: { form: "delta-s", means: "window-end", round: "ceil" },
      on: ["admitted", "refused", "status"],
    })),
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: (["own", "shared", "points"] as const).map((by) => ({
      ...{ outcome: "refused", by, status: [429], body: { "/by": by } },
    })),
  },
});

interface Refused {
  readonly status: number;
  readonly by: Quota;
  readonly headers: Readonly<Record<string, string>>;
}

/** Differences of a server from a right one. */
interface Wrong {
  /** Units above its limit that a window admits. */
  readonly more?: number;
  readonly key?: (shot: Shot) => string;
  readonly cost?: (units: number, shot: Shot, made: number) => number;
  /** Units that a refused call is charged. */
  readonly refusedCost?: number;
  /** The end of a window, by each call in it. */
  readonly ends?: (endMs: number, nowMs: number, isRefused: boolean) => number;
  /** The count that is kept from a call on. */
  readonly keeps?: (used: number, leftMs: number) => number;
  /** Errors of what is shown: in units left, and in ms to the end. */
  readonly shows?: number;
  readonly showsMs?: number;
  readonly refused?: (right: Refused) => Refused;
  readonly statusCost?: number;
  /** One quota charges what another refuses. */
  readonly chargesEach?: boolean;
}

const owners: Readonly<Record<Quota, (shot: Shot) => string>> = {
  own: ({ caller }) => caller?.name ?? "nobody",
  shared: () => "acme",
  points: ({ caller }) => caller?.name ?? "nobody",
};

function server({
  more = 0,
  key = () => "",
  cost = (units) => units,
  refusedCost = 0,
  ends = (endMs) => endMs,
  keeps = (used) => used,
  shows = 0,
  showsMs = 0,
  refused = (right) => right,
  statusCost = 0,
  chargesEach = false,
}: Wrong = {}): Served {
  const windows = new Map<string, { endMs: number; used: number }>();
  let made = 0;
  return (shot, nowMs): Sent => {
    if (shot.caller === null) return { status: 401 };
    const path = decodeURIComponent(shot.path)
      .toLowerCase()
      .replace(/[?].*$|\/$/g, "");
    const isStatus = path === "/limits";
    const quotas: Quota[] = isStatus
      ? ["own", "shared", "points"]
      : path === "/query"
        ? ["points"]
        : ["own", "shared"];
    const declared =
      path === "/query" ? Number((JSON.parse(shot.body ?? "{}") as { first?: number }).first) : 1;
    const units = isStatus ? statusCost : cost(declared, shot, ++made);
    const own = quotas.map((quota) => {
      const name = `${quota} ${owners[quota](shot)} ${key(shot)}`;
      const known = windows.get(name);
      const window =
        known === undefined || known.endMs <= nowMs ? { endMs: nowMs + windowMs, used: 0 } : known;
      if (!isStatus) windows.set(name, window);
      window.used = keeps(window.used, window.endMs - nowMs);
      return { quota, window, lacks: !isStatus && window.used + units > limits[quota] + more };
    });
    const by = own.find(({ lacks }) => lacks) ?? null;
    for (const { window, lacks } of own) {
      if (by === null || (chargesEach && !lacks)) window.used += units;
      else if (lacks) window.used += refusedCost;
      window.endMs = ends(window.endMs, nowMs, by !== null);
    }
    const headers = Object.fromEntries(
      own.flatMap(({ quota, window: { used, endMs } }) => [
        [`x-${quota}-limit`, String(limits[quota])],
        [`x-${quota}-left`, String(Math.max(0, limits[quota] - used + shows))],
        [`x-${quota}-reset`, String(Math.max(0, Math.ceil((endMs - nowMs + showsMs) / 1000)))],
      ]),
    );
    if (by === null)
      return { status: path === "/rooms/none" ? 404 : shot.method === "DELETE" ? 405 : 200, headers };
    const wait = String(Math.ceil((by.window.endMs - nowMs) / 1000));
    const told = refused({ status: 429, by: by.quota, headers: { ...headers, "retry-after": wait } });
    return { status: told.status, headers: told.headers, body: JSON.stringify({ by: told.by }) };
  };
}

const isHead = ({ method }: Shot): boolean => method === "HEAD";
const servers: Readonly<Record<string, Wrong>> = {
  right: {},
  "one too many": { more: 1 },
  "HEAD is free": { cost: (units, shot) => (isHead(shot) ? 0 : units) },
  "HEAD costs two": { cost: (units, shot) => (isHead(shot) ? 2 : units) },
  "spellings are counted apart": { key: ({ path }) => path },
  "each seventh call is free": { cost: (units, _, made) => (made % 7 === 0 ? 0 : units) },
  "the status costs one": { statusCost: 1 },
  "refusals are counted": { refusedCost: 1, more: 0 },
  "a refusal charges the other quota": { chargesEach: true },
  "refusals put off the end": { ends: (endMs, nowMs, isRefused) => (isRefused ? nowMs + windowMs : endMs) },
  "each call puts off the end": { ends: (_, nowMs) => nowMs + windowMs },
  "the end comes early": { showsMs: 3_000 },
  "counts are forgotten at half time": {
    keeps: (used, leftMs) => (leftMs < windowMs / 2 ? Math.min(used, 2) : used),
  },
  "shows one more": { shows: 1 },
  "refuses without a word": { refused: (right) => ({ ...right, headers: {} }) },
  "refuses by 503": { refused: (right) => ({ ...right, status: 503 }) },
  "names the other quota": { refused: (right) => ({ ...right, by: right.by === "own" ? "shared" : "own" }) },
  "asks to wait too long": {
    refused: (right) => ({ ...right, headers: { ...right.headers, "retry-after": "60" } }),
  },
  "asks to wait for nothing": {
    refused: (right) => ({ ...right, headers: { ...right.headers, "retry-after": "0" } }),
  },
};

function lineOf(name: string, operation: string, wrong: Wrong): string {
  const attributesOf = (user: string) => ({ organization: "acme", user });
  const played = new Played(server(wrong), 3, "first-request", { policy, attributesOf });
  const subject = played.lab.subjects.find((each) => each.operation === operation);
  const experiment = experiments.find((each) => each.name === name);
  if (subject === undefined || experiment === undefined) throw new RangeError(name);
  const lacks = experiment.lacks(played.lab, subject);
  if (lacks !== null) return `- ${operation} ${name}: lacks ${lacks}`;
  const said = saidBy(() => played.play(experiment.run(played.lab, subject)));
  const judged = experiment.judge?.(played.lab, played.answers);
  const endMs = played.answers.at(-1)?.call.received ?? 0;
  const later = judged === undefined ? "" : `; in the end ${words(judged)}`;
  return `- ${operation} ${name}: ${played.answers.length} calls, ${endMs} ms: ${said}${later}`;
}

function saidBy(run: () => AuditFinding): string {
  try {
    return words(run());
  } catch (error) {
    if (!(error instanceof Unexercised)) throw error;
    return `not exercised${error.again ? " yet" : ""}: ${error.message}`;
  }
}

function words(finding: AuditFinding): string {
  if (finding.state === "kept") return finding.note === undefined ? "kept" : `kept: ${finding.note}`;
  if (finding.state === "not exercised") return `not exercised: ${finding.why}`;
  const { law, expected, got, answers } = finding;
  const lines = answers.map(({ line }) => line).join(" ");
  return `broken${law === undefined ? "" : ` (${law})`}: ${expected}: ${got}: lines ${lines}`;
}

const linesOf = (wrong: Wrong): string[] =>
  ["call", "query"].flatMap((operation) => experiments.map(({ name }) => lineOf(name, operation, wrong)));
const rightLines = new Set(linesOf({}));

test.each(Object.entries(servers))("%s", async (title, wrong) => {
  const lines = title === "right" ? [...rightLines] : linesOf(wrong).filter((line) => !rightLines.has(line));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./pinned/${title.replaceAll(" ", "-")}.md`);
});
