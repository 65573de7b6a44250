// `--fault`: the option that `check`, `simulate` and `serve` share, and the catalogue that `--fault list` prints.

import type { ChosenFault } from "../faults/choice.ts";
import type { Fault } from "../faults/fault.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";
import { option } from "./verb.ts";

export const faultOption = option.text("NAME[=RATE]", "inject the known bug NAME; list shows them all");

/** Reads `--fault`. For `list` it prints the catalogue, and the command is done. */
export async function chooseFault(
  text: string | undefined,
  terminal: Terminal,
): Promise<ChosenFault | "list" | null> {
  if (text === undefined) return null;
  if (text !== "list") return (await import("../faults/choice.ts")).parseFault(text);
  sayFaults((await import("../faults/catalogue.ts")).faults, terminal);
  return "list";
}

/** Words that a run says about its fault. */
export interface FaultWords {
  /** `NAME` or `NAME=RATE`, for the command that repeats a run. */
  readonly text: string;
  /** Note that every reader of the run must know. */
  readonly note: string;
}

/**
 * Returns the words for verbs that make requests without headers.
 * @throws SpillwayError `FAULT_INVALID` if the fault shows only in requests with headers
 */
export async function faultWords(chosen: ChosenFault, verb: string): Promise<FaultWords> {
  const { faultText } = await import("../faults/choice.ts");
  const { name, wrong, nets } = chosen.fault;
  const text = faultText(chosen);
  if (nets.every((net) => net === "L" || net === "A"))
    throw new SpillwayError("FAULT_INVALID", `${name} shows only to requests with headers of their own`, {
      problem: { path: "--fault", got: quote(text), allowed: `a fault that ${verb} can show` },
      hint: `npx spillway serve --fault ${name}, and let clients call that`,
    });
  return { text, note: `the fault ${text} is injected: ${wrong}` };
}

function sayFaults(faults: readonly Fault[], terminal: Terminal): void {
  const widest = Math.max(...faults.map(({ name }) => name.length));
  terminal.say(pc.bold(`${"NAME".padEnd(widest)}  NETS     WHAT IS WRONG`));
  for (const { name, wrong, nets, rate } of faults) {
    const caught = ["P", "V", "L", "A"]
      .map((net) => (nets.some((each) => each === net) ? net : "·"))
      .join(" ");
    terminal.say(`${name.padEnd(widest)}  ${caught}  ${wrong}`);
    if (rate !== null)
      terminal.say(pc.dim(`${" ".repeat(widest)}           =${rate.default}: ${rate.meaning}`));
  }
  terminal.say(
    "",
    "Nets: P the laws (check), V the oracle over a trace (verify), L the checks inside k6 (load), A audit alone.",
  );
  terminal.result(
    faults.map(({ name, wrong, shows, seenIn, nets, rate }) => ({ name, wrong, shows, seenIn, nets, rate })),
  );
}
