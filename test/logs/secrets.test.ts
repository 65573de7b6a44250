// Tokens never get out of a log: not as callers, not in examples, not in errors.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Callers } from "../../src/logs/callers.ts";
import { looksSecret, withoutSecrets } from "../../src/logs/secrets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { digest, lines, type Reading, read } from "./reading.ts";

const token = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9_]{7,40}$/)
  .filter((text) => !/^(?:time|token|status)/.test(text));

/** All that anybody can see of a reading, or of its error. */
async function seen(reading: Promise<Reading>): Promise<string> {
  return reading.then(
    ({ rows, examples }) => JSON.stringify([rows, examples]),
    (error: unknown) => {
      if (!(error instanceof SpillwayError)) throw error;
      return JSON.stringify([error.message, error.problems, error.hint]);
    },
  );
}

describe("a token", () => {
  test("is never shown, whatever is wrong with its row, in any format", async () => {
    await fc.assert(
      fc.asyncProperty(token, async (secret) => {
        const rows = [
          `1767323045,${secret},/x,200`,
          `soon,${secret},/x,200`,
          `1767323045,${secret},/x`,
          `1767323045,"${secret},/x,200`,
          `1767323045,"${secret}",/x,2`,
          `{"token":"${secret}","time":1`,
        ];
        const json = [
          `{"time":1767323045,"token":"${secret}","path":"/x"}`,
          `{"time":"soon","token":"Bearer ${secret}","path":"/x"}`,
          `{"time":1767323045,"token":"${secret}","path":"/x"`,
        ];
        const unused = [
          `1767323045,al,${secret},/x,200`,
          `soon,al,${secret},/x,200`,
          `1767323045,al,${secret}`,
        ];
        for (const unreadMost of [0, 1]) {
          const table = lines("time,user,api_token,path,status", ...unused);
          expect(await seen(read(table, { unreadMost }))).not.toContain(secret);
          expect(await seen(read(lines("time,token,path,status", ...rows), { unreadMost }))).not.toContain(
            secret,
          );
          expect(await seen(read(lines(...json), { unreadMost }))).not.toContain(secret);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("is known by its fingerprint, the same with and without its scheme", async () => {
    const { rows, files } = await read(
      lines(
        "time,authorization,path",
        "1767323045,Bearer abc,/x",
        "1767323046,abc,/x",
        "1767323047,token abd,/x",
      ),
    );
    expect(files[0]?.mapping.userIsToken).toBe(true);
    expect(rows.map(({ caller }) => caller)).toEqual([
      "default/token-ba7816",
      "default/token-ba7816",
      `default/token-${digest("abd").slice(0, 6)}`,
    ]);
  });

  test("that stands where a user's name should is known by its fingerprint, too", async () => {
    const secret = "bkua_0123456789abcdef0123456789abcdef01234567";
    const uuid = "123e4567-e89b-12d3-a456-426614174000";
    const { rows } = await read(
      lines("time,user,path", `1767323045,${secret},/x`, `1767323046,${uuid},/x`, "1767323047,alice,/x"),
    );
    expect(rows.map(({ caller }) => caller)).toEqual([
      `default/token-${digest(secret).slice(0, 6)}`,
      `default/${uuid}`,
      "default/alice",
    ]);
  });

  test("has a longer fingerprint where two would have the same", () => {
    const alike = new Callers((text) => `3f2a91${text.padEnd(58, "0")}`);
    expect(["aa", "ab", "aa", "ab"].map((each) => alike.fingerprint(each))).toEqual([
      "token-3f2a91",
      "token-3f2a91ab",
      "token-3f2a91",
      "token-3f2a91ab",
    ]);
  });
});

test.each([
  ["GET /x?access_token=abc1&page=2", "GET /x?access_token=***&page=2"],
  ['"authorization": "Bearer abc1"', '"authorization": "Bearer ***"'],
  ["https://bob:hunter2@example.com/x", "https://***@example.com/x"],
  ["bkua_abc 200", "*** 200"],
  ["2026-01-02T03:04:05Z alice 200", "2026-01-02T03:04:05Z alice 200"],
  ["a1b2c3d4e5f6a7b8c9d0e1f2 pipelines", "*** pipelines"],
  ["page=token=abc1 my-api_key-of-ci: abc2", "page=token=*** my-api_key-of-ci: ***"],
])("%s is shown as %s", (line, shown) => {
  expect(withoutSecrets(line, false)).toBe(shown);
});

test.each([
  ["short longer 12345 123456", "short *** 12345 123456"],
  ["2026-01-02T03:04:05.678901Z 20260102T030405.678Z", "2026-01-02T03:04:05.678901Z 20260102T030405.678Z"],
  [`${"1".repeat(23)} ${"1".repeat(24)}`, `${"1".repeat(23)} ***`],
  ["page-1 gh_ab", "*** gh_ab"],
  ["ghp_a pk_1", "*** ***"],
])("strictly, %s is shown as %s: words of at most five characters, and times", (line, shown) => {
  expect(withoutSecrets(line, true)).toBe(shown);
});

test("a word is struck out from 20 characters on, if it has digits and letters and is no UUID", () => {
  const uuid = "123e4567-e89b-12d3-a456-426614174000";
  const [letters, digits] = ["a".repeat(24), "1".repeat(23)];
  const mixed = (length: number): string => `a${"1".repeat(length - 1)}`;
  const line = [mixed(19), mixed(20), letters, digits, uuid, `${uuid}0`].join(" ");
  expect(withoutSecrets(line, false)).toBe([mixed(19), "***", letters, digits, uuid, "***"].join(" "));
});

test("a caller's name is a secret from 24 characters on, by the same signs", () => {
  const mixed = (length: number): string => `a${"1".repeat(length - 1)}`;
  const uuid = "123e4567-e89b-12d3-a456-426614174000";
  const names = [
    mixed(23),
    mixed(24),
    "a".repeat(24),
    "1".repeat(24),
    uuid,
    `${mixed(24)} x`,
    "Basic x",
    "sk-1",
  ];
  expect(names.map(looksSecret)).toEqual([false, true, false, false, false, false, true, true]);
});

// A line that took time by its length squared would take minutes.
test.each(["token", "api-key", "cookie   "])("a line of 2 MB of %s is shown", (word) => {
  const line = word.repeat(2_000_000 / word.length);
  expect(withoutSecrets(line, false)).toBe(line);
});
