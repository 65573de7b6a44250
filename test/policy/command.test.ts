// `--policy FILE` takes a file of either version, and rules as `--rules` does.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { spillwayHere } from "../support/command.ts";
import { inference } from "./policies.ts";

const rules = { user: { rest: { limit: 9 } }, semantics: { refused: "counted" } } as const;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-"));
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
  await write("rules.json", { version: 1, ...rules });
  await write("policy.json", policyOf(parseRules(rules)));
  await write("other.json", inference);
  await write("mixed.json", { ...rules, quotas: {} });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const simulate = (option: string, file: string, out: string) =>
  spillwayHere(["simulate", "steady", "--duration", "5s", option, file, "--out", out], {
    cwd: folder,
  });

test("rules and their policy give the same run, to the byte", async () => {
  expect(await simulate("--rules", "rules.json", "a")).toMatchObject({ code: 0 });
  expect(await simulate("--policy", "policy.json", "b")).toMatchObject({ code: 0 });
  const [a, b] = await Promise.all(
    ["a", "b"].map((out) => readFile(join(folder, out, "trace.ndjson"), "utf8")),
  );
  expect(JSON.parse(a?.slice(0, a.indexOf("\n")) ?? "").rules.user.rest.limit).toBe(9);
  expect(b).toBe(a);
});

test("a limiter is checked under a policy, all of whose switches are given", async () => {
  const { code, stderr } = await spillwayHere(["check", "--policy", "policy.json", "--runs", "3"], {
    cwd: folder,
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
});

test("a policy of other quotas is said to be one, and half a policy to be none", async () => {
  expect(await simulate("--policy", "other.json", "c")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/POLICY_UNSUPPORTED.*"inference" is another\n {2}quotas\.tenant: /s),
  });
  expect(await simulate("--policy", "mixed.json", "d")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/POLICY_INVALID.*quotas: got a member of version 2/s),
  });
});
