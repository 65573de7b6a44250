// `spillway policy`: lists the policies that come with spillway, tells one in plain sentences, finds a file's mistakes.
import { SpillwayError } from "../rules/errors.ts";
import { pc } from "./colors.ts";
import { readPolicy } from "./files.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

export const verb = defineVerb({
  name: "policy",
  summary: "list the APIs whose limits come as policies, show one in plain sentences, check a file",
  operands: [
    { name: "action", describe: "list, show or check", required: true },
    { name: "policy", describe: "a policy by name, or a file", required: false },
  ],
  options: {},
  examples: {
    "$0 policy list": "list the policies that come with spillway",
    "$0 policy show github": "say what GitHub allows, how it refuses, and by which sources",
    "$0 policy check my-api.json": "find the mistakes in a file, and what each verb still needs",
  },
  handler: async ({ action, policy: named, json }) => {
    const terminal = openTerminal(json);
    if (action === "list") return list(terminal);
    if (action !== "show" && action !== "check")
      throw new SpillwayError("USAGE", "policy cannot do that", {
        problem: { path: "ACTION", got: action, allowed: "list, show or check" },
      });
    if (named === undefined)
      throw new SpillwayError("USAGE", `policy ${action} needs POLICY`, {
        problem: { path: "POLICY", got: "nothing", allowed: "a policy by name, or a file" },
        hint: `npx spillway policy ${action} github`,
      });
    await (action === "show" ? show(terminal, named) : check(terminal, named));
  },
});

/** Lists the policies that come with spillway. */
export async function list(terminal: Terminal): Promise<void> {
  const { presets } = await import("../policy/presets.ts");
  const entries = Object.entries(presets);
  const widest = Math.max(...entries.map(([name]) => name.length));
  terminal.say(
    ...entries.map(([name, { title }]) => `${name.padEnd(widest)}  ${title}`),
    "",
    "npx spillway policy show NAME says what one allows; npx spillway serve --policy NAME stands in for it.",
  );
  terminal.result(entries.map(([name, { title, sources }]) => ({ name, title, sources })));
}

/** Tells a policy in plain sentences. */
export async function show(terminal: Terminal, named: string): Promise<void> {
  const policy = await readPolicy(named);
  const { presets, wireOf } = await import("../policy/presets.ts");
  const words = await import("../policy/sentences.ts");
  const { refusalStatuses } = await import("../wire/read-answer.ts");
  const { sampleAnswers } = await import("../wire/sample-answers.ts");
  const preset = Object.hasOwn(presets, named) ? presets[named] : undefined;
  const wire = wireOf(policy);
  terminal.say(pc.bold(preset?.title ?? policy.name), "");
  for (const [name, quota] of Object.entries(policy.quotas)) {
    terminal.say(`${pc.bold(name)}  ${words.quotaSentences(quota).join(" ")}`);
    const room = words.roomDrawn(quota.algorithm);
    if (room !== null) terminal.say(`  room once all is spent: ${room}`);
  }
  terminal.say(...words.overrideSentences(policy), "");
  for (const [name, operation] of Object.entries(policy.operations))
    terminal.say(`${pc.bold(name)}  ${words.operationSentences(operation).join(" ")}`);
  terminal.say("", words.resetSentence(wire), words.refusalSentence(refusalStatuses(wire)));
  for (const { title, text } of sampleAnswers(policy, wire)) terminal.say("", title, ...indented(text));
  if (preset !== undefined) {
    if (preset.notes.length > 0) terminal.say("", ...preset.notes);
    terminal.say("", "Sources:", ...preset.sources.map(({ at, kind, seen }) => `  ${at} (${kind}, ${seen})`));
  }
  const { title, notes, sources } = preset ?? { title: policy.name, notes: [], sources: [] };
  terminal.result({ title, policy, wire, notes, sources });
}

const indented = (text: string): string[] => text.split("\n").map((line) => `  ${line}`);

/** Says what verbs still need of a policy, and what may mislead them. */
export async function check(terminal: Terminal, named: string): Promise<void> {
  const policy = await readPolicy(named);
  const { asRules } = await import("../policy/shorthand.ts");
  const { wireOf } = await import("../policy/presets.ts");
  const { emptyStatus, needsByVerb, strayedSamples, unroutedOperations, unshownQuotas } = await import(
    "../policy/sentences.ts"
  );
  const { looseResets, untoldWindows } = await import("../wire/rounding.ts");
  const { counted } = await import("../rules/words.ts");
  const needs = needsByVerb(policy);
  const parts = [
    counted(Object.keys(policy.quotas).length, "quota"),
    counted(Object.keys(policy.operations).length, "operation"),
    counted(policy.routes.length, "route"),
  ];
  terminal.say(`${pc.green("ok")} ${named}: ${parts.join(", ")}`);
  const widest = Math.max(...Object.keys(needs).map((name) => name.length));
  for (const [name, missing] of Object.entries(needs))
    terminal.say(
      `  ${name.padEnd(widest)}  ${missing.length === 0 ? "ready" : `needs ${missing.join("; ")}`}`,
    );
  // Rules have a switch for rounding, so a policy that is rules needs no such warning.
  const warnings =
    asRules(policy) === null
      ? [
          ...unroutedOperations(policy),
          ...strayedSamples(policy),
          ...emptyStatus(policy, wireOf(policy)),
          ...unshownQuotas(policy, wireOf(policy)),
          ...untoldWindows(policy),
          ...looseResets(policy),
        ]
      : [];
  for (const warning of warnings) terminal.say(`${pc.yellow("warning")} ${warning}`);
  terminal.result({ policy, needs, warnings });
}
