// Windows and violations of a trace of version 1, which are an organization's or a user's.
import type { RulesOwner, Whose } from "../../src/trace/whose.ts";

/** @throws RangeError for a policy's quota */
export function rulesOwner<T extends Whose>(record: T): Extract<T, RulesOwner> {
  if ("quota" in record) throw new RangeError(`a quota, ${record.quota}, where a scope belongs`);
  return record as Extract<T, RulesOwner>;
}
