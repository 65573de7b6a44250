// What tests of targets that make it hard share: answers, findings, and numbers as even as a seed makes them.
import type { Ask, Got } from "../../src/connect/send.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import type { ProbeReport } from "../../src/probe/probe.ts";

export const answer = (status: number, body: unknown = {}, headers: Got["headers"] = {}): Got => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

export const seen = (report: ProbeReport, name: FindingName, scope: "rest" | "graphql" | null) =>
  report.findings.find((finding) => finding.name === name && finding.scope === scope);

export const isStatus = ({ url, method }: Ask): boolean => method === "GET" && url.endsWith("/rate_limit");

/** The same for everybody, and as even as a seed makes it: `Math.imul` of the number. */
export const draw = (call: number, seed = 1): number =>
  ((Math.imul(call * 7919 + seed, 2654435761) >>> 8) % 1000) / 1000;
