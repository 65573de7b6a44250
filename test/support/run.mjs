// `node test/support/run.mjs FILE [ARGUMENT ...]`: runs the function `run(arguments)` of a TypeScript file. What it
// returns is the exit status; nothing means 0. `--help` shows the file's first comment; a wrong option is said plainly.
import { readFileSync } from "node:fs";
import { load } from "./typescript.mjs";

const [file = "", ...wanted] = process.argv.slice(2);
/** The errors of Node's parseArgs, and those of a script about its own options. */
const isWrongOption = (error) =>
  String(error?.code).startsWith("ERR_PARSE_ARGS") ||
  (error instanceof TypeError && error.message.startsWith("--"));

if (wanted.includes("--help")) {
  const [comment = ""] = /^(\/\/.*\n)+/.exec(readFileSync(file, "utf8")) ?? [];
  console.log(comment.replaceAll(/^\/\/ ?/gm, "").trimEnd());
} else {
  const { run } = await load(file, "spillway-run");
  try {
    process.exitCode = (await run(wanted)) ?? 0;
  } catch (error) {
    if (!isWrongOption(error)) throw error;
    console.error(`${error.message}\nnext --help shows the options`);
    process.exitCode = 2;
  }
}
