// `npm run policies`: writes the page of all policies that come with the package. A test holds it to them.
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy, QuotaAlgorithm } from "../../src/policy/policy.ts";
import type { Preset } from "../../src/policy/preset.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import { allowance, operationSentences, quotaSentences } from "../../src/policy/sentences.ts";
import type { ResetMeaning, TimeForm, WireData } from "../../src/policy/wire-data.ts";
import { refusalStatuses } from "../../src/wire/read-answer.ts";
import { sampleAnswers } from "../../src/wire/sample-answers.ts";
import { keep } from "../limiters/report.ts";

/** Path of the page from the repository's root. */
export const pageFile = "reports/policies/README.md";

/** Everything that is told of one preset. */
interface Told {
  readonly name: string;
  readonly preset: Preset;
  readonly policy: Policy;
  readonly wire: WireData;
}

const meanings: Readonly<Record<ResetMeaning, string>> = {
  "window-end": "window's end",
  full: "all is back",
  next: "one more fits",
  estimate: "an estimate",
};

const forms: Readonly<Record<TimeForm, string>> = {
  "delta-s": "seconds from now",
  "delta-s-float": "seconds from now, with decimals",
  "delta-ms": "ms from now",
  "epoch-s": "seconds of Unix time",
  "epoch-s-float": "seconds of Unix time, with decimals",
  "epoch-ms": "ms of Unix time",
  "http-date": "date of HTTP",
  rfc3339: "date of RFC 3339",
  "go-duration": "duration of Go",
};

const none = "–";

/** Returns the texts once each, in lines of one cell. */
function cell(texts: readonly string[]): string {
  const lines = [...new Set(texts)].map((text) => text.replaceAll("|", "\\|"));
  return lines.length === 0 ? none : lines.join("<br>");
}

function algorithmWords(algorithm: QuotaAlgorithm): string {
  if (algorithm.kind !== "fixed-window") return algorithm.kind.replace("-", " ");
  const { anchor } = algorithm;
  if (anchor === "first-request") return "window from its first call";
  if (anchor === "epoch") return "window of Unix time";
  return "offsetMs" in anchor ? "window of Unix time, moved" : `calendar's ${anchor.calendar}`;
}

function placeOf(place: { readonly header: string } | { readonly pointer: string }): string {
  const at = "header" in place ? place.header : place.pointer;
  return at === "" ? "body" : `\`${at}\``;
}

/** Places that tell a refusal, beside its status. */
function refusalWords(wire: WireData): string[] {
  const rules = wire.outcomes.filter(({ outcome }) => outcome === "refused");
  const places = rules.flatMap(({ headers, body }) => [
    ...Object.keys(headers).map((header) => placeOf({ header })),
    ...Object.keys(body).map((pointer) => placeOf({ pointer })),
  ]);
  return [refusalStatuses(wire).join(", "), ...places];
}

function adviceWords({ policy, wire }: Told): string[] {
  const advised = Object.entries(policy.quotas).filter(([, { shown }]) => shown.retryAfter);
  if (advised.length === 0) return [];
  const ofSome =
    advised.length === Object.keys(policy.quotas).length
      ? []
      : [`by ${advised.map(([name]) => name).join(", ")}`];
  const places = wire.retryAfter.map((place) => `${placeOf(place)}: ${forms[place.form]}`);
  return places.length === 0 ? [] : [...places, ...ofSome];
}

function row(told: Told): string {
  const { name, preset, policy, wire } = told;
  const quotas = Object.entries(policy.quotas);
  const resets = wire.readings.flatMap(({ reset }) =>
    reset === undefined ? [] : [`${meanings[reset.means]}: ${forms[reset.form]}`],
  );
  const cells = [
    `[\`${name}\`](#${name})<br>${preset.title}`,
    cell(
      quotas.map(
        ([quota, { algorithm, unit }]) =>
          `${quota === unit ? "" : `${quota}: `}${allowance(algorithm, unit)}`,
      ),
    ),
    cell(quotas.map(([, { algorithm }]) => algorithmWords(algorithm))),
    cell(resets),
    cell(refusalWords(wire)),
    cell(adviceWords(told)),
  ];
  return `| ${cells.join(" | ")} |`;
}

const bullets = (sentences: readonly string[]): string =>
  sentences.map((sentence) => `- ${sentence}\n`).join("");

function section({ name, preset, policy, wire }: Told): string {
  const quotas = Object.entries(policy.quotas).map(
    ([quota, each]) => `\`${quota}\`: ${quotaSentences(each).join(" ")}`,
  );
  const operations = Object.entries(policy.operations).map(
    ([operation, each]) => `\`${operation}\`: ${operationSentences(each).join(" ")}`,
  );
  const samples = sampleAnswers(policy, wire).map(
    ({ title, text }) => `${title}\n\n\`\`\`http\n${text}\n\`\`\`\n`,
  );
  return [
    `## ${name}\n`,
    `${preset.title}.\n`,
    bullets([...quotas, ...operations]),
    ...samples,
    ...(preset.notes.length === 0 ? [] : [`Notes:\n\n${bullets(preset.notes)}`]),
    `Sources:\n\n${bullets(preset.sources.map(({ at, kind, seen }) => `${at} (${kind}, ${seen})`))}`,
    `Answers that it is tested with:\n\n${bullets(preset.answers.map(({ title, seen }) => `${title} (${seen})`))}`,
  ].join("\n");
}

/** Returns the page as Markdown. */
export function page(): string {
  const all = Object.entries(presets).map(([name, preset]): Told => {
    const policy = parsePolicy(preset.policy);
    return { name, preset, policy, wire: wireOf(policy) };
  });
  return `# Policies that come with spillway

Written by \`npm run policies\`, of \`src/policy/presets\`. \`npx spillway policy show NAME\` prints one,
\`npx spillway serve --policy NAME\` stands in for its API, and \`"wire": "NAME"\` in a policy of your own takes its format.
[POLICY.md](../../src/policy/POLICY.md) says what the words mean. *documented*: by the owner; *source*: read in code;
*observed*: in an answer. A refusal has one of its statuses; headers and pointers into bodies that tell more stand below them.
Each policy's sentences, sample answers and sources stand below the table.

| policy | quotas | algorithm | a reset tells | a refusal | advice to come back |
|---|---|---|---|---|---|
${all.map(row).join("\n")}

${all.map(section).join("\n")}`;
}

export function run(): void {
  keep(pageFile, page());
}
