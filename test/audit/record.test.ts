// Calls of an audit as they are kept: a path that the target takes for another is no status.
import { expect, test } from "vitest";
import { AuditRecord } from "../../src/audit/record.ts";
import type { Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { quotaHeader } from "../trace/samples.ts";

const policy = parsePolicy(presets["github"]?.policy);
const record = () => new AuditRecord({ ...quotaHeader, policy }, [], false, []);
const shot: Shot = {
  ...{ caller: null, operation: "status", attributes: { user: "ann" }, method: "GET", path: "/rate_limit/" },
  ...{ headers: {}, body: null, cost: null, way: "kept", otherwise: "read" },
};
const status = { resources: { core: { limit: 60, used: 3, remaining: 57, reset: 1_795_305_600 } } };

test.each([
  ["a status's body", 200, status, shot, "status"],
  ["another body", 200, { ok: true }, shot, "read"],
  ["404", 404, { message: "Not Found" }, shot, "read"],
  ["the half of a body", 200, '{"resources":', shot, "status"],
  ["no body, to a HEAD", 200, "", { ...shot, method: "HEAD" }, "status"],
  ["another body, to the status's own path", 200, { ok: true }, { ...shot, otherwise: undefined }, "status"],
])("%s", (_, code, body, asked, operation) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const raw = { status: code, headers: {}, body: text, sentMs: 1_000, receivedMs: 1_005 };
  const { call, shot: made } = record().add(asked, raw as never);
  expect(call.operation).toBe(operation);
  expect(made.isVague === true).toBe(operation === "read");
  if (operation === "read") expect(call.outcome).toBe("unknown");
});
