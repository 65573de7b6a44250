// Deployments that are wrong (the fault catalogue): no rules fit them, so a probe need not find any. It must end,
// within its allowance, with rules that can be read, and say of faults that it meets what it sees.
import { describe, expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import { injectFault } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import type { ProbeReport } from "../../src/probe/probe.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { probeOf, VirtualTarget } from "./virtual.ts";

const rules = parseRules({});

async function probeWith(name: string): Promise<ProbeReport> {
  const fault = faults.find((one) => one.name === name);
  if (fault === undefined) throw new RangeError(`no fault ${name}`);
  const faulty = injectFault({ fault, rate: fault.rate?.default ?? 1 }, rules, seededRandom(1));
  const target = new VirtualTarget({}, { app: faulty });
  const report = await probeOf(target);
  expect(target.calls).toBe(report.used.calls + report.used.statusCalls);
  return report;
}

const value = (report: ProbeReport, name: FindingName, scope: "rest" | "graphql" | null = "rest"): unknown =>
  report.findings.find((finding) => finding.name === name && finding.scope === scope)?.value;

describe("every fault of one process", () => {
  const suitable = faults.filter((fault) => fault.processes === null && fault.semantics === undefined);
  test.each(suitable.map(({ name }) => name))("%s", async (name) => {
    const report = await probeWith(name);
    expect(() => parseRules(report.rules)).not.toThrow();
    expect(report.used.calls).toBeLessThanOrEqual(report.allowance.calls);
    expect(report.trace.length).toBeGreaterThan(10);
  });
});

describe("what the probe sees of some", () => {
  test("status-charged: status calls count", async () => {
    const report = await probeWith("status-charged");
    expect(value(report, "statusCounted")).toBe(true);
    expect(value(report, "getCounted")).toBe(true);
    expect(value(report, "headStatusCounted")).toBe(true);
  });

  test("status-pristine: status and headers do not agree", async () => {
    const report = await probeWith("status-pristine");
    expect(value(report, "agreement", null)).toBe(false);
    expect(value(report, "getCounted")).not.toBe(false);
  });

  test("refused-counted and narrow-drains-broad are what their switches say", async () => {
    expect(value(await probeWith("refused-counted"), "refused")).toBe("counted");
    expect(value(await probeWith("narrow-drains-broad"), "refusedByUser")).toBe("charges-organization");
  });

  test("reset-truncated is floor", async () => {
    expect(value(await probeWith("reset-truncated"), "reset")).toBe("floor");
  });
});
