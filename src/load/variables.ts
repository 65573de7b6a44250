// The variables that a bundle reads (`__ENV`). `spillway load` sets them, and so may a person with `k6 run -e`.

/** Variables, each with one line for the bundle's header comment. An empty one counts as not given. */
export const variables = {
  TARGET: "whom to load: http://HOST[:PORT][/PATH]",
  TOKENS: "path of the tokens file, from where the bundle lies or absolute; tokens.json where it is left out",
  ALLOW_HOST: "the target's host, again, where it is not this machine",
  GRAPHQL_URL: "where GraphQL is, if not at TARGET/v1/graphql, or where the policy has it",
  RULES: "path of a JSON file with the rules that the target claims; the scenario's where it is left out",
  SEED: "a whole number in place of the scenario's seed",
  START_AT_MS: "what arrivals by the clock go by, ms since the epoch; now where it is left out",
  DURATION_MS: "milliseconds in place of the scenario's duration",
  TIMEOUT_MS: "how long to wait for an answer; the scenario's network.timeout where it is left out",
  CERT: "path of the client certificate (PEM) for a target of https; needs KEY. SSL_CERT_FILE names authorities",
  KEY: "path of the private key of CERT",
  KEEP_ALIVE: "1: reuse connections (k6 then repeats a call by itself when a connection breaks)",
  SHARED: "1: others use the same quotas meanwhile",
  TRACE:
    '1: a line for each answer, with --log-format raw --console-output FILE; below a header (FORMAT.md), those of {"sent" are a trace',
  SUMMARY: "path of a JSON file for k6's summary (npx spillway load)",
} as const;

export type Variable = keyof typeof variables;
