// `spillway serve`: the reference deployment, for people to try their own clients against.

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
import { requireSeed, requireWhole, rulesOption, tokensFormat } from "./run-options.ts";
import { keepCertificate, keepTokens, tlsOf } from "./serve-files.ts";
import { describeThrown, openTerminal, type Terminal, warn } from "./terminal.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

const options = {
  port: option.number("PORT", "listen on PORT; 0 takes any free one", { default: 4100 }),
  host: option.text(
    "ADDRESS",
    "listen on ADDRESS; an address beyond loopback is open to whoever reaches it",
    { default: "127.0.0.1" },
  ),
  rules: { ...rulesOption("follow", null), default: "default" },
  tokens: option.text(
    "FILE",
    `accept the tokens in FILE: ${tokensFormat} [default: sample tokens in a temporary file]`,
  ),
  users: option.number("N", "make N sample tokens, one a user", { default: 30 }),
  fault: faultOption,
  seed: option.number("N", "draw for --fault from seed N", { default: 1 }),
  workers: option.number("N", "answer by N processes that share their counters [default: this process]"),
  tls: option.flag("speak TLS, HTTP/2 and HTTP/1.1, by a certificate that is made for this run", {
    default: false,
  }),
  "tls-cert": option.text("FILE", "speak TLS by the certificate in FILE (PEM); it needs --tls-key"),
  "tls-key": option.text("FILE", "use the private key in FILE (PEM) for --tls-cert"),
  "as-window": asWindowOption,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "serve",
  summary: "run a stand-in for an API, to try your own clients against",
  notes: [
    "Without --policy it is the reference deployment. With one, its routes answer sample JSON, and its limits hold. A request declares its cost by the header Spillway-Cost where the policy has no number.",
  ],
  options,
  examples: {
    "$0 serve --tls": "speak TLS: clients trust the certificate whose file it names",
    "$0 serve": "listen on http://127.0.0.1:4100, with sample tokens",
    "$0 serve --rules documented --port 0": "follow the public documentation's limits, on a free port",
    "$0 serve --rules rules.json --tokens tokens.json": "use rules and tokens of your own",
    "$0 serve --policy github": "stand in for GitHub: limits, headers and refusals as its documentation says",
    "$0 serve --fault per-instance-counters=3": "have a known bug: three processes that count apart",
    "$0 load herd --target http://127.0.0.1:4100 --tokens FILE": "then load it, from another terminal",
  },
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
    const secure = await tlsOf(args);
    const serving = await deploy({
      ...(secure === null ? {} : { tls: secure }),
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
      const file = args.tokens ?? keepTokens(tokens);
      const ca = keepCertificate(secure);
      terminal.result({ url: serving.url, tokens: file, ...(ca === null ? {} : { ca }) });
      if (fault !== null) warnOfFault(terminal, fault);
      introduce(terminal, args, serving.url, file, tokens, ca);
      if (serving.workers > 1) terminal.say(`workers ${serving.workers} processes behind one port`);
      for (const advice of adviseRules(rules)) terminal.say(`${pc.yellow("note")}    ${advice}`);
      if (!isLoopback(args.host))
        terminal.say(`${pc.yellow("warning")} ${beyondLoopback(args.host, secure !== null)}`);
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

/** Serves a policy that is not the reference deployment's. */
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
  const policy = enforceable(written, args, "serve");
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
  const tls = (await tlsOf(args)) ?? undefined;
  const onUnexpected = telling(args);
  const serving = await servePolicy({ port, host, policy, tokens, faulty, tls, onUnexpected });
  try {
    terminal.say(serving.url);
    if (fault !== null) warnOfFault(terminal, fault);
    const notes = presets[args.rules]?.notes ?? [];
    for (const note of notes) terminal.say(`${pc.yellow("note")}    ${note}`);
    const listed = tokens.map(({ token, attributes }) => ({ token, ...attributes }));
    const file = args.tokens ?? keepTokens(listed);
    const ca = keepCertificate(tls ?? null);
    terminal.result({ url: serving.url, tokens: file, ...(ca === null ? {} : { ca }) });
    terminal.say(`policy  ${policy.name}: ${Object.keys(policy.quotas).join(", ")}`);
    terminal.say(`tokens  ${file} (${counted(tokens.length, "caller")}${ofFile(args.tokens)})`);
    const [operation] = Object.values(policy.operations);
    const sample = operation?.samples[0];
    const { header, form } = policy.auth;
    sayCertificate(terminal, ca);
    const shown = { header: `${header}: ${[form].flat()[0]}`, file, url: serving.url, ca };
    terminal.say(`try     ${curlLine({ ...shown, path: sample?.path ?? "/", sample })}`);
    if (!isLoopback(host)) terminal.say(`${pc.yellow("warning")} ${beyondLoopback(host, tls !== undefined)}`);
    terminal.say("stop    Ctrl-C");
    await aborted(interrupt.signal);
    terminal.say("stopping: calls on their way are answered first");
  } finally {
    await serving.close();
    interrupt.release();
  }
}

/** Injects a fault into a policy. A fault of several processes happens within one. */
async function faultyBy(policy: Policy, fault: ChosenFault, seed: number) {
  const { injectQuotaFault } = await import("../faults/choice.ts");
  const { seededRandom } = await import("../faults/random.ts");
  return injectQuotaFault(fault, policy, seededRandom(seed));
}

function sayCertificate(terminal: Terminal, ca: string | null): void {
  if (ca !== null) terminal.say(`ca      ${ca} (clients have to trust it; it goes when this stops)`);
}

function introduce(
  terminal: Terminal,
  { tokens: given, rules }: Args,
  url: string,
  file: string,
  tokens: readonly Token[],
  ca: string | null,
): void {
  const organizations = new Set(tokens.map(({ organization }) => organization));
  const whose = `${counted(tokens.length, "user")} of ${[...organizations].slice(0, 3).join(", ")}`;
  terminal.say(`rules   ${rules}`);
  terminal.say(`tokens  ${file} (${whose}${ofFile(given)})`);
  sayCertificate(terminal, ca);
  const [first] = tokens;
  if (first === undefined) return;
  const path = `/v2/organizations/${first.organization}/rate_limit`;
  terminal.say(`try     ${curlLine({ header: "Authorization: Bearer {token}", file, url, path, ca })}`);
}

const ofFile = (given: string | undefined): string =>
  given === undefined ? "; the file goes when this stops" : "";

/** Returns a line for curl. A pipe brings the token from the file: no process list and no history shows it. */
function curlLine({
  header,
  file,
  url,
  path,
  sample,
  ca,
}: Record<"header" | "file" | "url" | "path", string> & {
  readonly ca: string | null;
  readonly sample?: CallSample | undefined;
}): string {
  const [before = "", after = ""] = header.split("{token}");
  const rest = after === "" ? "" : ` + ${JSON.stringify(after)}`;
  const read = `node -p '${JSON.stringify(before)} + JSON.parse(fs.readFileSync(process.argv[1]))[0].token${rest}'`;
  return `${read} ${shellCommand([file])} | curl -sS -H @- ${shellCommand([...(ca === null ? [] : ["--cacert", ca]), ...wordsOf(sample), url + path])}`;
}

/** Returns curl's words for a request that is no plain GET. */
function wordsOf(sample: CallSample | undefined): string[] {
  const { method = "GET", headers = {}, body } = sample ?? {};
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return [
    ...(method === "GET" ? [] : ["-X", method]),
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    ...(text === undefined ? [] : ["-d", text]),
  ];
}

/** Warns that the deployment is wrong on purpose, so that nobody takes it for a right one. */
function warnOfFault(terminal: Terminal, { fault, rate }: ChosenFault): void {
  const degree = fault.rate === null ? "" : ` (${rate}: ${fault.rate.meaning})`;
  terminal.say(`${pc.red(pc.bold("FAULT"))}   ${pc.bold(fault.name)}: ${fault.wrong}${degree}`);
  terminal.say("        this deployment is wrong on purpose; the judge must say so");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

const beyondLoopback = (host: string, isSecure: boolean): string =>
  `listening on ${host}: whoever reaches this machine can call it${isSecure ? "" : ", and tokens travel unencrypted (plain HTTP)"}`;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
