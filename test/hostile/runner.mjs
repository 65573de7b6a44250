// A child that runs command lines one after the other, as `spillway` would. Its parent bounds its memory and its time,
// so that a command line without end, or without measure, ends the child and fails the test.
import { pathToFileURL } from "node:url";
import { runJobsHere } from "../support/job-thread-here.mjs";

const main = pathToFileURL(process.argv[2] ?? "").href;
/** So much of what a command prints is told; the length is told whole. */
const toldMost = 100_000;

class Ended extends Error {}

function exit(code) {
  if (code !== undefined) process.exitCode = code;
  throw new Ended();
}
process.on("uncaughtException", (error) => {
  if (!(error instanceof Ended)) heard.stderr.add(`uncaught ${error.stack}`);
});
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

class Heard {
  text = "";
  length = 0;

  add(chunk) {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    this.length += text.length;
    if (this.text.length < toldMost) this.text += text.slice(0, toldMost);
  }
}

let heard = { stdout: new Heard(), stderr: new Heard() };
for (const name of ["stdout", "stderr"])
  process[name].write = (chunk, ...rest) => {
    heard[name].add(chunk);
    // What would listen until it is told to stop is told so, once: a second signal ends a process at once.
    if (String(chunk).includes("stop    Ctrl-C")) setImmediate(() => process.emit("SIGTERM"));
    rest.find((one) => typeof one === "function")?.();
    return true;
  };

let runs = 0;

runJobsHere();

process.on("message", async ({ words, cwd }) => {
  heard = { stdout: new Heard(), stderr: new Heard() };
  process.exitCode = 0;
  process.exit = exit;
  process.chdir(cwd);
  process.argv = [process.execPath, process.argv[1], ...words];
  runs += 1;
  try {
    // The entry runs when it is imported; what it imports stays loaded.
    await import(`${main}?${runs}`);
  } catch (error) {
    if (!(error instanceof Ended)) heard.stderr.add(`uncaught ${error.stack}`);
  }
  process.send({ code: process.exitCode, stdout: heard.stdout, stderr: heard.stderr });
});
