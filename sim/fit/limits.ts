// Limits as a fit needs them, of rules or of a policy: the lengths of windows, and when they end.

import { calendarSeconds } from "../../src/policy/calendar.ts";
import { quotaFor } from "../../src/policy/effective.ts";
import type { Policy, Quota } from "../../src/policy/policy.ts";
import {
  organizationLimit,
  type Rules,
  type Scope,
  semanticsOf,
  userLimit,
  type WindowLimit,
} from "../../src/rules/rules.ts";
import { ABSENT } from "../../src/scenario/client.ts";

export interface LimitedCaller {
  readonly organization: string;
  readonly user: string;
}

export interface Limits {
  /** Operations whose windows are told apart. */
  readonly operations: readonly string[];
  /** Returns the organization's window of an operation; by a policy, the operation's first fixed window. */
  windowOf(organization: string, operation: string): Pick<WindowLimit, "limit" | "windowSeconds">;
  /** Returns the seconds to the ends of a call's windows on the grid of Unix time; `ABSENT` for other windows. */
  resetsAt(caller: LimitedCaller, operation: string, seconds: number): { reset: number; userReset: number };
}

const unknown = { reset: ABSENT, userReset: ABSENT };
const secondsLeft = (windowSeconds: number, seconds: number): number =>
  Math.ceil(windowSeconds - (seconds % windowSeconds));

export function limitsOfRules(rules: Rules): Limits {
  return {
    operations: ["rest", "graphql"],
    windowOf: (organization, operation) => organizationLimit(rules, organization, operation as Scope),
    resetsAt: ({ organization, user }, operation, seconds) => {
      const scope = operation as Scope;
      if (semanticsOf(rules, scope).anchor !== "epoch") return unknown;
      return {
        reset: secondsLeft(organizationLimit(rules, organization, scope).windowSeconds, seconds),
        userReset: secondsLeft(userLimit(rules, organization, user, scope).windowSeconds, seconds),
      };
    },
  };
}

/** Length of a window for operations without a fixed window, seconds. */
const usualSeconds = 60;

export function limitsOfPolicy(policy: Policy): Limits {
  const quotasOf = (operation: string): Quota[] =>
    Object.keys(policy.quotas)
      .filter((name) => Object.hasOwn(policy.operations[operation]?.uses ?? {}, name))
      .map((name) => quotaFor(policy, name, {}));
  return {
    operations: Object.keys(policy.operations),
    windowOf: (_organization, operation) => {
      for (const { algorithm } of quotasOf(operation))
        if (algorithm.kind === "fixed-window")
          return { limit: algorithm.limit, windowSeconds: lengthOf(algorithm) };
      const [first] = quotasOf(operation);
      const limit =
        first?.algorithm.kind === "token-bucket" ? first.algorithm.capacity : Number.MAX_SAFE_INTEGER;
      return { limit, windowSeconds: usualSeconds };
    },
    resetsAt: (_caller, operation, seconds) => {
      const resets = quotasOf(operation).map(({ algorithm }) =>
        algorithm.kind === "fixed-window" && algorithm.anchor === "epoch"
          ? secondsLeft(algorithm.windowSeconds, seconds)
          : ABSENT,
      );
      return { reset: resets[0] ?? ABSENT, userReset: resets[1] ?? ABSENT };
    },
  };
}

function lengthOf({ anchor, windowSeconds }: Extract<Quota["algorithm"], { kind: "fixed-window" }>): number {
  return typeof anchor === "object" && "calendar" in anchor
    ? calendarSeconds[anchor.calendar]
    : windowSeconds;
}

/** Returns the limits that a fit was made under. */
export const limitsOf = ({
  rules,
  policy,
}: {
  readonly rules: Rules;
  readonly policy?: Policy | undefined;
}): Limits => (policy === undefined ? limitsOfRules(rules) : limitsOfPolicy(policy));
