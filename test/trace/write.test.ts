import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { call, header } from "./samples.ts";

const format = readFileSync(new URL("../../src/trace/FORMAT.md", import.meta.url), "utf8");
const example = format.split("```json\n")[1]?.split("\n```")[0]?.split("\n") ?? [];

describe("a trace's lines", () => {
  test("are those of FORMAT.md's example, byte for byte", () => {
    const [headerLine = "", callLine = ""] = example;
    expect(encodeHeader(JSON.parse(headerLine))).toBe(headerLine);
    expect(encodeCall(JSON.parse(callLine))).toBe(callLine);
  });

  test("do not depend on the order in which an object's members were set", () => {
    const reversed = Object.fromEntries(Object.entries(call()).reverse()) as unknown as TraceCall;
    expect(encodeCall(reversed)).toBe(encodeCall(call()));
    const backwards = Object.fromEntries(Object.entries(header).reverse()) as unknown as typeof header;
    expect(encodeHeader(backwards)).toBe(encodeHeader(header));
  });

  test("hold the members that exist, in the format's order", () => {
    const full = call({
      attempt: 1,
      wanted: 1_767_322_800_000,
      error: "timeout",
      refusal: { message: "no" },
      body: {},
      userWarning: "w",
      warning: "w",
      retryAfter: 1,
      actual: 1,
    });
    expect(Object.keys(JSON.parse(encodeCall(full))).slice(18)).toEqual([
      "actual",
      "retryAfter",
      "warning",
      "userWarning",
      "body",
      "refusal",
      "error",
      "wanted",
      "attempt",
    ]);
    for (const name of Object.keys(full)) expect(format).toContain(`\`${name}\``);
    for (const name of Object.keys(header)) expect(format).toContain(`\`${name}\``);
    expect(Object.keys(JSON.parse(encodeCall(call())))).toHaveLength(18);
  });

  test("hold what was lost by quota", () => {
    const lost = [{ org: "acme", scope: "rest" as const, count: 2 }];
    expect(JSON.parse(encodeHeader({ ...header, lost })).lost).toEqual(lost);
  });
});
