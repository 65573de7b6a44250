// Options that `probe` and `status` have in common: which target, which organization, whose token.
import type { ConnectionOptions } from "../connect/connection.ts";
import { parseTarget, requireAllowed } from "../connect/target.ts";
import type { Policy } from "../policy/policy.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { isToken } from "../rules/tokens.ts";
import { counted } from "../rules/words.ts";
import { connectionOptions, readConnection } from "./connection-options.ts";
import { readPolicyTokens, readTokens } from "./files.ts";
import { tokensFormat } from "./run-options.ts";
import { type OptionArgs, option, type VerbOptions } from "./verb.ts";

/** Environment variable of the token if there is no tokens file. An option's value would show in process lists. */
const VARIABLE = "SPILLWAY_TOKEN";

export const targetOptions = {
  target: option.text("URL", "call the deployment at URL", { demandOption: true }),
  org: option.text("SLUG", "ask for the organization SLUG [default: that of the first token in --tokens]"),
  "allow-host": option.text("HOST", "allow calls to HOST, the target's host, if it is not this machine"),
  tokens: option.text(
    "FILE",
    `call with the first fitting token in FILE: ${tokensFormat} [default: the token in ${VARIABLE}]`,
  ),
  ...connectionOptions,
} as const satisfies VerbOptions;

export type ProbedTargetArgs = OptionArgs<typeof targetOptions>;

/** A target that may be called, and its caller. */
export interface ProbedTarget extends ConnectionOptions {
  readonly target: string;
  readonly organization: string;
  readonly token: string;
  /** Name of the user; `null` if the token came without a name. */
  readonly user: string | null;
}

/**
 * Reads the target, its connection and its caller.
 * @throws SpillwayError `TARGET_NOT_ALLOWED`, `TOKENS_INVALID` and those of the files, `USAGE`
 */
export async function probedTarget(args: ProbedTargetArgs): Promise<ProbedTarget> {
  const { target: url, org, allowHost, tokens } = args;
  const target = parseTarget("--target", url);
  requireAllowed("--target", target, allowHost ?? null);
  return {
    target: target.base,
    ...(await readConnection(args, url)),
    ...(tokens === undefined ? ofVariable(org) : await ofFile(tokens, org)),
  };
}

/** Reads a policy's target and its first token; without a file, the variable's token, whose attributes are unknown. */
export async function policyTarget(
  args: ProbedTargetArgs,
  policy: Policy,
): Promise<ConnectionOptions & { readonly target: string; readonly caller: PolicyToken }> {
  const { target: url, allowHost, tokens } = args;
  const target = parseTarget("--target", url);
  requireAllowed("--target", target, allowHost ?? null);
  const { attributes } = policy.auth;
  const [first] = tokens === undefined ? [] : await readPolicyTokens(tokens, attributes);
  const caller = first ?? { token: tokenOfVariable(), attributes: {} };
  return { target: target.base, ...(await readConnection(args, url)), caller };
}

type Caller = Pick<ProbedTarget, "organization" | "token" | "user">;

function ofVariable(org: string | undefined): Caller {
  const token = tokenOfVariable();
  if (org !== undefined) return { token, user: null, organization: org };
  throw new SpillwayError("USAGE", `the organization of the token in ${VARIABLE} is needed`, {
    problem: { path: "--org", got: "nothing", allowed: "--org SLUG" },
    hint: "a tokens file names it: --tokens FILE",
  });
}

function tokenOfVariable(): string {
  const token = process.env[VARIABLE] ?? "";
  if (!isToken(token))
    throw new SpillwayError("USAGE", "a token is needed", {
      problem: {
        path: VARIABLE,
        got: token === "" ? "nothing" : "a value with spaces or other than ASCII",
        allowed: "a token, or --tokens FILE",
      },
      hint: "tokens come from a file or from the environment, never from a flag: process lists show flags",
    });
  return token;
}

/** Returns the first entry that may read its organization's status. */
async function ofFile(file: string, org: string | undefined): Promise<Caller> {
  const entries = (await readTokens(file)).filter(
    ({ organization }) => organization === (org ?? organization),
  );
  const entry = entries.find(({ scopes }) => scopes.includes("read_accounts"));
  if (entry !== undefined) {
    const { token, user, organization } = entry;
    return { token, user, organization };
  }
  const whose = org === undefined ? "" : ` of ${quote(org)}`;
  throw new SpillwayError("TOKENS_INVALID", `the tokens file has no token${whose} that may read the status`, {
    problem: {
      path: file,
      got: `${counted(entries.length, "entry")}${whose}, none with the scope read_accounts`,
      allowed: `an entry${whose} with the scope read_accounts`,
    },
  });
}
