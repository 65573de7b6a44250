// The files that `init --policy` writes: a policy that builds on a preset, and a scenario of its sample requests.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallSample, Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { printable } from "../rules/printable.ts";
import { shellCommand } from "../runs/run-place.ts";

/** Returns the text of a policy file that builds on a preset, and changes one limit. */
export function policyText({ name, quotas }: Policy): string {
  const [quota = "", { algorithm } = { algorithm: undefined }] = Object.entries(quotas)[0] ?? [];
  const limit =
    algorithm?.kind === "token-bucket" ? { capacity: algorithm.capacity } : { limit: algorithm?.limit };
  const text = { version: 2, base: name, name: `my-${name}`, quotas: { [quota]: { algorithm: limit } } };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/**
 * Returns the text of a scenario in which one population calls each operation that has a sample.
 * @param command the command that tries it, for its first lines
 * @throws SpillwayError `POLICY_UNSUPPORTED` if no operation has a sample
 */
export function scenarioText({ name, operations }: Policy, command: string): string {
  const names = new Set<string>();
  const calls = Object.entries(operations).flatMap(([operation, { samples }]) => {
    const [sample] = samples;
    if (sample === undefined) return [];
    const called = freeName(operation, names);
    return [{ called, text: callText(called, sample) }];
  });
  if (calls.length === 0)
    throw new SpillwayError(
      "POLICY_UNSUPPORTED",
      `the policy ${quote(name)} has no request that clients could send`,
      {
        problems: Object.keys(operations).map((operation) => ({
          path: `operations.${operation}.samples`,
          got: "none",
          allowed: 'requests that may be sent: [{"path": "/v1/things"}]',
        })),
      },
    );
  const named = calls.map((call, index) => ({ ...call, variable: `call${index + 1}` }));
  const functions = [
    "defineScenario",
    "poller",
    "retryAfter",
    ...["graphql", "rest"].filter((each) => calls.some(({ text }) => text.startsWith(each))),
  ].sort();
  // A line end in a name, or in a path, would end the comment: what follows it would run as code.
  return `// Clients of ${printable(name)}, four of each kind of call, that come back when a refusal says so.
// Try it in virtual time:   ${printable(command)}
import { ${functions.join(", ")} } from "spillway/scenario";

${named.map(({ variable, text }) => `const ${variable} = ${text};`).join("\n")}

export default defineScenario({
  name: "clients",
  description: "Four clients for each kind of call",
  seed: 1,
  duration: "10m",
  populations: {
${named.map(({ called, variable }) => populationText(called, variable)).join("\n")}
  },
  expect: { refusedShare: "<5%" },
});
`;
}

/** Returns a name that a population and its call may have, other than those in `names`, and adds it to them. */
function freeName(operation: string, names: Set<string>): string {
  const word =
    operation
      .replace(/\W/g, "_")
      .replace(/^[_\d]+/, "")
      .slice(0, 60) || "call";
  let name = word;
  for (let number = 2; names.has(name); number++) name = `${word}_${number}`;
  names.add(name);
  return name;
}

const populationText = (name: string, variable: string): string => `    ${name}: {
      clients: 4,
      user: "each",
      startWithin: "5s",
      behaviour: poller({ every: "5s", call: ${variable} }),
      onRefused: retryAfter({ fallback: "1m" }),
    },`;

const literal = (options: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(options)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ")} }`;

/** Returns a call as a scenario's code makes it. */
function callText(name: string, { method, path, body, cost }: CallSample): string {
  const query = isPlainObject(body) && typeof body["query"] === "string" ? body["query"] : null;
  if (query !== null && /graphql/.test(path))
    return `graphql(${JSON.stringify(query)}, ${literal({ cost, name })})`;
  const options = { name, ...(method === "GET" ? {} : { method }), ...(cost === 1 ? {} : { cost }) };
  return `rest(${JSON.stringify(path)}, ${literal(options)})`;
}

/** Writes a scenario that calls each operation with a sample, to a temporary file that `remove` deletes. */
export async function clientsOf(policy: Policy): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-demo-"));
  const file = join(folder, "clients.ts");
  const command = shellCommand(["npx", "spillway", "simulate", file, "--policy", policy.name]);
  await writeFile(file, scenarioText(policy, command));
  return { file, remove: () => rm(folder, { recursive: true }) };
}
