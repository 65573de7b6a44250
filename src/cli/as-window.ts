// `--as-window`: replaces each quota that the engine cannot enforce with a fixed window.
import { asWindows, unenforceable } from "../policy/as-window.ts";
import type { Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Rules } from "../rules/rules.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { readLimits } from "./files.ts";
import { warn } from "./terminal.ts";
import { option, program } from "./verb.ts";

export const asWindowOption = option.flag(
  "replace sliding windows by fixed ones, and leave out limits of concurrent calls",
);

interface AsWindowArgs {
  readonly asWindow?: boolean | undefined;
  /** Value of `--rules` as the user wrote it. */
  readonly rules?: string | undefined;
}

/**
 * Returns a policy that can be enforced, and warns first of each quota that a window stands in for.
 * @param verb the words of the command before its options
 * @throws SpillwayError `POLICY_UNSERVABLE` if a quota cannot be enforced, and no window may stand in for it
 */
export function enforceable(policy: Policy, { asWindow = false, rules }: AsWindowArgs, verb: string): Policy {
  const names = unenforceable(policy);
  if (names.length === 0) return policy;
  if (!asWindow)
    throw new SpillwayError("POLICY_UNSERVABLE", "not all quotas of this policy can be enforced", {
      problems: names.map((name) => ({
        path: `quotas.${name}.algorithm.kind`,
        got: quote(policy.quotas[name]?.algorithm.kind),
        allowed: "fixed-window or token-bucket",
      })),
      hint: `${program} ${verb} --policy ${shellCommand([rules])} --as-window lets windows stand in`,
    });
  const approximated = asWindows(policy);
  warn(`${pc.yellow("approximated")} ${approximated.changes.join("; ")}`);
  return approximated.policy;
}

/** Returns the words of a command up to its options: `simulate my-clients.ts`. */
export const commandWords = (verb: string, scenario: string | undefined): string =>
  scenario === undefined ? verb : `${verb} ${shellCommand([scenario])}`;

/**
 * Reads the limits of a simulation: rules, or a policy that can be enforced; an empty object if none are named.
 * @param verb the words of the command before its options
 * @throws SpillwayError as `readLimits` and `enforceable` do
 */
export async function limitsOf(
  args: AsWindowArgs,
  verb: string,
): Promise<{ readonly rules?: Rules; readonly policy?: Policy }> {
  if (args.rules === undefined) return {};
  const limits = await readLimits(args.rules);
  return "policy" in limits ? { policy: enforceable(limits.policy, args, verb) } : limits;
}
