// `--fault`: the option that `check`, `simulate` and `serve` share, and the catalogue that `--fault list` prints.
import pc from "picocolors";
import type { Options } from "yargs";
import type { ChosenFault } from "../faults/choice.ts";
import type { Terminal } from "./terminal.ts";

export const faultOption = {
  type: "string",
  requiresArg: true,
  describe: "a known bug to inject, NAME or NAME=RATE; `list` shows them all",
} as const satisfies Options;

/**
 * Reads `--fault`. `list` prints the catalogue, and there is nothing more to do.
 * @throws SpillwayError `FAULT_INVALID`
 */
export async function chooseFault(
  text: string | undefined,
  terminal: Terminal,
): Promise<ChosenFault | "list" | null> {
  if (text === undefined) return null;
  const { parseFault } = await import("../faults/choice.ts");
  if (text !== "list") return parseFault(text);
  const { faults } = await import("../faults/catalogue.ts");
  const widest = Math.max(...faults.map(({ name }) => name.length));
  terminal.say(pc.bold(`${"NAME".padEnd(widest)}  NETS   WHAT IS WRONG`));
  for (const { name, wrong, nets, rate } of faults) {
    const caught = ["P", "V", "L"].map((net) => (nets.some((each) => each === net) ? net : "·")).join(" ");
    terminal.say(`${name.padEnd(widest)}  ${caught}  ${wrong}`);
    if (rate !== null)
      terminal.say(pc.dim(`${" ".repeat(widest)}         =${rate.default}: ${rate.meaning}`));
  }
  terminal.say(
    "\nNets: P the laws (check), V the oracle over a trace (verify), L the checks inside k6 (load).",
  );
  terminal.result(
    faults.map(({ name, wrong, shows, seenIn, nets, rate }) => ({ name, wrong, shows, seenIn, nets, rate })),
  );
  return "list";
}
