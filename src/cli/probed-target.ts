// What `probe` and `status` have in common: which target, which organization, whose token.
import { parseTarget, requireAllowed } from "../load/target.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { readTokens } from "./files.ts";
import { tokensFormat } from "./run-options.ts";
import type { VerbOption } from "./verb.ts";

/** The variable that holds a token where there is no tokens file: a flag would show in process lists. */
const VARIABLE = "SPILLWAY_TOKEN";

export const targetOptions = {
  target: {
    argument: "URL",
    type: "string",
    demandOption: true,
    describe: "call the deployment at URL",
  },
  org: {
    argument: "SLUG",
    type: "string",
    demandOption: true,
    describe: "ask for the organization SLUG",
  },
  "allow-host": {
    argument: "HOST",
    type: "string",
    describe: "allow calls to HOST, the target's host, if it is not this machine",
  },
  tokens: {
    argument: "FILE",
    type: "string",
    describe: `call with the organization's first token in FILE: ${tokensFormat} [default: the token in ${VARIABLE}]`,
  },
} as const satisfies Record<string, VerbOption>;

export interface TargetArgs {
  readonly target: string;
  readonly org: string;
  readonly allowHost?: string | undefined;
  readonly tokens?: string | undefined;
}

/** A target that may be called, and who calls. */
export interface ProbedTarget {
  readonly target: string;
  readonly organization: string;
  readonly token: string;
  /** `null` where the token came without a name. */
  readonly user: string | null;
}

/** @throws SpillwayError `TARGET_NOT_ALLOWED`, `TOKENS_INVALID` and those of the tokens file, `USAGE` */
export async function probedTarget({
  target: url,
  org,
  allowHost,
  tokens,
}: TargetArgs): Promise<ProbedTarget> {
  const target = parseTarget("--target", url);
  requireAllowed("--target", target, allowHost ?? null);
  return { target: target.base, organization: org, ...(await callerOf(org, tokens)) };
}

async function callerOf(
  org: string,
  file: string | undefined,
): Promise<{ token: string; user: string | null }> {
  if (file === undefined) {
    const token = process.env[VARIABLE] ?? "";
    if (/^[\x21-\x7e]+$/.test(token)) return { token, user: null };
    throw new SpillwayError("USAGE", "a token is needed", {
      problems: [
        {
          path: VARIABLE,
          got: token === "" ? "nothing" : "a value with spaces or other than ASCII",
          allowed: "a token, or --tokens FILE",
        },
      ],
      hint: "tokens come from a file or from the environment, never from a flag: process lists show flags",
    });
  }
  const ofOrganization = (await readTokens(file)).filter(({ organization }) => organization === org);
  const [entry] = ofOrganization.filter(({ scopes }) => scopes.includes("read_accounts"));
  if (entry !== undefined) return { token: entry.token, user: entry.user };
  throw new SpillwayError(
    "TOKENS_INVALID",
    `the tokens file has no token for ${quote(org)} that may read its status`,
    {
      problems: [
        {
          path: file,
          got: `${ofOrganization.length} entries of ${quote(org)}, none with the scope read_accounts`,
          allowed: `an entry with "organization": ${quote(org)} and the scope read_accounts`,
        },
      ],
    },
  );
}
