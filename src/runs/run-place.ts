// A command as it can be pasted into a shell, to repeat a run.

/** A command as one can paste it into a shell; words that are `undefined` are left out. */
export function shellCommand(words: readonly (string | undefined)[]): string {
  return words
    .filter((word) => word !== undefined)
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
