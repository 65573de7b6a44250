// The kind of a GraphQL request's operation, by which routes are chosen.
import { isPlainObject } from "../rules/plain-object.ts";

export type GraphqlKind = "query" | "mutation";

const commentsAndStrings = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:[^"\\\n\r]|\\.)*"/g;
const operations = /(?:^|\})\s*(?:(query|mutation|subscription)\b\s*(\w*)|\{)/g;

/**
 * Returns the kind of the operation in a request's body, which is JSON or the document itself. Fragments may stand before
 * the operation, and a subscription counts as a query. The document is not checked further than that its braces close.
 * @returns `null` if there is no operation
 */
export function graphqlKind(body: string): GraphqlKind | null {
  const { query, operationName } = requestIn(body);
  if (typeof query !== "string") return null;
  const found = [...outlineOf(query).matchAll(operations)];
  const chosen = found.find(([, , name]) => name === operationName) ?? found[0];
  if (chosen === undefined) return null;
  return chosen[1] === "mutation" ? "mutation" : "query";
}

function requestIn(body: string): { readonly query?: unknown; readonly operationName?: unknown } {
  try {
    const request: unknown = JSON.parse(body);
    return isPlainObject(request) ? request : {};
  } catch {
    return { query: body, operationName: null };
  }
}

/** Returns a document without what stands in its outermost braces; an empty text if they do not close. */
function outlineOf(document: string): string {
  let depth = 0;
  const outline = document.replace(commentsAndStrings, " ").replace(/[{}]|[^{}]+/g, (part) => {
    if (part === "{") depth += 1;
    const isShown = depth === 0 || (depth === 1 && (part === "{" || part === "}"));
    if (part === "}") depth -= 1;
    return isShown ? part : "";
  });
  return depth === 0 ? outline : "";
}
