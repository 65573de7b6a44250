// Whom a run may load.
import { describe, expect, test } from "vitest";
import { isLoopback, parseTarget, requireAllowed } from "../../src/connect/target.ts";

describe("a target's URL", () => {
  test.each([
    ["http://127.0.0.1:4100", "http://127.0.0.1:4100", "127.0.0.1"],
    ["http://127.0.0.1:4100/", "http://127.0.0.1:4100", "127.0.0.1"],
    ["https://API.example.com/base/v1/", "https://API.example.com/base/v1", "api.example.com"],
    ["http://[::1]:80", "http://[::1]:80", "[::1]"],
  ])("%s", (url, base, host) => {
    expect(parseTarget("--target", url)).toMatchObject({ base, host, url });
  });

  test.each([
    "127.0.0.1:4100",
    "ftp://a",
    "http://",
    "http://a b",
    "http://a?x=1",
    "http://a\\@b",
    "http://a#b",
    "http://127.0.0.1:65536",
    "http://[1:::2]",
    "",
  ])("none: %s", (url) => {
    expect(() => parseTarget("--target", url)).toThrow(
      expect.objectContaining({ code: "TARGET_NOT_ALLOWED", exitCode: 2 }),
    );
  });

  test.each([
    ["127.0.0.1:4100/v1", "did you mean http://127.0.0.1:4100/v1?"],
    ["api.example.com", "did you mean http://api.example.com?"],
    ["me:hunter2@127.0.0.1", undefined],
    ["ftp://a", undefined],
  ])("%s lacks its scheme: %s", (text, hint) => {
    expect(() => parseTarget("--target", text)).toThrow(expect.objectContaining({ hint }));
  });

  test("one with a password is refused without quoting it", () => {
    expect(() => parseTarget("--target", "http://me:hunter2@127.0.0.1")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") as string }),
    );
  });

  test("loopback is this machine, and only that", () => {
    expect(["localhost", "127.0.0.1", "127.8.9.10", "[::1]"].filter((host) => !isLoopback(host))).toEqual([]);
    const others = [
      "127.0.0.1.example.com",
      "localhost.example.com",
      "0.0.0.0",
      "10.0.0.1",
      "[::]",
      "2130706433",
    ];
    expect(others.filter(isLoopback)).toEqual([]);
  });

  test("another one needs exactly its host", () => {
    const target = parseTarget("--target", "https://api.example.com/v2");
    for (const host of [null, "example.com", "api.example.com:443", "*"])
      expect(() => requireAllowed("--target", target, host)).toThrow(
        expect.objectContaining({ code: "TARGET_NOT_ALLOWED" }),
      );
    expect(() => requireAllowed("--target", target, "API.example.com")).not.toThrow();
  });
});
