// The options of `spillway check --target`, in a file of their own so that they load without the check.
import { connectionOptions } from "./connection-options.ts";
import { tokensFormat } from "./run-options.ts";
import type { OptionArgs, VerbOptions } from "./verb.ts";

const group = "Checking a deployment";

export const targetOptions = {
  target: {
    argument: "URL",
    type: "string",
    group,
    describe: "check the live deployment at URL instead of a module",
  },
  "allow-host": {
    argument: "HOST",
    type: "string",
    group,
    describe: "allow calls to HOST, the target's host, if it is not this machine",
  },
  tokens: {
    argument: "FILE",
    type: "string",
    group,
    describe: `call with the tokens in FILE: ${tokensFormat}`,
  },
  ca: { ...connectionOptions.ca, group },
  cert: { ...connectionOptions.cert, group },
  key: { ...connectionOptions.key, group },
  "clock-header": {
    argument: "NAME",
    type: "string",
    group,
    describe: "move the target's clock by the request header NAME, in ms since the epoch",
  },
  alone: { type: "boolean", group, describe: "state that nobody else uses these tokens' quotas meanwhile" },
  calls: {
    argument: "N",
    type: "number",
    group,
    describe: "make at most N calls to the target [default: 500]",
  },
  seconds: {
    argument: "N",
    type: "number",
    group,
    describe: "take at most N seconds [default: 120]",
  },
} as const satisfies VerbOptions;

export type TargetArgs = OptionArgs<typeof targetOptions>;
