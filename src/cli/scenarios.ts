// `spillway scenarios`: lists the scenarios that come with spillway.
import { fleetOf } from "../plan/fleet.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

export const verb = defineVerb({
  name: "scenarios",
  summary: "list the scenarios that come with spillway, with their descriptions",
  options: {},
  examples: {
    "$0 scenarios": "list names that simulate, load, plan and bundle take",
    "$0 scenarios --json": "print them with populations, durations and files, for a program",
  },
  handler: async ({ json }) => {
    const terminal = openTerminal(json);
    const { builtInScenarios, loadScenarioFile } = await import("../load/scenario-file.ts");
    const { duration } = await import("../rules/duration.ts");
    const { counted } = await import("../rules/words.ts");
    const names = await builtInScenarios();
    const widest = Math.max(...names.map((name) => name.length));
    const found = [];
    for (const name of names) {
      const { scenario, path } = await loadScenarioFile(name);
      const { description, durationMs, seed, populations } = scenario;
      const clients = fleetOf(scenario);
      found.push({
        name,
        description,
        durationMs,
        seed,
        clients,
        populations: populations.map((one) => one.name),
        file: path,
      });
      terminal.say(
        `${name.padEnd(widest)}  ${description} (${counted(clients, "client")}, ${duration(durationMs)})`,
      );
    }
    terminal.say(
      "",
      "A path to a .ts or .js file of your own stands wherever a name does: npx spillway init writes one.",
    );
    terminal.result(found);
  },
});
