// The tokens file of a policy: `[{"token": ..., ATTRIBUTE: ...}]`. A problem names the entry, and never quotes it.
import { type Problem, SpillwayError } from "../rules/errors.ts";
import { parseDocument } from "../rules/json.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { isToken } from "../rules/tokens.ts";

/** A token with the attributes that it means. */
export interface PolicyToken {
  readonly token: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Members of the default API's entries. One file serves all policies, so that other policies ignore them. */
const ofDefault = ["user", "organization", "scopes"];

/**
 * Reads a tokens file's text.
 * @param names the policy's `auth.attributes`: each entry has all of them, and attributes keep their order
 * @throws SpillwayError `JSON_INVALID`, `TOKENS_INVALID`
 */
export function parsePolicyTokens(text: string, file: string, names: readonly string[]): PolicyToken[] {
  const input = parseDocument(text, file, {
    name: "tokens file",
    code: "TOKENS_INVALID",
    pathOf: (path) =>
      ["tokens", ...path.map((step) => (typeof step === "number" ? step : "(a member)"))].join("."),
    isSecret: true,
  });
  const problems: Problem[] = [];
  const wrong = (path: string, got: string, allowed: string): void =>
    void problems.push({ path, got, allowed });
  const members = ["token", ...names];
  const seen = new Set<unknown>();
  if (!Array.isArray(input) || input.length === 0)
    wrong("tokens", "no list of entries", "at least one entry");
  for (const [index, entry] of (Array.isArray(input) ? (input as unknown[]) : []).entries()) {
    const path = `tokens.${index}`;
    if (!isPlainObject(entry)) {
      wrong(path, "no object", `an entry: an object of ${members.join(", ")}`);
      continue;
    }
    for (const name of members)
      if (typeof entry[name] !== "string" || entry[name] === "")
        wrong(
          `${path}.${name}`,
          entry[name] === undefined ? "nothing" : "no text",
          "a text that is not empty",
        );
    if (Object.keys(entry).some((name) => ![...members, ...ofDefault].includes(name)))
      wrong(path, "an unknown member", members.join(", "));
    if (typeof entry["token"] === "string" && !isToken(entry["token"]))
      wrong(`${path}.token`, "other characters", "printable ASCII without spaces");
    if (seen.has(entry["token"])) wrong(`${path}.token`, "a token that stands above", "each token once");
    seen.add(entry["token"]);
  }
  if (problems.length > 0)
    throw new SpillwayError("TOKENS_INVALID", "this tokens file cannot be used", {
      problems,
      hint: `an entry of this policy is {${members.map((name) => `${JSON.stringify(name)}: "..."`).join(", ")}}`,
    });
  return (input as Record<string, string>[]).map((entry) => ({
    token: entry["token"] ?? "",
    attributes: Object.fromEntries(names.map((name) => [name, entry[name] ?? ""])),
  }));
}
