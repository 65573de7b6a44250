// `node test/support/run.mjs FILE [ARGUMENT ...]`: calls `run(arguments)` of a TypeScript file. Its result is the exit
// status, 0 by default. `--help` shows the file's first comment; errors about options are printed without a stack.
import { readFileSync } from "node:fs";
import { load } from "./typescript.mjs";

const [file = "", ...wanted] = process.argv.slice(2);
/** Tells whether an error is about an option: parseArgs's own, or a script's about its options. */
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
