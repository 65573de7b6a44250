// The words of a JSON pointer (RFC 6901).

/** Returns the names on a pointer's way, without their escapes; `null` if it does not begin with a slash. */
export function pointerWords(pointer: string): readonly string[] | null {
  const [root, ...words] = pointer.split("/");
  return root !== "" || words.length === 0
    ? null
    : words.map((word) => word.replaceAll("~1", "/").replaceAll("~0", "~"));
}
