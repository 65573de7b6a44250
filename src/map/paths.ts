// Paths of requests → routes. Words stay; parts that may name a thing or be a secret become placeholders.
import { isPlainWord, type SeenAnswers } from "./seen.ts";

/** Segments of a path; `null` for any text. */
export type PathShape = readonly (string | null)[];

export const shapeOf = (segments: readonly string[], secrets: ReadonlySet<string>): PathShape =>
  segments.map((segment) => (isPlainWord(segment, secrets) ? segment : null));

const statusPath = /rate[-_]?limit|limits?$|quotas?$|usage/i;

/** Tells whether a request's path names limits, so that it is taken for a status. */
export const isAboutLimits = ({ segments }: SeenAnswers): boolean => statusPath.test(segments?.at(-1) ?? "");

const isWithin = (prefix: PathShape, shape: PathShape): boolean =>
  prefix.every(
    (part, index) =>
      index < shape.length && (part === null || shape[index] === null || part === shape[index]),
  );

/** Returns `/v2/{id}/things/{id2}`. */
function pathOf(shape: PathShape): string {
  let ids = 0;
  return `/${shape
    .map((part) => {
      if (part !== null) return part;
      ids += 1;
      return ids === 1 ? "{id}" : `{id${ids}}`;
    })
    .join("/")}`;
}

/**
 * Returns paths that lead to one kind of calls and to no other, each as short as the others allow.
 * @returns `null` if one of these paths is also one of the others
 */
export function pathsTo(own: readonly PathShape[], others: readonly PathShape[]): string[] | null {
  const paths = new Set<string>();
  for (const shape of own) {
    const lengths = Array.from({ length: shape.length }, (_, index) => index + 1);
    const prefix = lengths
      .map((length) => shape.slice(0, length))
      .find((each) => each.some((part) => part !== null) && !others.some((other) => isWithin(each, other)));
    if (prefix === undefined) return null;
    paths.add(`${pathOf(prefix)}/**`);
  }
  return [...paths];
}

/** Returns a path that can be called as it is: of words alone, answered well, and without effects. */
export function samplePath(seen: readonly SeenAnswers[], secrets: ReadonlySet<string>): string | null {
  const found = seen.find(
    ({ method, status, segments }) =>
      method === "GET" && status < 300 && segments !== null && !shapeOf(segments, secrets).includes(null),
  );
  return found?.segments === undefined || found.segments === null ? null : `/${found.segments.join("/")}`;
}
