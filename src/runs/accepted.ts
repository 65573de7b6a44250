// Deviations that a scenario's owner accepts of a limiter that is approximate on purpose, for the judge.
import { parseExpectation } from "../rules/figures.ts";
import type { JudgeOptions } from "../verify/judging.ts";

/**
 * The judge's options for what is expected: a bound from above on `overAdmission` accepts that much.
 * @param expect a scenario's, already validated
 */
export function acceptedBy(expect: Readonly<Record<string, string>>): Pick<JudgeOptions, "accept"> {
  const bound = expect["overAdmission"];
  if (bound === undefined) return {};
  const parsed = parseExpectation("overAdmission", bound);
  if ("path" in parsed || parsed.operator.startsWith(">")) return {};
  return { accept: { overAdmission: parsed.value } };
}
