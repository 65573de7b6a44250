// The law and the suspect that a verdict names first, fault by fault: written here, and not in the golden verdicts, which
// a flag writes anew.
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LawName } from "../../src/rules/laws.ts";
import { type Suspect, suspectNames } from "../../src/verify/suspects.ts";
import { verify } from "../../src/verify/verify.ts";

const firstLaws: Readonly<
  Record<Exclude<Suspect, "boundary-inclusive" | "clock-step" | "window-slides">, LawName>
> = {
  "cost-ignored": "conserved",
  "cost-over-limit-admitted": "refusal-justified",
  "double-count": "conserved",
  "double-roll": "conserved",
  "headers-doubled": "headers-present",
  "headers-missing-on-429": "headers-present",
  "headers-missing-on-status": "headers-present",
  "immortal-by-polling": "conserved",
  "limit-changes-mid-window": "limit-agrees",
  "lost-expiry": "conserved",
  "narrow-drains-broad": "conserved",
  "new-reset-old-count": "conserved",
  "one-extra": "conserved",
  "one-short": "refusal-justified",
  "organization-off-grid": "reset-agrees",
  "per-instance-counters": "conserved",
  "race-read-then-write": "conserved",
  "rearmed-per-hit": "reset-agrees",
  "refusal-names-user": "refusal-agrees",
  "refused-counted": "conserved",
  "remaining-of-laxer-window": "limit-agrees",
  "reset-all-sweep": "conserved",
  "reset-at-drifts": "reset-agrees",
  "reset-disagrees": "reset-agrees",
  "reset-epoch": "reset-agrees",
  "reset-in-ms": "reset-agrees",
  "reset-negative": "reset-agrees",
  "reset-truncated": "reset-agrees",
  "reset-zero": "reset-agrees",
  "retry-too-soon": "refusal-agrees",
  "scopes-mixed": "conserved",
  "skewed-nodes": "reset-agrees",
  "stale-cached-reset": "reset-agrees",
  "stale-replica-read": "monotone",
  "status-charged": "conserved",
  "status-opens-window": "reset-agrees",
  "status-pristine": "conserved",
  "status-shares-user": "monotone",
  "two-interleaved-windows": "reset-agrees",
  "unenforced-refuses": "unenforced-never-refuses",
  "windows-back-to-back": "reset-agrees",
  "wrong-scope-header": "headers-present",
  "wrong-user-key": "conserved",
};

test.each(Object.entries(firstLaws))("%s shows first as %s", async (fault, law) => {
  const trace = fileURLToPath(new URL(`../golden/${fault}-bad.trace.ndjson`, import.meta.url));
  const { violations } = await verify(createReadStream(trace));
  const [first] = violations;
  expect([first?.law, first?.suspects[0]]).toEqual([law, fault]);
});

test("every fault that a trace can show stands here", () => {
  const unseen = ["boundary-inclusive", "clock-step", "window-slides"];
  expect(Object.keys(firstLaws).toSorted()).toEqual(
    suspectNames.filter((name) => !unseen.includes(name)).toSorted(),
  );
});

const offBoth: readonly Suspect[] = ["windows-back-to-back", "status-opens-window", "organization-off-grid"];
const asked: readonly (readonly [Suspect, readonly Suspect[], string])[] = [
  [
    "status-opens-window",
    offBoth,
    "Windows neither lie on the grid of Unix time nor open with their first call",
  ],
  [
    "windows-back-to-back",
    offBoth,
    "Windows neither lie on the grid of Unix time nor open with their first call",
  ],
  [
    "organization-off-grid",
    offBoth,
    "Windows neither lie on the grid of Unix time nor open with their first call",
  ],
  [
    "refusal-names-user",
    ["refusal-names-user"],
    "Refusals name the user's window where the organization's lacks room",
  ],
];

test.each(asked)("%s is asked about without rules, and accuses nobody", async (fault, suspects, words) => {
  const trace = await readFile(new URL(`../golden/${fault}-bad.trace.ndjson`, import.meta.url), "utf8");
  const [header = "", ...lines] = trace.split("\n");
  const bare = [JSON.stringify({ ...JSON.parse(header), rules: null }), ...lines].join("\n");
  const { verdict, questions = [] } = await verify(Readable.from([Buffer.from(bare)]));
  expect(verdict).toBe("ok");
  const [question] = questions.filter((one) => one.question.startsWith(words));
  expect(question?.suspects).toEqual(suspects);
  expect(question?.question).toMatch(/Is that meant\? `--rules` settles it\.$/);
});
