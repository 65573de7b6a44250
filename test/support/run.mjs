// `node test/support/run.mjs FILE [ARGUMENT ...]`: runs the function `run(arguments)` of a TypeScript file. What it
// returns is the exit status; nothing means 0.
import { load } from "./typescript.mjs";

const [file = "", ...wanted] = process.argv.slice(2);
const { run } = await load(file, "spillway-run");
process.exitCode = (await run(wanted)) ?? 0;
