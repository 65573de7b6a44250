// A bounded memory of what was made.

/**
 * Makes each thing once: the same few are asked for at every turn.
 * @param most how many are kept; with one more, all are forgotten
 * @param make the thing of a name and what else it is made of, which the name stands for
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
