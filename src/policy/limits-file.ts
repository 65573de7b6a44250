// A file of limits: rules of version 1, or a policy that rules can express.
import { parseDocument } from "../rules/json.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { isPolicy, parsePolicy, withoutVersion } from "./parse.ts";
import { rulesOf } from "./shorthand.ts";

/**
 * Reads the text of a rules file or a policy file, as rules.
 * @param file path of the file, for errors
 * @throws SpillwayError `JSON_INVALID`, `RULES_INVALID`, `POLICY_INVALID`, `POLICY_UNSUPPORTED`
 */
export function parseLimitsFile(text: string, file: string): Rules {
  const document = parseDocument(text, file, {
    name: "rules file",
    code: "RULES_INVALID",
    pathOf: (path) => path.join("."),
  });
  return isPolicy(document) ? rulesOf(parsePolicy(document)) : parseRules(withoutVersion(document));
}
