// Findings and words of the doctor, of each thing that spillway needs or could use.
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  duckdbFinding,
  esbuildFinding,
  get,
  goFinding,
  isWell,
  k6Finding,
  nodeFinding,
  reportsFinding,
  sayFindings,
  sourceOf,
} from "../../src/cli/doctor.ts";
import { k6Advice } from "../../src/load/k6-binary.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { version } from "../../src/runs/version.ts";
import { recorded } from "../support/recorded.ts";

test("findings are lines with their marks and advice, and a word on all of them", () => {
  const found = [
    { name: "node", state: "ok", found: "22", advice: [] },
    { name: "k6", state: "optional", found: "not there", advice: ["get it", "or build it"] },
  ] as const;
  const well = recorded();
  sayFindings(well.terminal, found);
  expect(well.tagged).toEqual([
    "<green>ok</> node     22",
    "<yellow>--</> k6       not there",
    "            get it",
    "            or build it",
    "All that is needed is there.",
  ]);
  expect(well.results).toEqual([{ spillway: version, ok: true, findings: found }]);
  const ill = recorded();
  const missing = [{ name: "reports", state: "missing", found: "read-only", advice: [] }, ...found] as const;
  sayFindings(ill.terminal, missing);
  expect([ill.tagged[0], ill.tagged.at(-1)]).toEqual([
    "<red>no</> reports  read-only",
    "Something that is needed is missing.",
  ]);
  expect(ill.results).toEqual([{ spillway: version, ok: false, findings: missing }]);
  expect([isWell(found), isWell(missing), isWell([])]).toEqual([true, false, true]);
});

test.each([
  ["20.19.0", "ok"],
  ["20.18.9", "missing"],
  ["20.20.0", "ok"],
  ["19.30.0", "missing"],
  ["21.7.0", "missing"],
  ["22.11.0", "missing"],
  ["22.12.0", "ok"],
  ["23.11.0", "missing"],
  ["24.0.0", "ok"],
  ["27.1.0", "ok"],
  ["", "missing"],
])("node %s is %s", (node, state) => {
  const advice = state === "ok" ? [] : ["20.19, 22.12, 24.0 or newer: https://nodejs.org/"];
  expect(nodeFinding(node)).toEqual({
    name: "node",
    state,
    found: `${node}, at ${process.execPath}`,
    advice,
  });
});

test("k6 is there, is not, or is there and does not run", async () => {
  const k6 = { version: "1.8.1", path: "/bin/k6", origin: "PATH" } as never;
  expect(await k6Finding(async () => k6)).toEqual({
    ...{ name: "k6", state: "ok", found: "1.8.1, at /bin/k6 (PATH)", advice: [] },
  });
  expect(await k6Finding(async () => null)).toEqual({
    ...{
      name: "k6",
      state: "optional",
      found: "not there; Node drives the load instead",
      advice: k6Advice(),
    },
  });
  const broken = () => Promise.reject(new SpillwayError("K6_MISSING", "k6 does not run"));
  expect(await k6Finding(broken)).toEqual({
    ...{ name: "k6", state: "missing", found: "k6 does not run", advice: k6Advice() },
  });
  await expect(k6Finding(() => Promise.reject(new TypeError("odd")))).rejects.toThrow("odd");
});

test("Go and DuckDB are there or not; esbuild is needed", async () => {
  const go = { version: "1.25.1", path: "/bin/go" } as never;
  expect(await goFinding(async () => go)).toEqual({
    ...{ name: "go", state: "ok", found: "1.25.1, at /bin/go", advice: [] },
  });
  expect(await goFinding(async () => null)).toEqual({
    ...{ name: "go", state: "optional", found: "none that could build k6 (1.25 or newer)", advice: [] },
  });
  expect(duckdbFinding((name) => `/m/${name}`)).toEqual({
    ...{ name: "duckdb", state: "ok", found: "at /m/@duckdb/node-api", advice: [] },
  });
  const none = (): never => {
    throw new Error("no");
  };
  expect(duckdbFinding(none)).toEqual({
    ...{ name: "duckdb", state: "optional", advice: ["npm install @duckdb/node-api"] },
    found: "not there; replay and fit need it for Parquet and --sql, all else works",
  });
  const transformed: unknown[] = [];
  const transform = async (...given: unknown[]) => void transformed.push(given);
  expect(await esbuildFinding(async () => ({ version: "0.28", transform }) as never)).toEqual({
    ...{ name: "esbuild", state: "ok", found: "0.28", advice: [] },
  });
  expect(transformed).toEqual([["const x: number = 1;", { loader: "ts" }]]);
  const lacking = { version: "0.28", transform: () => Promise.reject(new Error("no program\nat x")) };
  expect(await esbuildFinding(async () => lacking as never)).toEqual({
    ...{ name: "esbuild", state: "missing", found: "no program" },
    advice: ["npm install, on this machine, without --omit=optional"],
  });
});

test("the folder of reports can be written or not, and is left as it was", async () => {
  const place = await mkdtemp(join(tmpdir(), "spillway-doctor-"));
  const folder = join(place, "reports");
  const fine = { name: "reports", state: "ok", found: `${folder} can be written`, advice: [] };
  expect(await reportsFinding(folder)).toEqual(fine);
  expect(await readdir(place)).toEqual([]);
  await mkdir(folder);
  await writeFile(join(folder, "kept"), "");
  expect(await reportsFinding(folder)).toEqual(fine);
  expect(await readdir(folder)).toEqual(["kept"]);
  const [file, below] = [join(place, "file"), join(place, "file", "reports")];
  await writeFile(file, "");
  expect(await reportsFinding(below)).toEqual({
    ...{ name: "reports", state: "missing", found: `${below} cannot be written (ENOTDIR)` },
    advice: [`run spillway where ${file} can be written, or name a folder by --out`],
  });
  await chmod(place, 0o700);
  await rm(place, { recursive: true });
});

const hex = "0123456789abcdef".repeat(4);
test.each<[object, unknown]>([
  [{}, undefined],
  [{ getK6: true }, undefined],
  [
    { getK6: true, from: "http://x", sha256: hex },
    { url: "http://x", sha256: hex },
  ],
  [
    { getK6: true, from: "http://x", sha256: hex.toUpperCase() },
    { url: "http://x", sha256: hex.toUpperCase() },
  ],
  [
    { from: "http://x", sha256: hex },
    ["--from needs --get-k6", "npx spillway doctor --get-k6 --from URL --sha256 HEX"],
  ],
  [
    { getK6: true, from: "http://x" },
    ["--from needs --sha256", "the SHA-256 of the archive, from somebody whom you trust"],
  ],
  [
    { getK6: true, sha256: hex },
    ["--sha256 needs --from", "npx spillway doctor --get-k6 --from URL --sha256 HEX"],
  ],
  [{ getK6: true, from: "http://x", sha256: `${hex}0` }, ["the checksum cannot be used", undefined]],
])("%j", (args, told) => {
  const read = (): unknown => {
    try {
      return sourceOf(args);
    } catch (error) {
      const { message, hint } = error as SpillwayError;
      return [message.split("\n")[0], hint];
    }
  };
  expect(read()).toEqual(told);
});

test("k6 is fetched or built once, with what is said of it", async () => {
  const k6 = { version: "1.8.1", path: "/cache/k6", origin: "cache" };
  const from = { url: "http://x", sha256: hex };
  const got = async (wasThere: boolean) => {
    const kept = recorded();
    const isGot = await get(kept.terminal, from, async (options) => {
      expect(options).toMatchObject({ from });
      options.onSay?.("fetching");
      options.onProgress?.("half");
      return { k6, wasThere } as never;
    });
    return { ...kept, isGot };
  };
  const [fresh, known] = [await got(false), await got(true)];
  expect([fresh.isGot, fresh.lines, fresh.progress]).toEqual([
    ...[true, ["fetching", "k6 1.8.1 is installed at /cache/k6."], ["half"]],
  ]);
  expect(known.lines[1]).toBe(
    "k6 1.8.1 is there already, at /cache/k6 (cache): nothing was fetched or built.",
  );
});
