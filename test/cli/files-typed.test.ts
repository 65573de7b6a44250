// Verbs that write one file, as they are typed: what they write and say, and what they do not overwrite.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TypedIn } from "./typed.ts";

const answer = (second: number, left: number) =>
  `HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 12:00:${second} GMT\r\nX-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: ${left}\r\nX-RateLimit-Reset: ${60 - second}\r\n\r\n{}\n`;
const log = Array.from({ length: 120 }, (_, at) => {
  const time = new Date(Date.UTC(2026, 0, 5, 12) + at * 10_000).toISOString();
  return `10.0.0.1 - ann [05/Jan/2026:${time.slice(11, 19)} +0000] "GET /v2/user HTTP/1.1" 200 12 "-" "curl"\n`;
}).join("");

let here: TypedIn;
beforeAll(async () => {
  here = await TypedIn.of({ "access.log": log, "answers.txt": answer(10, 98) + answer(20, 97) });
});
afterAll(() => here.remove());
const ran = (command: string) => here.run(command);

describe("a file", () => {
  test("of a policy is proposed from answers", async () => {
    const out = await ran("map answers.txt --out mine.json");
    expect([out.code, out.said.at(-2), out.said.at(-1)]).toEqual([
      ...[0, "wrote mine.json", "next npx spillway policy check mine.json"],
    ]);
    const mapped = JSON.parse(await readFile(join(here.folder, "mine.json"), "utf8")) as { name: string };
    expect(mapped).toMatchObject({ version: 2, name: "mine" });
    const plain = await ran("map --from answers.txt --name mine");
    expect([plain.code, plain.json(), plain.aside[0]]).toEqual([
      0,
      mapped,
      expect.stringMatching(/^2 answers/),
    ]);
    expect((await ran("map answers.txt --out mine.json")).code).toBe(2);
    const json = await ran("map answers.txt --out mine.json --force --json");
    expect(json.json()).toMatchObject({ policy: mapped, answers: 2, out: "mine.json" });
    const none = await ran("map answers.txt --json");
    expect(none.json()).toMatchObject({ policy: { name: "my-api" }, out: null });
  });

  test("of a scenario is fitted to a log, and bundled for k6", async () => {
    const fit = "fit access.log --no-check --no-backtest";
    const out = await ran(`${fit} -o own.ts --report own.md`);
    expect([out.code, out.said.slice(-2)]).toEqual([
      ...[0, ["wrote own.ts", "next: npx spillway simulate own.ts"]],
    ]);
    const source = await readFile(join(here.folder, "own.ts"), "utf8");
    expect(await readFile(join(here.folder, "own.md"), "utf8")).toMatch(/^#/);
    const plain = await ran(`${fit} --name own`);
    expect([plain.code, `${plain.said.join("\n")}\n`, plain.aside.length > 1]).toEqual([0, source, true]);
    const json = await ran(`${fit} --name own --json --strict`);
    expect([json.code, json.json()]).toEqual([
      0,
      expect.objectContaining({ format: "spillway-fit", check: null, backtest: null, source }),
    ]);
    expect((await ran(`${fit} -o own.ts`)).code).toBe(2);
    const bundled = await ran("bundle own.ts -o own.js --rules default");
    expect([bundled.code, bundled.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "own.js",
          "next k6 run -e TARGET=http://HOST -e TOKENS=/path/tokens.json own.js",
        ],
      ]
    `);
    expect((await ran("bundle steady --json")).json()).toMatchInlineSnapshot(`
      {
        "file": "steady.js",
        "run": "k6 run -e TARGET=http://127.0.0.1:4100 -e TOKENS=/path/tokens.json steady.js",
      }
    `);
    expect((await ran("bundle steady -o .")).aside.slice(0, 2)).toMatchInlineSnapshot(`
      [
        "error FILE_UNWRITABLE the bundle cannot be written",
        "  .: got a directory, allowed: the path of a .js file",
      ]
    `);
  });
});
