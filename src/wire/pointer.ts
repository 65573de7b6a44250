// JSON pointers (RFC 6901) into bodies, with two additions: a segment `*` is each member, `{quota}` each by its name.
import { isPlainObject } from "../rules/plain-object.ts";

const segmentsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));

/** A value that a pointer leads to. */
export interface Pointed {
  readonly value: unknown;
  /** Names of the members that `*` and `{quota}` stood for, as far as they tell values apart. */
  readonly key: string;
  readonly quota?: string;
}

const membersOf = (value: unknown): [string, unknown][] =>
  Array.isArray(value) || isPlainObject(value) ? Object.entries(value) : [];

/** Returns every value that a pointer leads to. */
export function pointed(body: unknown, pointer: string): Pointed[] {
  let found: Pointed[] = [{ value: body, key: "" }];
  for (const segment of segmentsOf(pointer))
    found = found.flatMap(({ value, key, ...more }) =>
      membersOf(value).flatMap(([name, member]) => {
        if (segment === "{quota}") return [{ value: member, key: `${key}/${name}`, quota: name }];
        if (segment === "*") return [{ ...more, value: member, key: `${key}/${name}` }];
        return segment === name ? [{ ...more, value: member, key }] : [];
      }),
    );
  return found;
}

/** Tells whether a pointer leads to several values. */
export const isPlural = (pointer: string): boolean =>
  segmentsOf(pointer).some((segment) => segment === "*" || segment === "{quota}");

/**
 * Puts a value where a pointer leads, and makes what is missing on the way: a list before a number or `*`, else an
 * object. @returns the body with it
 */
export function put(
  body: unknown,
  pointer: string,
  value: unknown,
  { quota, index = 0 }: { readonly quota?: string; readonly index?: number } = {},
): unknown {
  const [segment, ...rest] = segmentsOf(pointer);
  if (segment === undefined) return value;
  const below = (member: unknown): unknown =>
    put(member, rest.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""), value, {
      ...(quota === undefined ? {} : { quota }),
      index,
    });
  if (segment === "*" || /^\d+$/.test(segment)) {
    const list = Array.isArray(body) ? [...(body as unknown[])] : [];
    const place = segment === "*" ? index : Number(segment);
    list[place] = below(list[place]);
    return list;
  }
  const name = segment === "{quota}" ? (quota ?? "") : segment;
  const object = isPlainObject(body) ? body : {};
  return { ...object, [name]: below(Object.hasOwn(object, name) ? object[name] : undefined) };
}
