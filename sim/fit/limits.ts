// Limits as a fit needs them: the lengths of windows, and when they end.
import { quotaFor } from "../../src/policy/effective.ts";
import type { Policy, Quota } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { Rules, WindowLimit } from "../../src/rules/rules.ts";
import { ABSENT } from "../../src/scenario/client.ts";

export interface LimitedCaller {
  readonly organization: string;
  readonly user: string;
}

/** A fixed window, and whether its windows lie on the grid of Unix time. */
export type FittedWindow = Pick<WindowLimit, "limit" | "windowSeconds"> & { readonly onGrid: boolean };

export interface Limits {
  /** Operations whose windows are told apart. */
  readonly operations: readonly string[];
  /** Returns the first fixed window of an operation, as it is for an organization. */
  windowOf(organization: string, operation: string): Pick<WindowLimit, "limit" | "windowSeconds">;
  /** Returns the window of an organization and that of a user, under rules; `null` under a policy of other quotas. */
  windowsOf(
    caller: LimitedCaller,
    operation: string,
  ): readonly [ofAll: FittedWindow, ofUser: FittedWindow] | null;
  /** Returns the seconds to the ends of a call's windows on the grid of Unix time; `ABSENT` for other windows. */
  resetsAt(caller: LimitedCaller, operation: string, seconds: number): { reset: number; userReset: number };
}

const secondsLeft = (windowSeconds: number, seconds: number): number =>
  Math.ceil(windowSeconds - (seconds % windowSeconds));

/** Length of a window for operations without a fixed window, seconds. */
const usualSeconds = 60;

export function limitsOfPolicy(policy: Policy): Limits {
  const known = new Map<string, readonly Quota[]>();
  // Most questions are about the caller and operation of the question before.
  let last = { operation: "", organization: "", user: "", quotas: [] as readonly Quota[] };
  const quotasOf = (operation: string, organization: string, user = ""): readonly Quota[] => {
    if (last.operation === operation && last.organization === organization && last.user === user)
      return last.quotas;
    const name = `${operation}\n${organization}\n${user}`;
    const quotas =
      known.get(name) ??
      Object.keys(policy.quotas)
        .filter((quota) => Object.hasOwn(policy.operations[operation]?.uses ?? {}, quota))
        .map((quota) => quotaFor(policy, quota, { organization, user }));
    known.set(name, quotas);
    last = { operation, organization, user, quotas };
    return quotas;
  };
  return {
    operations: Object.keys(policy.operations),
    windowOf: (organization, operation) => {
      const quotas = quotasOf(operation, organization);
      for (const { algorithm } of quotas)
        if (algorithm.kind === "fixed-window")
          return { limit: algorithm.limit, windowSeconds: algorithm.windowSeconds };
      const algorithm = quotas[0]?.algorithm;
      const limit = algorithm?.kind === "token-bucket" ? algorithm.capacity : Number.MAX_SAFE_INTEGER;
      return { limit, windowSeconds: usualSeconds };
    },
    windowsOf: ({ organization, user }, operation) => {
      const quotas = quotasOf(operation, organization, user);
      const [all, own] = quotas.map(({ algorithm }) =>
        algorithm.kind === "fixed-window"
          ? { ...algorithm, onGrid: algorithm.anchor === "epoch" }
          : undefined,
      );
      const isKnown = quotas.map(({ key }) => key.join(" ")).join() === "organization,organization user";
      return isKnown && all !== undefined && own !== undefined ? [all, own] : null;
    },
    resetsAt: ({ organization, user }, operation, seconds) => {
      const resets = quotasOf(operation, organization, user).map(({ algorithm }) =>
        algorithm.kind === "fixed-window" && algorithm.anchor === "epoch"
          ? secondsLeft(algorithm.windowSeconds, seconds)
          : ABSENT,
      );
      return { reset: resets[0] ?? ABSENT, userReset: resets[1] ?? ABSENT };
    },
  };
}

/** Returns the limits that a fit was made under. */
export const limitsOf = ({
  rules,
  policy = policyOf(rules),
}: {
  readonly rules: Rules;
  readonly policy?: Policy | undefined;
}): Limits => limitsOfPolicy(policy);
