// JSON from people's files: no object may have a member twice, since readers differ in which one they take.
import { type ErrorCode, SpillwayError } from "./errors.ts";
import { type JsonPath, repeatedPath } from "./repeated-member.ts";

/** Kind of a document, for its errors. */
export interface DocumentKind {
  /** Name within a sentence: `rules file`. */
  readonly name: string;
  /** Code of the error for a repeated member; text that is no JSON is `JSON_INVALID`. */
  readonly code: ErrorCode;
  /** Returns a path as errors show it. */
  pathOf(path: JsonPath): string;
  /** True if errors may not quote the text. */
  readonly isSecret?: boolean;
}

/**
 * Parses a document; a byte order mark at its start is skipped.
 * @param file path of the document in errors
 * @throws SpillwayError `JSON_INVALID`, or the kind's code with the name of a repeated member
 */
export function parseDocument(text: string, file: string, kind: DocumentKind): unknown {
  const bare = text.replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch (cause) {
    // The parser's message would quote the text around the mistake.
    const said = kind.isSecret === true ? "text that is no JSON" : (cause as Error).message;
    const got = bare.trim() === "" ? "an empty file" : said;
    throw new SpillwayError("JSON_INVALID", `the ${kind.name} is no JSON`, {
      problem: { path: file, got, allowed: "JSON (no comments, no trailing comma)" },
    });
  }
  const repeated = repeatedPath(bare);
  if (repeated === null) return value;
  throw new SpillwayError(kind.code, `the ${kind.name} has a member twice`, {
    problem: { path: kind.pathOf(repeated), got: "it twice", allowed: "each member once" },
    hint: "some readers take the first, others the last",
  });
}
