// JSON pointers (RFC 6901): their words, and the object that one leads into.
import { isPlainObject } from "./plain-object.ts";

/** Returns the names on a pointer's way, without their escapes; `null` if it does not begin with a slash. */
export function pointerWords(pointer: string): readonly string[] | null {
  const [root, ...words] = pointer.split("/");
  return root !== "" || words.length === 0
    ? null
    : words.map((word) => word.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the object in which a pointer ends, and its last name; `null` if it leads into none. */
export function pointedPlace(
  body: unknown,
  pointer: string,
): { readonly holder: Record<string, unknown>; readonly name: string } | null {
  const words = pointerWords(pointer) ?? [];
  const name = words.at(-1);
  const holder = words
    .slice(0, -1)
    .reduce<unknown>((at, word) => (isPlainObject(at) ? at[word] : undefined), body);
  return name === undefined || !isPlainObject(holder) ? null : { holder, name };
}
