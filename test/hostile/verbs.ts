// Every verb of the command line, through which of its words somebody else's data comes in, and where it writes. A new
// verb joins by one line; a test fails where one is missing. The first verb that reads a format gets all its documents, so the
// quickest of them stands first.
import type { FormatName } from "./formats.ts";

/** Good files and fresh places that a case may name beside the hostile one. */
export interface Beside {
  readonly rules: string;
  readonly tokens: string;
  readonly scenario: string;
  readonly trace: string;
  readonly run: string;
  readonly log: string;
  /** A path where nothing is. */
  readonly fresh: string;
}

/** The words of a command line, for a hostile file, folder or URL. */
export type Words = (hostile: string, beside: Beside) => readonly string[];

export interface Verb {
  /** Documents that it reads, by their format. */
  readonly reads: Readonly<Partial<Record<FormatName, Words>>>;
  /** Words that name its output, for a folder that somebody else has prepared. */
  readonly writes?: Words;
  /** Documents that a name makes too dear to run: they are only spoiled. */
  readonly onlySpoiled?: readonly FormatName[];
}

const quick = ["--port", "0"];
const probing = (hostile: string) => ["--target", "http://127.0.0.1:1", "--org", "acme", "--tokens", hostile];

/** Rows of some paths alone, with twice the callers. */
const someTraffic = ["--path", "/**", "--traffic", "2x"];

/** A demo that is over soon. */
const briefly = ["--duration", "1s", "--runs", "1"];

/** The verbs by their names. */
export const verbs: Readonly<Record<string, Verb>> = {
  report: {
    reads: {
      run: (folder) => ["report", folder],
      plan: (folder) => ["report", folder],
      replay: (folder) => ["report", folder],
    },
    writes: (folder, { run }) => ["report", run, "--out", `${folder}/out.html`],
  },
  verify: {
    reads: {
      trace: (file, { fresh }) => ["verify", file, "--out", `${fresh}.html`, "--out", `${fresh}.md`],
      run: (folder) => ["verify", folder],
    },
    writes: (folder, { trace }) => [
      "verify",
      trace,
      "--out",
      `${folder}/out.json`,
      "--out",
      `${folder}/out.html`,
    ],
  },
  status: {
    reads: {
      tokens: (file) => ["status", ...probing(file)],
      policy: (file, { tokens }) => ["status", ...probing(tokens), "--policy", file],
    },
  },
  check: {
    reads: {
      rules: (file) => ["check", "--rules", file, "--runs", "1", "--law", "bounded"],
      adapter: (file) => ["check", "--adapter", file, "--runs", "5", "--law", "bounded"],
      tokens: (file) => ["check", "--target", "http://127.0.0.1:1", "--tokens", file, "--runs", "1"],
    },
  },
  simulate: {
    reads: {
      scenario: (file, { fresh }) => ["simulate", file, "--out", fresh],
      rules: (file, { scenario, fresh }) => ["simulate", scenario, "--rules", file, "--out", fresh],
      policy: (file, { scenario }) => ["simulate", scenario, "--policy", file, "--duration", "1s"],
      tokens: (file, { scenario, fresh }) => ["simulate", scenario, "--tokens", file, "--out", fresh],
      run: (folder, { scenario, fresh }) => ["simulate", scenario, "--like", folder, "--out", fresh],
      adapter: (file, { scenario, fresh }) => ["simulate", scenario, "--adapter", file, "--out", fresh],
    },
    writes: (folder, { scenario }) => ["simulate", scenario, "--out", folder],
  },
  swarm: {
    reads: { adapter: (file, { fresh }) => ["swarm", "2", "--adapter", file, "--out", fresh] },
    writes: (folder) => ["swarm", "2", "--out", folder],
  },
  replay: {
    reads: {
      trace: (file, { fresh }) => ["replay", file, "--out", fresh],
      run: (folder) => ["replay", folder],
      "JSON lines": (file) => ["replay", file, ...someTraffic],
      CSV: (file) => ["replay", file, ...someTraffic],
      "access log": (file) => ["replay", file, ...someTraffic],
      HAR: (file) => ["replay", file, ...someTraffic],
      rules: (file, { log }) => ["replay", log, "--rules", file],
      policy: (file, { log }) => ["replay", log, "--policy", file],
    },
    writes: (folder, { trace }) => ["replay", trace, "--out", folder],
  },
  fit: {
    reads: {
      trace: (file, { fresh }) => ["fit", file, "--out", `${fresh}.ts`, "--report", `${fresh}.md`],
      run: (folder) => ["fit", folder],
      "JSON lines": (file) => ["fit", file, ...someTraffic],
      rules: (file, { trace }) => ["fit", trace, "--rules", file],
      policy: (file, { trace }) => ["fit", trace, "--policy", file],
    },
    writes: (folder, { trace }) => [
      "fit",
      trace,
      "--out",
      `${folder}/out.ts`,
      "--report",
      `${folder}/out.md`,
    ],
  },
  plan: {
    reads: {
      scenario: (file, { fresh }) => [
        "plan",
        file,
        "--replications",
        "2",
        "--compare",
        "--workers",
        "1",
        "--out",
        fresh,
      ],
      rules: (file, { scenario, fresh }) => [
        "plan",
        scenario,
        "--rules",
        file,
        "--compare",
        "--workers",
        "1",
        "--out",
        fresh,
      ],
    },
    writes: (folder, { scenario }) => [
      "plan",
      scenario,
      "--replications",
      "2",
      "--compare",
      "--workers",
      "1",
      "--out",
      folder,
    ],
    onlySpoiled: ["scenario", "rules"],
  },
  serve: {
    reads: {
      rules: (file) => ["serve", ...quick, "--rules", file],
      policy: (file) => ["serve", ...quick, "--policy", file],
      tokens: (file) => ["serve", ...quick, "--tokens", file],
    },
  },
  bundle: {
    reads: { scenario: (file, { fresh }) => ["bundle", file, "--out", `${fresh}.js`] },
    writes: (folder, { scenario }) => ["bundle", scenario, "--out", `${folder}/out.js`],
  },
  load: {
    reads: {
      scenario: (file, { fresh }) => ["load", file, "--out", fresh],
      rules: (file, { scenario, fresh }) => ["load", scenario, "--rules", file, "--out", fresh],
      tokens: (file, { scenario }) => ["load", scenario, "--target", "http://127.0.0.1:1", "--tokens", file],
    },
    writes: (folder, { scenario }) => ["load", scenario, "--driver", "node", "--out", folder],
    onlySpoiled: ["scenario", "rules"],
  },
  demo: {
    reads: {
      policy: (file, { fresh }) => [
        ...["demo", "--policy", file, "--driver", "node"],
        ...briefly,
        ...["--out", fresh],
      ],
      scenario: (file, { fresh }) => ["demo", "--scenario", file, ...briefly, "--out", fresh],
    },
    writes: (folder, { scenario }) => [
      ...["demo", "--scenario", scenario, "--driver", "node"],
      ...briefly,
      ...["--out", folder],
    ],
    onlySpoiled: ["scenario", "policy"],
  },
  audit: {
    reads: {
      tokens: (file) => [
        "audit",
        "--target",
        "http://127.0.0.1:1",
        "--policy",
        "default",
        "--tokens",
        file,
        "--yes",
      ],
      policy: (file, { tokens }) => [
        "audit",
        "--target",
        "http://127.0.0.1:1",
        "--policy",
        file,
        "--tokens",
        tokens,
        "--dry-run",
      ],
    },
    writes: (folder, { tokens }) => [
      "audit",
      "--target",
      "http://127.0.0.1:1",
      "--policy",
      "default",
      "--tokens",
      tokens,
      "--yes",
      "--out",
      folder,
    ],
  },
  probe: {
    reads: { tokens: (file) => ["probe", ...probing(file), "--yes"] },
    writes: (folder, { tokens }) => ["probe", ...probing(tokens), "--yes", "--out", `${folder}/out.json`],
  },
  map: {
    reads: {
      HAR: (file, { fresh }) => ["map", "--from", file, "--out", `${fresh}.json`],
      "JSON lines": (file) => ["map", "--from", file],
    },
    writes: (folder, { trace }) => ["map", "--from", trace, "--out", `${folder}/out.json`],
  },
  policy: { reads: { policy: (file) => ["policy", "show", file] } },
  init: { reads: {}, writes: (folder) => ["init", folder] },
  scenarios: { reads: {} },
  figures: { reads: {} },
  completion: { reads: {} },
  doctor: { reads: {} },
};
