// Files of `init --ci`: their commands run as on a build server.
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main, spillwayHere } from "../support/command.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-ci-"));
  const bin = join(folder, "node_modules", ".bin");
  await mkdir(bin, { recursive: true });
  await symlink(root, join(folder, "node_modules", "spillway"));
  await writeFile(join(bin, "spillway"), `#!/bin/sh\nexec node ${JSON.stringify(main)} "$@"\n`);
  await chmod(join(bin, "spillway"), 0o755);
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "ci", private: true, type: "module" }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// The workflow calls `cat`.
const needs = { tags: ["coreutils"] };
test("init --ci writes a workflow whose own commands run, and keeps what is there", needs, async () => {
  expect((await spillwayHere(["init", "limits"], { cwd: folder })).code).toBe(0);
  const { code, stdout } = await spillwayHere(["init", "limits", "--ci"], { cwd: folder });
  expect(stdout).toContain("wrote limits/ci.sh, .github/workflows/spillway.yml\n");
  expect(stdout).not.toContain("not installed");
  expect(code).toBe(0);
  const workflow = await readFile(join(folder, ".github", "workflows", "spillway.yml"), "utf8");
  const commands = [...workflow.matchAll(/^ +run: (.+)$/gm)].map(([, command = ""]) => command);
  // Steps that need a network or a pull request, which a test has not.
  const own = commands.filter((command) => !/^(npm ci|gh) ?|spillway[ -]audit/.test(command));
  expect(commands).toHaveLength(own.length + 5);
  const summary = join(folder, "step-summary.md");
  for (const command of own)
    await run("sh", ["-eu", "-c", command], {
      cwd: folder,
      env: { ...process.env, GITHUB_STEP_SUMMARY: summary },
    });
  expect(await readFile(summary, "utf8")).toContain("agents");
  const files = [...workflow.matchAll(/^ +(spillway-report\/\S+)$/gm)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThanOrEqual(1);
  for (const file of files) expect(await readFile(join(folder, file), "utf8")).not.toBe("");
  expect(await readFile(join(folder, "spillway-report", "junit.xml"), "utf8")).toContain("<testsuite");
});

test("init --ci has a job that audits, whose words are the verb's", needs, async () => {
  const workflow = await readFile(join(folder, ".github", "workflows", "spillway.yml"), "utf8");
  const [, command = ""] = /^ +run: (.*spillway audit.*)$/m.exec(workflow) ?? [];
  const tokens = JSON.stringify([{ token: "secret-of-ann", user: "ann", organization: "acme" }]);
  const env = { ...process.env, TARGET: "http://127.0.0.1:1", ALLOWED: "127.0.0.1", TOKENS: tokens };
  const ended = await run("sh", ["-eu", "-c", command], { cwd: folder, env }).catch(
    (error: { code: number; stderr: string }) => error,
  );
  // Nobody listens there: all of its words were taken.
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("connection refused") as string });
});

test("init says how to install where it is not", async () => {
  const empty = await mkdtemp(join(tmpdir(), "spillway-ci-empty-"));
  const { stdout } = await spillwayHere(["init"], { cwd: empty });
  await rm(empty, { recursive: true });
  expect(stdout).toMatch(/npm pack\nthen here: npm install --save-dev \S+spillway-[\d.]+\.tgz/);
});

test("init --ci writes no workflow through a link that stands in the repository", async () => {
  const repository = await mkdtemp(join(tmpdir(), "spillway-ci-linked-"));
  const outside = join(repository, "outside");
  await mkdir(outside);
  await symlink(outside, join(repository, ".github"));
  const { code, stderr } = await spillwayHere(["init", "--ci"], { cwd: repository });
  expect([code, stderr]).toEqual([2, expect.stringContaining(".github: got a symbolic link")]);
  expect(await readdir(outside)).toEqual([]);
  expect(await readdir(repository)).toEqual([".github", "outside"]);
  await rm(repository, { recursive: true });
});
