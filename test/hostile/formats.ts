// Every format that spillway reads, each as a document with a name of somebody else's wherever the format has one. A
// new format joins by one line of `formats`.
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { fixture, fullVerdict } from "../report/fixtures.ts";
import { replayed, searched } from "../report/results.ts";

/** A document: the text of a file, or the texts of a folder's files. */
export type Material = string | Readonly<Record<string, string>>;

export interface Format {
  /** Name of the file or the folder. */
  readonly file: string;
  /** A good document. `name` is asked for each name that somebody else may choose. */
  write(name: () => string): Material;
  /** One name that cannot be is a mistake of the whole document: each is tried alone. */
  readonly isStrict?: true;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const { run, header, calls } = fixture({ seconds: 2 });

/** Every member of these names, at any depth, gets the name for its value. */
const named = new Set([
  "name",
  "scenario",
  "org",
  "user",
  "law",
  "description",
  "command",
  "notes",
  "explanation",
]);

/** A copy of plain JSON with other names in every place that has one. */
function withNames(value: unknown, name: () => string): unknown {
  if (Array.isArray(value)) return value.map((one) => withNames(one, name));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    if (!named.has(key)) return [key, withNames(inner, name)];
    return [
      key,
      Array.isArray(inner) ? [name()] : typeof inner === "string" ? name() : withNames(inner, name),
    ];
  });
  return Object.fromEntries(entries);
}

const trace = (name: () => string): string => {
  const lines = calls.slice(0, 40).map((call, index) => {
    const one = name();
    return encodeCall({ ...call, org: one, user: one, client: `${one}/${index}`, call: 0 });
  });
  return `${[encodeHeader({ ...header, scenario: name() }), ...lines].join("\n")}\n`;
};

const ofRun = (name: () => string): Material => ({
  "run.json": json(withNames(run.record, name)),
  "trace.ndjson": trace(name),
  "verdict.json": json(withNames(fullVerdict, name)),
  "summary.json": json(withNames(run.summary, name)),
});

const replayResult = await replayed(false);
const at = "2026-01-02T03:04:05Z";

/** A scenario's code is run, so it is spillway's user who writes it: only its names may be anybody's. */
const scenario = (name: string): string => `import { burst, defineScenario, rest } from "spillway/scenario";
export default defineScenario({
  name: ${JSON.stringify(name)},
  description: ${JSON.stringify(name)},
  duration: "2s",
  populations: { [${JSON.stringify(name)}]: { clients: 2, behaviour: burst({ call: rest("/v2/user"), size: 2 }) } },
});
`;

const adapter = (name: string): string => `export default {
  name: ${JSON.stringify(name)},
  algorithm: "fixed-window",
  claims: ["bounded"],
  create: () => ({ claims: ["bounded"], decide() { throw new Error(${JSON.stringify(name)}); } }),
};
`;

const rules = (name: string): string =>
  json({
    organization: { rest: { limit: 20, windowSeconds: 60 } },
    organizations: { [name]: { rest: { limit: 5 } } },
    users: { [`${name}/${name}`]: { rest: { limit: 5 } } },
  });

/** The name stands for whatever may be any text. */
const policy = (name: string): string =>
  json({
    version: 2,
    name,
    quotas: {
      calls: {
        algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 10 } },
        unit: name,
      },
    },
    operations: {
      call: { uses: { calls: 1 }, samples: [{ path: "/a", headers: { [name]: name }, body: name }] },
    },
    routes: [{ path: "/a", host: name, operation: "call", attributes: { who: { header: name } } }],
    wire: {
      revision: name,
      readings: [{ headers: { "X-Room": "{remaining}" } }],
      outcomes: [
        { outcome: "refused", by: name, status: [429], body: { "/message": name, [`/${name}`]: name } },
      ],
    },
  });

const tokens = (name: string): string =>
  json([{ token: "good-secret", user: name, organization: "acme", scopes: ["read_accounts"] }]);

const harEntry = (name: string) => ({
  startedDateTime: at,
  time: 5,
  request: {
    method: "GET",
    url: `http://127.0.0.1/v2?${new URLSearchParams({ name })}`,
    headers: [{ name, value: name }],
  },
  response: { status: 200, statusText: name, headers: [{ name: "RateLimit-Limit", value: name }] },
});

/** A row for each of so many names. */
const rows = (name: () => string, row: (name: string) => string): string =>
  Array.from({ length: 40 }, () => `${row(name())}\n`).join("");

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** The formats by their names. */
export const formats = {
  rules: { file: "rules.json", write: (name) => rules(name()), isStrict: true },
  policy: { file: "policy.json", write: (name) => policy(name()), isStrict: true },
  tokens: { file: "tokens.json", write: (name) => tokens(name()), isStrict: true },
  scenario: { file: "scenario.ts", write: (name) => scenario(name()), isStrict: true },
  adapter: { file: "adapter.js", write: (name) => adapter(name()), isStrict: true },
  trace: { file: "trace.ndjson", write: trace },
  run: { file: "run", write: ofRun },
  plan: { file: "plan", write: (name) => ({ "plan.json": json(withNames(searched, name)) }) },
  replay: { file: "replay", write: (name) => ({ "replay.json": json(withNames(replayResult, name)) }) },
  "JSON lines": {
    file: "calls.jsonl",
    write: (name) =>
      rows(name, (one) =>
        JSON.stringify({ time: at, user: one, organization: one, method: "GET", path: "/v2", status: 200 }),
      ),
  },
  CSV: {
    file: "calls.csv",
    write: (name) =>
      `time,user,organization,method,path,status\n${rows(name, (one) => `${at},${cell(one)},${cell(one)},GET,/v2,200`)}`,
  },
  "access log": {
    file: "access.log",
    write: (name) =>
      rows(
        name,
        (one) =>
          `127.0.0.1 - ${one.replaceAll(/\s/g, "")} [02/Jan/2026:03:04:05 +0000] "GET /v2 HTTP/1.1" 200 5 "-" "${one}"`,
      ),
  },
  HAR: {
    file: "calls.har",
    write: (name) =>
      json({
        log: {
          creator: { name: name(), version: name() },
          entries: Array.from({ length: 40 }, () => harEntry(name())),
        },
      }),
  },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;
