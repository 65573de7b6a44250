// Documents of verdicts without a run, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderVerdictJunit } from "../../src/report/junit.ts";
import { renderVerdictMarkdown } from "../../src/report/markdown.ts";
import { renderVerdict } from "../../src/report/page.ts";
import type { CountPlace, Violation } from "../../src/verify/verdict.ts";
import { expectBytes } from "./bytes.ts";
import { fullVerdict, sampleViolation } from "./fixtures.ts";

const [{ places }] = fullVerdict.violations as [Violation];
if (places === undefined) throw new RangeError("the violation has places");
/** The limit near the places or far away; many accused or none; more answers than are drawn. */
const withPlaces: Violation[] = [
  { limit: 20, lines: [12, 15] },
  { limit: 2_000, lines: [3, 4, 5, 6, 7, 8, 22, 23] },
  { limit: 21, lines: [99], answers: places.answers.slice(0, 1) },
  { limit: 25, lines: [40], answers: [0, 1, 2].flatMap((late) => places.answers.map(moved(late))) },
].map(({ limit, lines, answers = places.answers }) => ({
  ...{ ...sampleViolation, lines, places: { limit, answers } },
}));

function moved(late: number) {
  return (place: CountPlace): CountPlace => ({
    ...place,
    line: place.line + 22 * late,
    sent: place.sent + 30 * late,
    received: place.received + 30 * late,
  });
}

test("documents of verdicts have the bytes that they had", () => {
  const full = { ...fullVerdict, verdict: "violated", violations: [sampleViolation] } as const;
  expectBytes("verdicts", [
    ["verdict", renderVerdict("trace", full, "0.1.0")],
    ["places", renderVerdict("trace", { ...full, violations: withPlaces }, "0.1.0")],
    ["verdict.md", renderVerdictMarkdown("trace", full)],
    ["verdict.junit", renderVerdictJunit("trace", full)],
  ]);
});
