// The published table of benches: what meets a bar, and that the page tells what was measured.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Benches, pageOf } from "./page.ts";
import { type BenchRow, isMet } from "./row.ts";

const row = (more: Partial<BenchRow>): BenchRow => ({ name: "a row", value: 10, unit: "events/s", ...more });

describe("bars", () => {
  test.each([
    [{ ratio: 0.5, bar: ">= 0.5" }, true],
    [{ ratio: 0.49, bar: ">= 0.5" }, false],
    [{ ratio: 2, bar: "<= 2" }, true],
    [{ ratio: 2.01, bar: "<= 2" }, false],
    [{ value: 2_000_000, bar: ">= 2,000,000 events/s" }, true],
    [{ value: 1_999_999, bar: ">= 2,000,000 events/s" }, false],
    [{ ratio: 0.5, value: 5, bar: ">= 0.5, and >= 6 events/s" }, false],
    [{ bar: ">= 0.5" }, false],
    [{}, null],
  ])("%j: %s", (more, met) => {
    expect(isMet(row(more))).toBe(met);
  });

  test("a bar that nobody can read is an error", () => {
    expect(() => isMet(row({ bar: "fast" }))).toThrow(/nobody can read: fast/);
  });
});

describe("the page", () => {
  const at = { date: "2026-11-25", commit: "abc1234", node: "v20.20.2", processor: "2 x EPYC", load: 0.3 };

  test("says what was met, missed and measured beside", () => {
    const rows = [
      row({ name: "ours", ratio: 0.4, against: "theirs", bar: ">= 0.5" }),
      row({ name: "fast", ratio: 3, against: "theirs", bar: ">= 0.5" }),
      row({ name: "theirs" }),
    ];
    const page = pageOf({ queue: { ...at, rows } });
    expect(page).toContain("Of 2 rows with a bar, 1 misses it.");
    expect(page).toContain("| queue | ours | 10.0 events/s | 0.40 x theirs | >= 0.5 | **missed** |");
    expect(page).toContain("| queue | fast | 10.0 events/s | 3.00 x theirs | >= 0.5 | met |");
    expect(page).toContain("| theirs | 10.0 events/s |  |  |  |");
    expect(page).toContain("2026-11-25, commit abc1234, Node 20.20.2, 2 x EPYC;");
  });

  test("the published one is made of its rows", () => {
    const benches = JSON.parse(readFileSync("reports/bench/rows.json", "utf8")) as Benches;
    expect(readFileSync("reports/bench/README.md", "utf8")).toBe(pageOf(benches));
  });
});
