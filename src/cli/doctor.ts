// `spillway doctor`: says what is installed, what is missing, and how to get it.
import { mkdir, mkdtemp, rm, rmdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import type { GetK6Options, GotK6 } from "../load/get-k6.ts";
import type { Go } from "../load/go-build.ts";
import type { K6Binary } from "../load/k6-binary.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { version } from "../runs/version.ts";
import { pc } from "./colors.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

/** Something that spillway needs, or could use. */
interface Finding {
  readonly name: string;
  /** `missing` ends the command with 3. */
  readonly state: "ok" | "optional" | "missing";
  readonly found: string;
  /** Ways to get it, one a line. */
  readonly advice: readonly string[];
}

const MISSING = 3;
/** Least minor version of each supported major version of Node; newer majors are supported, too. */
const nodeMinors = new Map([
  [20, 19],
  [22, 12],
  [24, 0],
]);

const options = {
  "get-k6": option.flag(
    "install k6 for spillway if it is missing: build it by Go, or fetch the archive that k6 publishes",
  ),
  from: option.text("URL", "with --get-k6, fetch the archive (.tar.gz or .zip) from URL; needs --sha256"),
  sha256: option.text("HEX", "with --from, refuse an archive with another SHA-256 than HEX"),
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "doctor",
  summary: "say what is installed, what is missing and how to get it",
  options,
  examples: {
    "$0 doctor": "look for Node, k6, Go, esbuild and DuckDB, and for a place for reports",
    "$0 doctor --json": "print the same for scripts; exit code 3 means that something is missing",
    "$0 doctor --get-k6": "install k6 into the cache of spillway, then look again",
  },
  handler: async (args) => {
    const { json, getK6 } = args;
    const terminal = openTerminal(json);
    const from = sourceOf(args);
    if (getK6 && !(await get(terminal, from, (await import("../load/get-k6.ts")).getK6))) return;
    const findings = await examine();
    sayFindings(terminal, findings);
    process.exitCode = isWell(findings) ? 0 : MISSING;
  },
});

export const isWell = (findings: readonly Finding[]): boolean =>
  findings.every(({ state }) => state !== "missing");

/** Says what is there, what is not and how to get it. */
export function sayFindings(terminal: Terminal, findings: readonly Finding[]): void {
  for (const finding of findings) say(terminal, finding);
  const ok = isWell(findings);
  terminal.say(ok ? "All that is needed is there." : "Something that is needed is missing.");
  terminal.result({ spillway: version, ok, findings });
}

function say(terminal: Terminal, { name, state, found, advice }: Finding): void {
  const mark = { ok: pc.green("ok"), optional: pc.yellow("--"), missing: pc.red("no") }[state];
  terminal.say(`${mark} ${name.padEnd(8)} ${found}`);
  for (const line of advice) terminal.say(`            ${line}`);
}

/** Returns k6's source. @throws SpillwayError `USAGE` if an option lacks another, or the checksum is malformed */
export function sourceOf({
  getK6,
  from,
  sha256,
}: Pick<Args, "getK6" | "from" | "sha256">): GetK6Options["from"] {
  const lacking = (option: string, other: string, hint: string): SpillwayError =>
    new SpillwayError("USAGE", `${option} needs ${other}`, { hint });
  const whole = "npx spillway doctor --get-k6 --from URL --sha256 HEX";
  if (from !== undefined && getK6 !== true) throw lacking("--from", "--get-k6", whole);
  if (from !== undefined && sha256 === undefined)
    throw lacking("--from", "--sha256", "the SHA-256 of the archive, from somebody whom you trust");
  if (sha256 === undefined) return undefined;
  if (from === undefined) throw lacking("--sha256", "--from", whole);
  if (/^[0-9a-f]{64}$/i.test(sha256)) return { url: from, sha256 };
  throw new SpillwayError("USAGE", "the checksum cannot be used", {
    problem: { path: "--sha256", got: quote(sha256), allowed: "a SHA-256: 64 hexadecimal digits" },
  });
}

/** Gets k6 if none is installed. Returns false if Ctrl-C ended it. */
export async function get(
  terminal: Terminal,
  from: GetK6Options["from"],
  getK6: (options: GetK6Options) => Promise<GotK6>,
): Promise<boolean> {
  const install = async (signal: AbortSignal): Promise<true> => {
    const { k6, wasThere } = await getK6({
      ...{ from, signal },
      onSay: (text) => terminal.say(text),
      onProgress: (text) => terminal.progress(text),
    });
    terminal.say(
      wasThere
        ? `k6 ${k6.version} is there already, at ${k6.path} (${k6.origin}): nothing was fetched or built.`
        : `k6 ${k6.version} is installed at ${k6.path}.`,
    );
    return true;
  };
  const said = "Interrupted: k6 was not installed, and nothing is left of it.";
  return (await untilInterrupted(terminal, install, said)) !== null;
}

async function examine(): Promise<Finding[]> {
  const { lookUpK6 } = await import("../load/k6-binary.ts");
  const { usableGo } = await import("../load/go-build.ts");
  return [
    nodeFinding(process.versions.node),
    await k6Finding(lookUpK6),
    await goFinding(usableGo),
    await esbuildFinding(() => import("esbuild")),
    duckdbFinding(createRequire(import.meta.url).resolve),
    await reportsFinding(resolve("reports")),
  ];
}

export function nodeFinding(node: string): Finding {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isEnough = major > Math.max(...nodeMinors.keys()) || minor >= (nodeMinors.get(major) ?? Infinity);
  return {
    name: "node",
    state: isEnough ? "ok" : "missing",
    found: `${node}, at ${process.execPath}`,
    advice: isEnough
      ? []
      : [`${[...nodeMinors].map((each) => each.join(".")).join(", ")} or newer: https://nodejs.org/`],
  };
}

export async function k6Finding(lookUp: () => Promise<K6Binary | null>): Promise<Finding> {
  const { k6Advice } = await import("../load/k6-binary.ts");
  const name = "k6";
  try {
    const k6 = await lookUp();
    if (k6 !== null)
      return { name, state: "ok", found: `${k6.version}, at ${k6.path} (${k6.origin})`, advice: [] };
    return { name, state: "optional", found: "not there; Node drives the load instead", advice: k6Advice() };
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    return { name, state: "missing", found: error.message, advice: k6Advice() };
  }
}

export async function goFinding(lookUp: () => Promise<Go | null>): Promise<Finding> {
  const { goLeast } = await import("../load/go-build.ts");
  const go = await lookUp();
  if (go === null)
    return {
      name: "go",
      state: "optional",
      found: `none that could build k6 (${goLeast} or newer)`,
      advice: [],
    };
  return { name: "go", state: "ok", found: `${go.version}, at ${go.path}`, advice: [] };
}

/** Looks for esbuild's program. An installation may lack it (`--ignore-scripts`, another platform). */
export async function esbuildFinding(
  load: () => Promise<Pick<typeof import("esbuild"), "transform" | "version">>,
): Promise<Finding> {
  const name = "esbuild";
  try {
    const { transform, version: found } = await load();
    await transform("const x: number = 1;", { loader: "ts" });
    return { name, state: "ok", found, advice: [] };
  } catch (error) {
    const [reason = ""] = String((error as Error).message).split("\n");
    return {
      name,
      state: "missing",
      found: reason,
      advice: ["npm install, on this machine, without --omit=optional"],
    };
  }
}

/** Looks for the optional peer without loading it, because it is a large library. */
export function duckdbFinding(resolvePeer: (name: string) => string): Finding {
  const name = "duckdb";
  const peer = "@duckdb/node-api";
  try {
    return { name, state: "ok", found: `at ${resolvePeer(peer)}`, advice: [] };
  } catch {
    return {
      name,
      state: "optional",
      found: "not there; replay and fit need it for Parquet and --sql, all else works",
      advice: [`npm install ${peer}`],
    };
  }
}

/** Tells whether reports can be written. @param folder absolute path of the folder for them */
export async function reportsFinding(folder: string): Promise<Finding> {
  const name = "reports";
  const wasThere = await stat(folder).then(
    () => true,
    () => false,
  );
  try {
    if (!wasThere) await mkdir(folder);
    await rmdir(await mkdtemp(join(folder, ".doctor-")));
    if (!wasThere) await rm(folder, { recursive: true });
    return { name, state: "ok", found: `${folder} can be written`, advice: [] };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      name,
      state: "missing",
      found: `${folder} cannot be written (${code})`,
      advice: [`run spillway where ${dirname(folder)} can be written, or name a folder by --out`],
    };
  }
}
