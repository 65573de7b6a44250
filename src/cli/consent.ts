// The question before an audit or a probe makes calls that use up what others may need.
import { createInterface } from "node:readline/promises";
import { SpillwayError } from "../rules/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Streams by which the question is asked, and answered. */
interface Asked {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Asks whether to go on. @throws SpillwayError `USAGE` unless the answer is yes */
export async function requireYes(
  terminal: Pick<Terminal, "say">,
  { input, output }: Asked = { input: process.stdin, output: process.stderr },
): Promise<void> {
  const refused = (why: string): SpillwayError =>
    new SpillwayError("USAGE", why, { hint: "--yes goes on without asking" });
  if (!input.isTTY || !output.isTTY) throw refused("nothing was called: nobody is there to say yes");
  const asking = createInterface({ input, output });
  // Ctrl-C and the end of the input are answers, too: otherwise the question would stay open for ever.
  const left = new AbortController();
  asking.once("SIGINT", () => left.abort()).once("close", () => left.abort());
  const answer = await asking.question("Go on? [y/N] ", { signal: left.signal }).catch(() => "");
  asking.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw refused("nothing was called: the answer was not yes");
  terminal.say("");
}
