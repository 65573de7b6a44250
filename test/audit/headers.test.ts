// Headers that an audit holds each answer to, in virtual time: those of the quotas that the call uses.
import { expect, test } from "vitest";
import { headerExperiments } from "../../src/audit/experiments/headers.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { Played, readsAndWrites, type Sent } from "./played.ts";

const quota = { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] };
const policy = parsePolicy({
  ...{ version: 2, name: "two", quotas: { reads: quota, writes: quota } },
  ...readsAndWrites,
  wire: {
    revision: "1",
    readings: ["reads", "writes"].map((name) => ({
      quotas: [name],
      headers: { [`X-${name}-Limit`]: "{limit}", [`X-${name}-Left`]: "{remaining}" },
    })),
  },
});

/** Judges the answer to a read. */
function judged(status: number, headers: Readonly<Record<string, string>>): object | undefined {
  const played = new Played((): Sent => ({ status, headers }), 1, "epoch", { policy });
  const subject = played.lab.subjects.find(({ operation }) => operation === "read");
  if (subject === undefined) throw new RangeError("reads are audited");
  const shot = played.lab.shot(subject.callers[0], "read");
  return headerExperiments[0]?.judge?.(played.lab, [played.play(played.lab.one(shot))]);
}
const shown = (name: string) => ({ [`x-${name}-limit`]: "9", [`x-${name}-left`]: "4" });
const reads = shown("reads");
const both = "X-reads-Limit, X-reads-Left";

test.each([
  [200, reads],
  [200, { ...reads, ...shown("writes") }],
  [429, reads],
  // No document says what an error shows.
  [400, {}],
  [503, {}],
  [304, {}],
  // It may be of something before the limiter.
  [302, {}],
])("%i with %j owes no other header: those of quotas that its call uses", (status, headers) => {
  expect(judged(status, headers)).toEqual({ state: "kept" });
});

test.each([
  [200, {}, `${both} on every admitted answer`, `${both} missing on 200`],
  [299, {}, `${both} on every admitted answer`, `${both} missing on 299`],
  [429, {}, `${both} on every refused answer`, `${both} missing on 429`],
  [200, shown("writes"), `${both} on every admitted answer`, `${both} missing on 200`],
  [200, { "x-reads-left": "4" }, `${both} on every admitted answer`, "X-reads-Limit missing on 200"],
  [
    200,
    { ...reads, "x-reads-limit": "nine" },
    "X-reads-Limit in the form of the format, once",
    '"nine" on 200',
  ],
])("%i with %j lacks what it owes", (status, headers, expected, got) => {
  expect(judged(status, headers)).toMatchObject({ state: "broken", expected, got });
});
