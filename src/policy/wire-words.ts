// Words of wire formats (POLICY.md §8) that other lists are made of.

/**
 * Forms of time. `delta`: after the answer; `epoch`: since 1970. `float` may have decimals. `go-duration` is
 * `1h2m3.5s`, `120ms`.
 */
export const timeForms = [
  "delta-s",
  "delta-s-float",
  "delta-ms",
  "epoch-s",
  "epoch-s-float",
  "epoch-ms",
  "http-date",
  "rfc3339",
  "go-duration",
] as const;

export const outcomes = ["admitted", "refused", "exempt", "unknown"] as const;
