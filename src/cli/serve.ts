// `spillway serve`: the reference deployment, for people to try their own clients against.

import type { ChosenFault } from "../faults/choice.ts";
import type { CallSample, Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { adviseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { onInterrupt } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import type { Deployment } from "../service/deploy.ts";
import type { ServeOptions } from "../service/serve.ts";
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
    "Without --policy it is the reference deployment. With one, its routes answer sample JSON, and its limits hold. Where the policy has no number, a request declares its cost by the header Spillway-Cost, and by Spillway-Actual what it is charged in the end.",
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
    const terminal = openTerminal(args.json);
    requireNumbers(args);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const limits = await readLimits(args.rules);
    const served =
      "policy" in limits
        ? await standIn(args, limits.policy, fault)
        : await reference(args, limits.rules, fault);
    const secure = await tlsOf(args);
    const interrupt = onInterrupt();
    const { port, host } = args;
    const serving = await served.start({ port, host, tls: secure ?? undefined, onUnexpected: telling(args) });
    try {
      const file = args.tokens ?? keepTokens(served.tokens);
      const ca = keepCertificate(secure);
      saySettled(terminal, args, served, { ...serving, file, ca, fault, isSecure: secure !== null });
      await aborted(interrupt.signal);
      terminal.say("stopping: calls on their way are answered first");
    } finally {
      await serving.close();
      interrupt.release();
    }
  },
});

/** @throws SpillwayError `USAGE` if a port or a number of users or processes is out of bounds */
export function requireNumbers({ port, users, workers }: Pick<Args, "port" | "users" | "workers">): void {
  requireWhole("--port", port, 0, 65_535);
  requireWhole("--users", users, 1, 100_000);
  if (workers !== undefined) requireWhole("--workers", workers, 1, 64);
}

/** A deployment that listens. */
interface Settled {
  readonly url: string;
  readonly workers?: number | undefined;
  /** Files of the tokens, and of the certificate that clients have to trust. */
  readonly file: string;
  readonly ca: string | null;
  readonly fault: ChosenFault | null;
  readonly isSecure: boolean;
}

/** Says all that is to know of a deployment that listens. */
export function saySettled(
  terminal: Terminal,
  args: Pick<Args, "tokens" | "host">,
  served: Pick<Served, "limits" | "callers" | "call" | "notes">,
  { url, workers = 1, file, ca, fault, isSecure }: Settled,
): void {
  terminal.say(url);
  terminal.result({ url, tokens: file, ...(ca === null ? {} : { ca }) });
  if (fault !== null) warnOfFault(terminal, fault);
  introduce(terminal, args, served, { url, file, ca });
  if (workers > 1) terminal.say(`workers ${workers} processes behind one port`);
  for (const note of served.notes) terminal.say(`${pc.yellow("note")}    ${note}`);
  if (!isLoopback(args.host)) terminal.say(`${pc.yellow("warning")} ${beyondLoopback(args.host, isSecure)}`);
  terminal.say("stop    Ctrl-C");
}

export const telling =
  ({ debug }: Pick<Args, "debug">) =>
  (error: Error): void =>
    debug === true ? console.error(describeThrown(error)) : warn(`unexpected: ${error.message}`);

type Common = Pick<ServeOptions, "port" | "host" | "tls"> & { readonly onUnexpected: (error: Error) => void };

/** A deployment to serve, with the words on it. */
interface Served {
  start(common: Common): Promise<Pick<Deployment, "url" | "close"> & Partial<Deployment>>;
  /** Entries of the tokens file. */
  readonly tokens: readonly { readonly token: string }[];
  readonly notes: readonly string[];
  /** Limits and callers in words: `rules   default`, `30 users of acme`. */
  readonly limits: string;
  readonly callers: string;
  /** A call to try; `header` contains `{token}`. */
  readonly call: { readonly header: string; readonly path: string; readonly sample?: CallSample | undefined };
}

/** Returns the reference deployment. */
export async function reference(args: Args, rules: Rules, fault: ChosenFault | null): Promise<Served> {
  const { deploy } = await import("../service/deploy.ts");
  const { sampleTokens } = await import("../service/sample-tokens.ts");
  const tokens = args.tokens === undefined ? sampleTokens(args.users) : await readTokens(args.tokens);
  const organizations = [...new Set(tokens.map(({ organization }) => organization))];
  const { workers } = args;
  const seed = requireSeed(args.seed);
  return {
    start: (common) => deploy({ ...common, rules, tokens, workers, seed, fault: fault ?? undefined }),
    tokens,
    notes: adviseRules(rules),
    limits: `rules   ${args.rules}`,
    callers: `${counted(tokens.length, "user")} of ${organizations.slice(0, 3).join(", ")}`,
    call: {
      header: "Authorization: Bearer {token}",
      path: `/v2/organizations/${organizations[0]}/rate_limit`,
    },
  };
}

/** Returns a stand-in for a policy that is not the reference deployment's. */
export async function standIn(args: Args, written: Policy, fault: ChosenFault | null): Promise<Served> {
  const { workers } = args;
  if (workers !== undefined)
    throw new SpillwayError("USAGE", "this policy cannot be served so", {
      problem: {
        path: "--workers",
        got: quote(workers),
        allowed: `nothing with --policy ${args.rules}: the reference deployment has it`,
      },
    });
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
  const [operation] = Object.values(policy.operations);
  const sample = operation?.samples[0];
  const { header, form } = policy.auth;
  return {
    start: (common) => servePolicy({ ...common, policy, tokens, faulty }),
    tokens: tokens.map(({ token, attributes }) => ({ token, ...attributes })),
    notes: presets[args.rules]?.notes ?? [],
    limits: `policy  ${policy.name}: ${Object.keys(policy.quotas).join(", ")}`,
    callers: counted(tokens.length, "caller"),
    call: { header: `${header}: ${[form].flat()[0]}`, path: sample?.path ?? "/", sample },
  };
}

/** Injects a fault into a policy. A fault of several processes happens within one. */
async function faultyBy(policy: Policy, fault: ChosenFault, seed: number) {
  const { injectQuotaFault } = await import("../faults/choice.ts");
  const { seededRandom } = await import("../faults/random.ts");
  return injectQuotaFault(fault, policy, seededRandom(seed));
}

/** Says the limits, the callers and a call to try. */
export function introduce(
  terminal: Terminal,
  { tokens: given }: Pick<Args, "tokens">,
  { limits, callers, call }: Pick<Served, "limits" | "callers" | "call">,
  shown: { readonly url: string; readonly file: string; readonly ca: string | null },
): void {
  const { file, ca } = shown;
  terminal.say(limits, `tokens  ${file} (${callers}${ofFile(given)})`);
  if (ca !== null) terminal.say(`ca      ${ca} (clients have to trust it; it goes when this stops)`);
  terminal.say(`try     ${curlLine({ ...call, ...shown })}`);
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
export function warnOfFault(terminal: Terminal, { fault, rate }: ChosenFault): void {
  const degree = fault.rate === null ? "" : ` (${rate}: ${fault.rate.meaning})`;
  terminal.say(`${pc.red(pc.bold("FAULT"))}   ${pc.bold(fault.name)}: ${fault.wrong}${degree}`);
  terminal.say("        this deployment is wrong on purpose; the judge must say so");
}

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

export const beyondLoopback = (host: string, isSecure: boolean): string =>
  `listening on ${host}: whoever reaches this machine can call it${isSecure ? "" : ", and tokens travel unencrypted (plain HTTP)"}`;

/** Resolves once a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
