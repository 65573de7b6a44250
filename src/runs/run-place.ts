// A command to repeat a run, for pasting into a shell.

/** Returns a command that can be pasted into a shell. Words that are `undefined` are left out. */
export function shellCommand(words: readonly (string | undefined)[]): string {
  return words
    .filter((word) => word !== undefined)
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
