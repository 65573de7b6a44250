// The report as text: whole, escaped, the same bytes for the same input, every figure in it.
// @module-tag long
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Policy } from "../../src/policy/policy.ts";
import { renderCsv } from "../../src/report/csv.ts";
import { figureText } from "../../src/report/format.ts";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { renderReport as compose, renderVerdict } from "../../src/report/page.ts";
import { pageScript, scriptHash } from "../../src/report/page-script.ts";
import type { ReportSource } from "../../src/report/source.ts";
import { duration } from "../../src/rules/duration.ts";
import { lawNames } from "../../src/rules/laws.ts";
import { count } from "../../src/rules/words.ts";
import { fixture, fullVerdict, quotasFixture, sampleViolation } from "./fixtures.ts";
import { readMarkup } from "./markup.ts";

const renderReport = (one: ReportSource, other: ReportSource | null = null): string =>
  compose(one, other, "pictures").html;
const renderFiles = (one: ReportSource, other: ReportSource | null = null) =>
  compose(one, other, "pictures").files();

/** The page without its script. */
const shown = (text: string): string => text.replace(pageScript, "");

/** Expects a text of the page; a failure names the text, not the whole page. */
const says = (text: string, where = page): void => expect(where.includes(text), text).toBe(true);

const source = fixture();
const simulated = fixture({ latencyMs: 8, record: { driver: "simulator", target: null } });
const page = renderReport(source, simulated);
const { summary } = source.run;

describe("what calls of declared cost used", () => {
  const { run, series } = quotasFixture();
  const policy = run.record.policy as Policy;
  const by = (units: Readonly<Record<string, string>>): string => {
    const quotas = Object.entries(policy.quotas).map(([name, quota]) => [
      name,
      { ...quota, unit: units[name] ?? quota.unit },
    ]);
    const record = { ...run.record, policy: { ...policy, quotas: Object.fromEntries(quotas) } };
    return renderReport({ run: { ...run, record }, series });
  };

  it("is told in the unit of its quotas, or as units of several", () => {
    says("<dt>GraphQL points</dt>");
    says("<dt>Tokens</dt>", by({ graphql: "tokens", graphql_user: "tokens" }));
    says("<dt>Units</dt>", by({ graphql: "tokens", graphql_user: "points" }));
  });

  it("is told in that unit of a window, too: in its caption, its legend and its readings", () => {
    const told = by({ rest: "euros" });
    for (const text of [" euros (", "euros counted</", "[&quot;euros counted&quot;"]) says(text, told);
    expect(told).not.toMatch(/units (\(|counted)/);
  });
});

describe("a name that is written from right to left", () => {
  const [name, user] = ["שלום עולם", "سلام"];
  const violation = { ...sampleViolation, explanation: `${name} 12 calls, ${user} 3` };
  const { record } = source.run;
  const named = renderReport({
    ...source,
    run: {
      ...source.run,
      record: { ...record, scenario: { ...record.scenario, name }, notes: [`${user}: 12 of 20`] },
      verdict: { ...fullVerdict, verdict: "violated", violations: [violation] },
    },
  });

  it("is isolated in every sentence, so that no number changes places with it", () => {
    says(`<p><bdi>${name}</bdi> 12 calls, <bdi>${user}</bdi> 3</p>`, named);
    says(`<p>Note: <bdi>${user}</bdi>: 12 of 20.</p>`, named);
  });

  it("stands once in an isolation of its own, and in no attribute or drawing in any", () => {
    says(`<h1><bdi>${name}</bdi></h1>`, named);
    expect(named).not.toContain("<bdi><bdi>");
    expect(readMarkup(named).some(({ attributes }) => attributes.includes("bdi"))).toBe(false);
    for (const [drawing] of named.matchAll(/<svg class="(?:wide|narrow)"[\s\S]*?<\/svg>\n<\/div>/g))
      expect(drawing).not.toContain("bdi");
  });
});

describe("the page", () => {
  it("is well-formed, and its headings descend one level at a time from one h1", () => {
    const levels = readMarkup(page)
      .filter(({ name }) => /^h[1-6]$/.test(name))
      .map(({ name }) => Number(name.slice(1)));
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [index, level] of levels.entries())
      if (index > 0) expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
  });

  it("loads nothing: no address but those of its own pictures", () => {
    const elements = readMarkup(page);
    says("default-src &#39;none&#39;");
    const addresses = elements.flatMap(({ attributes }) => attributes.match(/(?:src|href)="[^"]*"/g) ?? []);
    expect(
      addresses.filter((address) => !/="(?:data:,|#|pictures\/[a-z-]+\d*\.(?:svg|csv)")/.test(address)),
    ).toEqual([]);
    expect(page).not.toMatch(/url\((?!#)|@import/);
  });

  it("runs one script, a small one, which its policy knows by its hash and which makes no markup of text", () => {
    const scripts = readMarkup(page).filter(({ name }) => name === "script");
    expect(scripts).toEqual([{ name: "script", attributes: "", text: pageScript }]);
    expect(scriptHash).toBe(`sha256-${createHash("sha256").update(pageScript).digest("base64")}`);
    says(`script-src &#39;${scriptHash}&#39;`);
    expect(pageScript.length).toBeLessThan(16_000);
    expect(pageScript).not.toMatch(
      /innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function|fetch|XMLHttp|import|:\/\//,
    );
  });

  it("links each picture's files, and says nothing of files that are not written", () => {
    const linked = [...page.matchAll(/href="pictures\/([^"]+)"/g)].map(([, name]) => name);
    expect(linked.toSorted()).toEqual([...renderFiles(source, simulated).keys()].toSorted());
    expect(compose(source, simulated).html).not.toContain("pictures/");
  });

  it("has the same bytes for the same input, however many charts were drawn before", () => {
    const again = renderReport(fixture(), fixture({ latencyMs: 8, record: simulated.run.record }));
    expect(again === page).toBe(true);
  });

  it("gives every element that has one an id of its own", () => {
    const ids = page.match(/ id="[^"]+"/g) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("stays far below a megabyte, however long the run", () => {
    expect(page.length).toBeLessThan(400_000);
    const long = fixture({ seconds: 1_200, record: { expect: {} } });
    expect(long.calls.length).toBeGreaterThan(20_000);
    const { html, files } = compose(long, long, "pictures");
    expect(html.length).toBeLessThan(800_000);
    const sizes = [...files().values()].map((content) => content.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(800_000);
  });
});

describe("what it says", () => {
  const { figures } = summary;

  it("names every law with its state, and what could not be judged with the reason", () => {
    for (const law of lawNames) says(law);
    says("a trace cannot show it");
    says("No law is broken");
  });

  it("shows each figure of the run, and of the compared run beside it", () => {
    for (const name of ["calls", "admitted", "refused", "refusedShare", "gaveUp", "points"] as const)
      says(`>${figureText(name, figures[name])}<`);
    for (const name of ["waitP50Ms", "waitP95Ms", "waitP99Ms", "waitMaxMs", "fairness"] as const) {
      says(`>${figureText(name, figures[name])}<`);
      says(`>${figureText(name, simulated.run.summary.figures[name])}<`);
    }
  });

  it("says whom it hit: by the user's own windows, by the organization's, each population, each user", () => {
    expect(figures.refusedByUser).toBeGreaterThan(0);
    expect(figures.refusedByOrganization).toBeGreaterThan(0);
    expect(page).toContain(
      `${count(figures.refusedByUser ?? 0)} by a user&#39;s own window, ${count(figures.refusedByOrganization ?? 0)} by the organization&#39;s`,
    );
    for (const { name } of summary.populations) says(`>${name}<`);
    says("acme/noisy-bot");
  });

  it("has a text in numbers for each picture", () => {
    const pictures = readMarkup(page).filter(
      ({ name, attributes }) => name === "svg" && !attributes.includes('class="plot"'),
    );
    expect(pictures.length).toBeGreaterThanOrEqual(12);
    for (const { attributes } of pictures) {
      expect(attributes).toContain('role="img"');
      expect(/aria-label="([^"]*)"/.exec(attributes)?.[1]).toMatch(/\d/);
    }
  });

  it("says what was run and how to run it again", () => {
    const { record } = source.run;
    for (const text of [record.command, record.target ?? "", "k6 1.8.1", "120 requests", "4,000 points"])
      says(text);
  });

  it("shows the expectations, and turns red where one is missed", () => {
    const missed = renderReport(fixture({ record: { expect: { refused: "==0", admitted: ">0" } } }));
    says("1 of 2 expectations missed", missed);
    says('class="verdict bad"', missed);
    says('class="verdict good"');
    says("All 2 expectations of the scenario held");
  });

  it("explains each violation with its window, lines and suspects", () => {
    const broken = renderReport(fixture({ violations: [sampleViolation] }));
    says("1 law is broken: conserved", broken);
    says("2 calls &lt;took&gt; the place 17 &amp; both were admitted", broken);
    says("window 2026-01-01 00:00:00 UTC to 2026-01-01 00:00:05 UTC", broken);
    says("trace lines 12, 15", broken);
    says("race-read-then-write, or double-count", broken);
    const violations = [{ ...sampleViolation, suspects: ["double-count"] }];
    says(" It looks like double-count.", renderVerdict("trace", { ...fullVerdict, violations }, "0.1.0"));
    const unnamed = renderVerdict(
      "trace",
      { ...fullVerdict, violations: [{ ...sampleViolation, suspects: [] }] },
      "0.1.0",
    );
    expect(unnamed).not.toContain("It looks like");
  });

  it("draws the places of an accused window, the accused lines by name, and lists them", () => {
    const { run, series } = source;
    const broken = renderReport({ run: { ...run, verdict: fullVerdict }, series });
    readMarkup(broken);
    says("22 answers around the breach, 2 of them accused", broken);
    for (const line of [12, 15]) {
      expect(broken).toMatch(new RegExp(`<text[^>]*>line ${line}</text>`));
      says(`${line}, accused`, broken);
    }
    expect(broken).not.toMatch(/<text[^>]*>line 13</);
    says("limit 20", broken);
    // A bar for each answer in each of the two drawings, as tall as its charge.
    const bars = broken.match(/<path d="M[^"]*" fill="var\(--(?:bad|admitted|unanswered)\)"/g) ?? [];
    expect(bars.length).toBeGreaterThanOrEqual(2 * 22);
    expect([...renderFiles({ run: { ...run, verdict: fullVerdict }, series }).keys()]).toContain(
      "places-1.svg",
    );
  });

  it("says beside yes or no how far off it was, what was accepted, and what the trace told of the rules", () => {
    const alone = renderVerdict("staging <trace>", fullVerdict, "0.1.0");
    readMarkup(alone);
    for (const text of [
      "<h1>staging &lt;trace&gt;</h1>",
      "12 windows judged by places, 2 windows by bounds; 380 of 400 readings could have had one value alone.",
      "At least 3 (1.7% of what was admitted) went in above a limit",
      "3 requests over its limit of 20, 1 call wrongly refused, a reading 240 ms old",
      "Accepted, as <code>overAdmission &lt;2%</code> asks",
      "rest.reset is floor: reset was 0 in line 7",
      "And 1,248 violations more",
    ])
      says(text, alone);
    expect(shown(alone)).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("draws prediction and measurement together, whichever of the two is the run", () => {
    const turned = renderReport(simulated, source);
    for (const one of [page, turned]) {
      says("Prediction and measurement", one);
      expect(one).toMatch(
        /<th scope="col" class="number">measured<.*<th scope="col" class="number">simulated</,
      );
    }
    expect(renderReport(source)).not.toContain("Prediction and measurement");
  });
});

describe("hostile and empty input", () => {
  it("escapes whatever a run may contain", () => {
    const evil = `<script>alert("1")</script>&'\u0000\ud800`;
    const hostile = fixture({
      org: `<img src=x onerror=alert(1)>`,
      change: (call) => {
        call.user = evil;
        call.client = `${evil}/0`;
      },
      record: {
        scenario: { name: evil, description: evil, file: evil },
        command: evil,
        target: evil,
        notes: [evil],
        versions: { [evil]: evil },
        expect: {},
      },
    });
    const rendered = renderReport(hostile, hostile);
    const elements = readMarkup(rendered);
    expect(elements.filter(({ name }) => name === "script")).toHaveLength(1);
    expect(elements.map(({ name }) => name)).not.toContain("img");
    says("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\ufffd\ufffd", rendered);
    for (const [name, content] of renderFiles(hostile))
      if (name.endsWith(".svg"))
        expect(readMarkup(content).map((element) => element.name)).not.toContain("script");
  });

  it("makes a page of a run in which nothing was sent", () => {
    const empty = fixture({ seconds: 0, record: { expect: {} } });
    expect(empty.run.summary.records).toBe(0);
    const rendered = renderReport(empty);
    readMarkup(rendered);
    says("No call that counts was answered.", rendered);
    expect(shown(rendered)).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("makes a page of a run that was neither judged nor ended", () => {
    const { run, series } = fixture({ record: { interrupted: true, notes: ["the disk is full"] } });
    const rendered = renderReport({ run: { ...run, verdict: null }, series });
    says("This run was not judged", rendered);
    says("<strong>Interrupted</strong> after", rendered);
    says("<p>Note: the disk is full.</p>", rendered);
    expect(renderMarkdown(run)).toContain("\n\nNote: the disk is full.\n\n");
  });

  it("never prints what is no number", () => {
    expect(shown(page)).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });
});

describe("pictures as files", () => {
  const files = renderFiles(source, simulated);
  const svgs = [...files].filter(([name]) => name.endsWith(".svg"));

  it("writes each one whole, with its title, its text and its own colours, and its numbers beside it", () => {
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(
        ["traffic", "populations", "users", "window-1", "timeline", "waits", "compared-waits"].flatMap(
          (name) => [`${name}.svg`, `${name}.csv`],
        ),
      ),
    );
    for (const [, svg] of svgs) {
      const names = readMarkup(svg).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["svg", "title", "desc", "style", "path"]));
      expect(svg).toContain("prefers-color-scheme: dark");
    }
  });

  it("has the same bytes for the same input, however many were drawn before", () => {
    const again = renderFiles(fixture(), fixture({ latencyMs: 8, record: simulated.run.record }));
    expect([...again].filter(([name, content]) => files.get(name) !== content)).toEqual([]);
  });

  it("has every call of the run in the numbers of the calls over time", () => {
    const [columns, ...rows] = readCsv(files.get("traffic.csv") ?? "");
    const total = (column: string): number =>
      rows.reduce((sum, row) => sum + Number(row[columns?.indexOf(column) ?? -1]), 0);
    expect(total("admitted")).toBe(summary.figures.admitted);
    expect(total("refused_by_user")).toBe(summary.figures.refusedByUser);
    expect(total("refused_by_organization")).toBe(summary.figures.refusedByOrganization);
  });

  it("has each call of the drawn clients in the numbers of the timeline", () => {
    const [columns, ...rows] = readCsv(files.get("timeline.csv") ?? "");
    expect(columns).toEqual(["at_ms", "client", "outcome", "calls"]);
    const drawn = new Set(rows.map(([, client]) => client));
    expect(drawn.size).toBe(12);
    const calls = source.calls.filter(({ client, kind }) => kind === "call" && drawn.has(client));
    expect(rows.reduce((sum, row) => sum + Number(row[3]), 0)).toBe(calls.length);
    for (const { client, received, status } of calls.slice(0, 50)) {
      const atMs = String(received - source.run.summary.startedAt);
      const outcome = status === 429 ? expect.stringMatching(/^refused/) : "admitted";
      expect(rows).toContainEqual([atMs, client, outcome, "1"]);
    }
  });

  it("quotes what CSV needs quoted, and no text begins like a formula", () => {
    const text = renderCsv({
      columns: ["user", "n"],
      rows: [
        ['a "b", c\nd', -1],
        ["=1+1", null],
        ["@SUM(A1)", 0.5],
      ],
    });
    expect(text).toBe('user,n\r\n"a ""b"", c\nd",-1\r\n\'=1+1,\r\n\'@SUM(A1),0.5\r\n');
  });
});

/** Lines of fields, none of which has a line's end within. */
const readCsv = (text: string): string[][] =>
  text
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));

describe("numbers in words", () => {
  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [1000, "1 s"],
    [1240, "1.24 s"],
    [12_400, "12.4 s"],
    [59_960, "1 min"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h"],
    [12_000_000, "3 h 20 min"],
  ])("says %d ms as %s", (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  it.each([
    [0, "0%"],
    [0.0004, "<0.1%"],
    [0.059, "5.9%"],
    [0.9996, ">99.9%"],
    [1, "100%"],
  ])("says a share of %d as %s", (value, words) => {
    expect(figureText("refusedShare", value)).toBe(words);
  });

  it("groups thousands and keeps what was not measured apart from nothing", () => {
    expect(count(1_234_567)).toBe("1,234,567");
    expect(count(12.3456)).toBe("12.346");
    expect([figureText("calls", 0), figureText("calls", null)]).toEqual(["0", "–"]);
  });
});
