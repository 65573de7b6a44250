// `spillway serve`: the reference deployment, for people to try their own clients against.

import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ChosenFault } from "../faults/choice.ts";
import type { CallSample, Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { adviseRules } from "../rules/parse.ts";
import type { Token } from "../rules/tokens.ts";
import { counted } from "../rules/words.ts";
import { onInterrupt } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import { asWindowOption, enforceable } from "./as-window.ts";
import { pc } from "./colors.ts";
import { chooseFault, faultOption } from "./fault-list.ts";
import { readLimits, readPolicyTokens, readTokens } from "./files.ts";
import { requireSeed, rulesOption, tokensFormat } from "./run-options.ts";
import { describeThrown, openTerminal, type Terminal, warn } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

interface Args {
  readonly port: number;
  readonly host: string;
  readonly rules: string;
  readonly tokens?: string | undefined;
  readonly users: number;
  readonly fault?: string | undefined;
  readonly seed: number;
  readonly workers?: number | undefined;
  readonly asWindow?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

export const verb = defineVerb<Args>({
  name: "serve",
  summary: "run a stand-in for an API, to try your own clients against",
  notes: [
    "Without --policy it is the reference deployment. With one, its routes answer sample JSON, and its limits hold. A request declares its cost by the header Spillway-Cost where the policy has no number.",
  ],
  options: {
    port: {
      argument: "PORT",
      type: "number",
      default: 4100,
      describe: "listen on PORT; 0 takes any free one",
    },
    host: {
      argument: "ADDRESS",
      type: "string",
      default: "127.0.0.1",
      describe: "listen on ADDRESS; beyond loopback it is plain HTTP for whoever reaches it",
    },
    rules: { ...rulesOption("follow", null), default: "default" },
    tokens: {
      argument: "FILE",
      type: "string",
      describe: `accept the tokens in FILE: ${tokensFormat} [default: sample tokens in a temporary file]`,
    },
    users: {
      argument: "N",
      type: "number",
      default: 30,
      describe: "make N sample tokens, one a user",
    },
    fault: faultOption,
    seed: { argument: "N", type: "number", default: 1, describe: "draw for --fault from seed N" },
    workers: {
      argument: "N",
      type: "number",
      describe: "answer by N processes that share their counters [default: this process]",
    },
    "as-window": asWindowOption,
  },
  examples: [
    ["$0 serve", "listen on http://127.0.0.1:4100, with sample tokens"],
    ["$0 serve --rules documented --port 0", "follow the public documentation's limits, on a free port"],
    ["$0 serve --rules rules.json --tokens tokens.json", "use rules and tokens of your own"],
    [
      "$0 serve --policy github",
      "stand in for GitHub: limits, headers and refusals as its documentation says",
    ],
    ["$0 serve --fault per-instance-counters=3", "have a known bug: three processes that count apart"],
    ["$0 load herd --target http://127.0.0.1:4100 --tokens FILE", "then load it, from another terminal"],
  ],
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    requireWhole("--port", args.port, 0, 65_535);
    requireWhole("--users", args.users, 1, 100_000);
    if (args.workers !== undefined) requireWhole("--workers", args.workers, 1, 64);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const limits = await readLimits(args.rules);
    if ("policy" in limits) return standIn(terminal, args, limits.policy, fault);
    const { rules } = limits;
    const { deploy } = await import("../service/deploy.ts");
    const { sampleTokens } = await import("../service/sample-tokens.ts");
    const tokens =
      args.tokens === undefined ? sampleTokens({ users: args.users }) : await readTokens(args.tokens);
    const onUnexpected = telling(args);
    const interrupt = onInterrupt();
    const { port, host, workers } = args;
    const seed = requireSeed(args.seed);
    const serving = await deploy({
      port,
      host,
      rules,
      tokens,
      workers,
      seed,
      onUnexpected,
      ...(fault === null ? {} : { fault }),
    });
    try {
      terminal.say(serving.url);
      const file = args.tokens ?? (await keepTokens(tokens));
      terminal.result({ url: serving.url, tokens: file });
      if (fault !== null) warnOfFault(terminal, fault);
      introduce(terminal, args, serving.url, file, tokens);
      if (serving.workers > 1) terminal.say(`workers ${serving.workers} processes behind one port`);
      for (const advice of adviseRules(rules)) terminal.say(`${pc.yellow("note")}    ${advice}`);
      if (!isLoopback(args.host)) terminal.say(`${pc.yellow("warning")} ${beyondLoopback(args.host)}`);
      terminal.say("stop    Ctrl-C");
      await aborted(interrupt.signal);
      terminal.say("stopping: calls on their way are answered first");
    } finally {
      await serving.close();
      interrupt.release();
    }
  },
});

const telling =
  ({ debug }: Args) =>
  (error: Error): void =>
    debug === true ? console.error(describeThrown(error)) : warn(`unexpected: ${error.message}`);

/** Serves a policy that is not of the reference deployment. */
async function standIn(
  terminal: Terminal,
  args: Args,
  written: Policy,
  fault: ChosenFault | null,
): Promise<void> {
  const { workers, host, port } = args;
  const unfit = { "--workers": workers };
  const problems = Object.entries(unfit).flatMap(([path, value]) =>
    value === undefined
      ? []
      : [
          {
            path,
            got: quote(value),
            allowed: `nothing with --policy ${args.rules}: the reference deployment has it`,
          },
        ],
  );
  if (problems.length > 0) throw new SpillwayError("USAGE", "this policy cannot be served so", { problems });
  const { policy, changes } = enforceable(written, args, "serve");
  const { servePolicy } = await import("../service/serve.ts");
  const { samplePolicyTokens } = await import("../service/sample-tokens.ts");
  const { presets } = await import("../policy/presets.ts");
  const names = policy.auth.attributes;
  const tokens =
    args.tokens === undefined
      ? samplePolicyTokens(names, args.users)
      : await readPolicyTokens(args.tokens, names);
  const faulty = fault === null ? undefined : await faultyBy(policy, fault, requireSeed(args.seed));
  const interrupt = onInterrupt();
  const serving = await servePolicy({ port, host, policy, tokens, faulty, onUnexpected: telling(args) });
  try {
    terminal.say(serving.url);
    if (fault !== null) warnOfFault(terminal, fault);
    for (const change of changes) terminal.say(`${pc.yellow("note")}    ${change}`);
    const notes = presets[args.rules]?.notes ?? [];
    for (const note of notes) terminal.say(`${pc.yellow("note")}    ${note}`);
    const listed = tokens.map(({ token, attributes }) => ({ token, ...attributes }));
    const file = args.tokens ?? (await keepTokens(listed));
    terminal.result({ url: serving.url, tokens: file });
    terminal.say(`policy  ${policy.name}: ${Object.keys(policy.quotas).join(", ")}`);
    terminal.say(`tokens  ${file} (${counted(tokens.length, "caller")}${ofFile(args.tokens)})`);
    const [operation] = Object.values(policy.operations);
    const sample = operation?.samples[0];
    const { header, form } = policy.auth;
    const shown = { header: `${header}: ${[form].flat()[0]}`, file, url: serving.url };
    terminal.say(`try     ${curlLine({ ...shown, path: sample?.path ?? "/", sample })}`);
    if (!isLoopback(host)) terminal.say(`${pc.yellow("warning")} ${beyondLoopback(host)}`);
    terminal.say("stop    Ctrl-C");
    await aborted(interrupt.signal);
    terminal.say("stopping: calls on their way are answered first");
  } finally {
    await serving.close();
    interrupt.release();
  }
}

/** Under a policy a fault of several processes is had within one. */
async function faultyBy(policy: Policy, fault: ChosenFault, seed: number) {
  const { injectQuotaFault } = await import("../faults/choice.ts");
  const { seededRandom } = await import("../faults/random.ts");
  return injectQuotaFault(fault, policy, seededRandom(seed));
}

function requireWhole(option: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new SpillwayError("USAGE", `${option} cannot be used`, {
    problems: [{ path: option, got: quote(value), allowed: `a whole number from ${least} to ${most}` }],
  });
}

/**
 * Writes sample tokens where only this user can read them. They are good for this process alone, so the file
 * goes when it ends, however it ends (but for a kill -9).
 */
async function keepTokens(tokens: readonly { readonly token: string }[]): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), "spillway-")), "tokens.json");
  process.once("exit", () => rmSync(dirname(file), { recursive: true, force: true }));
  try {
    await writeFile(file, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw new SpillwayError("FILE_UNWRITABLE", "the sample tokens cannot be written", {
      problems: [
        { path: file, got: (cause as NodeJS.ErrnoException).code ?? "an error", allowed: "a writable file" },
      ],
      hint: "name a tokens file of your own: --tokens FILE",
      cause,
    });
  }
  return file;
}

function introduce(
  terminal: Terminal,
  { tokens: given, rules }: Args,
  url: string,
  file: string,
  tokens: readonly Token[],
): void {
  const organizations = new Set(tokens.map(({ organization }) => organization));
  const whose = `${counted(tokens.length, "user")} of ${[...organizations].slice(0, 3).join(", ")}`;
  terminal.say(`rules   ${rules}`);
  terminal.say(`tokens  ${file} (${whose}${ofFile(given)})`);
  const [first] = tokens;
  if (first === undefined) return;
  const path = `/v2/organizations/${first.organization}/rate_limit`;
  terminal.say(`try     ${curlLine({ header: "Authorization: Bearer {token}", file, url, path })}`);
}

const ofFile = (given: string | undefined): string =>
  given === undefined ? "; the file goes when this stops" : "";

/** The token goes from the file to curl through a pipe: neither shows it in a process list or a history. */
function curlLine({
  header,
  file,
  url,
  path,
  sample,
}: Record<"header" | "file" | "url" | "path", string> & {
  readonly sample?: CallSample | undefined;
}): string {
  const [before = "", after = ""] = header.split("{token}");
  const rest = after === "" ? "" : ` + ${JSON.stringify(after)}`;
  const read = `node -p '${JSON.stringify(before)} + JSON.parse(fs.readFileSync(process.argv[1]))[0].token${rest}'`;
  return `${read} ${shellCommand([file])} | curl -sS -H @- ${shellCommand([...wordsOf(sample), url + path])}`;
}

/** Words of curl for a request that is no plain GET. */
function wordsOf(sample: CallSample | undefined): string[] {
  const { method = "GET", headers = {}, body } = sample ?? {};
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return [
    ...(method === "GET" ? [] : ["-X", method]),
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    ...(text === undefined ? [] : ["-d", text]),
  ];
}

/** Nobody may take a deployment that is wrong on purpose for a right one. */
function warnOfFault(terminal: Terminal, { fault, rate }: ChosenFault): void {
  const degree = fault.rate === null ? "" : ` (${rate}: ${fault.rate.meaning})`;
  terminal.say(`${pc.red(pc.bold("FAULT"))}   ${pc.bold(fault.name)}: ${fault.wrong}${degree}`);
  terminal.say("        this deployment is wrong on purpose; the judge must say so");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

const beyondLoopback = (host: string): string =>
  `listening on ${host}: whoever reaches this machine can call it, and tokens travel unencrypted (plain HTTP)`;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
