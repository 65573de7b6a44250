// The options of `spillway check --target`, apart from what they need to be loaded for.

export const targetOptions = {
  target: { type: "string", requiresArg: true, describe: "a live deployment's URL, instead of a module" },
  "allow-host": {
    type: "string",
    requiresArg: true,
    describe: "the target's host, again, where it is not this machine",
  },
  tokens: { type: "string", requiresArg: true, describe: "the tokens file of those who call the target" },
  "clock-header": {
    type: "string",
    requiresArg: true,
    describe: "the request header from which the target takes its time, in ms since the epoch",
  },
  alone: { type: "boolean", describe: "nobody else uses these tokens' quotas meanwhile" },
  calls: { type: "number", requiresArg: true, describe: "the most calls to the target [default: 500]" },
  seconds: { type: "number", requiresArg: true, describe: "the most time, in seconds [default: 120]" },
} as const;

export interface TargetArgs {
  readonly target?: string | undefined;
  readonly allowHost?: string | undefined;
  readonly tokens?: string | undefined;
  readonly clockHeader?: string | undefined;
  readonly alone?: boolean | undefined;
  readonly calls?: number | undefined;
  readonly seconds?: number | undefined;
}
