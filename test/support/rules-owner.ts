// Windows and violations of a trace of version 1, which belong to an organization or a user.
import type { RulesOwner, Whose } from "../../src/trace/whose.ts";

/** Returns a record of version 1. @throws RangeError for a policy's quota */
export function rulesOwner<T extends Whose>(record: T): Extract<T, RulesOwner> {
  if ("quota" in record) throw new RangeError(`a quota, ${record.quota}, where a scope belongs`);
  return record as Extract<T, RulesOwner>;
}
