// The audit in virtual time: of each fault of the catalogue, what shows it.
// @module-tag long
import { expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import { faultyFindings } from "./faulty-findings.ts";
import { auditedRules, experimentsOf, findings } from "./virtual.ts";

/** A network shows all but two: a count of 2^32, and a single instant. */
const visible = faults
  .filter(({ nets }) => nets.some((net) => net !== "P"))
  .map(({ name }) => name)
  .filter((name) => name !== "overflow" && name !== "boundary-inclusive");

test("each fault that a network shows has its findings here", () => {
  expect(Object.keys(faultyFindings).toSorted()).toEqual(visible.toSorted());
});

test.each(visible)("%s is found where it shows, and named by its laws", async (name) => {
  const { made = "", found = [] } = faultyFindings[name] ?? {};
  const chosen = experimentsOf(made);
  expect(chosen.length).toBe(made.split(" ").length);
  expect(findings(await auditedRules(name, { experiments: chosen }))).toEqual(found);
});
