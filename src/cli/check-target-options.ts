// The options of `spillway check --target`, in a file of their own so that they load without the check.
import { connectionOptions } from "./connection-options.ts";
import { tokensFormat } from "./run-options.ts";
import { type OptionArgs, option, type VerbOptions } from "./verb.ts";

const group = "Checking a deployment";

export const targetOptions = {
  target: option.text("URL", "check the live deployment at URL instead of a module", { group }),
  "allow-host": option.text("HOST", "allow calls to HOST, the target's host, if it is not this machine", {
    group,
  }),
  tokens: option.text("FILE", `call with the tokens in FILE: ${tokensFormat}`, { group }),
  ca: { ...connectionOptions.ca, group },
  cert: { ...connectionOptions.cert, group },
  key: { ...connectionOptions.key, group },
  "clock-header": option.text(
    "NAME",
    "move the target's clock by the request header NAME, in ms since the epoch",
    { group },
  ),
  alone: option.flag("state that nobody else uses these tokens' quotas meanwhile", { group }),
  calls: option.number("N", "make at most N calls to the target [default: 500]", { group }),
  seconds: option.number("N", "take at most N seconds [default: 120]", { group }),
} as const satisfies VerbOptions;

export type TargetArgs = OptionArgs<typeof targetOptions>;
