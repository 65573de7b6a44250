// A bounded memory of computed values.

/**
 * Returns a function that makes each thing once, because the same few are requested again and again.
 * @param most most things that are kept; one more, and all are forgotten
 * @param make makes the thing of a name, which stands for the further arguments as well
 */
export function once<More extends unknown[], Made>(
  most: number,
  make: (name: string, ...more: More) => Made,
): (name: string, ...more: More) => Made {
  const known = new Map<string, Made>();
  return (name, ...more) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made = make(name, ...more);
    if (known.size >= most) known.clear();
    known.set(name, made);
    return made;
  };
}
