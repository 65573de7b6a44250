// summary.md and junit.xml: for a pull request, and for a build server.
import { describe, expect, it } from "vitest";
import { renderJunit, renderVerdictJunit } from "../../src/report/junit.ts";
import { renderMarkdown, renderVerdictMarkdown } from "../../src/report/markdown.ts";
import { renderVerdict } from "../../src/report/page.ts";
import { verdictWords } from "../../src/report/source.ts";
import { type LawName, lawNames } from "../../src/rules/laws.ts";
import type { Evidence, Verdict } from "../../src/verify/verdict.ts";
import { evidenceOf, fixture, fullVerdict, sampleViolation } from "./fixtures.ts";
import { readMarkup } from "./markup.ts";

const good = fixture().run;
const bad = fixture({
  violations: [sampleViolation],
  record: { expect: { refused: "==0", "ghosts.calls": ">0", admitted: ">0" } },
}).run;

describe("junit.xml", () => {
  const attribute = (attributes: string, name: string): string | undefined =>
    new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
  const suitesOf = (xml: string) =>
    readMarkup(xml)
      .filter(({ name }) => name === "testsuite")
      .map(({ attributes }) =>
        ["tests", "failures", "skipped"].map((name) => Number(attribute(attributes, name))),
      );

  it("has a case for every law and every expectation, and its counts add up", () => {
    const xml = renderJunit(good);
    expect(suitesOf(xml)).toEqual([
      [lawNames.length, 0, 4],
      [2, 0, 0],
    ]);
    const elements = readMarkup(xml).map(({ name }) => name);
    expect(elements.filter((name) => name === "testcase")).toHaveLength(lawNames.length + 2);
    expect(elements.filter((name) => name === "skipped")).toHaveLength(4);
  });

  it("fails the laws that are broken and the expectations that are missed, and says why", () => {
    const xml = renderJunit(bad);
    expect(suitesOf(xml)).toEqual([
      [lawNames.length, 1, 4],
      [3, 2, 0],
    ]);
    const failures = readMarkup(xml).filter(({ name }) => name === "failure");
    expect(failures.map(({ text }) => text)).toEqual([
      "acme, REST: 2 calls &lt;took&gt; the place 17 &amp; both were admitted (trace lines 12, 15; likely race-read-then-write, double-count)",
      expect.stringMatching(/^refused was \d+, expected ==0$/),
      "ghosts.calls was –, expected &gt;0",
    ]);
  });

  it("has the laws of a verdict that is no run's", () => {
    const xml = renderVerdictJunit("prod <trace>", fullVerdict);
    expect(suitesOf(xml)).toEqual([[lawNames.length, 1, 4]]);
    expect(xml).toContain("spillway prod &lt;trace&gt;");
  });

  it("has one skipped case for a run that was not judged, and no empty suite", () => {
    expect(suitesOf(renderJunit({ ...good, verdict: null, record: { ...good.record, expect: {} } }))).toEqual(
      [[1, 0, 1]],
    );
  });

  it("stays well-formed with names that XML cannot carry", () => {
    const name = `a"<b>&\u0007\ud800`;
    const xml = renderJunit({
      ...bad,
      record: { ...bad.record, scenario: { ...bad.record.scenario, name } },
    });
    expect(readMarkup(xml).length).toBeGreaterThan(lawNames.length);
    expect(xml).toContain("a&quot;&lt;b&gt;&amp;\ufffd\ufffd laws");
  });
});

describe("names of laws that another version or a stranger gave", () => {
  const name = "law ".repeat(50_000);
  const laws = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`${index} ${name}`, "violated"]),
  );
  const violations = [{ ...sampleViolation, law: name as LawName }];
  const strange = {
    ...fullVerdict,
    verdict: "violated",
    laws: { ...fullVerdict.laws, ...laws },
    violations,
  } as const;

  it.each([
    ["Markdown", renderVerdictMarkdown("staging", strange)],
    ["JUnit", renderVerdictJunit("staging", strange)],
    ["the page", renderVerdict("staging", strange, "0.1.0")],
  ])("are clipped and counted in %s", (_, text) => {
    expect(text).not.toContain("law ".repeat(26));
    expect(text).toMatch(/201 laws are broken: .*, 171 more/);
  });
});

describe("on how much a verdict rests", () => {
  const counts = "1,204 readings, 32 refusals, 12 windows, 9 resets";
  const { amounts: _, evidence: __, ...said } = fullVerdict;
  const ok = (evidence: Evidence): Verdict => ({ ...said, verdict: "ok", evidence: evidenceOf(evidence) });

  it("stands in JUnit, Markdown and the page, law by law", () => {
    const xml = renderVerdictJunit("staging", fullVerdict);
    expect(xml).toContain(`<system-out>tested on ${counts}</system-out>`);
    expect(renderVerdictMarkdown("staging", fullVerdict)).toContain(`| \`monotone\` | ${counts} |`);
    expect(renderVerdict("staging", fullVerdict, "0.1.0")).toContain(counts);
  });

  it.each<[Evidence, string]>([
    [{ readings: 1_204, refusals: 32, windows: 12, resets: 9 }, "No law is broken"],
    [
      { readings: 1_204, refusals: 0, windows: 12, resets: 9 },
      "No law is broken, on little evidence: no refusal was seen, so load more",
    ],
    [
      { readings: 6, refusals: 1, windows: 2, resets: 0 },
      "No law is broken, on little evidence: only 6 readings were judged, so call more; no window ended before another was seen, so run longer",
    ],
  ])("%o: an ok says in its first sentence what it lacks, and what would give it", (evidence, words) => {
    const verdict = ok(evidence);
    expect(verdictWords(verdict)).toBe(words);
    expect(renderVerdictMarkdown("staging", verdict)).toContain(`staging: ${words}\n`);
    expect(renderVerdictJunit("staging", verdict)).toContain(`<property name="verdict" value="${words}"/>`);
    expect(renderVerdict("staging", verdict, "0.1.0")).toContain(words);
  });

  it("is not asked of a verdict that is broken, or that does not say", () => {
    expect(
      verdictWords({
        ...fullVerdict,
        evidence: evidenceOf({ readings: 1, refusals: 0, windows: 0, resets: 0 }),
      }),
    ).toBe("1 law is broken: conserved");
    expect(verdictWords({ ...said, verdict: "ok" })).toBe("No law is broken");
  });

  it("says of nothing that could be judged which kinds of limits are not", () => {
    const why = "a token bucket's level is not judged";
    const notJudged = ["burst", "tenant"].map((quota) => ({ quota, why }));
    expect(verdictWords({ ...said, verdict: "unknown", notJudged })).toBe(
      `Nothing in this trace could be judged: ${why}`,
    );
    expect(verdictWords({ ...said, verdict: "unknown" })).toBe("Nothing in this trace could be judged");
  });
});

describe("a verdict in Markdown", () => {
  const text = renderVerdictMarkdown("staging | trace", fullVerdict);

  it("says what is broken, how it was judged, how far off it is, what was accepted and what was inferred", () => {
    expect(text).toMatch(/^## ❌ staging &#124; trace: 1 law is broken: conserved\n/);
    expect(text).toContain("12 windows judged by places, 2 windows by bounds; 380 of 400 readings");
    expect(text).toContain("At least 3 (1.7% of what was admitted) went in above a limit");
    expect(text).toContain("1 call was refused although there was room");
    expect(text).toContain("one reading was 240 ms old when it was shown");
    expect(text).toContain("Accepted, as overAdmission &#60;2% asks");
    expect(text).toContain("rest.reset is floor: reset was 0 in line 7");
    expect(text).toContain("likely `race-read-then-write, double-count`");
    expect(text).toContain("And 1,248 violations more.");
  });
});

describe("summary.md", () => {
  it("begins with the outcome, and says how it went in a sentence", () => {
    expect(renderMarkdown(good)).toMatch(/^## ✅ fleet: No law is broken\n/);
    expect(renderMarkdown(bad)).toMatch(/^## ❌ fleet: 1 law is broken: conserved\n/);
    expect(renderMarkdown(good)).toMatch(
      /\d+ of \d+ answered calls were refused: \d+ by a user's own window/,
    );
  });

  it("lists violations, expectations, figures and populations", () => {
    const text = renderMarkdown(bad);
    expect(text).toContain("- **conserved**, acme, REST: 2 calls &#60;took&#62; the place 17 &#38; both");
    expect(text).toMatch(/\| `refused` \| `==0` \| \d+ \| ❌ missed \|/);
    expect(text).toMatch(/\| `admitted` \| `>0` \| \d+ \| ✅ held \|/);
    expect(text).toMatch(/\| `refusedShare` \| \d+(\.\d)?% \|/);
    expect(text).toMatch(/\| noisy \| \d+ \|/);
    expect(text).toContain("Repeat it with\n\n```sh\nspillway load fleet.ts --seed 7\n```\n");
  });

  it("has a column for the run it is compared with", () => {
    const other = fixture({ record: { driver: "simulator" } }).run;
    expect(renderMarkdown(good, other)).toContain("| Figure | measured by k6 | simulated |");
  });

  it("keeps every table's rows as wide as its head, whatever names hold", () => {
    const evil = "a|b`c\nd @octocat #1 <img>";
    const text = renderMarkdown(
      fixture({
        change: (call) => {
          call.client = `${evil}/0`;
        },
        record: { scenario: { name: evil, description: null, file: null }, command: `echo \`\`\` ${evil}` },
      }).run,
    );
    const widths = text.split("\n\n").filter((block) => block.startsWith("|"));
    expect(widths.length).toBeGreaterThanOrEqual(3);
    for (const block of widths)
      expect(
        new Set(
          block
            .trimEnd()
            .split("\n")
            .map((line) => line.split("|").length),
        ).size,
      ).toBe(1);
    const [prose = "", command = ""] = text.split("````sh\n");
    expect(prose).not.toMatch(/<img>|@octocat/);
    expect(command).toBe(`echo \`\`\` ${evil}\n\`\`\`\`\n`);
  });
});
