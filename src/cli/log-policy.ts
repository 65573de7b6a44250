// The policy by which logs are read: the one that the user names, or a trace's own.
import type { LogFile } from "../logs/read-file.ts";
import type { Policy } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Rules } from "../rules/rules.ts";
import { openTrace } from "../trace/read.ts";
import { enforceable } from "./as-window.ts";

interface Given {
  readonly rules?: Rules;
  readonly policy?: Policy;
}

/**
 * Returns the policy of logs: the given one, else that of a trace of version 2 among them. Given rules then become that
 * policy. Returns `undefined` if rules are enough.
 * @throws SpillwayError `USAGE` if two traces claim different policies; `POLICY_UNSERVABLE` as `enforceable` does
 */
export async function policyOfLogs(
  files: readonly LogFile[],
  given: Given,
  { asWindow, verb }: { readonly asWindow: boolean | undefined; readonly verb: string },
): Promise<Policy | undefined> {
  if (given.policy !== undefined) return given.policy;
  const claimed: { readonly name: string; readonly policy: Policy }[] = [];
  for (const { sample, name, open } of files) {
    if (sample.format !== "trace") continue;
    const trace = await openTrace(open());
    // Leaving the stream after its first call closes its file.
    for await (const _ of trace.calls) break;
    if (trace.version === 2) claimed.push({ name, policy: trace.header.policy });
  }
  const [first] = claimed;
  if (first === undefined) return undefined;
  if (given.rules !== undefined) return policyOf(given.rules);
  const other = claimed.find(({ policy }) => JSON.stringify(policy) !== JSON.stringify(first.policy));
  if (other !== undefined)
    throw new SpillwayError("USAGE", "these traces claim different policies", {
      problem: {
        path: other.name,
        got: other.policy.name,
        allowed: `${first.policy.name}, as ${first.name} does`,
      },
      hint: "--policy names the one to use",
    });
  return enforceable(first.policy, { asWindow }, `${verb} LOG`);
}
