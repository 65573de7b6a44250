// Reads files that users name on the command line. Its errors say what is wrong with the path or the text.
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { readText } from "../files/read-file.ts";
import { type KnownCounterexample, parseKnown } from "../laws/known.ts";
import { onBase } from "../policy/base.ts";
import { isPolicy, parsePolicy, policyFile, withoutVersion } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { presets as policyPresets } from "../policy/presets.ts";
import { asRules, policyOf } from "../policy/shorthand.ts";
import { type PolicyToken, parsePolicyTokens } from "../policy/tokens.ts";
import { closest } from "../rules/closest.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseDocument } from "../rules/json.ts";
import { parseRules } from "../rules/parse.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { type PresetName, presets } from "../rules/presets.ts";
import type { Rules, RulesInput } from "../rules/rules.ts";
import { parseTokensFile, type Token } from "../rules/tokens.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { warn } from "./terminal.ts";

/** Reads a policy by its name, or from a file of a policy or of rules. */
export const readPolicy = async (nameOrPath: string): Promise<Policy> =>
  parsePolicy(await readDocument(nameOrPath));

/** Reads a policy or rules, unchecked. A pipe in place of a file can be read only once. */
async function readDocument(nameOrPath: string): Promise<unknown> {
  if (Object.hasOwn(presets, nameOrPath)) return policyOf(parseRules(presets[nameOrPath as PresetName]));
  if (Object.hasOwn(policyPresets, nameOrPath)) return policyPresets[nameOrPath]?.policy;
  await requireNamed(nameOrPath);
  const text = await readText(nameOrPath, "policy file ('npx spillway policy list' names the presets)");
  return onItsBase(parseDocument(text, nameOrPath, policyFile), [resolve(nameOrPath)]);
}

/**
 * Suggests a policy's name for a word that is neither a file nor a policy's name.
 * @param file the path that the word stands for
 * @param member the policy file's member that holds the word; absent if the word itself is the path
 */
async function requireNamed(word: string, file = word, member?: string): Promise<void> {
  const meant = /[\\/.]/.test(word) ? null : closest(word, presetNames);
  if (meant === null || (await stat(file).catch(() => null)) !== null) return;
  throw new SpillwayError("FILE_UNREADABLE", "there is no such policy, and no file", {
    problem: {
      path: member ?? word,
      got: member === undefined ? "no such file" : word,
      allowed: "a readable file, or a name of 'npx spillway policy list'",
    },
    hint: `did you mean ${meant}?`,
  });
}

const presetNames = [...Object.keys(presets), ...Object.keys(policyPresets)];

/**
 * Completes a policy by its `base`: a policy by name, or a file beside it.
 * @param files absolute paths of the files that lead to this document
 * @throws SpillwayError `POLICY_INVALID` if a file builds on itself
 */
async function onItsBase(document: unknown, files: readonly string[]): Promise<unknown> {
  if (!isPlainObject(document) || typeof document["base"] !== "string") return document;
  const { base } = document;
  if (presetNames.includes(base)) return onBase(await readPolicy(base), document);
  const path = resolve(dirname(files.at(-1) ?? "."), base);
  if (files.includes(path))
    throw new SpillwayError("POLICY_INVALID", "this policy builds on itself", {
      problem: {
        path: "base",
        got: [...files.slice(files.indexOf(path)), path].map((file) => basename(file)).join(" on "),
        allowed: `a policy by name (${presetNames.join(", ")}), or another file`,
      },
    });
  await requireNamed(base, path, "base");
  const text = await readText(
    path,
    `base of ${basename(files.at(-1) ?? "")}, a file or one of ${presetNames.join(", ")},`,
  );
  return onBase(await onItsBase(parseDocument(text, path, policyFile), [...files, path]), document);
}

/** Reads limits by name or from a file: rules if they can express the limits, otherwise the policy. */
export async function readLimits(
  nameOrPath: string,
): Promise<{ readonly rules: Rules } | { readonly policy: Policy }> {
  const limits = await readWrittenLimits(nameOrPath);
  return "rules" in limits ? { rules: limits.rules } : limits;
}

/**
 * Reads limits likewise, and rules also as they were written. A file of rules leaves out what its author left out; a
 * preset or a policy sets every switch.
 */
export async function readWrittenLimits(
  nameOrPath: string,
): Promise<{ readonly rules: Rules; readonly written: RulesInput } | { readonly policy: Policy }> {
  const document = await readDocument(nameOrPath);
  const policy = parsePolicy(document);
  const rules = asRules(policy);
  if (rules === null) return { policy };
  return { rules, written: isPolicy(document) ? rules : (withoutVersion(document) as RulesInput) };
}

/** Reads a tokens file, and warns once if others than its owner can read it. */
export async function readTokens(path: string): Promise<Token[]> {
  const tokens = parseTokensFile(await readText(path, "tokens file"), path);
  await warnIfShared(path);
  return tokens;
}

/** Reads a tokens file of a policy's callers, and warns likewise. */
export async function readPolicyTokens(path: string, names: readonly string[]): Promise<PolicyToken[]> {
  const tokens = parsePolicyTokens(await readText(path, "tokens file"), path, names);
  await warnIfShared(path);
  return tokens;
}

/** Reads the known counterexamples of `--known`. */
export async function readKnown(path: string): Promise<readonly KnownCounterexample[]> {
  const what = "file of known counterexamples";
  const pathOf = (steps: readonly (string | number)[]): string => steps.join(".");
  return parseKnown(parseDocument(await readText(path, what), path, { name: what, code: "USAGE", pathOf }));
}

const warned = new Set<string>();
/** Permission bits by which the file's group and everybody can read it. */
const othersRead = 0o044;

/** Warns if others can read the file. On Windows its mode does not tell. */
async function warnIfShared(path: string): Promise<void> {
  const found = await stat(path);
  if (process.platform === "win32" || !found.isFile() || (found.mode & othersRead) === 0) return;
  if (warned.has(path)) return;
  warned.add(path);
  const mode = (found.mode & 0o777).toString(8);
  warn(
    `${pc.yellow("warning")} other users of this machine can read ${path} (mode ${mode}): ${shellCommand(["chmod", "600", path])}`,
  );
}
