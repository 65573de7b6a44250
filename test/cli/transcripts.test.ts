// Whole commands and all that they say, as files of `transcripts/`: a line `$ spillway ...`, then its standard output, its
// standard error behind `! `, and its exit status where it is not 0;
// codes of color as `<31>`. A word that changes on purpose is written anew by
//   GOLDEN=transcripts npx vitest run --config test/vitest.config.ts test/cli/transcripts.test.ts
// Read the difference before you commit it. It takes long: over a hundred whole commands.
// @module-tag long
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandLines } from "../hostile/command-lines.ts";
import { type Ended, spillwayHere } from "../support/command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = fileURLToPath(new URL("transcripts/", import.meta.url));
const isWritten = process.env["GOLDEN"] === "transcripts";
const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));

let place = "";
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "spillway-transcripts-"));
  symlinkSync(join(root, "test/golden"), join(place, "golden"));
  cpSync(join(folder, "inputs"), place, { recursive: true });
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** The words of a line, where quotes hold one together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** Leaves out what another machine, or another hour, says otherwise, and progress. */
const steady = (text: string): string =>
  text
    .replaceAll(place, "PLACE")
    .replaceAll("\u001b", "<")
    .replace(/<\[(\d+)m/g, "<$1>")
    .replaceAll(root, "ROOT/")
    .replace(/-\d{8}-\d{6}\b/g, "-DATE")
    .replace(/\d[\d.,]* m?s \([\d.,]+ (\w+)\/s\)/g, "N s (N $1/s)")
    .replace(/(runs?|answers judged), \d[\d.,]* m?s$/gm, "$1, N s")
    .replace(/"seconds": [\d.]+/g, '"seconds": N');

/** Tells whether a line of standard error comes only from a command that takes over two seconds. */
const isProgress = (line: string): boolean =>
  /^(simulating|planning|checking|drawing|judging:|reading:|replaying:|callers react:|[a-z -]+: \d+ of \d+ simulations?|law \d+ of|\S+ has not answered yet|\d+ of \d+ worlds?,)/.test(
    line,
  );

/** Text that nobody reads in a difference is kept as a digest. */
const shortened = (text: string): string => {
  const lines = text.split("\n").length - 1;
  if (lines <= 130) return text;
  return `(${lines} lines, ${createHash("sha256").update(text).digest("hex").slice(0, 16)})\n`;
};

const colored = "FORCE_COLOR=1 ";

/** Commands in color need a process: whether there are colors is settled as it starts. */
// Node warns where both are set, be one of them empty.
const inColor = new CommandLines({ NO_COLOR: undefined, FORCE_COLOR: "1" });
afterAll(() => inColor.end());

async function ended(command: string): Promise<Pick<Ended, "code" | "stdout" | "stderr">> {
  if (!command.startsWith(colored)) return spillwayHere(wordsOf(command).slice(1), { cwd: place });
  const { code, stdout, stderr } = await inColor.run(wordsOf(command).slice(2), place);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

async function said(command: string): Promise<string> {
  const { stdout, stderr, code } = await ended(command);
  const lines = steady(stderr).split("\n").slice(0, -1);
  const aside = lines
    .filter((line) => !isProgress(line))
    .map((line) => `!${line === "" ? "" : ` ${line}`}\n`);
  const end = stdout === "" || stdout.endsWith("\n") ? "" : "\n";
  return shortened(steady(stdout + end)) + shortened(aside.join("")) + (code === 0 ? "" : `exit ${code}\n`);
}

const commandsOf = (text: string): [string, string][] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), part.slice(end + 1)];
    });

describe.each(names)("%s", (name) => {
  const commands = commandsOf(readFileSync(join(folder, name), "utf8"));
  test("has commands", () => expect(commands.length).toBeGreaterThan(0));
  const now = new Map<number, string>();
  test.each(commands.map(([command, was], at) => [command, was, at] as const))(
    "%s",
    async (command, expected, at) => {
      const text = await said(command);
      now.set(at, text);
      if (!isWritten) expect(text).toBe(expected);
    },
  );
  afterAll(() => {
    const texts = commands.map(([command, was], at) => `$ ${command}\n${now.get(at) ?? was}`);
    if (isWritten) writeFileSync(join(folder, name), texts.join(""));
  });
});
