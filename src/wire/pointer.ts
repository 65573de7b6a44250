// JSON pointers (RFC 6901) into bodies, with two additions: a segment `*` is each member, `{quota}` each by its name.
import { isPlainObject } from "../rules/plain-object.ts";
import { pointerWords } from "../rules/pointer.ts";

/** Segments of pointers that were used before: those of a few formats. */
const known = new Map<string, readonly string[]>();

function segmentsOf(pointer: string): readonly string[] {
  let segments = known.get(pointer);
  if (segments === undefined) {
    segments = pointerWords(pointer) ?? [];
    known.set(pointer, segments);
  }
  return segments;
}

/** A value that a pointer leads to. */
export interface Pointed {
  readonly value: unknown;
  /** Names of the members that `*` and `{quota}` stood for, which tell the values apart. */
  readonly key: string;
  readonly quota?: string;
}

const hasMember = (value: object, name: string): boolean =>
  Object.prototype.propertyIsEnumerable.call(value, name);

/** Returns every value that a pointer leads to. */
export function pointed(body: unknown, pointer: string): Pointed[] {
  const segments = segmentsOf(pointer);
  const found: Pointed[] = [];
  const follow = (value: unknown, depth: number, key: string, quota: string | undefined): void => {
    const segment = segments[depth];
    if (segment === undefined) {
      found.push(quota === undefined ? { value, key } : { value, key, quota });
      return;
    }
    if (!Array.isArray(value) && !isPlainObject(value)) return;
    if (segment === "*" || segment === "{quota}")
      for (const [name, member] of Object.entries(value))
        follow(member, depth + 1, `${key}/${name}`, segment === "*" ? quota : name);
    else if (hasMember(value, segment)) follow(value[segment as keyof typeof value], depth + 1, key, quota);
  };
  follow(body, 0, "", undefined);
  return found;
}

/** Tells whether a pointer leads to several values. */
export const isPlural = (pointer: string): boolean =>
  segmentsOf(pointer).some((segment) => segment === "*" || segment === "{quota}");

/**
 * Puts a value where a pointer leads, and makes what is missing on the way: a list before a number or `*`, otherwise an
 * object. @returns the body with the value
 */
export function put(
  body: unknown,
  pointer: string,
  value: unknown,
  { quota, index = 0 }: { readonly quota?: string; readonly index?: number } = {},
): unknown {
  return putAt(body, segmentsOf(pointer), value, quota ?? "", index);
}

function putAt(
  body: unknown,
  [segment, ...rest]: readonly string[],
  value: unknown,
  quota: string,
  index: number,
): unknown {
  if (segment === undefined) return value;
  const below = (member: unknown): unknown => putAt(member, rest, value, quota, index);
  if (segment === "*" || /^\d+$/.test(segment)) {
    const list = Array.isArray(body) ? [...(body as unknown[])] : [];
    const place = segment === "*" ? index : Number(segment);
    list[place] = below(list[place]);
    return list;
  }
  const name = segment === "{quota}" ? quota : segment;
  const object = isPlainObject(body) ? body : {};
  return { ...object, [name]: below(Object.hasOwn(object, name) ? object[name] : undefined) };
}
