// Reading what users name on the command line, with errors that say what is wrong with the path or the text.
import { readFile, stat } from "node:fs/promises";
import { type ErrorCode, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { type PresetName, presets } from "../rules/presets.ts";
import type { Rules } from "../rules/rules.ts";
import { parseTokens, type Token } from "../rules/tokens.ts";

/** @throws SpillwayError `FILE_UNREADABLE` where there is no such file, or it is a directory */
export async function requireFile(path: string, what: string): Promise<void> {
  const unreadable = (got: string, cause?: unknown): SpillwayError =>
    new SpillwayError("FILE_UNREADABLE", `the ${what} cannot be read`, {
      problems: [{ path, got, allowed: "a readable file" }],
      cause,
    });
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw unreadable(cause.code === "ENOENT" ? "no such file" : String(cause.code), cause);
  });
  if (found.isDirectory()) throw unreadable("a directory");
}

async function readJson(path: string, what: string, code: ErrorCode): Promise<unknown> {
  await requireFile(path, what);
  const text = await readFile(path, "utf8");
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    // The parser's message quotes the text around the mistake, which in a tokens file is a secret.
    const got = code === "TOKENS_INVALID" ? "text that is no JSON" : (cause as Error).message;
    throw new SpillwayError("JSON_INVALID", `the ${what} is no JSON`, {
      problems: [{ path, got, allowed: "JSON (no comments, no trailing comma)" }],
    });
  }
}

/** Rules by preset name or from a JSON file. */
export async function readRules(nameOrPath: string): Promise<Rules> {
  if (Object.hasOwn(presets, nameOrPath)) return parseRules(presets[nameOrPath as PresetName]);
  return parseRules(
    await readJson(nameOrPath, `rules file (presets: ${Object.keys(presets).join(", ")})`, "RULES_INVALID"),
  );
}

/** A tokens file (design: `[{"token","user","organization","scopes"}]`). */
export async function readTokens(path: string): Promise<Token[]> {
  return parseTokens(await readJson(path, "tokens file", "TOKENS_INVALID"));
}
