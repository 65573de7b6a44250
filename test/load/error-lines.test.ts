import { describe, expect, test } from "vitest";
import { ErrorLines } from "../../src/load/run-k6.ts";

describe("what k6 says on standard error", () => {
  test("is counted by its kinds, wherever the chunks break it", () => {
    const errors = new ErrorLines();
    for (const chunk of ["Request Fai", "led\nsomething odd\nRequest Failed\nsomething", " odd"])
      errors.add(chunk);
    expect(errors.text()).toBe("2 x Request Failed\n2 x something odd\n");
    expect(errors.complaints()).toEqual(["something odd (2 times)"]);
  });

  test("tells each line that could not be written", () => {
    const errors = new ErrorLines();
    const failed = "Failed to write to log, write raw.ndjson: no space left on device\n";
    errors.add(failed.repeat(1_234));
    expect(errors.linesFailed).toBe(1_234);
    expect(errors.complaints()).toEqual([`${failed.trim()} (1234 times)`]);
  });

  test("is kept in bounded memory", () => {
    const errors = new ErrorLines();
    for (let n = 0; n < 5_000; n++) errors.add(`line ${n} ${"x".repeat(5_000)}\n`);
    expect(errors.count).toBe(5_000);
    expect(errors.text().length).toBeLessThan(120_000);
  });
});
