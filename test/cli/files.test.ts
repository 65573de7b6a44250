// Files that people name on the command line.
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { readConnection } from "../../src/cli/connection-options.ts";
import { readTokens } from "../../src/cli/files.ts";
import { readRecord, traceOf } from "../../src/report/run-folder.ts";
import { bundleAdapterFile } from "../../src/runs/adapter-file.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a tokens file that others can read", () => {
  test.each([
    [0o644, true],
    [0o640, true],
    [0o600, false],
    [0o400, false],
  ])("mode %o: warned of %j, once", async (mode, isWarned) => {
    const path = join(folder, `tokens-${mode}.json`);
    await writeFile(path, JSON.stringify([{ token: "spw_x", user: "u", organization: "o" }]));
    await chmod(path, mode);
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await readTokens(path);
    await readTokens(path);
    const said = write.mock.calls.map(([text]) => String(text));
    expect(said).toHaveLength(isWarned ? 1 : 0);
    if (isWarned)
      expect(said[0]).toMatch(/^warning other users .* \(mode 6\d\d\): chmod 600 \S+tokens-\d+\.json\n$/);
  });
});

test("a member that stands twice in run.json is refused", async () => {
  await writeFile(join(folder, "run.json"), '{"format":"spillway-run","seed":1,"seed":2}');
  await expect(readRecord(folder)).rejects.toMatchObject({
    code: "RUN_INVALID",
    problems: [{ path: "seed", got: "it twice" }],
  });
});

describe.skipIf(process.platform === "win32")("a device that has no end", () => {
  test.each([
    ["as an adapter", () => bundleAdapterFile("/dev/zero"), "no regular file"],
    [
      "as a certificate",
      () => readConnection({ ca: "/dev/zero" }, "https://127.0.0.1:1", {}),
      "more than 64 MiB",
    ],
    ["as a run's record", async () => readRecord(await withDevice("run.json")), "no regular file"],
    ["as a run's trace", async () => traceOf(await withDevice("trace.ndjson")).next(), "no regular file"],
  ])("is refused %s", async (_, read, got) => {
    await expect(read()).rejects.toMatchObject({ code: "FILE_UNREADABLE", problems: [{ got }] });
  });

  async function withDevice(name: string): Promise<string> {
    const run = await mkdtemp(join(folder, "run-"));
    await symlink("/dev/zero", join(run, name));
    return run;
  }
});
