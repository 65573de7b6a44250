// Deviations of a deliberately approximate limiter that a scenario's owner accepts, for the judge.
import { parseExpectation } from "../rules/figures.ts";
import type { JudgeOptions } from "../verify/judging.ts";

/**
 * Returns the judge's options for an expectation: an upper bound on `overAdmission` accepts that much.
 * @param expect a scenario's expectations, already validated
 */
export function acceptedBy(expect: Readonly<Record<string, string>>): Pick<JudgeOptions, "accept"> {
  const bound = expect["overAdmission"];
  if (bound === undefined) return {};
  const parsed = parseExpectation("overAdmission", bound);
  if ("path" in parsed || parsed.operator.startsWith(">")) return {};
  return { accept: { overAdmission: parsed.value } };
}
