// Where a run goes and how it is repeated: what every verb that makes a run folder says alike.

/** `reports/<scenario>-20260102-030405`, in UTC. */
export function defaultFolder(scenario: string): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  return `reports/${scenario}-${time}`;
}

/** A command as one can paste it into a shell; words that are `undefined` are left out. */
export function shellCommand(words: readonly (string | undefined)[]): string {
  return words
    .filter((word) => word !== undefined)
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
