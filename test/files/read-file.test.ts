// Texts of files that users name: their codings, and what refuses them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readText, requireFree } from "../../src/files/read-file.ts";
import { codedErrorOf } from "../support/coded-error.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-read-"));
afterAll(() => rmSync(folder, { recursive: true }));

const text = '{"name":"José 🎉"}';

describe("a text is read", () => {
  test.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with its mark", Buffer.from(`\uFEFF${text}`)],
    ["UTF-16", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16 of the other order", Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
  ])("of %s, without its byte order mark", async (_coding, bytes) => {
    const path = join(folder, "text.json");
    writeFileSync(path, bytes);
    expect(await readText(path, "rules file")).toBe(text);
  });
});

const problemOf = async (failing: Promise<unknown>): Promise<string> => {
  const { code, message, problems } = await codedErrorOf(failing);
  return `${code} ${message.split("\n")[0]}: ${problems[0]?.got}`;
};

test("a path that holds no text says what is there", async () => {
  expect(await problemOf(readText(join(folder, "none"), "rules file"))).toBe(
    "FILE_UNREADABLE the rules file cannot be read: no such file",
  );
  expect(await problemOf(readText(folder, "rules file"))).toBe(
    "FILE_UNREADABLE the rules file cannot be read: a directory",
  );
});

test("a path that is taken is not free: a folder, a file", async () => {
  const path = join(folder, "taken");
  writeFileSync(path, "");
  expect(await problemOf(requireFree(path))).toBe(
    "FILE_UNWRITABLE nothing is overwritten: a file that is already there",
  );
  expect(await problemOf(requireFree(folder))).toBe("FILE_UNWRITABLE nothing is overwritten: a folder");
  await expect(requireFree(join(folder, "free"))).resolves.toBeUndefined();
});
